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
        (false, false) if key.descending => b.cmp(a),
        (false, false) => a.cmp(b),
    }
}

/// The order of two rows by these columns; `keys` are the sort keys of the columns.
pub fn compare_columns(columns: &[usize], keys: &[SortKey], a: &[Datum], b: &[Datum]) -> Ordering {
    let orders = columns.iter().zip(keys).map(|(column, by)| compare_by(by, &a[*column], &b[*column]));
    { orders }.find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
}
