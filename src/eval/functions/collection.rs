//! Constructors, element access and the functions of arrays and maps: `ScalarOperatorGens` and `functions.scalar` of Flink's
//! runtime.
//!
//! Elements are compared as values of keys are; two NULL elements are the same.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::convert::{Conversion, conversion};
use super::{Body, Call, integer, strict, text, total};
use crate::catalog::types::{DataType, TypeKind};
use crate::catalog::value::Value;
use crate::eval::{Datum, EvalError, Row};

/// The function behind a call, if it is one of this family.
pub fn find(call: &Call<'_>) -> Option<Body> {
    match call.name {
        "ROW" => Some(Arc::new(|a| Ok(Datum::Row(Row::new(a.to_vec()))))),
        "ARRAY" => array(call),
        "MAP" => map(call),
        "ITEM" => item(call),
        "CARDINALITY" => total(|a| Datum::Int(size(&a[0]) as i64)),
        "ELEMENT" => strict(|a| element(&a[0])),
        "ARRAY_APPEND" => with_element(call, |mut items, item| {
            items.push(item);
            items
        }),
        "ARRAY_PREPEND" => with_element(call, |mut items, item| {
            items.insert(0, item);
            items
        }),
        "ARRAY_CONTAINS" => with_needle(call, |items, needle| Datum::Boolean(items.contains(needle))),
        "ARRAY_POSITION" => with_needle(call, |items, needle| match items.iter().position(|i| i == needle) {
            _ if needle.is_null() => Datum::Null,
            found => Datum::Int(found.map_or(0, |at| at as i64 + 1)),
        }),
        "ARRAY_REMOVE" => with_needle(call, |items, needle| of_items(items.iter().filter(|i| *i != needle).cloned())),
        "ARRAY_DISTINCT" => total(|a| of_items(distinct(items(&a[0]).iter().cloned()))),
        "ARRAY_REVERSE" => total(|a| of_items(items(&a[0]).iter().rev().cloned())),
        "ARRAY_SLICE" => total(|a| slice(items(&a[0]), integer(a, 1), a.get(2).and_then(Datum::as_int))),
        "ARRAY_SORT" => total(sort),
        "ARRAY_UNION" => of_arrays(call, |arrays| distinct(arrays.concat())),
        "ARRAY_CONCAT" => of_arrays(call, |arrays| arrays.concat()),
        "ARRAY_EXCEPT" => of_arrays(call, |arrays| common(arrays, false)),
        "ARRAY_INTERSECT" => of_arrays(call, |arrays| common(arrays, true)),
        "ARRAY_MAX" => total(|a| items(&a[0]).iter().filter(|i| !i.is_null()).max().cloned().unwrap_or_default()),
        "ARRAY_MIN" => total(|a| items(&a[0]).iter().filter(|i| !i.is_null()).min().cloned().unwrap_or_default()),
        "ARRAY_JOIN" => total(join),
        "MAP_KEYS" => total(|a| of_items(entries(&a[0]).iter().map(|(k, _)| k.clone()))),
        "MAP_VALUES" => total(|a| of_items(entries(&a[0]).iter().map(|(_, v)| v.clone()))),
        "MAP_ENTRIES" => {
            total(|a| of_items(entries(&a[0]).iter().map(|(k, v)| Datum::Row(Row::new(vec![k.clone(), v.clone()])))))
        }
        "MAP_FROM_ARRAYS" => strict(|a| map_from_arrays(items(&a[0]), items(&a[1]))),
        "MAP_UNION" => map_union(call),
        _ => None,
    }
}

fn items(value: &Datum) -> &[Datum] {
    match value {
        Datum::Array(items) => items,
        _ => &[],
    }
}

fn entries(value: &Datum) -> &[(Datum, Datum)] {
    match value {
        Datum::Map(entries) => entries,
        _ => &[],
    }
}

fn of_items(items: impl IntoIterator<Item = Datum>) -> Datum {
    Datum::Array(items.into_iter().collect())
}

