//! From syntax to typed row expressions: names resolved, operators typed, coercions written out as Flink writes them.
//!
//! What Flink's validator (`FlinkCalciteSqlValidator`) and converter (`SqlToRelConverter` with Flink's convertlets) do to
//! scalar expressions. Nothing is folded here; see [`super::simplify`].

mod call;
mod cast;
mod conditional;
pub mod datetime;
mod interval;
mod json;
mod literal;
mod operator;

use crate::catalog::Catalog;
use crate::catalog::functions::{ArgumentType, FunctionDef};
use crate::catalog::types::{DataType, TypeKind};
use crate::logical::rex::{Rex, Value};
use crate::logical::scope;
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::{Expr, ExprKind, FunctionCall, Ident};

pub use self::cast::check_cast;
pub use self::interval::parse_interval;

/// How deep expressions may nest. What is deeper gets an error: plans are walked recursively.
pub const MAX_DEPTH: usize = 250;
/// How many values an IN list may have: every one becomes a comparison.
const MAX_LIST: usize = 200_000;

/// What the planner knows about names and calls at one place of a query.
pub trait Resolver {
    /// The column (or nested field) that a path names.
    fn column(&mut self, path: &[Ident]) -> PlanResult<Rex>;

    /// A call that is not an ordinary scalar function here: aggregates, OVER calls, legacy windows and their auxiliaries,
    /// GROUPING. `None` leaves it to the translator. Arguments are translated with `t.expr(arg, self)`.
    fn special(&mut self, _call: &FunctionCall, _t: &mut Translator<'_>) -> Option<PlanResult<Rex>> {
        None
    }

    /// A subquery as a value: `IN (query)`, `EXISTS (query)`, `(query)`. `None` is the error "cannot be planned yet".
    fn subquery(&mut self, _expr: &Expr, _t: &mut Translator<'_>) -> Option<PlanResult<Rex>> {
        None
    }
}

/// Translates expressions.
pub struct Translator<'a> {
    catalog: &'a Catalog,
    depth: usize,
    /// What is translated is the length of a window: no value of an expression, which has fewer digits.
    pub window_length: bool,
}

impl<'a> Translator<'a> {
    /// A translator that knows the functions of `catalog`.
    pub fn new(catalog: &'a Catalog) -> Self {
        Translator { catalog, depth: 0, window_length: false }
    }

