//! Operators: arithmetic, comparison, logic, membership.

use std::sync::Arc;

use super::{MAX_DEPTH, MAX_LIST, Resolver, Translator, apply, argument, cast, no_bare_null, too_deep};
use crate::catalog::coercion;
use crate::catalog::functions::operators as op;
use crate::catalog::functions::{FunctionDef, sql_name};
use crate::catalog::types::{DataType, Field, TypeKind};
use crate::logical::rex::{Rex, RexKind, Value};
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, IsTest, Literal, UnaryOp};

impl Translator<'_> {
    pub(super) fn unary(&mut self, op: UnaryOp, operand: &Expr, span: Span, r: &mut dyn Resolver) -> PlanResult<Rex> {
        // The smallest BIGINT: its digits alone do not fit.
        if let (UnaryOp::Minus, ExprKind::Literal(Literal::Number(text))) = (op, &operand.kind)
            && text == "9223372036854775808"
        {
            return Ok(Rex::literal(Value::Int(i64::MIN), TypeKind::BigInt.not_null()).at(span));
        }
        let rex = self.expr(operand, r)?;
        no_bare_null(&rex, operand.span)?;
        // Signs before digits are part of the literal, which has its type from its value.
        if op == UnaryOp::Minus
            && is_number(operand)
            && let Some(value) = rex.as_literal()
        {
            let negative = match value {
                Value::Int(n) => n.checked_neg().map(|n| {
                    let kind = if i32::try_from(n).is_ok() { TypeKind::Int } else { TypeKind::BigInt };
                    (Value::Int(n), kind.not_null())
                }),
                Value::Decimal { unscaled, scale } => {
                    Some((Value::Decimal { unscaled: -unscaled, scale: *scale }, rex.ty.clone()))
                }
                Value::Double(bits) => Some((Value::Double((-f64::from_bits(*bits)).to_bits()), rex.ty.clone())),
                _ => None,
            };
            if let Some((value, ty)) = negative {
                return Ok(Rex::literal(value, ty).at(span));
            }
        }
        match op {
            UnaryOp::Plus => {
                // Checked as a number, then dropped.
                apply(&op::NEGATE, vec![rex.clone()], span)?;
                Ok(rex)
            }
            UnaryOp::Minus => apply(&op::NEGATE, vec![rex], span),
            UnaryOp::Not => apply(&op::NOT, vec![rex], span),
        }
    }

    /// Binary operators. The left spine is walked without recursion: chains of thousands of AND, OR and `||` are usual in
    /// generated SQL.
    pub(super) fn binary(&mut self, expr: &Expr, r: &mut dyn Resolver) -> PlanResult<Rex> {
        let mut spine: Vec<(BinaryOp, &Expr, Span)> = Vec::new();
        let mut leftmost = expr;
        let mut levels = 0;
        while let ExprKind::Binary(left, op, right) = &leftmost.kind {
            // Equal neighbours of AND and OR become one call with many operands, no matter how many.
            let flat = matches!(op, BinaryOp::And | BinaryOp::Or) && spine.last().is_some_and(|(o, ..)| o == op);
            levels += usize::from(!flat);
            spine.push((*op, right, leftmost.span));
            leftmost = left;
        }
        if self.depth + levels > MAX_DEPTH {
            return Err(too_deep(expr.span));
        }
        self.depth += levels;
        let result = self.fold_spine(leftmost, spine, r);
        self.depth -= levels;
        result
    }

    fn fold_spine(
        &mut self,
        leftmost: &Expr,
        spine: Vec<(BinaryOp, &Expr, Span)>,
        r: &mut dyn Resolver,
    ) -> PlanResult<Rex> {
        let mut left = self.expr(leftmost, r)?;
        for (op, right, span) in spine.into_iter().rev() {
            let right = self.expr(right, r)?;
            left = binary(op, left, right, span)?;
        }
        Ok(left)
    }

    pub(super) fn is_test(
        &mut self,
        operand: &Expr,
        test: IsTest,
        negated: bool,
        span: Span,
        r: &mut dyn Resolver,
    ) -> PlanResult<Rex> {
        let mut rex = self.expr(operand, r)?;
        if rex.ty.kind == TypeKind::Null {
            rex.ty = TypeKind::Boolean.nullable();
        }
        let def = match (test, negated) {
            (IsTest::Null | IsTest::Unknown, false) => &op::IS_NULL,
            (IsTest::Null | IsTest::Unknown, true) => &op::IS_NOT_NULL,
            (IsTest::True, false) => &op::IS_TRUE,
            (IsTest::True, true) => &op::IS_NOT_TRUE,
            (IsTest::False, false) => &op::IS_FALSE,
            (IsTest::False, true) => &op::IS_NOT_FALSE,
        };
        apply(def, vec![rex], span)
    }

    /// `a IS DISTINCT FROM b`, in the forms that Calcite's `RelOptUtil.isDistinctFrom` gives.
    pub(super) fn is_distinct(
        &mut self,
        left: &Expr,
        right: &Expr,
        negated: bool,
        span: Span,
        r: &mut dyn Resolver,
    ) -> PlanResult<Rex> {
        let (a, b) = (self.expr(left, r)?, self.expr(right, r)?);
        let null = |rex: Rex| {
            let def = if negated { &op::IS_NULL } else { &op::IS_NOT_NULL };
            Rex::call(def, vec![rex], TypeKind::Boolean.not_null()).at(span)
        };
        match (a.is_null_literal(), b.is_null_literal()) {
            (true, _) => return Ok(null(b)),
            (_, true) => return Ok(null(a)),
            _ => {}
        }
        check_comparable(&op::EQUALS, &a, &b, span)?;
        let not_null = TypeKind::Boolean.not_null();
        let nullable = a.ty.nullable || b.ty.nullable;
        let both_nullable = a.ty.nullable && b.ty.nullable;
        let equals =
            Rex::call(&op::EQUALS, vec![a.clone(), b.clone()], DataType { kind: TypeKind::Boolean, nullable }).at(span);
        let test = |def, rex: Rex| Rex::call(def, vec![rex], TypeKind::Boolean.not_null()).at(span);
        Ok(match (negated, both_nullable) {
            (true, true) => {
                let nulls = vec![test(&op::IS_NULL, a), test(&op::IS_NULL, b)];
                let nulls = Rex::call(&op::AND, nulls, not_null.clone()).at(span);
                Rex::call(&op::OR, vec![nulls, equals], TypeKind::Boolean.nullable()).at(span)
            }
            (true, false) => test(&op::IS_TRUE, equals),
            (false, true) => {
                let some = vec![test(&op::IS_NOT_NULL, a), test(&op::IS_NOT_NULL, b)];
                let some = Rex::call(&op::OR, some, not_null.clone()).at(span);
                Rex::call(&op::AND, vec![some, test(&op::IS_NOT_TRUE, equals)], not_null).at(span)
            }
            (false, false) => test(&op::IS_NOT_TRUE, equals),
        })
    }

    /// `x BETWEEN a AND b` is `x >= a AND x <= b`; SYMMETRIC adds the other order.
    pub(super) fn between(
        &mut self,
        operand: &Expr,
        (low, high): (&Expr, &Expr),
        negated: bool,
        symmetric: bool,
        span: Span,
        r: &mut dyn Resolver,
    ) -> PlanResult<Rex> {
        let x = self.expr(operand, r)?;
        let (a, b) = (self.expr(low, r)?, self.expr(high, r)?);
        let range = |x: Rex, a: Rex, b: Rex| -> PlanResult<Rex> {
            let lower = binary(BinaryOp::GtEq, x.clone(), a, span)?;
            let upper = binary(BinaryOp::LtEq, x, b, span)?;
            binary(BinaryOp::And, lower, upper, span)
        };
        let inside = if symmetric {
            let straight = range(x.clone(), a.clone(), b.clone())?;
            binary(BinaryOp::Or, straight, range(x, b, a)?, span)?
        } else {
            range(x, a, b)?
        };
        if negated { apply(&op::NOT, vec![inside], span) } else { Ok(inside) }
    }

    /// `x IN (a, b)` is `x = a OR x = b`, each item cast to the type of `x` (Flink does so even where it cuts digits).
    pub(super) fn in_list(
        &mut self,
        operand: &Expr,
        list: &[Expr],
        negated: bool,
        span: Span,
        r: &mut dyn Resolver,
    ) -> PlanResult<Rex> {
        if list.len() > MAX_LIST {
            return Err(PlanError::rejected(span, format!("an IN list of more than {MAX_LIST} values is too large"))
                .label(format!("{} values", list.len()))
                .help("join with a table that holds the values")
                .into());
        }
        let x = self.expr(operand, r)?;
        let mut tests = Vec::with_capacity(list.len());
        for item in list {
            let value = self.expr(item, r)?;
            check_comparable(&op::EQUALS, &x, &value, item.span)?;
            tests.push(if let (Some(a), Some(b)) = (x.as_call("ROW"), value.as_call("ROW")) {
                row_equals(a, b, item.span)?
            } else {
                let both_text = x.ty.is_character() && value.ty.is_character();
                let value = if both_text { value } else { cast::implicit(value, &x.ty.clone().materialized().kind) };
                let nullable = x.ty.nullable || value.ty.nullable;
                let ty = DataType { kind: TypeKind::Boolean, nullable };
                Rex::call(&op::EQUALS, vec![x.clone(), value], ty).at(item.span)
            });
        }
        let any = match tests.len() {
            1 => tests.remove(0),
            _ => {
                let nullable = tests.iter().any(|t| t.ty.nullable);
                Rex::call(&op::OR, tests, DataType { kind: TypeKind::Boolean, nullable }).at(span)
            }
        };
        if negated { apply(&op::NOT, vec![any], span) } else { Ok(any) }
    }

    pub(super) fn like(
        &mut self,
        operand: &Expr,
        pattern: &Expr,
        escape: Option<&str>,
        (negated, similar): (bool, bool),
        span: Span,
        r: &mut dyn Resolver,
    ) -> PlanResult<Rex> {
        let mut args = vec![self.expr(operand, r)?, self.expr(pattern, r)?];
        if let (false, Some(escape), Some(Value::String(text))) = (similar, escape, args[1].as_literal()) {
            check_escapes(text, escape, pattern.span)?;
        }
        if let Some(escape) = escape {
            let length = escape.encode_utf16().count() as u32;
            args.push(Rex::literal(Value::String(escape.into()), TypeKind::Char(length).not_null()).at(span));
        }
        let like = apply(if similar { &op::SIMILAR_TO } else { &op::LIKE }, args, span)?;
        if negated { apply(&op::NOT, vec![like], span) } else { Ok(like) }
    }

    pub(super) fn array(&mut self, items: &[Expr], span: Span, r: &mut dyn Resolver) -> PlanResult<Rex> {
        let args = self.list(items, r)?;
        let element = element_type(&args, span)?;
        let args = args.into_iter().map(|a| if a.is_null_literal() { cast::implicit(a, &element.kind) } else { a });
        Ok(Rex::call(&op::ARRAY, args.collect(), TypeKind::Array(Arc::new(element)).not_null()).at(span))
    }

    pub(super) fn map(&mut self, items: &[Expr], span: Span, r: &mut dyn Resolver) -> PlanResult<Rex> {
        let args = self.list(items, r)?;
        if !args.len().is_multiple_of(2) || args.is_empty() {
            return Err(PlanError::rejected(span, "Map requires an even number of arguments, at least two")
                .label(format!("{} values", args.len()))
                .help("write MAP[key, value, key, value]")
                .into());
        }
        let part = |odd: usize| args.iter().skip(odd).step_by(2).cloned().collect::<Vec<_>>();
        let key = element_type(&part(0), span)?;
        // Values that are all NULL take the type of the keys.
        let values = part(1);
        let value = if values.iter().all(|v| v.is_null_literal() && v.ty.kind == TypeKind::Null) {
            key.clone().with_nullable(true)
        } else {
            element_type(&values, span)?
        };
        Ok(Rex::call(&op::MAP, args, TypeKind::Map(Arc::new(key), Arc::new(value)).not_null()).at(span))
    }

    /// `a[i]`; a constant index below 1 is refused.
    pub(super) fn item(&mut self, args: Vec<Rex>, index_span: Span, span: Span) -> PlanResult<Rex> {
        if let (TypeKind::Array(_), Some(i)) = (&args[0].ty.kind, constant_index(&args[1]))
            && i < 1
        {
            let message = format!("Array element access needs an index starting at 1 but was {i}");
            return Err(PlanError::rejected(index_span, message)
                .label("arrays start at 1")
                .help("write 1 for the first element")
                .into());
        }
        let nullable = args[0].ty.nullable;
        let rex = apply(&op::ITEM, args, span)?;
        debug_assert!(rex.ty.nullable || !nullable);
        Ok(rex)
    }
}

