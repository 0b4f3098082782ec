//! Expressions of MEASURES and DEFINE, with navigation written out as Calcite writes it (`SqlValidatorImpl`'s `PatternValidator`,
//! `NavigationExpander` and `NavigationReplacer`, `StandardConvertletTable.AvgVarianceConvertlet`).
//!
//! Nothing is simplified here: Flink's planner leaves these expressions as they were converted.

use super::ast_columns;
use super::match_recognize::typed;
use crate::catalog::Catalog;
use crate::catalog::aggregates::{self, AggregateDef, AggregateKind};
use crate::catalog::functions::pattern::{self, Navigation};
use crate::catalog::functions::{ArgumentType, FunctionDef, operators as op};
use crate::catalog::types::{DataType, TimeAttribute, TypeKind};
use crate::logical::pattern::Variables;
use crate::logical::rex::{Rex, RexKind, Value};
use crate::logical::scope::Scope;
use crate::logical::simplify;
use crate::logical::translate::{Resolver, Translator};
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::{Expr, ExprKind, FunctionArg, FunctionCall, Ident, Literal, MatchRecognize, UnaryOp};

/// Translates the expressions of one MATCH_RECOGNIZE.
pub(super) struct MatchExprs<'s> {
    catalog: &'s Catalog,
    scope: &'s Scope,
    variables: &'s Variables,
    /// The input's own name, as a variable.
    table: Option<usize>,
    /// The names of SUBSET.
    subsets: Vec<&'s str>,
}

/// Where a column is read, which decides how it is written out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In MEASURES: seen from the end of the match.
    Measures,
    /// In the condition of a variable: seen from the row at hand, which is of that variable.
    Definition(usize),
    /// In the argument of a navigation function or of an aggregate, which say themselves which row is meant.
    Inside,
    /// In the argument of an aggregate in a condition that Calcite does not take for one.
    InsideDefinition(usize),
}

struct MatchResolver<'s> {
    exprs: &'s MatchExprs<'s>,
    place: Place,
    /// MEASURES or DEFINE, whatever is around the place.
    clause: Clause,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clause {
    Measures,
    Define(usize),
}

impl<'s> MatchExprs<'s> {
    pub fn new(catalog: &'s Catalog, scope: &'s Scope, variables: &'s Variables, m: &'s MatchRecognize) -> Self {
        let table = m.table_name().and_then(|t| variables.find(t));
        let subsets = m.subsets.iter().map(|(name, _)| name.value.as_str()).collect();
        MatchExprs { catalog, scope, variables, table, subsets }
    }

    /// An expression of MEASURES.
    pub fn measure(&self, e: &Expr) -> PlanResult<Rex> {
        if let Some(at) = find(e, |kind| matches!(kind, ExprKind::InList { .. })) {
            return Err(PlanError::rejected(at, "IN cannot be computed in MEASURES")
                .label("Flink has no IN here")
                .help("compare with OR, or compute it above MATCH_RECOGNIZE")
                .into());
        }
        let mut resolver = MatchResolver { exprs: self, place: Place::Measures, clause: Clause::Measures };
        let rex = typed(Translator::new(self.catalog).expr(e, &mut resolver)?)?;
        let rex = typed_constants(flattened(simplify::materialize(rex)));
        // The clock alone is a value, and no time attribute, but for MATCH_PROCTIME.
        let is_clock = rex.ty.is_proctime() && rex.as_call(pattern::MATCH_PROCTIME.name).is_none();
        let rex = if is_clock { ordinary(rex) } else { rex };
        // What is FINAL as a whole is what every measure is.
        Ok(match rex.kind {
            RexKind::Call(f, mut args) if f.name() == pattern::FINAL.name && args.len() == 1 => args.remove(0),
            kind => Rex { kind, ..rex },
        })
    }

    /// The condition of a variable.
    pub fn definition(&self, variable: usize, e: &Expr) -> PlanResult<Rex> {
        let (place, clause) = (Place::Definition(variable), Clause::Define(variable));
        let mut resolver = MatchResolver { exprs: self, place, clause };
        let rex = Translator::new(self.catalog).expr(e, &mut resolver)?;
        let rex = typed(rex)?;
        if !matches!(rex.ty.kind, TypeKind::Boolean | TypeKind::Unknown) {
            return Err(PlanError::rejected(e.span, "DEFINE clause must be a condition")
                .label(format!("this is {}", rex.ty.kind))
                .help("compare it with something, such as `A.x > 0`")
                .into());
        }
        Ok(typed_constants(flattened(simplify::materialize(rex))))
    }
}

