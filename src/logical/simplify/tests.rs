//! Helpers that planners use, over expressions built by hand.

use super::*;
use crate::catalog::types::DataType;

fn int() -> DataType {
    TypeKind::Int.nullable()
}

fn column(i: usize) -> Rex {
    Rex::input(i, int())
}

fn number(n: i64) -> Rex {
    Rex::literal(Value::Int(n), TypeKind::Int.not_null())
}

fn call(def: &'static FunctionDef, args: Vec<Rex>) -> Rex {
    Rex::call(def, args, TypeKind::Boolean.nullable())
}

fn range(condition: Rex) -> (i64, Option<i64>, usize) {
    let range = rank_range(conjuncts(simplify_condition(condition)), 0);
    (range.start, range.end, range.rest.len())
}

#[test]
fn rank_bounds_merge_however_they_are_written() {
    let less = |n| call(&op::LESS, vec![column(0), number(n)]);
    let five = call(&op::LESS_OR_EQUAL, vec![column(0), number(5)]);
    assert_eq!(range(five.clone()), (1, Some(5), 0));
    assert_eq!(range(less(6)), (1, Some(5), 0));
    assert_eq!(range(call(&op::GREATER_OR_EQUAL, vec![number(5), column(0)])), (1, Some(5), 0));
    assert_eq!(range(call(&op::NOT, vec![call(&op::GREATER, vec![column(0), number(5)])])), (1, Some(5), 0));
    let sum = Rex::call(&op::PLUS, vec![number(2), number(3)], TypeKind::Int.not_null());
    assert_eq!(range(call(&op::LESS_OR_EQUAL, vec![column(0), sum])), (1, Some(5), 0));
    let wide = Rex::cast(column(0), TypeKind::BigInt.nullable());
    assert_eq!(range(call(&op::LESS_OR_EQUAL, vec![wide, number(5)])), (1, Some(5), 0));
    assert_eq!(range(call(&op::EQUALS, vec![column(0), number(2)])), (2, Some(2), 0));
    let above_one = call(&op::GREATER, vec![column(0), number(1)]);
    assert_eq!(range(call(&op::AND, vec![above_one.clone(), less(4)])), (2, Some(3), 0));
    // Several conditions, one of another column.
    let other = call(&op::GREATER, vec![column(1), number(100)]);
    assert_eq!(range(call(&op::AND, vec![less(4), other, five])), (1, Some(3), 1));
    // No plain range.
    let either = call(
        &op::OR,
        vec![call(&op::EQUALS, vec![column(0), number(1)]), call(&op::EQUALS, vec![column(0), number(3)])],
    );
    assert_eq!(range(either), (1, None, 1));
    assert_eq!(range(above_one), (2, None, 0));
    assert_eq!(range(call(&op::NOT_EQUALS, vec![column(0), number(1)])), (1, None, 1));
    let half = Rex::literal(Value::Decimal { unscaled: 25, scale: 1 }, TypeKind::Decimal(2, 1).not_null());
    // Flink reads the digits of 2.5 and forgets the point.
    assert_eq!(range(call(&op::LESS, vec![column(0), half])), (1, Some(24), 0));
    let double = Rex::literal(Value::Double(2.5_f64.to_bits()), TypeKind::Double.not_null());
    let refused = rank_range(vec![call(&op::LESS, vec![column(0), double])], 0);
    assert!(refused.inexact.is_some() && refused.bounds.is_empty());
    let narrow = Rex::cast(column(0), TypeKind::SmallInt.nullable());
    assert_eq!(range(call(&op::LESS, vec![narrow, number(5)])), (1, None, 1));
}

#[test]
fn canonical_forms_forget_the_spelling() {
    let same = |a: Rex, b: Rex| assert_eq!(canonical(&simplify_condition(a)), canonical(&simplify_condition(b)));
    same(call(&op::LESS, vec![number(10), column(0)]), call(&op::GREATER, vec![column(0), number(10)]));
    same(call(&op::LESS, vec![column(1), column(0)]), call(&op::GREATER, vec![column(0), column(1)]));
    same(call(&op::EQUALS, vec![column(1), column(0)]), call(&op::EQUALS, vec![column(0), column(1)]));
    let (a, b) = (call(&op::GREATER, vec![column(0), number(1)]), call(&op::LESS, vec![column(1), number(2)]));
    same(call(&op::AND, vec![a.clone(), b.clone()]), call(&op::AND, vec![b, a]));
    let price = || Rex::input(0, TypeKind::Double.nullable());
    let double = Rex::literal(Value::Double(1.5_f64.to_bits()), TypeKind::Double.not_null());
    let decimal = Rex::literal(Value::Decimal { unscaled: 150, scale: 2 }, TypeKind::Double.not_null());
    same(call(&op::GREATER, vec![price(), double]), call(&op::GREATER, vec![price(), decimal]));
}

#[test]
fn conditions_split_and_join() {
    let (a, b) = (call(&op::GREATER, vec![column(0), number(1)]), call(&op::LESS, vec![column(1), number(2)]));
    let both = and_all(vec![a.clone(), b.clone()]);
    assert_eq!(both.map(conjuncts), Some(vec![a, b]));
    assert_eq!(and_all(Vec::new()), None);
    assert!(is_always_true(&simplify(call(&op::LESS, vec![number(1), number(2)]))));
    assert!(is_always_false(&simplify_condition(call(&op::LESS, vec![column(0), Rex::null(int())]))));
    assert_eq!(as_i64_constant(&Rex::cast(number(7), TypeKind::BigInt.nullable())), Some(7));
}
