//! Comparisons of one value with constants, merged into one `SEARCH` as Calcite's `RexSimplify` does.

use rustc_hash::FxHashMap;

use super::Simplifier;
use super::compare::{compare_values, flipped};
use crate::catalog::functions::operators as op;
use crate::catalog::types::{DataType, TypeKind};
use crate::logical::rex::{Function, Origins, Rex, RexKind, Sarg, SargBound, SargRange, Value};
use std::cmp::Ordering;

/// One test of a value against constants.
struct Term {
    operand: Rex,
    sarg: Sarg,
}

/// Merges the tests of each value among the operands of an AND (`conjunction`) or OR. A merged test stands where the first
/// of its parts stood.
pub(super) fn merge(s: Simplifier, operands: Vec<Rex>, conjunction: bool) -> Vec<Rex> {
    let mut groups: FxHashMap<Rex, Vec<usize>> = FxHashMap::default();
    let terms: Vec<Option<Term>> = operands.iter().map(|o| term(o, conjunction)).collect();
    for (i, term) in terms.iter().enumerate() {
        if let Some(term) = term {
            groups.entry(term.operand.clone()).or_default().push(i);
        }
    }
    let mut replaced: Vec<Option<Rex>> = operands.into_iter().map(Some).collect();
    for (operand, members) in groups {
        // A lone IS NULL is no reason to build a Sarg.
        if members.len() < 2 {
            continue;
        }
        let mut parts = members.iter().filter_map(|i| terms[*i].as_ref()).map(|t| &t.sarg);
        let Some(first) = parts.next() else { continue };
        let merged = parts.try_fold(first.clone(), |acc, next| combine(&acc, next, conjunction));
        let Some(merged) = merged else { continue };
        let origins =
            members.iter().find_map(|i| replaced[*i].as_ref()).map_or_else(Origins::none, |r| r.origins.clone());
        for i in &members[1..] {
            replaced[*i] = None;
        }
        let nullable = operand.ty.nullable;
        let ty = DataType { kind: TypeKind::Boolean, nullable };
        replaced[members[0]] = Some(search(s, operand, merged, ty).or_at(&origins));
    }
    replaced.into_iter().flatten().collect()
}

/// An operand as a test of one value, if it is one.
fn term(rex: &Rex, conjunction: bool) -> Option<Term> {
    let RexKind::Call(Function::Builtin(def), args) = &rex.kind else { return None };
    let sarg = |ranges, null_as| Sarg { ranges, null_as };
    match (def.name, args.as_slice()) {
        ("SEARCH", [operand, set]) => match set.as_literal() {
            Some(Value::Sarg(s)) => Some(Term { operand: operand.clone(), sarg: (**s).clone() }),
            _ => None,
        },
        ("IS NULL", [operand]) if !conjunction => {
            Some(Term { operand: operand.clone(), sarg: sarg(Vec::new(), Some(true)) })
        }
        ("IS NOT NULL", [operand]) if conjunction => {
            Some(Term { operand: operand.clone(), sarg: sarg(vec![range(None, None)], Some(false)) })
        }
        ("=" | "<>" | "<" | "<=" | ">" | ">=", [a, b]) => {
            let (operand, value, name) = match (constant(a), constant(b)) {
                (None, Some(value)) => (a, value, def.name),
                (Some(value), None) => (b, value, flipped(def.name)),
                _ => return None,
            };
            let bound = |inclusive| Some(SargBound { value: value.clone(), inclusive });
            let ranges = match name {
                "=" => vec![range(bound(true), bound(true))],
                "<>" => vec![range(None, bound(false)), range(bound(false), None)],
                "<" => vec![range(None, bound(false))],
                "<=" => vec![range(None, bound(true))],
                ">" => vec![range(bound(false), None)],
                _ => vec![range(bound(true), None)],
            };
            Some(Term { operand: operand.clone(), sarg: sarg(ranges, None) })
        }
        _ => None,
    }
}

fn range(lower: Option<SargBound>, upper: Option<SargBound>) -> SargRange {
    SargRange { lower, upper }
}

/// A constant that has an order.
fn constant(rex: &Rex) -> Option<Value> {
    rex.as_literal().filter(|v| compare_values(v, v).is_some()).cloned()
}

