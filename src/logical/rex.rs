//! Typed row expressions over the columns of one input (Calcite calls them rex nodes).
//!
//! A column reference is an index into the input row, so names play no part in equality. Where an expression
//! came from is kept beside it ([`Origins`]), outside equality and hashing.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::catalog::functions::FunctionDef;
use crate::catalog::types::{DataType, TypeKind};
pub use crate::catalog::value::{Sarg, SargBound, SargRange, Value};
use crate::source::Span;
use crate::syntax::ast::FrameUnits;

/// The places in the text that something came from, innermost first. Takes no part in equality or hashing.
#[derive(Debug, Clone, Default)]
pub struct Origins(Option<Arc<OriginNode>>);

#[derive(Debug)]
struct OriginNode {
    span: Span,
    next: Origins,
}

impl Origins {
    /// No place: something the planner made.
    pub fn none() -> Self {
        Origins(None)
    }

    /// One place.
    pub fn at(span: Span) -> Self {
        Origins(Some(Arc::new(OriginNode { span, next: Origins(None) })))
    }

    /// The same with `span` as the new outermost use: `used_at` of a view is the place that names the view.
    pub fn used_at(&self, span: Span) -> Self {
        let mut spans: Vec<Span> = self.iter().collect();
        spans.push(span);
        spans.into_iter().rev().fold(Origins(None), |next, span| Origins(Some(Arc::new(OriginNode { span, next }))))
    }

    /// The innermost place: where the thing itself is written.
    pub fn first(&self) -> Option<Span> {
        self.0.as_ref().map(|n| n.span)
    }

    /// Only the outermost place: where the thing is used, not where it is defined.
    pub fn outermost(&self) -> Self {
        self.iter().last().map_or_else(Origins::none, Origins::at)
    }

    /// All places, innermost first.
    pub fn iter(&self) -> impl Iterator<Item = Span> + '_ {
        std::iter::successors(self.0.as_deref(), |n| n.next.0.as_deref()).map(|n| n.span)
    }

    /// These places, or `other`'s if there are none.
    pub fn or(self, other: &Origins) -> Self {
        if self.0.is_some() { self } else { other.clone() }
    }
}

impl PartialEq for Origins {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
impl Eq for Origins {}
impl Hash for Origins {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// A typed expression.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Rex {
    /// What it is.
    pub kind: RexKind,
    /// Its type.
    pub ty: DataType,
    /// Where it is written.
    pub origins: Origins,
}

/// Kinds of row expressions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RexKind {
    /// Column `i` of the input.
    Input(usize),
    /// A constant.
    Literal(Value),
    /// A function or operator. Operators are functions named `=`, `AND`, `+`, `CASE`, `IS NULL`, `SEARCH`, ...
    Call(Function, Vec<Rex>),
    /// A cast to the expression's type.
    Cast {
        /// What is cast.
        operand: Box<Rex>,
        /// `TRY_CAST`.
        is_try: bool,
    },
    /// Field `index` of a row value.
    Field(Box<Rex>, usize),
    /// An aggregate over an OVER window.
    Over(Box<OverCall>),
    /// Column `i` of the row of the query around a subquery (Calcite's `RexFieldAccess` of a correlation variable). It is gone once
    /// the subquery has become a join.
    Outer(usize),
}

/// The function of a call.
#[derive(Debug, Clone)]
pub enum Function {
    /// One of Flink's own.
    Builtin(&'static FunctionDef),
    /// A user function, by its name as declared or written.
    User(Arc<str>),
}

impl Function {
    /// Its name: upper case for Flink's own.
    pub fn name(&self) -> &str {
        match self {
            Function::Builtin(def) => def.name,
            Function::User(name) => name,
        }
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}
impl Eq for Function {}
impl Hash for Function {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state)
    }
}

/// An aggregate call over an OVER window, before the planner has split it off (Calcite's RexOver).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OverCall {
    /// Upper-case name of the aggregate (`SUM`, `$SUM0`, `ROW_NUMBER`, `LAG`), or the user function's name.
    pub function: Arc<str>,
    /// Its arguments.
    pub args: Vec<Rex>,
    /// `DISTINCT`.
    pub distinct: bool,
    /// `FILTER (WHERE ...)`.
    pub filter: Option<Rex>,
    /// `PARTITION BY`, in the order written.
    pub partition_by: Vec<Rex>,
    /// Where each entry of PARTITION BY is written, whatever is put into its place.
    pub partition_origins: Vec<Origins>,
    /// `ORDER BY`.
    pub order_by: Vec<SortExpr>,
    /// The frame, written out.
    pub frame: OverFrame,
}

/// An ORDER BY entry over row expressions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SortExpr {
    /// What is ordered by.
    pub expr: Rex,
    /// `DESC`.
    pub descending: bool,
    /// Nulls come first. Flink's default: NULLS FIRST for ASC, NULLS LAST for DESC.
    pub nulls_first: bool,
    /// Where the entry is written, whatever is put into its place.
    pub origins: Origins,
}

/// A frame that ends at the current row.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OverFrame {
    /// ROWS or RANGE.
    pub units: FrameUnits,
    /// The lower bound: `None` is unbounded; a row count, or milliseconds for RANGE; 0 is the current row.
    pub preceding: Option<i64>,
    /// Where it is written.
    pub origins: Origins,
}