/// A map of entries in their order. A key that comes again takes the later value.
pub fn of_entries(entries: impl IntoIterator<Item = (Datum, Datum)>) -> Datum {
    let mut places: FxHashMap<Datum, usize> = FxHashMap::default();
    let mut kept: Vec<(Datum, Datum)> = Vec::new();
    for (key, value) in entries {
        match places.get(&key) {
            Some(place) => kept[*place].1 = value,
            None => {
                places.insert(key.clone(), kept.len());
                kept.push((key, value));
            }
        }
    }
    Datum::Map(kept.into())
}

fn size(value: &Datum) -> usize {
    match value {
        Datum::Array(items) => items.len(),
        other => entries(other).len(),
    }
}

/// `ARRAY[...]`: every element as one of the array's type.
fn array(call: &Call<'_>) -> Option<Body> {
    let TypeKind::Array(of) = &call.result.kind else { return None };
    let conversions = conversions(call, |_| of)?;
    Some(Arc::new(move |a| converted(a, &conversions).map(of_items)))
}

/// `MAP[...]`: keys and values by turns.
fn map(call: &Call<'_>) -> Option<Body> {
    let TypeKind::Map(key, value) = &call.result.kind else { return None };
    let conversions = conversions(call, |i| if i % 2 == 0 { key } else { value })?;
    Some(Arc::new(move |a| {
        let parts = converted(a, &conversions)?;
        Ok(of_entries(parts.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone()))))
    }))
}

/// How each argument becomes one of the type that `to` gives for its place.
fn conversions<'a>(call: &Call<'_>, to: impl Fn(usize) -> &'a DataType) -> Option<Vec<Conversion>> {
    call.args.iter().enumerate().map(|(i, a)| conversion(call, &a.ty, to(i))).collect()
}

/// The arguments, converted.
fn converted(args: &[Datum], conversions: &[Conversion]) -> Result<Vec<Datum>, EvalError> {
    args.iter().zip(conversions).map(|(arg, to)| to.apply(arg)).collect()
}

/// `a[i]`, `m[k]`, `r[i]`, `r['f']`. What is not there is NULL, unless the elements are NOT NULL: then nobody looks at the
/// flag of generated code that says so, and what is seen is the variable's first value (`CodeGenUtils.primitiveDefaultValue`).
fn item(call: &Call<'_>) -> Option<Body> {
    let [of, key] = call.args else { return None };
    // The planner reduces an access by the constant NULL.
    if key.is_null_literal() {
        return Some(Arc::new(|_| Ok(Datum::Null)));
    }
    match &of.ty.kind {
        TypeKind::Array(element) => {
            let missing = if element.nullable { Datum::Null } else { default_of(element) };
            Some(Arc::new(move |a| {
                let index = a[1].as_int().and_then(|i| usize::try_from(i - 1).ok());
                Ok(index.and_then(|i| items(&a[0]).get(i)).unwrap_or(&missing).clone())
            }))
        }
        TypeKind::Map(key_type, value) => {
            let missing = if value.nullable { Datum::Null } else { default_of(value) };
            let to_key = conversion(call, &key.ty, key_type)?;
            Some(Arc::new(move |a| {
                if a[1].is_null() {
                    return Ok(missing.clone());
                }
                let key = to_key.apply(&a[1])?;
                let found = entries(&a[0]).iter().find(|(k, _)| *k == key);
                Ok(found.map_or(&missing, |(_, value)| value).clone())
            }))
        }
        TypeKind::Row(fields) => {
            let index = match key.as_literal()? {
                Value::Int(i) => usize::try_from(*i - 1).ok()?,
                Value::String(name) => fields.iter().position(|f| f.name == **name)?,
                _ => return None,
            };
            total(move |a| match &a[0] {
                Datum::Row(row) => row.get(index).cloned().unwrap_or_default(),
                _ => Datum::Null,
            })
        }
        _ => None,
    }
}