    /// The catalog.
    pub fn catalog(&self) -> &'a Catalog {
        self.catalog
    }

    /// Translates `expr`; names are resolved by `resolver`.
    pub fn expr(&mut self, expr: &Expr, resolver: &mut dyn Resolver) -> PlanResult<Rex> {
        if self.depth >= MAX_DEPTH {
            return Err(too_deep(expr.span));
        }
        self.depth += 1;
        let result = self.dispatch(expr, resolver);
        self.depth -= 1;
        result.map(|rex| if rex.origins.first().is_some() { rex } else { rex.at(expr.span) })
    }

    /// Translates `expr` and checks that it is a condition.
    pub fn condition(&mut self, expr: &Expr, resolver: &mut dyn Resolver, clause: &str) -> PlanResult<Rex> {
        let rex = self.expr(expr, resolver)?;
        match rex.ty.kind {
            TypeKind::Boolean | TypeKind::Unknown => Ok(rex),
            TypeKind::Null => Ok(Rex { ty: TypeKind::Boolean.nullable(), ..rex }),
            _ => Err(PlanError::rejected(expr.span, format!("{clause} clause must be a condition"))
                .label(format!("this is {}", rex.ty.kind))
                .help("compare it with something, such as `x > 0`")
                .into()),
        }
    }

    /// Translates a select item: a bare NULL is refused as Flink refuses it.
    pub fn select_item(&mut self, expr: &Expr, resolver: &mut dyn Resolver) -> PlanResult<Rex> {
        let rex = self.expr(expr, resolver)?;
        no_bare_null(&rex, expr.span)?;
        Ok(rex)
    }

    fn dispatch(&mut self, expr: &Expr, r: &mut dyn Resolver) -> PlanResult<Rex> {
        let span = expr.span;
        let rex = match &expr.kind {
            ExprKind::Column(path) => match self.keyword_function(path) {
                Some(def) => apply(def, Vec::new(), span)?,
                None => r.column(path)?,
            },
            ExprKind::Literal(literal) => {
                if !self.window_length {
                    literal::check_precision(literal, span)?;
                }
                literal::literal(literal, span)?
            }
            ExprKind::Unary(op, operand) => self.unary(*op, operand, span, r)?,
            ExprKind::Binary(..) => self.binary(expr, r)?,
            ExprKind::Is { expr: operand, test, negated } => self.is_test(operand, *test, *negated, span, r)?,
            ExprKind::IsDistinctFrom { left, right, negated } => self.is_distinct(left, right, *negated, span, r)?,
            ExprKind::Between { expr: operand, negated, symmetric, low, high } => {
                self.between(operand, (low, high), *negated, *symmetric, span, r)?
            }
            ExprKind::InList { expr: operand, list, negated } => self.in_list(operand, list, *negated, span, r)?,
            ExprKind::InSubquery { .. } | ExprKind::Exists { .. } | ExprKind::Subquery(_) => {
                match r.subquery(expr, self) {
                    Some(result) => result?,
                    None => return Err(PlanError::unsupported(span, "a subquery here").into()),
                }
            }
            ExprKind::Like { expr: operand, pattern, escape, negated, similar } => {
                self.like(operand, pattern, escape.as_deref(), (*negated, *similar), span, r)?
            }
            ExprKind::Case { operand, branches, otherwise } => {
                self.case(operand.as_deref(), branches, otherwise.as_deref(), span, r)?
            }
            ExprKind::Cast { expr: operand, ty, is_try } => {
                let operand_rex = self.expr(operand, r)?;
                let target = DataType::from_ast(ty)?;
                cast::explicit(operand_rex, target, *is_try, span)?
            }
            ExprKind::Function(call) => match r.special(call, self) {
                Some(result) => result?,
                None => self.call(call, r)?,
            },
            ExprKind::Row(items) => self.row(items, span, r)?,
            ExprKind::Array(items) => self.array(items, span, r)?,
            ExprKind::Map(items) => self.map(items, span, r)?,
            ExprKind::Index(base, index) => {
                let args = vec![self.expr(base, r)?, self.expr(index, r)?];
                self.item(args, index.span, span)?
            }
            ExprKind::Field(base, name) => scope::field(self.expr(base, r)?, name)?,
            ExprKind::AtTimeZone(..) => {
                return Err(PlanError::rejected(span, "Flink SQL has no AT TIME ZONE")
                    .label("not part of Flink SQL")
                    .help("use CONVERT_TZ on text, or a TIMESTAMP_LTZ column and the option `table.local-time-zone`")
                    .into());
            }
            ExprKind::Placeholder(name) => Rex::literal(Value::Placeholder(name.as_str().into()), DataType::unknown()),
            ExprKind::TableArgument(_) | ExprKind::Descriptor(_) => {
                return Err(PlanError::rejected(span, "a table or a DESCRIPTOR is no value")
                    .label("only table functions take this")
                    .help("use it as an argument of TABLE(f(...))")
                    .into());
            }
            ExprKind::Default => {
                return Err(PlanError::rejected(span, "DEFAULT is only allowed as optional parameter")
                    .label("not a value")
                    .help("write NULL")
                    .into());
            }
        };
        Ok(rex.at(span))
    }

    fn row(&mut self, items: &[Expr], span: Span, r: &mut dyn Resolver) -> PlanResult<Rex> {
        let args = self.list(items, r)?;
        Ok(operator::row(args).at(span))
    }

    fn list(&mut self, items: &[Expr], r: &mut dyn Resolver) -> PlanResult<Vec<Rex>> {
        items.iter().map(|e| self.expr(e, r)).collect()
    }

    /// A bare name can be a function without parentheses, if no column has the name: `CURRENT_DATE` parsed as a column.
    fn keyword_function(&self, path: &[Ident]) -> Option<&'static FunctionDef> {
        let [name] = path else { return None };
        let is_keyword = matches!(
            name.value.to_ascii_uppercase().as_str(),
            "CURRENT_TIMESTAMP" | "CURRENT_DATE" | "CURRENT_TIME" | "LOCALTIME" | "LOCALTIMESTAMP"
        );
        (is_keyword && !name.quoted).then(|| crate::catalog::functions::lookup(&name.value)).flatten()
    }
}

fn too_deep(span: Span) -> Box<PlanError> {
    PlanError::rejected(span, format!("the expression nests more than {MAX_DEPTH} levels deep"))
        .label("too deep from here on")
        .help("split it over a subquery or a view")
        .into()
}

fn no_bare_null(rex: &Rex, span: Span) -> PlanResult<()> {
    if rex.is_null_literal() && rex.ty.kind == TypeKind::Null {
        return Err(PlanError::rejected(span, "Illegal use of 'NULL'")
            .label("a NULL without a type")
            .help("give it a type: CAST(NULL AS INT)")
            .into());
    }
    Ok(())
}

/// Calls `def` with checked arguments.
pub(super) fn apply(def: &'static FunctionDef, args: Vec<Rex>, span: Span) -> PlanResult<Rex> {
    let types: Vec<ArgumentType<'_>> = args.iter().map(argument).collect();
    match def.check(&types) {
        Ok(ty) => Ok(Rex::call(def, args, ty).at(span)),
        Err(message) => Err(mismatch(message, &args, span)),
    }
}

/// An argument as result types see it.
pub(super) fn argument(rex: &Rex) -> ArgumentType<'_> {
    ArgumentType { ty: &rex.ty, literal: rex.as_literal() }
}

fn mismatch(message: String, args: &[Rex], span: Span) -> Box<PlanError> {
    let types: Vec<String> = args.iter().map(|a| a.ty.kind.to_string()).collect();
    let label = if types.is_empty() { "no arguments".to_owned() } else { format!("arguments: {}", types.join(", ")) };
    let has_text = args.iter().any(|a| a.ty.is_character());
    let has_number = args.iter().any(|a| a.ty.is_numeric());
    let help = if has_text && has_number {
        "Flink does not convert between text and numbers by itself: write CAST(... AS ...)"
    } else {
        "check the number and the types of the arguments"
    };
    PlanError::rejected(span, message).label(label).help(help).into()
}