/// What follows the escape character of a constant LIKE pattern has to be a wildcard or itself (`SqlLikeUtils`).
fn check_escapes(pattern: &str, escape: &str, span: Span) -> PlanResult<()> {
    let refuse = |message: String| {
        let error = PlanError::rejected(span, message).label("this pattern");
        Err(error.help("escape `%`, `_` and the escape character only").into())
    };
    let mut chars = escape.chars();
    let (Some(escape), None) = (chars.next(), chars.next()) else {
        return refuse(format!("Invalid escape character '{escape}'"));
    };
    let mut chars = pattern.chars().enumerate();
    while let Some((at, c)) = chars.next() {
        if c == escape && !chars.next().is_some_and(|(_, next)| next == escape || matches!(next, '%' | '_')) {
            return refuse(format!("Invalid escape sequence '{pattern}', {at}"));
        }
    }
    Ok(())
}

/// A number as it is written, with signs.
fn is_number(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal(Literal::Number(_)) => true,
        ExprKind::Unary(UnaryOp::Minus | UnaryOp::Plus, operand) => is_number(operand),
        _ => false,
    }
}

fn constant_index(rex: &Rex) -> Option<i64> {
    match &rex.kind {
        RexKind::Literal(Value::Int(i)) => Some(*i),
        _ => rex.as_call("-").filter(|args| args.len() == 1).and_then(|args| constant_index(&args[0])).map(|i| -i),
    }
}

