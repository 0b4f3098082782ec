//! ORDER BY at run time.

use std::cmp::Ordering;

use crate::eval::Datum;
use crate::logical::rel::SortKey;

/// The order of two rows (Flink's generated `RecordComparator`).
pub fn compare(order: &[SortKey], a: &[Datum], b: &[Datum]) -> Ordering {
    order
        .iter()
        .map(|key| compare_by(key, &a[key.column], &b[key.column]))
        .find(|o| o.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// The order of two values of a sort key.
pub fn compare_by(key: &SortKey, a: &Datum, b: &Datum) -> Ordering {
    let nulls = if key.nulls_first { Ordering::Less } else { Ordering::Greater };
    match (a.is_null(), b.is_null()) {
        (true, true) => Ordering::Equal,
        (true, false) => nulls,
        (false, true) => nulls.reverse(),
        (false, false) if key.descending => by_value(b, a),
        (false, false) => by_value(a, b),
    }
}

/// Generated comparators use `<` and `>`, for which 0.0 and -0.0 are the same. For them NaN is the same as every number, too: that is
/// no order, and what Flink makes of it depends on the shape of its trees, so here NaN is the largest number.
fn by_value(a: &Datum, b: &Datum) -> Ordering {
    match (a, b) {
        (Datum::Float(x), Datum::Float(y)) => x.partial_cmp(y).unwrap_or_else(|| a.cmp(b)),
        (Datum::Double(x), Datum::Double(y)) => x.partial_cmp(y).unwrap_or_else(|| a.cmp(b)),
        (Datum::Array(x), Datum::Array(y)) => by_values(x, y),
        (Datum::Row(x), Datum::Row(y)) => by_values(x, y),
        _ => a.cmp(b),
    }
}

fn by_values(a: &[Datum], b: &[Datum]) -> Ordering {
    let orders = a.iter().zip(b).map(|(x, y)| by_value(x, y));
    { orders }.find(|o| o.is_ne()).unwrap_or_else(|| a.len().cmp(&b.len()))
}

/// True if row `a` comes before `b` for Flink's comparator, asked for these two alone: NaN comes neither before nor after a number.
pub fn comes_before(columns: &[usize], keys: &[SortKey], a: &[Datum], b: &[Datum]) -> bool {
    let is_nan = |d: &Datum| match d {
        Datum::Float(x) => x.is_nan(),
        Datum::Double(x) => x.is_nan(),
        _ => false,
    };
    let differ =
        |column: &usize| !a[*column].is_null() && !b[*column].is_null() && (is_nan(&a[*column]) || is_nan(&b[*column]));
    let orders = columns.iter().zip(keys).filter(|(c, _)| !differ(c)).map(|(c, by)| compare_by(by, &a[*c], &b[*c]));
    { orders }.find(|o| o.is_ne()) == Some(Ordering::Less)
}
