//! sqlparser's operators to our tree.

use sqlparser::ast::{BinaryOperator, Expr as SqlExpr};

use super::ast::{BinaryOp, Expr, ExprKind, IsTest, Literal, SyntaxError};
use super::context::{Context, Operand};
use super::parser::Parsed;
use crate::source::Span;

/// Trees higher than this are refused, so that everything after us may recurse.
const MAX_HEIGHT: u32 = 600;
/// Chains of AND or OR longer than this become balanced trees. Both are associative, so the meaning stays.
const BALANCE_FROM: usize = 32;

/// An operator with everything but its left operand.
#[expect(clippy::large_enum_variant, reason = "short-lived, one per operator: boxing costs more than moving")]
enum Step {
    Binary(BinaryOperator, SqlExpr),
    Is(IsTest, bool),
    IsDistinct(SqlExpr, bool),
    Between(SqlExpr, SqlExpr, bool),
    Like { pattern: SqlExpr, escape: Option<Box<SqlExpr>>, negated: bool, similar: bool },
    AtTimeZone(SqlExpr),
}

impl Context {
    /// Converts a tree. Its left branch, which is as long as a chain of operators, is walked in a loop.
    pub(super) fn convert(&self, sql: SqlExpr) -> Parsed<Operand> {
        let mut steps = Vec::new();
        let mut rest = sql;
        let mut acc = loop {
            let (left, step) = match rest {
                SqlExpr::Value(stub) => break self.take_operand(stub.span.start.line as usize)?,
                SqlExpr::BinaryOp { left, op, right } => (left, Step::Binary(op, *right)),
                SqlExpr::IsNull(e) => (e, Step::Is(IsTest::Null, false)),
                SqlExpr::IsNotNull(e) => (e, Step::Is(IsTest::Null, true)),
                SqlExpr::IsTrue(e) => (e, Step::Is(IsTest::True, false)),
                SqlExpr::IsNotTrue(e) => (e, Step::Is(IsTest::True, true)),
                SqlExpr::IsFalse(e) => (e, Step::Is(IsTest::False, false)),
                SqlExpr::IsNotFalse(e) => (e, Step::Is(IsTest::False, true)),
                SqlExpr::IsUnknown(e) => (e, Step::Is(IsTest::Unknown, false)),
                SqlExpr::IsNotUnknown(e) => (e, Step::Is(IsTest::Unknown, true)),
                SqlExpr::IsDistinctFrom(e, right) => (e, Step::IsDistinct(*right, false)),
                SqlExpr::IsNotDistinctFrom(e, right) => (e, Step::IsDistinct(*right, true)),
                SqlExpr::Between { expr, negated, low, high } => (expr, Step::Between(*low, *high, negated)),
                SqlExpr::Like { negated, expr, pattern, escape_char: escape, .. } => {
                    (expr, Step::Like { pattern: *pattern, escape, negated, similar: false })
                }
                SqlExpr::SimilarTo { negated, expr, pattern, escape_char: escape } => {
                    (expr, Step::Like { pattern: *pattern, escape, negated, similar: true })
                }
                SqlExpr::AtTimeZone { timestamp, time_zone } => (timestamp, Step::AtTimeZone(*time_zone)),
                _ => return Err(internal(Span::default())),
            };
            steps.push(step);
            rest = *left;
        };
        let mut steps = steps.into_iter().rev().peekable();
        while let Some(step) = steps.next() {
            acc = match step {
                Step::Binary(sql_op, right) => {
                    let op = self.operator(&sql_op, acc.expr.span)?;
                    let mut run = vec![acc, self.convert(right)?];
                    if matches!(op, BinaryOp::And | BinaryOp::Or) {
                        let same = |next: &Step| matches!(next, Step::Binary(op, _) if *op == sql_op);
                        while let Some(Step::Binary(_, right)) = steps.next_if(same) {
                            run.push(self.convert(right)?);
                        }
                    }
                    self.associate(run, op)?
                }
                Step::Is(test, negated) => self.is(acc, test, negated)?,
                Step::IsDistinct(right, negated) => self.is_distinct(acc, self.convert(right)?, negated)?,
                Step::Between(low, high, negated) => {
                    self.between(acc, self.convert(low)?, self.convert(high)?, negated)?
                }
                Step::Like { pattern, escape, negated, similar } => {
                    self.like(acc, self.convert(pattern)?, escape, negated, similar)?
                }
                Step::AtTimeZone(zone) => self.at_time_zone(acc, self.convert(zone)?)?,
            };
        }
        Ok(acc)
    }

    /// Takes the operand whose stub has this number.
    fn take_operand(&self, number: usize) -> Parsed<Operand> {
        self.operands.borrow_mut().get_mut(number).and_then(Option::take).ok_or_else(|| internal(Span::default()))
    }

    /// Joins operands with AND or OR: leftmost first, or balanced if they are many.
    fn associate(&self, mut run: Vec<Operand>, op: BinaryOp) -> Parsed<Operand> {
        while run.len() > BALANCE_FROM {
            let mut pairs = Vec::with_capacity(run.len().div_ceil(2));
            let mut operands = run.into_iter();
            while let Some(left) = operands.next() {
                pairs.push(match operands.next() {
                    Some(right) => self.binary(left, op, right)?,
                    None => left,
                });
            }
            run = pairs;
        }
        let mut operands = run.into_iter();
        let first = operands.next().ok_or_else(|| internal(Span::default()))?;
        operands.try_fold(first, |left, right| self.binary(left, op, right))
    }