/// What a variable of generated code holds before anything is assigned to it.
fn default_of(ty: &DataType) -> Datum {
    match ty.kind {
        TypeKind::Boolean => Datum::Boolean(false),
        TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::Int | TypeKind::BigInt => Datum::Int(-1),
        TypeKind::Float => Datum::Float(-1.0),
        TypeKind::Double => Datum::Double(-1.0),
        TypeKind::Char(_) | TypeKind::VarChar(_) => Datum::string(""),
        TypeKind::Date => Datum::Date(-1),
        TypeKind::Time(_) => Datum::Time(-1),
        TypeKind::IntervalYearMonth(_) => Datum::Months(-1),
        TypeKind::IntervalDayTime(_) => Datum::Millis(-1),
        _ => Datum::Null,
    }
}

/// The only element; NULL if there is none.
fn element(value: &Datum) -> Result<Datum, EvalError> {
    if size(value) > 1 {
        return Err(EvalError::new("Array has more than one element."));
    }
    Ok(match value {
        Datum::Array(items) => items.first().cloned().unwrap_or_default(),
        other => entries(other).first().map(|(item, _)| item.clone()).unwrap_or_default(),
    })
}

/// An array and a value that goes into it, both of the type of the result.
fn with_element(call: &Call<'_>, put: fn(Vec<Datum>, Datum) -> Vec<Datum>) -> Option<Body> {
    let TypeKind::Array(of) = &call.result.kind else { return None };
    let [array, item] = call.args else { return None };
    let (to_array, to_item) = (conversion(call, &array.ty, call.result)?, conversion(call, &item.ty, of)?);
    Some(Arc::new(move |a| {
        if a[0].is_null() {
            return Ok(Datum::Null);
        }
        let items = items(&to_array.apply(&a[0])?).to_vec();
        Ok(of_items(put(items, to_item.apply(&a[1])?)))
    }))
}

/// An array and a value that is looked for, NULL as well.
fn with_needle(call: &Call<'_>, find: fn(&[Datum], &Datum) -> Datum) -> Option<Body> {
    let [array, needle] = call.args else { return None };
    let TypeKind::Array(of) = &array.ty.kind else { return None };
    let to_item = conversion(call, &needle.ty, of)?;
    Some(Arc::new(move |a| Ok(if a[0].is_null() { Datum::Null } else { find(items(&a[0]), &to_item.apply(&a[1])?) })))
}

/// Arrays of the type of the result, none of them NULL.
fn of_arrays(call: &Call<'_>, f: fn(Vec<Vec<Datum>>) -> Vec<Datum>) -> Option<Body> {
    let conversions = conversions(call, |_| call.result)?;
    strict(move |a| {
        let arrays = converted(a, &conversions)?;
        Ok(of_items(f(arrays.iter().map(|array| items(array).to_vec()).collect())))
    })
}

fn distinct(items: impl IntoIterator<Item = Datum>) -> Vec<Datum> {
    let mut seen = FxHashSet::default();
    items.into_iter().filter(|item| seen.insert(item.clone())).collect()
}

/// The different elements of the first array that are in the second, or that are not.
fn common(mut arrays: Vec<Vec<Datum>>, wanted: bool) -> Vec<Datum> {
    let other: FxHashSet<Datum> = arrays.pop().unwrap_or_default().into_iter().collect();
    let first = arrays.pop().unwrap_or_default();
    distinct(first.into_iter().filter(|item| other.contains(item) == wanted))
}

/// ARRAY_SLICE: both ends are in it, 0 is the first element, negative numbers count from the end.
fn slice(items: &[Datum], start: i64, end: Option<i64>) -> Datum {
    let count = items.len() as i64;
    let index = |offset: i64| match offset {
        1.. => offset - 1,
        0 => 0,
        _ => count + offset,
    };
    let (start, end) = (index(start).max(0), end.map_or(count - 1, index).min(count - 1));
    if start > end {
        return of_items([]);
    }
    of_items(items[start as usize..=end as usize].iter().cloned())
}