impl Rex {
    /// Column `index` of type `ty`.
    pub fn input(index: usize, ty: DataType) -> Rex {
        Rex { kind: RexKind::Input(index), ty, origins: Origins::none() }
    }

    /// A constant of type `ty`.
    pub fn literal(value: Value, ty: DataType) -> Rex {
        Rex { kind: RexKind::Literal(value), ty, origins: Origins::none() }
    }

    /// A call of one of Flink's own functions or operators, of type `ty`.
    pub fn call(function: &'static FunctionDef, args: Vec<Rex>, ty: DataType) -> Rex {
        Rex { kind: RexKind::Call(Function::Builtin(function), args), ty, origins: Origins::none() }
    }

    /// `operand` cast to `ty`, whatever its type.
    pub fn cast(operand: Rex, ty: DataType) -> Rex {
        let origins = operand.origins.clone();
        Rex { kind: RexKind::Cast { operand: Box::new(operand), is_try: false }, ty, origins }
    }

    /// `TRUE` or `FALSE`.
    pub fn boolean(value: bool) -> Rex {
        Rex::literal(Value::Boolean(value), TypeKind::Boolean.not_null())
    }

    /// `NULL` of a type.
    pub fn null(ty: DataType) -> Rex {
        Rex::literal(Value::Null, ty.with_nullable(true))
    }

    /// The same expression with the places of `other`, if it has none of its own.
    pub fn or_at(mut self, other: &Origins) -> Rex {
        self.origins = self.origins.or(other);
        self
    }

    /// The arguments, if the expression is a call of Flink's function `name`.
    pub fn as_call(&self, name: &str) -> Option<&[Rex]> {
        match &self.kind {
            RexKind::Call(Function::Builtin(def), args) if def.name == name => Some(args),
            _ => None,
        }
    }

    /// True for the constant NULL.
    pub fn is_null_literal(&self) -> bool {
        matches!(self.kind, RexKind::Literal(Value::Null))
    }

    /// The same expression written at `span`.
    pub fn at(mut self, span: Span) -> Rex {
        self.origins = Origins::at(span);
        self
    }

    /// The column index, if the expression is a bare column.
    pub fn as_input(&self) -> Option<usize> {
        match self.kind {
            RexKind::Input(i) => Some(i),
            _ => None,
        }
    }

    /// The constant, if it is one.
    pub fn as_literal(&self) -> Option<&Value> {
        match &self.kind {
            RexKind::Literal(v) => Some(v),
            _ => None,
        }
    }

    /// Calls `f` on this expression and every one inside it, outermost first.
    pub fn visit<'a>(&'a self, f: &mut impl FnMut(&'a Rex)) {
        f(self);
        match &self.kind {
            RexKind::Input(_) | RexKind::Literal(_) | RexKind::Outer(_) => {}
            RexKind::Call(_, args) => args.iter().for_each(|a| a.visit(f)),
            RexKind::Cast { operand, .. } => operand.visit(f),
            RexKind::Field(operand, _) => operand.visit(f),
            RexKind::Over(over) => {
                over.args.iter().chain(&over.filter).chain(&over.partition_by).for_each(|a| a.visit(f));
                over.order_by.iter().for_each(|s| s.expr.visit(f));
            }
        }
    }

    /// The expression with every column reference replaced by what `f` gives for it.
    pub fn map_inputs(&self, f: &mut impl FnMut(usize, &Rex) -> Rex) -> Rex {
        let kind = match &self.kind {
            RexKind::Input(i) => return f(*i, self),
            RexKind::Literal(_) | RexKind::Outer(_) => return self.clone(),
            RexKind::Call(function, args) => {
                RexKind::Call(function.clone(), args.iter().map(|a| a.map_inputs(f)).collect())
            }
            RexKind::Cast { operand, is_try } => {
                RexKind::Cast { operand: Box::new(operand.map_inputs(f)), is_try: *is_try }
            }
            RexKind::Field(operand, i) => RexKind::Field(Box::new(operand.map_inputs(f)), *i),
            RexKind::Over(over) => {
                let mut many = |list: &[Rex]| list.iter().map(|a| a.map_inputs(f)).collect::<Vec<_>>();
                let (args, partition_by) = (many(&over.args), many(&over.partition_by));
                RexKind::Over(Box::new(OverCall {
                    function: over.function.clone(),
                    args,
                    distinct: over.distinct,
                    filter: over.filter.as_ref().map(|x| x.map_inputs(f)),
                    partition_by,
                    partition_origins: over.partition_origins.clone(),
                    order_by: over
                        .order_by
                        .iter()
                        .map(|s| SortExpr {
                            expr: s.expr.map_inputs(f),
                            descending: s.descending,
                            nulls_first: s.nulls_first,
                            origins: s.origins.clone(),
                        })
                        .collect(),
                    frame: over.frame.clone(),
                }))
            }
        };
        Rex { kind, ty: self.ty.clone(), origins: self.origins.clone() }
    }

    /// Adds every column that is read to `used`.
    pub fn collect_inputs(&self, used: &mut std::collections::BTreeSet<usize>) {
        self.visit(&mut |r| {
            if let RexKind::Input(i) = r.kind {
                used.insert(i);
            }
        });
    }

    /// True if an OVER aggregate is inside.
    pub fn contains_over(&self) -> bool {
        let mut found = false;
        self.visit(&mut |r| found |= matches!(r.kind, RexKind::Over(_)));
        found
    }
}