    fn binary(&self, left: Operand, op: BinaryOp, right: Operand) -> Parsed<Operand> {
        let span = left.expr.span.to(right.expr.span);
        let (end, height) = (right.end, left.height.max(right.height) + 1);
        operand(ExprKind::Binary(Box::new(left.expr), op, Box::new(right.expr)), span, end, height)
    }

    fn operator(&self, op: &BinaryOperator, left: Span) -> Parsed<BinaryOp> {
        Ok(match op {
            BinaryOperator::Or => BinaryOp::Or,
            BinaryOperator::And => BinaryOp::And,
            BinaryOperator::Eq => BinaryOp::Eq,
            BinaryOperator::NotEq => BinaryOp::NotEq,
            BinaryOperator::Lt => BinaryOp::Lt,
            BinaryOperator::LtEq => BinaryOp::LtEq,
            BinaryOperator::Gt => BinaryOp::Gt,
            BinaryOperator::GtEq => BinaryOp::GtEq,
            BinaryOperator::Plus => BinaryOp::Plus,
            BinaryOperator::Minus => BinaryOp::Minus,
            BinaryOperator::Multiply => BinaryOp::Multiply,
            BinaryOperator::Divide => BinaryOp::Divide,
            BinaryOperator::Modulo => BinaryOp::Modulo,
            BinaryOperator::StringConcat => BinaryOp::Concat,
            _ => return Err(internal(left)),
        })
    }

    fn is(&self, inner: Operand, test: IsTest, negated: bool) -> Parsed<Operand> {
        // The words: IS [NOT] TEST.
        let end = inner.end + 2 + usize::from(negated);
        let last = self.token(end - 1);
        let span = inner.expr.span.to(self.span_of(last, last));
        operand(ExprKind::Is { expr: Box::new(inner.expr), test, negated }, span, end, inner.height + 1)
    }

    fn is_distinct(&self, left: Operand, right: Operand, negated: bool) -> Parsed<Operand> {
        let span = left.expr.span.to(right.expr.span);
        let height = left.height.max(right.height) + 1;
        let kind = ExprKind::IsDistinctFrom { left: Box::new(left.expr), right: Box::new(right.expr), negated };
        operand(kind, span, right.end, height)
    }

    fn between(&self, expr: Operand, low: Operand, high: Operand, negated: bool) -> Parsed<Operand> {
        let span = expr.expr.span.to(high.expr.span);
        let height = expr.height.max(low.height).max(high.height) + 1;
        let (symmetric, low, end) = (low.symmetric, Box::new(low.expr), high.end);
        let (expr, high) = (Box::new(expr.expr), Box::new(high.expr));
        operand(ExprKind::Between { expr, negated, symmetric, low, high }, span, end, height)
    }

    fn at_time_zone(&self, left: Operand, right: Operand) -> Parsed<Operand> {
        let span = left.expr.span.to(right.expr.span);
        let height = left.height.max(right.height) + 1;
        operand(ExprKind::AtTimeZone(Box::new(left.expr), Box::new(right.expr)), span, right.end, height)
    }

    fn like(
        &self,
        expr: Operand,
        pattern: Operand,
        escape: Option<Box<SqlExpr>>,
        negated: bool,
        similar: bool,
    ) -> Parsed<Operand> {
        let mut end = pattern.end;
        let mut span = expr.expr.span.to(pattern.expr.span);
        let escape = match escape {
            None => None,
            Some(sql) => {
                let escape = self.convert(*sql)?;
                (end, span) = (escape.end, span.to(escape.expr.span));
                let ExprKind::Literal(Literal::String(text)) = escape.expr.kind else {
                    return Err(Box::new(SyntaxError {
                        message: "the escape character must be a string literal".to_owned(),
                        span: escape.expr.span,
                        label: "not a string".to_owned(),
                        help: None,
                    }));
                };
                Some(text)
            }
        };
        let height = expr.height.max(pattern.height) + 1;
        let (expr, pattern) = (Box::new(expr.expr), Box::new(pattern.expr));
        operand(ExprKind::Like { expr, pattern, escape, negated, similar }, span, end, height)
    }
}

/// An operand, if its tree is not too high.
pub(super) fn operand(kind: ExprKind, span: Span, end: usize, height: u32) -> Parsed<Operand> {
    if height > MAX_HEIGHT {
        return Err(Box::new(SyntaxError {
            message: "this expression is nested too deeply".to_owned(),
            span,
            label: format!("more than {MAX_HEIGHT} operators one inside the other"),
            help: Some("split it into several columns of a subquery or view".to_owned()),
        }));
    }
    Ok(Operand { expr: Expr { kind, span }, end, height, symmetric: false })
}

/// An operator that the dialect should not have let through.
fn internal(span: Span) -> Box<SyntaxError> {
    Box::new(SyntaxError {
        message: "this operator is not part of Flink SQL".to_owned(),
        span,
        label: "not understood".to_owned(),
        help: None,
    })
}