impl MatchResolver<'_> {
    /// The variable that a path begins with, and the rest of the path.
    fn split<'p>(&self, path: &'p [Ident]) -> (usize, &'p [Ident]) {
        if path.len() > 1
            && let Some(variable) = self.variable(&path[0].value)
        {
            return (variable, &path[1..]);
        }
        // `db.t.c` is the input's own name too.
        let own =
            self.exprs.table.filter(|_| path.len() > 1 && self.exprs.scope.resolve(&path[path.len() - 1..]).is_ok());
        (own.unwrap_or(Variables::ANY), path)
    }

    /// A variable that may be read here: Calcite knows subsets in MEASURES only.
    fn variable(&self, name: &str) -> Option<usize> {
        let found = self.exprs.variables.find(name).filter(|v| *v != Variables::ANY);
        found.filter(|_| self.clause == Clause::Measures || !self.exprs.subsets.contains(&name))
    }

    /// A column of a variable, by itself.
    fn field(&self, variable: usize, path: &[Ident], whole: &[Ident]) -> PlanResult<Rex> {
        let rex = self.exprs.scope.resolve(path).map_err(|e| {
            let (Some(name), [first, _, ..]) = (path.first(), whole) else { return e };
            if variable == Variables::ANY || path.len() != 1 {
                return e;
            }
            let message = format!("Column '{}' not found in table '{}'", name.value, first.value);
            PlanError { message, ..*e }.into()
        })?;
        let variables = self.exprs.variables;
        let rex =
            rex.map_inputs(&mut |c, used| Rex { kind: RexKind::Input(variables.index(variable, c)), ..used.clone() });
        Ok(ordinary(rex))
    }

    /// A column where it stands: with the navigation that is meant.
    fn written_out(&self, variable: usize, rex: Rex) -> Rex {
        match self.place {
            Place::Measures | Place::Inside => rex,
            Place::Definition(own) | Place::InsideDefinition(own) if own == variable => {
                navigated(Navigation::Prev, rex, zero())
            }
            Place::Definition(_) | Place::InsideDefinition(_) => navigated(Navigation::Last, rex, zero()),
        }
    }

    fn inner(&self, place: Place) -> MatchResolver<'_> {
        MatchResolver { exprs: self.exprs, place, clause: self.clause }
    }

    /// The variables that an argument reads, and the first aggregate and navigation inside it.
    fn look_inside<'e>(&self, e: &'e Expr) -> Inside<'e> {
        let mut variables = Vec::new();
        ast_columns::of_expr(e, &mut |path| {
            let (variable, _) = self.split(path);
            if !variables.contains(&variable) {
                variables.push(variable);
            }
        });
        let (mut aggregate, mut navigation) = (None, None);
        ast_columns::of_calls(e, &mut |call| {
            if Navigation::of(call.name.last()).is_some() {
                navigation.get_or_insert(call);
            } else if aggregates::lookup(call.name.last()).is_some() {
                aggregate.get_or_insert(call);
            }
        });
        Inside { variables, aggregate, navigation }
    }

    fn navigation(&mut self, nav: Navigation, call: &FunctionCall, t: &mut Translator<'_>) -> PlanResult<Rex> {
        let name = nav.function().name;
        let physical = matches!(nav, Navigation::Prev | Navigation::Next);
        if physical && self.clause == Clause::Measures {
            return refuse(call.span, "Cannot use PREV/NEXT in MEASURE", "FIRST and LAST navigate here");
        }
        let (value, offset) = match call.args.as_slice() {
            [FunctionArg::Expr(value)] => (value, if physical { Value::Int(1) } else { Value::Int(0) }),
            [FunctionArg::Expr(value), FunctionArg::Expr(offset)] => (value, number(offset)?),
            _ => {
                let message = format!("{name} takes a value and a number of rows");
                return refuse(call.span, &message, &format!("usage: {name}(A.price, 1)"));
            }
        };
        let steps = steps_of(&offset);
        if physical && steps != Some(0) {
            let help = "compare with rows of the match: LAST(A.price, 1)";
            return refuse(call.span, "Flink does not support physical offsets within partition", help);
        }
        if steps.is_none() {
            return refuse(call.span, "the number of rows is out of range", "use a smaller number");
        }
        let inside = self.look_inside(value);
        if let Some(other) = inside.navigation.filter(|_| !physical) {
            return refuse(other.span, "Cannot nest PREV/NEXT under LAST/FIRST", "navigate once");
        }
        if let Some(aggregate) = inside.aggregate {
            return refuse(aggregate.span, "Cannot use aggregation in navigation", "aggregate without navigation");
        }
        if let Some(at) = find(value, |kind| matches!(kind, ExprKind::Case { .. })) {
            return refuse(at, "CASE cannot be navigated", "navigate inside of CASE: CASE WHEN LAST(A.x) > 1 ...");
        }
        self.one_variable(&inside, call, name)?;
        let offset = Rex::literal(offset, TypeKind::Int.not_null()).at(call.span);
        if physical {
            // The row at hand, or that of another variable: `PREV(A.x, 0)` is `LAST(A.x, 0)`.
            let rex = t.expr(value, self)?;
            let same = nav == Navigation::Prev && !matches!(&value.kind, ExprKind::Function(_));
            return Ok(if same { rex } else { navigated(nav, rex, offset) });
        }
        let rex = t.expr(value, &mut self.inner(Place::Inside))?;
        Ok(distributed(nav, rex, &offset))
    }

    /// An argument has to read the rows of just one variable.
    fn one_variable(&self, inside: &Inside<'_>, call: &FunctionCall, name: &str) -> PlanResult<()> {
        match inside.variables.as_slice() {
            [_] => Ok(()),
            [] => {
                let message = format!("Null parameters in '{name}'");
                refuse(call.span, &message, "name a column of a pattern variable")
            }
            _ => {
                let message = format!("Multiple pattern variables in '{name}'");
                refuse(call.span, &message, "read one variable in each call")
            }
        }
    }

    fn aggregate(
        &mut self,
        def: &'static AggregateDef,
        call: &FunctionCall,
        t: &mut Translator<'_>,
    ) -> PlanResult<Rex> {
        let name = def.name;
        if def.kind == AggregateKind::OverOnly {
            return Err(PlanError::unsupported(call.span, format_args!("{name} in MATCH_RECOGNIZE")).into());
        }
        if call.distinct {
            let message = format!("DISTINCT/ALL not allowed with {name} function");
            return refuse(call.span, &message, "aggregate all rows of the variable");
        }
        if let Some(filter) = &call.filter {
            return refuse(filter.span, "Unsupported call: FILTER", "put the condition into a CASE in the argument");
        }
        if !call.order_by.is_empty() || !call.within_group.is_empty() {
            return Err(PlanError::unsupported(call.span, "an order of rows in an aggregate of MATCH_RECOGNIZE").into());
        }
        let Some(function) = pattern::aggregate(name) else {
            return Err(PlanError::unsupported(call.span, format_args!("{name} in MATCH_RECOGNIZE")).into());
        };
        if matches!(call.args.as_slice(), [FunctionArg::Star(_)]) && name == "COUNT" {
            return Ok(Rex::call(function, Vec::new(), TypeKind::BigInt.not_null()).at(call.span));
        }
        // Calcite takes only these for aggregates in DEFINE.
        if name == "COUNT" && call.args.len() != 1 {
            return refuse(
                call.span,
                "Invalid number of arguments to function 'COUNT'. Was expecting 1 arguments",
                "count one column",
            );
        }
        if name.starts_with("JSON_") {
            let message = format!("Could not find an implementation method 'accumulate' for function '{name}'");
            return refuse(call.span, &message, "collect the values above MATCH_RECOGNIZE");
        }
        let known = matches!(name, "SUM" | "COUNT" | "MIN" | "MAX" | "AVG");
        let place = match self.clause {
            Clause::Define(own) if !known => Place::InsideDefinition(own),
            _ => Place::Inside,
        };
        let mut args = Vec::new();
        let mut inside = Inside { variables: Vec::new(), aggregate: None, navigation: None };
        for arg in &call.args {
            let (FunctionArg::Expr(e) | FunctionArg::Named(_, e)) = arg else {
                return refuse(call.span, &format!("{name}(*) does not exist"), "only COUNT takes `*`");
            };
            let own = self.look_inside(e);
            if let Some(other) = own.aggregate {
                return refuse(other.span, "Aggregate expressions cannot be nested", "aggregate once");
            }
            inside
                .variables
                .extend(own.variables.into_iter().filter(|v| !inside.variables.contains(v)).collect::<Vec<_>>());
            args.push(t.expr(e, &mut self.inner(place))?);
        }
        if name == "COUNT" && inside.variables.is_empty() && !args.is_empty() {
            return refuse(call.span, "No pattern variable specified in aggregate", "name a column of a variable");
        }
        if !args.is_empty() {
            self.one_variable(&inside, call, name)?;
        }
        let types: Vec<ArgumentType<'_>> =
            args.iter().map(|a| ArgumentType { ty: &a.ty, literal: a.as_literal() }).collect();
        let ty = def.check(&types, true).map_err(|m| PlanError::rejected(call.span, m).label("here"))?;
        let of = |name: &str, args: Vec<Rex>, ty: DataType| -> PlanResult<Rex> {
            match pattern::aggregate(name) {
                Some(function) => Ok(Rex::call(function, args, ty).at(call.span)),
                None => Err(PlanError::unsupported(call.span, format_args!("{name} in MATCH_RECOGNIZE")).into()),
            }
        };
        match (name, args.as_slice()) {
            ("AVG", [arg]) => average(arg, ty, &of),
            ("STDDEV_POP" | "STDDEV_SAMP" | "VAR_POP" | "VAR_SAMP", [arg]) => variance(name, arg, &of),
            _ => Ok(Rex::call(function, args, ty).at(call.span)),
        }
    }

    fn match_time(&mut self, call: &FunctionCall, name: &str) -> PlanResult<Rex> {
        let proctime = name == pattern::MATCH_PROCTIME.name;
        match call.args.as_slice() {
            [] if proctime => {
                let ty = TypeKind::TimestampLtz(3, TimeAttribute::Proctime).not_null();
                Ok(Rex::call(&pattern::MATCH_PROCTIME, Vec::new(), ty))
            }
            [] => {
                let ty = TypeKind::Timestamp(3, TimeAttribute::Rowtime).not_null();
                Ok(Rex::call(&pattern::MATCH_ROWTIME, Vec::new(), ty))
            }
            [FunctionArg::Expr(e)] if !proctime => {
                let ExprKind::Column(path) = &e.kind else { return self.no_field(e.span) };
                if self.clause != Clause::Measures {
                    return self.no_field(e.span);
                }
                let (variable, rest) = self.split(path);
                let column = self.exprs.scope.resolve(rest)?;
                if !column.ty.is_rowtime() {
                    let message = format!(
                        "The function MATCH_ROWTIME requires argument to be a row time attribute type, but is '{}'",
                        column.ty
                    );
                    return refuse(e.span, &message, "leave the argument out, or name the column with the WATERMARK");
                }
                let ty = column.ty.clone();
                let arg = self.field(variable, rest, path)?;
                let arg = match arg.kind {
                    RexKind::Cast { operand, .. } => Rex { ty: arg.ty, ..*operand },
                    kind => Rex { kind, ..arg },
                };
                Ok(Rex::call(&pattern::MATCH_ROWTIME, vec![arg], ty))
            }
            _ => {
                let message = format!("Invalid number of arguments to function '{name}'. Was expecting 0 arguments");
                refuse(call.span, &message, "leave the arguments out")
            }
        }
    }

    fn no_field(&self, at: Span) -> PlanResult<Rex> {
        let message = "The function MATCH_ROWTIME requires a field reference as argument, but actual argument is not a \
                       simple field reference";
        refuse(at, message, "leave the argument out")
    }
}