fn element_type(items: &[Rex], span: Span) -> PlanResult<DataType> {
    let ty = coercion::least_restrictive_of(items.iter().map(|a| &a.ty)).filter(|t| t.kind != TypeKind::Null);
    ty.map(DataType::materialized).ok_or_else(|| {
        PlanError::rejected(span, "Parameters must be of the same type")
            .label("no common type")
            .help("cast the values to one type")
            .into()
    })
}

/// `ROW(a, b)`: fields are named `EXPR$0`, `EXPR$1`, ...
pub(super) fn row(args: Vec<Rex>) -> Rex {
    let fields: Vec<Field> = args
        .iter()
        .enumerate()
        .map(|(i, a)| Field { name: format!("EXPR${i}"), ty: a.ty.clone().materialized() })
        .collect();
    Rex::call(&op::ROW, args, TypeKind::Row(fields.into()).not_null())
}

/// `a op b` for two translated operands.
pub(super) fn binary(op: BinaryOp, a: Rex, b: Rex, span: Span) -> PlanResult<Rex> {
    let def = match op {
        BinaryOp::And | BinaryOp::Or => return logic(op, a, b, span),
        BinaryOp::Eq | BinaryOp::NotEq | BinaryOp::Lt | BinaryOp::LtEq | BinaryOp::Gt | BinaryOp::GtEq => {
            return comparison(comparison_def(op), a, b, span);
        }
        BinaryOp::Plus => &op::PLUS,
        BinaryOp::Minus => &op::MINUS,
        BinaryOp::Multiply => &op::TIMES,
        BinaryOp::Divide => &op::DIVIDE,
        BinaryOp::Modulo => &op::MOD,
        BinaryOp::Concat => &op::CONCAT,
    };
    for operand in [&a, &b] {
        no_bare_null(operand, operand.origins.first().unwrap_or(span))?;
    }
    // INTERVAL + datetime is turned round.
    if op == BinaryOp::Plus && a.ty.is_interval() && b.ty.is_datetime() {
        return apply(def, vec![b, a], span);
    }
    apply(def, vec![a, b], span)
}

