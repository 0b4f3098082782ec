//! sqlparser's operators to our tree.

use sqlparser::ast::{BinaryOperator, Expr as SqlExpr, Value};

use super::ast::{BinaryOp, Expr, ExprKind, IsTest, Literal, SyntaxError};
use super::context::{Context, Operand};
use super::parser::Parsed;
use crate::source::Span;

/// Trees higher than this are refused, so that everything after us may recurse.
const MAX_HEIGHT: u32 = 600;
/// Chains of AND or OR longer than this become balanced trees. Both are associative, so the meaning stays.
const BALANCE_FROM: usize = 32;

impl Context {
    /// Converts a tree. The left branches, as long as a chain of operators, are walked in a loop.
    pub(super) fn convert(&self, sql: SqlExpr) -> Parsed<Operand> {
        let mut chain = Vec::new();
        let mut first = sql;
        while let SqlExpr::BinaryOp { left, op, right } = first {
            chain.push((op, *right));
            first = *left;
        }
        let mut acc = self.convert_other(first)?;
        let mut chain = chain.into_iter().rev().peekable();
        while let Some((op, right)) = chain.next() {
            let op = self.operator(&op, acc.expr.span)?;
            let right = self.convert(right)?;
            if !matches!(op, BinaryOp::And | BinaryOp::Or) {
                acc = self.binary(acc, op, right)?;
                continue;
            }
            let same = if op == BinaryOp::And { BinaryOperator::And } else { BinaryOperator::Or };
            let mut run = vec![acc, right];
            while let Some((_, right)) = chain.next_if(|(next, _)| *next == same) {
                run.push(self.convert(right)?);
            }
            acc = self.associate(run, op)?;
        }
        Ok(acc)
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

    /// Converts everything but chains of binary operators. Recursion goes as deep as postfix operators do.
    fn convert_other(&self, sql: SqlExpr) -> Parsed<Operand> {
        match sql {
            SqlExpr::Value(stub) if stub.value == Value::Null => {
                let number = stub.span.start.line as usize;
                let taken = self.operands.borrow_mut().get_mut(number).and_then(Option::take);
                taken.ok_or_else(|| internal(Span::default()))
            }
            SqlExpr::IsNull(e) => self.is(*e, IsTest::Null, false),
            SqlExpr::IsNotNull(e) => self.is(*e, IsTest::Null, true),
            SqlExpr::IsTrue(e) => self.is(*e, IsTest::True, false),
            SqlExpr::IsNotTrue(e) => self.is(*e, IsTest::True, true),
            SqlExpr::IsFalse(e) => self.is(*e, IsTest::False, false),
            SqlExpr::IsNotFalse(e) => self.is(*e, IsTest::False, true),
            SqlExpr::IsUnknown(e) => self.is(*e, IsTest::Unknown, false),
            SqlExpr::IsNotUnknown(e) => self.is(*e, IsTest::Unknown, true),
            SqlExpr::IsDistinctFrom(l, r) => self.is_distinct(*l, *r, false),
            SqlExpr::IsNotDistinctFrom(l, r) => self.is_distinct(*l, *r, true),
            SqlExpr::Between { expr, negated, low, high } => {
                let (expr, low, high) = (self.convert(*expr)?, self.convert(*low)?, self.convert(*high)?);
                let span = expr.expr.span.to(high.expr.span);
                let height = expr.height.max(low.height).max(high.height) + 1;
                let (symmetric, low) = (low.symmetric, Box::new(low.expr));
                let (expr, high, end) = (Box::new(expr.expr), Box::new(high.expr), high.end);
                operand(ExprKind::Between { expr, negated, symmetric, low, high }, span, end, height)
            }
            SqlExpr::Like { negated, expr, pattern, escape_char, .. } => {
                self.like(*expr, *pattern, escape_char.map(|e| *e), negated, false)
            }
            SqlExpr::SimilarTo { negated, expr, pattern, escape_char } => {
                self.like(*expr, *pattern, escape_char.map(|e| *e), negated, true)
            }
            SqlExpr::AtTimeZone { timestamp, time_zone } => {
                let (left, right) = (self.convert(*timestamp)?, self.convert(*time_zone)?);
                let span = left.expr.span.to(right.expr.span);
                let height = left.height.max(right.height) + 1;
                operand(ExprKind::AtTimeZone(Box::new(left.expr), Box::new(right.expr)), span, right.end, height)
            }
            other @ SqlExpr::BinaryOp { .. } => self.convert(other),
            _ => Err(internal(Span::default())),
        }
    }

    fn is(&self, sql: SqlExpr, test: IsTest, negated: bool) -> Parsed<Operand> {
        let inner = self.convert(sql)?;
        // The words: IS [NOT] TEST.
        let end = inner.end + 2 + usize::from(negated);
        let last = self.token(end - 1);
        let span = inner.expr.span.to(self.span_of(last, last));
        operand(ExprKind::Is { expr: Box::new(inner.expr), test, negated }, span, end, inner.height + 1)
    }

    fn is_distinct(&self, left: SqlExpr, right: SqlExpr, negated: bool) -> Parsed<Operand> {
        let (left, right) = (self.convert(left)?, self.convert(right)?);
        let span = left.expr.span.to(right.expr.span);
        let height = left.height.max(right.height) + 1;
        let kind = ExprKind::IsDistinctFrom { left: Box::new(left.expr), right: Box::new(right.expr), negated };
        operand(kind, span, right.end, height)
    }

    fn like(
        &self,
        expr: SqlExpr,
        pattern: SqlExpr,
        escape: Option<SqlExpr>,
        negated: bool,
        similar: bool,
    ) -> Parsed<Operand> {
        let (expr, pattern) = (self.convert(expr)?, self.convert(pattern)?);
        let mut end = pattern.end;
        let mut span = expr.expr.span.to(pattern.expr.span);
        let escape = match escape {
            None => None,
            Some(sql) => {
                let escape = self.convert(sql)?;
                (end, span) = (escape.end, span.to(escape.expr.span));
                match escape.expr.kind {
                    ExprKind::Literal(Literal::String(s)) => Some(s),
                    _ => {
                        return Err(Box::new(SyntaxError {
                            message: "the escape character must be a string literal".to_owned(),
                            span: escape.expr.span,
                            label: "not a string".to_owned(),
                            help: None,
                        }));
                    }
                }
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