/// ARRAY_SORT: NULL comes first when ascending and last when descending, if nothing else is said.
fn sort(args: &[Datum]) -> Datum {
    let ascending = args.get(1).and_then(Datum::as_bool).unwrap_or(true);
    let nulls_first = args.get(2).and_then(Datum::as_bool).unwrap_or(ascending);
    let (nulls, mut values): (Vec<Datum>, Vec<Datum>) = items(&args[0]).iter().cloned().partition(Datum::is_null);
    values.sort_by(|a, b| if ascending { a.cmp(b) } else { b.cmp(a) });
    let (first, second) = if nulls_first { (nulls, values) } else { (values, nulls) };
    of_items(first.into_iter().chain(second))
}

/// ARRAY_JOIN: NULL is left out, or replaced by the third argument.
fn join(args: &[Datum]) -> Datum {
    let replacement = args.get(2).and_then(Datum::as_str);
    let parts: Vec<&str> = items(&args[0]).iter().filter_map(|item| item.as_str().or(replacement)).collect();
    Datum::string(parts.join(text(args, 1)))
}

fn map_from_arrays(keys: &[Datum], values: &[Datum]) -> Result<Datum, EvalError> {
    if keys.len() != values.len() {
        return Err(EvalError::new(format!(
            "Invalid function MAP_FROM_ARRAYS call:\nThe length of the keys array {} is not equal to the length of the \
             values array {}",
            keys.len(),
            values.len()
        )));
    }
    // `MapDataForMapFromArrays` looks at no key twice.
    Ok(Datum::Map(keys.iter().cloned().zip(values.iter().cloned()).collect()))
}

/// MAP_UNION: the last map first, then what earlier ones have beside it.
fn map_union(call: &Call<'_>) -> Option<Body> {
    let conversions = conversions(call, |_| call.result)?;
    strict(move |a| {
        let mut maps = converted(a, &conversions)?;
        maps.reverse();
        let mut seen = FxHashSet::default();
        let all = maps.iter().flat_map(|map| entries(map).to_vec());
        Ok(Datum::Map(all.filter(|(key, _)| seen.insert(key.clone())).collect()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ints(items: &[i64]) -> Datum {
        of_items(items.iter().copied().map(Datum::Int))
    }

    #[test]
    fn slices_take_offsets_from_either_end() {
        let array = ints(&[1, 2, 3, 4]);
        let cut = |start, end| slice(items(&array), start, end);
        assert_eq!(cut(2, Some(3)), ints(&[2, 3]));
        assert_eq!(cut(0, Some(2)), ints(&[1, 2]));
        assert_eq!(cut(-10, Some(2)), ints(&[1, 2]));
        assert_eq!(cut(2, Some(-1)), ints(&[2, 3, 4]));
        assert_eq!(cut(2, None), ints(&[2, 3, 4]));
        for (start, end) in [(3, 2), (2, 0), (9, 10), (1, -9)] {
            assert_eq!(cut(start, Some(end)), ints(&[]), "{start} {end}");
        }
    }

    #[test]
    fn nulls_are_sorted_where_they_are_wanted() {
        let array = of_items([Datum::Int(3), Datum::Null, Datum::Int(1)]);
        let sorted = |more: &[bool]| {
            let args: Vec<Datum> =
                std::iter::once(array.clone()).chain(more.iter().copied().map(Datum::Boolean)).collect();
            items(&sort(&args)).iter().map(|i| i.as_int().unwrap_or(0)).collect::<Vec<_>>()
        };
        assert_eq!(sorted(&[]), [0, 1, 3]);
        assert_eq!(sorted(&[false]), [3, 1, 0]);
        assert_eq!(sorted(&[true, false]), [1, 3, 0]);
        assert_eq!(sorted(&[false, true]), [0, 3, 1]);
    }

    #[test]
    fn later_entries_win() {
        let (a, b) = (Datum::string("a"), Datum::string("b"));
        let map = of_entries([(a.clone(), Datum::Int(1)), (b.clone(), Datum::Int(2)), (a.clone(), Datum::Int(3))]);
        assert_eq!(entries(&map), [(a, Datum::Int(3)), (b, Datum::Int(2))]);
    }
}