fn comparison_def(op: BinaryOp) -> &'static FunctionDef {
    match op {
        BinaryOp::NotEq => &op::NOT_EQUALS,
        BinaryOp::Lt => &op::LESS,
        BinaryOp::LtEq => &op::LESS_OR_EQUAL,
        BinaryOp::Gt => &op::GREATER,
        BinaryOp::GtEq => &op::GREATER_OR_EQUAL,
        _ => &op::EQUALS,
    }
}

/// AND and OR, flattened.
fn logic(op: BinaryOp, a: Rex, b: Rex, span: Span) -> PlanResult<Rex> {
    let def: &'static FunctionDef = if op == BinaryOp::And { &op::AND } else { &op::OR };
    for operand in [&a, &b] {
        no_bare_null(operand, operand.origins.first().unwrap_or(span))?;
        if !matches!(operand.ty.kind, TypeKind::Boolean | TypeKind::Unknown) {
            let types = [argument(&a), argument(&b)];
            return Err(PlanError::rejected(span, def.mismatch(&types))
                .label(format!("{} {} {}", a.ty.kind, def.name, b.ty.kind))
                .help("both sides must be conditions")
                .into());
        }
    }
    let nullable = a.ty.nullable || b.ty.nullable;
    let mut args = match a.kind {
        RexKind::Call(ref f, _) if f.name() == def.name => match a.kind {
            RexKind::Call(_, args) => args,
            _ => Vec::new(),
        },
        _ => vec![a],
    };
    match b.kind {
        RexKind::Call(ref f, _) if f.name() == def.name => {
            if let RexKind::Call(_, more) = b.kind {
                args.extend(more);
            }
        }
        _ => args.push(b),
    }
    Ok(Rex::call(def, args, DataType { kind: TypeKind::Boolean, nullable }).at(span))
}