fn combine(a: &Sarg, b: &Sarg, conjunction: bool) -> Option<Sarg> {
    let ranges = if conjunction { intersect(&a.ranges, &b.ranges)? } else { union(&a.ranges, &b.ranges)? };
    let null_as = match (a.null_as, b.null_as) {
        (x, y) if x == y => x,
        // FALSE AND unknown is FALSE, TRUE OR unknown is TRUE; the other constant changes nothing.
        (Some(x), None) | (None, Some(x)) => (x != conjunction).then_some(x),
        _ => Some(!conjunction),
    };
    Some(Sarg { ranges, null_as })
}

/// Orders lower ends: unbounded first, then by value, the inclusive one first.
fn lower_order(a: Option<&SargBound>, b: Option<&SargBound>) -> Option<Ordering> {
    Some(match (a, b) {
        (None, None) => Ordering::Equal,
        (None, _) => Ordering::Less,
        (_, None) => Ordering::Greater,
        (Some(a), Some(b)) => compare_values(&a.value, &b.value)?.then(b.inclusive.cmp(&a.inclusive)),
    })
}

/// Orders upper ends: unbounded last, then by value, the inclusive one last.
fn upper_order(a: Option<&SargBound>, b: Option<&SargBound>) -> Option<Ordering> {
    Some(match (a, b) {
        (None, None) => Ordering::Equal,
        (None, _) => Ordering::Greater,
        (_, None) => Ordering::Less,
        (Some(a), Some(b)) => compare_values(&a.value, &b.value)?.then(a.inclusive.cmp(&b.inclusive)),
    })
}

/// True if nothing lies in the range.
fn is_empty(r: &SargRange) -> Option<bool> {
    let (Some(a), Some(b)) = (&r.lower, &r.upper) else { return Some(false) };
    Some(match compare_values(&a.value, &b.value)? {
        Ordering::Less => false,
        Ordering::Equal => !(a.inclusive && b.inclusive),
        Ordering::Greater => true,
    })
}

fn intersect(a: &[SargRange], b: &[SargRange]) -> Option<Vec<SargRange>> {
    let mut all = Vec::new();
    for x in a {
        for y in b {
            let lower =
                if lower_order(x.lower.as_ref(), y.lower.as_ref())? == Ordering::Less { &y.lower } else { &x.lower };
            let upper =
                if upper_order(x.upper.as_ref(), y.upper.as_ref())? == Ordering::Less { &x.upper } else { &y.upper };
            let both = range(lower.clone(), upper.clone());
            if !is_empty(&both)? {
                all.push(both);
            }
        }
    }
    Some(all)
}

fn union(a: &[SargRange], b: &[SargRange]) -> Option<Vec<SargRange>> {
    let mut all: Vec<SargRange> = a.iter().chain(b).cloned().collect();
    // Values that cannot be compared with each other leave the set as it was written.
    let mut comparable = true;
    all.sort_by(|x, y| {
        lower_order(x.lower.as_ref(), y.lower.as_ref()).unwrap_or_else(|| {
            comparable = false;
            Ordering::Equal
        })
    });
    if !comparable {
        return None;
    }
    let mut merged: Vec<SargRange> = Vec::with_capacity(all.len());
    for next in all {
        match merged.last_mut() {
            Some(last) if touches(last, &next)? => {
                if upper_order(last.upper.as_ref(), next.upper.as_ref())? == Ordering::Less {
                    last.upper = next.upper;
                }
            }
            _ => merged.push(next),
        }
    }
    Some(merged)
}

/// True if no value lies between the end of `a` and the start of `b` (which does not start before `a`).
fn touches(a: &SargRange, b: &SargRange) -> Option<bool> {
    let (Some(end), Some(start)) = (&a.upper, &b.lower) else { return Some(true) };
    Some(match compare_values(&end.value, &start.value)? {
        Ordering::Less => false,
        Ordering::Equal => end.inclusive || start.inclusive,
        Ordering::Greater => true,
    })
}

fn complement(ranges: &[SargRange]) -> Vec<SargRange> {
    let open = |b: &SargBound| Some(SargBound { value: b.value.clone(), inclusive: !b.inclusive });
    let mut gaps = Vec::with_capacity(ranges.len() + 1);
    let mut start: Option<Option<SargBound>> = Some(None);
    for r in ranges {
        if let (Some(lower), Some(from)) = (&r.lower, start.take()) {
            gaps.push(range(from, open(lower)));
        }
        start = r.upper.as_ref().map(open);
    }
    if let Some(from) = start {
        gaps.push(range(from, None));
    }
    gaps
}