/// What an argument reads and calls.
struct Inside<'e> {
    variables: Vec<usize>,
    aggregate: Option<&'e FunctionCall>,
    navigation: Option<&'e FunctionCall>,
}

impl Resolver for MatchResolver<'_> {
    fn column(&mut self, path: &[Ident]) -> PlanResult<Rex> {
        let (variable, rest) = self.split(path);
        let rex = self.field(variable, rest, path)?;
        Ok(self.written_out(variable, rex))
    }

    fn special(&mut self, call: &FunctionCall, t: &mut Translator<'_>) -> Option<PlanResult<Rex>> {
        let [name] = call.name.parts.as_slice() else { return None };
        let name = name.value.to_ascii_uppercase();
        if call.over.is_some() {
            return Some(refuse(
                call.span,
                "OVER is not possible in MATCH_RECOGNIZE",
                "compute it in a query around this one",
            ));
        }
        if let Some(nav) = Navigation::of(&name) {
            return Some(self.navigation(nav, call, t));
        }
        match name.as_str() {
            "FINAL" | "RUNNING" if !call.parenthesized => {
                if self.clause != Clause::Measures {
                    return Some(refuse(call.span, "Cannot use RUNNING/FINAL in DEFINE", "leave the word out"));
                }
                if name == "RUNNING" {
                    let help = "with ONE ROW PER MATCH everything is FINAL: leave the word out";
                    return Some(refuse(call.span, "Unsupported call: RUNNING", help));
                }
                let [FunctionArg::Expr(inner)] = call.args.as_slice() else { return None };
                Some(t.expr(inner, self).map(|rex| {
                    let ty = rex.ty.clone();
                    Rex::call(&pattern::FINAL, vec![rex], ty)
                }))
            }
            "MATCH_ROWTIME" | "MATCH_PROCTIME" => Some(self.match_time(call, &name)),
            "CLASSIFIER" | "MATCH_NUMBER" => {
                let message = format!("Unsupported call: {name}()");
                Some(refuse(call.span, &message, "put a constant into MEASURES, or one query for each variable"))
            }
            _ => aggregates::lookup(&name).map(|def| self.aggregate(def, call, t)),
        }
    }

    fn subquery(&mut self, expr: &Expr, _: &mut Translator<'_>) -> Option<PlanResult<Rex>> {
        Some(refuse(expr.span, "a subquery is not possible in MATCH_RECOGNIZE", "join its result above"))
    }
}