/// A comparison. `=` and `<>` bring both sides to their common type, the others do not (`StandardConvertletTable`).
pub(super) fn comparison(def: &'static FunctionDef, a: Rex, b: Rex, span: Span) -> PlanResult<Rex> {
    if let (Some(x), Some(y)) = (a.as_call("ROW"), b.as_call("ROW"))
        && def.name == "="
    {
        return row_equals(x, y, span);
    }
    let (mut a, mut b) = coerce_text(def, a, b, span)?;
    check_comparable(def, &a, &b, span)?;
    let other_kind = |x: &Rex| x.ty.clone().materialized().kind;
    if a.ty.kind == TypeKind::Null {
        a = cast::implicit(a, &other_kind(&b));
    } else if b.ty.kind == TypeKind::Null {
        b = cast::implicit(b, &other_kind(&a));
    }
    if matches!(def.name, "=" | "<>") {
        let (x, y) = (a.ty.clone().materialized(), b.ty.clone().materialized());
        if !x.same_kind(&y)
            && let Some(common) = coercion::least_restrictive(&x, &y)
        {
            a = if x.same_kind(&common) { a } else { cast::implicit(a, &common.kind) };
            b = if y.same_kind(&common) { b } else { cast::implicit(b, &common.kind) };
        }
    }
    let nullable = a.ty.nullable || b.ty.nullable;
    Ok(Rex::call(def, vec![a, b], DataType { kind: TypeKind::Boolean, nullable }).at(span))
}