/// NOT SEARCH(x, set).
pub(super) fn negate(s: Simplifier, args: Vec<Rex>, ty: DataType) -> Rex {
    match <[Rex; 2]>::try_from(args) {
        Ok([operand, set]) => match set.as_literal() {
            Some(Value::Sarg(sarg)) => {
                let negated = Sarg { ranges: complement(&sarg.ranges), null_as: sarg.null_as.map(|b| !b) };
                search(s, operand, negated, ty)
            }
            _ => {
                let search = Rex::call(&op::SEARCH, vec![operand, set], ty.clone());
                Rex::call(&op::NOT, vec![search], ty)
            }
        },
        Err(args) => {
            let search = Rex::call(&op::SEARCH, args, ty.clone());
            Rex::call(&op::NOT, vec![search], ty)
        }
    }
}

/// `operand` in `sarg`, as a plain comparison where one says it.
pub(super) fn search(s: Simplifier, operand: Rex, mut sarg: Sarg, ty: DataType) -> Rex {
    if !operand.ty.nullable || (s.unknown_is_false && sarg.null_as == Some(false)) {
        sarg.null_as = None;
    }
    let unbounded = |r: &SargRange| r.lower.is_none() && r.upper.is_none();
    if sarg.null_as.is_none() {
        let not_null = TypeKind::Boolean.not_null();
        match sarg.ranges.as_slice() {
            [] if !operand.ty.nullable || s.unknown_is_false => return Rex::boolean(false),
            [r] if unbounded(r) && !operand.ty.nullable => return Rex::boolean(true),
            [r] if unbounded(r) && s.unknown_is_false => return Rex::call(&op::IS_NOT_NULL, vec![operand], not_null),
            [r] if !unbounded(r) => {
                if let Some((def, value)) = single(r) {
                    return comparison(def, operand, value, ty);
                }
            }
            [a, b] if a.lower.is_none() && b.upper.is_none() => {
                if let (Some(end), Some(start)) = (&a.upper, &b.lower)
                    && end.value == start.value
                    && !end.inclusive
                    && !start.inclusive
                {
                    return comparison(&op::NOT_EQUALS, operand, end.value.clone(), ty);
                }
            }
            _ => {}
        }
    } else {
        let everything = matches!(sarg.ranges.as_slice(), [r] if unbounded(r));
        let not_null = TypeKind::Boolean.not_null();
        match (sarg.null_as, everything, sarg.ranges.is_empty()) {
            (Some(true), true, _) => return Rex::boolean(true),
            (Some(true), _, true) => return Rex::call(&op::IS_NULL, vec![operand], not_null),
            (Some(false), true, _) => return Rex::call(&op::IS_NOT_NULL, vec![operand], not_null),
            (Some(false), _, true) => return Rex::boolean(false),
            _ => {}
        }
    }
    let nullable = ty.nullable && sarg.null_as.is_none();
    let set_type = operand.ty.clone().with_nullable(false);
    let set = Rex::literal(Value::Sarg(sarg.into()), set_type);
    Rex::call(&op::SEARCH, vec![operand, set], DataType { nullable, ..ty })
}

/// A range that one comparison says.
fn single(r: &SargRange) -> Option<(&'static crate::catalog::functions::FunctionDef, Value)> {
    Some(match (&r.lower, &r.upper) {
        (Some(a), Some(b)) if a.value == b.value => (&op::EQUALS, a.value.clone()),
        (Some(a), Some(b)) if compare_values(&a.value, &b.value) == Some(Ordering::Equal) => {
            (&op::EQUALS, a.value.clone())
        }
        (None, Some(b)) if b.inclusive => (&op::LESS_OR_EQUAL, b.value.clone()),
        (None, Some(b)) => (&op::LESS, b.value.clone()),
        (Some(a), None) if a.inclusive => (&op::GREATER_OR_EQUAL, a.value.clone()),
        (Some(a), None) => (&op::GREATER, a.value.clone()),
        _ => return None,
    })
}

fn comparison(def: &'static crate::catalog::functions::FunctionDef, operand: Rex, value: Value, ty: DataType) -> Rex {
    let value_type = operand.ty.clone().materialized().with_nullable(false);
    Rex::call(def, vec![operand, Rex::literal(value, value_type)], ty)
}