/// The first part of an expression that is of some kind.
fn find(e: &Expr, is: impl Fn(&ExprKind) -> bool) -> Option<Span> {
    let mut found = None;
    ast_columns::of_parts(e, &mut |part| {
        if found.is_none() && is(&part.kind) {
            found = Some(part.span);
        }
    });
    found
}

fn refuse<T>(at: Span, message: &str, help: &str) -> PlanResult<T> {
    Err(PlanError::rejected(at, message).label("not possible here").help(help).into())
}

fn zero() -> Rex {
    Rex::literal(Value::Int(0), TypeKind::Int.not_null())
}

/// A column that is a time attribute is read as an ordinary value.
fn ordinary(rex: Rex) -> Rex {
    let ty = rex.ty.clone().materialized();
    match rex.ty.time_attribute() {
        TimeAttribute::None => rex,
        TimeAttribute::Rowtime => Rex::cast(rex, ty),
        TimeAttribute::Proctime => {
            let origins = rex.origins.clone();
            Rex::call(&op::PROCTIME_MATERIALIZE, vec![rex], ty).or_at(&origins)
        }
    }
}

fn navigated(nav: Navigation, rex: Rex, offset: Rex) -> Rex {
    let (ty, origins) = (rex.ty.clone(), rex.origins.clone());
    Rex::call(nav.function(), vec![rex, offset], ty).or_at(&origins)
}