/// `(a, b) = (1, 2)` is `a = 1 AND b = 2`.
fn row_equals(x: &[Rex], y: &[Rex], span: Span) -> PlanResult<Rex> {
    if x.len() != y.len() || x.is_empty() {
        return Err(PlanError::rejected(span, "Unequal number of entries in ROW expressions")
            .label(format!("{} against {} values", x.len(), y.len()))
            .help("compare rows of equal length")
            .into());
    }
    let mut parts = x.iter().zip(y).map(|(a, b)| comparison(&op::EQUALS, a.clone(), b.clone(), span));
    let first = parts.next().unwrap_or_else(|| Ok(Rex::boolean(true)))?;
    parts.try_fold(first, |acc, next| logic(BinaryOp::And, acc, next?, span))
}

/// Text beside a datetime is read as one; text beside a number becomes BIGINT with it, or DECIMAL; `=` refuses that.
fn coerce_text(def: &FunctionDef, a: Rex, b: Rex, span: Span) -> PlanResult<(Rex, Rex)> {
    let text = |r: &Rex| r.ty.is_character();
    let datetime = |r: &Rex| r.ty.is_datetime();
    if text(&a) && datetime(&b) {
        let kind = comparison_datetime(&b.ty);
        return Ok((cast::implicit(a, &kind), b));
    }
    if datetime(&a) && text(&b) {
        let kind = comparison_datetime(&a.ty);
        return Ok((a, cast::implicit(b, &kind)));
    }
    if (text(&a) && b.ty.is_numeric()) || (a.ty.is_numeric() && text(&b)) {
        if matches!(def.name, "=" | "<>") {
            let family = |r: &Rex| if text(r) { "CHAR".to_owned() } else { sql_name(&r.ty) };
            let message =
                format!("implicit type conversion between {} and {} is not supported now", family(&a), family(&b));
            return Err(PlanError::rejected(span, message)
                .label(format!("{} {} {}", a.ty.kind, def.name, b.ty.kind))
                .help("cast one side: CAST(... AS STRING) or CAST(... AS BIGINT)")
                .into());
        }
        let number = if text(&a) { &b.ty } else { &a.ty };
        let kind = if number.is_integer() { TypeKind::BigInt } else { number.kind.clone() };
        return Ok((cast::implicit(a, &kind), cast::implicit(b, &kind)));
    }
    Ok((a, b))
}

fn comparison_datetime(ty: &DataType) -> TypeKind {
    ty.clone().materialized().kind
}

/// Refuses comparisons of kinds that cannot be compared.
pub(super) fn check_comparable(def: &FunctionDef, a: &Rex, b: &Rex, span: Span) -> PlanResult<()> {
    use TypeKind::*;
    let family = |ty: &DataType| match ty.kind {
        Boolean => 1,
        Char(_) | VarChar(_) => 2,
        Binary(_) | VarBinary(_) => 3,
        Date => 4,
        Time(_) => 5,
        Timestamp(..) | TimestampLtz(..) => 6,
        IntervalDayTime(_) => 7,
        IntervalYearMonth(_) => 8,
        Array(_) => 9,
        Multiset(_) => 10,
        Map(..) => 11,
        Row(_) => 12,
        Unknown | Null | Other(_) => 0,
        _ => 13,
    };
    let (x, y) = (family(&a.ty), family(&b.ty));
    let text_with = |other: i32| matches!(other, 1 | 4 | 5 | 6 | 13);
    let fits = x == y || x == 0 || y == 0 || (x == 2 && text_with(y)) || (y == 2 && text_with(x));
    if fits {
        return Ok(());
    }
    let message = format!(
        "Cannot apply '{0}' to arguments of type '<{1}> {0} <{2}>'. Supported form(s): '<COMPARABLE_TYPE> {0} <COMPARABLE_TYPE>'",
        def.name,
        sql_name(&a.ty),
        sql_name(&b.ty)
    );
    Err(PlanError::rejected(span, message)
        .label(format!("{} {} {}", a.ty.kind, def.name, b.ty.kind))
        .help("cast one side to the type of the other")
        .into())
}