/// Navigation goes to the operands of a call: `LAST(A.x + 1, 2)` is `LAST(A.x, 2) + LAST(1, 2)`.
fn distributed(nav: Navigation, rex: Rex, offset: &Rex) -> Rex {
    let is_column = |e: &Rex| match &e.kind {
        RexKind::Input(_) | RexKind::Field(..) => true,
        RexKind::Cast { operand, .. } => operand.ty.time_attribute() != TimeAttribute::None,
        RexKind::Call(f, _) => f.name() == op::PROCTIME_MATERIALIZE.name,
        _ => false,
    };
    if is_column(&rex) {
        return navigated(nav, rex, offset.clone());
    }
    let Rex { kind, ty, origins } = rex;
    match kind {
        RexKind::Call(f, args) => {
            let takes = |a: &Rex| !matches!(a.as_literal(), Some(Value::Symbol(_)));
            let args =
                args.into_iter().map(|a| if takes(&a) { navigated(nav, a, offset.clone()) } else { a }).collect();
            Rex { kind: RexKind::Call(f, args), ty, origins }
        }
        RexKind::Cast { operand, is_try } => {
            let operand = Box::new(navigated(nav, *operand, offset.clone()));
            Rex { kind: RexKind::Cast { operand, is_try }, ty, origins }
        }
        kind => navigated(nav, Rex { kind, ty, origins }, offset.clone()),
    }
}

/// The number of rows of a navigation: a literal, perhaps with a sign.
fn number(e: &Expr) -> PlanResult<Value> {
    let of = |text: &str, negative: bool| -> Option<Value> {
        let sign = if negative { "-" } else { "" };
        let signed = format!("{sign}{text}");
        if let Ok(n) = signed.parse::<i64>() {
            return Some(Value::Int(n));
        }
        let (whole, fraction) = signed.split_once('.')?;
        let unscaled = format!("{whole}{fraction}").parse().ok()?;
        Some(Value::Decimal { unscaled, scale: u8::try_from(fraction.len()).ok()? })
    };
    let value = match &e.kind {
        ExprKind::Literal(Literal::Number(text)) => of(text, false),
        ExprKind::Unary(sign @ (UnaryOp::Minus | UnaryOp::Plus), inner) => match &inner.kind {
            ExprKind::Literal(Literal::Number(text)) => of(text, *sign == UnaryOp::Minus),
            _ => None,
        },
        _ => None,
    };
    value.ok_or_else(|| {
        PlanError::rejected(e.span, "the number of rows must be a literal")
            .label("not a number")
            .help("write a number, such as LAST(A.price, 1)")
            .into()
    })
}

/// The rows that a number means; a fraction is cut off.
pub(super) fn steps_of(value: &Value) -> Option<i32> {
    match value {
        Value::Int(n) => i32::try_from(*n).ok(),
        Value::Decimal { unscaled, scale } => {
            let ten = 10i128.checked_pow(u32::from(*scale))?;
            i32::try_from(unscaled / ten).ok()
        }
        _ => None,
    }
}

/// AND and OR of one kind stand side by side.
fn flattened(rex: Rex) -> Rex {
    let Rex { kind, ty, origins } = rex;
    let kind = match kind {
        RexKind::Call(f, args) => {
            let args: Vec<Rex> = args.into_iter().map(flattened).collect();
            if f.name() != op::AND.name && f.name() != op::OR.name {
                return Rex { kind: RexKind::Call(f, args), ty, origins };
            }
            let mut flat = Vec::with_capacity(args.len());
            for arg in args {
                match arg.kind {
                    RexKind::Call(inner, parts) if inner == f => flat.extend(parts),
                    kind => flat.push(Rex { kind, ..arg }),
                }
            }
            RexKind::Call(f, flat)
        }
        RexKind::Cast { operand, is_try } => RexKind::Cast { operand: Box::new(flattened(*operand)), is_try },
        RexKind::Field(operand, i) => RexKind::Field(Box::new(flattened(*operand)), i),
        kind => kind,
    };
    Rex { kind, ty, origins }
}

/// Constants bear the type that they are cast to; a comparison takes texts and whole numbers of any length as they are.
fn typed_constants(rex: Rex) -> Rex {
    let Rex { kind, ty, origins } = rex;
    let kind = match kind {
        RexKind::Call(f, args) => {
            let compares = f.name() == op::EQUALS.name || f.name() == op::NOT_EQUALS.name;
            let args = args.into_iter().map(|a| if compares { bare_constant(a) } else { a });
            RexKind::Call(f, args.map(typed_constants).collect())
        }
        RexKind::Cast { operand, is_try: false } if operand.ty.is_integer() && ty.is_integer() => match operand.kind {
            RexKind::Literal(Value::Int(n)) => RexKind::Literal(Value::Int(n)),
            kind => RexKind::Cast { operand: Box::new(typed_constants(Rex { kind, ..*operand })), is_try: false },
        },
        RexKind::Cast { operand, is_try } => RexKind::Cast { operand: Box::new(typed_constants(*operand)), is_try },
        RexKind::Field(operand, i) => RexKind::Field(Box::new(typed_constants(*operand)), i),
        kind => kind,
    };
    Rex { kind, ty, origins }
}

fn bare_constant(rex: Rex) -> Rex {
    match rex.kind {
        RexKind::Cast { operand, is_try: false }
            if operand.as_literal().is_some()
                && (operand.ty.is_character() && rex.ty.is_character()
                    || operand.ty.is_integer() && rex.ty.is_integer()) =>
        {
            *operand
        }
        kind => Rex { kind, ..rex },
    }
}

/// Makes an aggregate by name.
type MakeAggregate<'f> = &'f dyn Fn(&str, Vec<Rex>, DataType) -> PlanResult<Rex>;

fn nullable(ty: &DataType) -> DataType {
    ty.clone().with_nullable(true)
}

/// `x / y` and kin, of Flink's type.
fn arithmetic(def: &'static FunctionDef, x: Rex, y: Rex) -> PlanResult<Rex> {
    let types = [&x, &y].map(|a| ArgumentType { ty: &a.ty, literal: a.as_literal() });
    let at = x.origins.first().unwrap_or_default();
    let ty = def.check(&types).map_err(|m| PlanError::rejected(at, m).label("here"))?;
    Ok(Rex::call(def, vec![x, y], ty))
}

/// A cast that plans show: where kinds differ, and where the argument of the aggregate is NOT NULL, which its sum is not.
fn cast_if(rex: Rex, ty: &DataType, always: bool) -> Rex {
    if always || rex.ty.kind != ty.kind { Rex::cast(rex, nullable(ty)) } else { rex }
}

/// AVG is SUM / COUNT, cast to the type of AVG.
fn average(arg: &Rex, ty: DataType, of: MakeAggregate<'_>) -> PlanResult<Rex> {
    let sum_ty = match arg.ty.kind {
        TypeKind::Decimal(_, s) => TypeKind::Decimal(38, s).nullable(),
        _ => nullable(&arg.ty),
    };
    let sum = cast_if(of("SUM", vec![arg.clone()], sum_ty)?, &ty, !arg.ty.nullable);
    let count = of("COUNT", vec![arg.clone()], TypeKind::BigInt.not_null())?;
    let average = arithmetic(&op::DIVIDE, sum, count)?;
    Ok(cast_if(average, &ty, false))
}

/// Variances are computed from the sum of squares and the square of the sum, all in the argument's own type.
fn variance(name: &str, arg: &Rex, of: MakeAggregate<'_>) -> PlanResult<Rex> {
    let ty = nullable(&arg.ty);
    let strict = !arg.ty.nullable;
    let shown = |rex: Rex| cast_if(rex, &ty, strict);
    let arg = shown(arg.clone());
    let square = |x: &Rex| arithmetic(&op::TIMES, x.clone(), x.clone()).map(&shown);
    let sum = |x: Rex| of("SUM", vec![x], ty.clone()).map(&shown);
    let count = of("COUNT", vec![arg.clone()], TypeKind::BigInt.not_null())?;
    let cast_count = Rex::cast(count.clone(), ty.clone().with_nullable(false));
    let squares = sum(square(&arg)?)?;
    let sum_squared = square(&sum(arg)?)?;
    let mean = shown(arithmetic(&op::DIVIDE, sum_squared, cast_count.clone())?);
    let difference = shown(arithmetic(&op::MINUS, squares, mean)?);
    let divisor = if name.ends_with("_SAMP") {
        let bigint = TypeKind::BigInt.nullable();
        let one = || Rex::literal(Value::Int(1), TypeKind::Int.not_null());
        let is_one = Rex::call(&op::EQUALS, vec![count.clone(), one()], TypeKind::Boolean.not_null());
        let less = arithmetic(&op::MINUS, count, one())?;
        let parts = vec![is_one, Rex::null(bigint.clone()), Rex::cast(less, bigint.clone())];
        Rex::call(&op::CASE, parts, bigint)
    } else {
        cast_count
    };
    let variance = arithmetic(&op::DIVIDE, difference, divisor)?;
    if name.starts_with("VAR") {
        return Ok(cast_if(variance, &ty, false));
    }
    let Some(power) = crate::catalog::functions::lookup("POWER") else { return Ok(variance) };
    let half = Rex::literal(Value::Decimal { unscaled: 5, scale: 1 }, TypeKind::Decimal(2, 1).not_null());
    let root = Rex::call(power, vec![shown(variance), half], TypeKind::Double.nullable());
    Ok(cast_if(root, &ty, false))
}
