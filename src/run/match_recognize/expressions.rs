//! Conditions and results of MATCH_RECOGNIZE over the rows of a match (Flink's `MatchCodeGenerator`).

use std::sync::Arc;

use super::nfa::Found;
use crate::catalog::functions::pattern::{self, Navigation};
use crate::eval::{Datum, Evaluator, Row, compile};
use crate::exec::Column;
use crate::logical::pattern::{Match, Variables};
use crate::logical::rel::{AggArg, AggCall};
use crate::logical::rex::{Function, Origins, Rex, RexKind, Value};
use crate::run::aggregate::{Aggregator, Scope};
use crate::run::build::Build;
use crate::run::error::{RunError, RunResult};
use crate::run::store::KeyId;
use crate::state::accumulators::{AccumulatorLayout, AggregateUse};

/// What an expression is computed over.
pub struct Scene<'a> {
    /// The rows of the match so far.
    pub found: &'a Found,
    /// The row at hand, if the match still goes on.
    pub current: Option<&'a Row>,
    /// The time of the row at hand, or of the match.
    pub time: i64,
    /// The clock.
    pub now: i64,
    /// The key.
    pub key: KeyId,
}

/// An expression, ready to run: first what it takes from the rows of the match, then what it makes of that.
pub struct Expression {
    terms: Vec<Term>,
    evaluator: Evaluator,
    /// The variable whose condition it is.
    own: Option<usize>,
    /// It asks for rows of the match before the one at hand.
    pub looks_back: bool,
}

/// A value from the rows of the match.
enum Term {
    /// From one row of a variable.
    Row { variable: usize, first: bool, offset: i64, value: Evaluator, width: usize },
    /// From all rows of a variable.
    Aggregate { variable: usize, args: Vec<Evaluator>, aggregator: Box<Aggregator<()>> },
    /// The number of rows of the match.
    Count,
    /// The time of the match.
    Rowtime,
    /// The clock.
    Proctime,
}

/// Takes expressions apart.
struct Splitter<'a, 'b> {
    pattern: &'a Match,
    build: &'a mut Build<'b>,
    terms: Vec<Term>,
    /// What each term is, so that equal ones are one.
    known: Vec<Rex>,
}

impl Expression {
    /// Compiles an expression of a pattern; `own` is the variable whose condition it is.
    pub fn build(rex: &Rex, pattern: &Match, own: Option<usize>, build: &mut Build<'_>) -> RunResult<Expression> {
        let mut splitter = Splitter { pattern, build, terms: Vec::new(), known: Vec::new() };
        let over_terms = splitter.split(rex)?;
        let terms = splitter.terms;
        let evaluator = compile(&over_terms, build.session)?;
        let at_hand = |term: &Term| match term {
            Term::Row { variable, first: false, offset: 0, .. } => {
                own.is_some() && (*variable == Variables::ANY || Some(*variable) == own)
            }
            Term::Rowtime | Term::Proctime => true,
            _ => false,
        };
        let looks_back = !terms.iter().all(at_hand);
        Ok(Expression { terms, evaluator, own, looks_back })
    }

    /// The value.
    pub fn value(&mut self, scene: &Scene<'_>) -> RunResult<Datum> {
        let row = self.row(scene)?;
        Ok(self.evaluator.eval(&row, scene.now)?)
    }

    /// True if it is a condition that holds.
    pub fn holds(&mut self, scene: &Scene<'_>) -> RunResult<bool> {
        let row = self.row(scene)?;
        Ok(self.evaluator.test(&row, scene.now)? == Some(true))
    }

    fn row(&mut self, scene: &Scene<'_>) -> RunResult<Vec<Datum>> {
        let own = self.own;
        self.terms.iter_mut().map(|term| term.value(scene, own)).collect()
    }
}

/// The rows of a variable, the one at hand last if it is one of them.
fn rows<'s>(scene: &'s Scene<'_>, variable: usize, own: Option<usize>) -> (&'s [Row], Option<&'s Row>) {
    let before = scene.found.rows.get(variable).map_or(&[][..], Vec::as_slice);
    let at_hand = own.is_some() && (variable == Variables::ANY || Some(variable) == own);
    (before, scene.current.filter(|_| at_hand))
}

impl Term {
    fn value(&mut self, scene: &Scene<'_>, own: Option<usize>) -> RunResult<Datum> {
        match self {
            Term::Row { variable, first, offset, value, width } => {
                let (before, current) = rows(scene, *variable, own);
                let row = place(before.len() + usize::from(current.is_some()), *first, *offset)?;
                let row = row.and_then(|i| before.get(i).or(current));
                match row {
                    Some(row) => Ok(value.eval(row, scene.now)?),
                    None => missing(value, *width, scene.now),
                }
            }
            Term::Aggregate { variable, args, aggregator } => {
                let (before, current) = rows(scene, *variable, own);
                let scope = Scope::loose(scene.key);
                let mut acc = aggregator.create();
                for row in before.iter().chain(current) {
                    let args = args.iter().map(|a| a.eval(row, scene.now)).collect::<Result<Vec<_>, _>>()?;
                    aggregator.accumulate(&mut acc, &args, &scope)?;
                }
                let value = aggregator.values(&acc, &scope)?.pop();
                aggregator.clear(&scope);
                value.ok_or_else(|| RunError::internal("an aggregate without a result"))
            }
            Term::Count => {
                let (before, current) = rows(scene, Variables::ANY, own);
                Ok(Datum::Int((before.len() + usize::from(current.is_some())) as i64))
            }
            Term::Rowtime => Ok(Datum::timestamp(scene.time)),
            Term::Proctime => Ok(Datum::timestamp(scene.now)),
        }
    }
}

/// The place of a row among `len`; none beyond the end that is counted towards, an error beyond the other.
fn place(len: usize, first: bool, offset: i64) -> RunResult<Option<usize>> {
    let len = i64::try_from(len).unwrap_or(i64::MAX);
    let at = if first { offset } else { len - 1 - offset };
    if first && at >= len || !first && at < 0 {
        return Ok(None);
    }
    if at < 0 || at >= len {
        return Err(RunError::job(format!("Index {at} out of bounds for length {len}")));
    }
    Ok(usize::try_from(at).ok())
}

/// What an operand is where there is no row: every column is NULL.
fn missing(value: &Evaluator, width: usize, now: i64) -> RunResult<Datum> {
    match value {
        Evaluator::Column(_) => Ok(Datum::Null),
        Evaluator::Constant(value) => Ok(value.clone()),
        Evaluator::Computed(_) => Ok(value.eval(&vec![Datum::Null; width], now)?),
    }
}

impl Splitter<'_, '_> {
    /// The expression over terms instead of columns.
    fn split(&mut self, rex: &Rex) -> RunResult<Rex> {
        if let Some(term) = self.known.iter().position(|k| k == rex) {
            return Ok(Rex { kind: RexKind::Input(term), ..rex.clone() });
        }
        let kind = match &rex.kind {
            RexKind::Input(i) => {
                let (variable, column) = self.pattern.variables.split(*i);
                let (value, width) = (Evaluator::Column(column), self.pattern.variables.width);
                return Ok(self.term(rex, Term::Row { variable, first: false, offset: 0, value, width }));
            }
            RexKind::Call(Function::Builtin(def), args) => {
                if let Some(nav) = Navigation::of_function(def) {
                    return self.navigation(rex, nav, args);
                }
                if std::ptr::eq(*def, &pattern::FINAL) && args.len() == 1 {
                    return self.split(&args[0]);
                }
                if std::ptr::eq(*def, &pattern::MATCH_ROWTIME) {
                    return Ok(self.term(rex, Term::Rowtime));
                }
                if std::ptr::eq(*def, &pattern::MATCH_PROCTIME) {
                    return Ok(self.term(rex, Term::Proctime));
                }
                if pattern::is_aggregate(def) {
                    return self.aggregate(rex, def.name, args);
                }
                let args = args.iter().map(|a| self.split(a)).collect::<RunResult<_>>()?;
                RexKind::Call(Function::Builtin(def), args)
            }
            RexKind::Call(function, args) => {
                let args = args.iter().map(|a| self.split(a)).collect::<RunResult<_>>()?;
                RexKind::Call(function.clone(), args)
            }
            RexKind::Cast { operand, is_try } => {
                RexKind::Cast { operand: Box::new(self.split(operand)?), is_try: *is_try }
            }
            RexKind::Field(operand, i) => RexKind::Field(Box::new(self.split(operand)?), *i),
            other => other.clone(),
        };
        Ok(Rex { kind, ty: rex.ty.clone(), origins: rex.origins.clone() })
    }

    fn term(&mut self, rex: &Rex, term: Term) -> Rex {
        self.terms.push(term);
        self.known.push(rex.clone());
        Rex { kind: RexKind::Input(self.terms.len() - 1), ..rex.clone() }
    }

    fn navigation(&mut self, rex: &Rex, nav: Navigation, args: &[Rex]) -> RunResult<Rex> {
        let [operand, offset] = args else { return Err(RunError::internal("navigation without a number of rows")) };
        let Some(variable) = self.variable(operand) else { return self.split(operand) };
        if matches!(nav, Navigation::Prev | Navigation::Next) {
            // Only ever by no row at all.
            return self.split(operand);
        }
        let offset = match offset.as_literal() {
            Some(Value::Int(n)) => *n,
            Some(Value::Decimal { unscaled, scale }) => {
                (unscaled / 10i128.pow(u32::from(*scale).min(38))).try_into().unwrap_or(i64::MAX)
            }
            _ => return Err(RunError::internal("navigation by what is no number")),
        };
        let (value, width) = (self.over_row(operand)?, self.pattern.variables.width);
        Ok(self.term(rex, Term::Row { variable, first: nav == Navigation::First, offset, value, width }))
    }

    /// The only variable that an operand reads.
    fn variable(&self, rex: &Rex) -> Option<usize> {
        let mut variable = None;
        rex.visit(&mut |r| {
            if let Some(i) = r.as_input() {
                variable.get_or_insert(self.pattern.variables.split(i).0);
            }
        });
        variable
    }

    /// An operand over one row of its variable: navigation inside of it is passed over.
    fn over_row(&self, rex: &Rex) -> RunResult<Evaluator> {
        let variables = &self.pattern.variables;
        let plain = without_navigation(rex)
            .map_inputs(&mut |i, used| Rex { kind: RexKind::Input(variables.split(i).1), ..used.clone() });
        Ok(compile(&plain, self.build.session)?)
    }

    fn aggregate(&mut self, rex: &Rex, function: &str, args: &[Rex]) -> RunResult<Rex> {
        if args.is_empty() {
            return Ok(self.term(rex, Term::Count));
        }
        let variable = args.iter().find_map(|a| self.variable(a)).unwrap_or(Variables::ANY);
        let (mut call_args, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for arg in args {
            if arg.as_literal().is_some() {
                call_args.push(AggArg::Constant(arg.clone()));
                continue;
            }
            call_args.push(AggArg::Column(columns.len()));
            columns.push(Column { name: "arg".into(), ty: arg.ty.clone(), needed: true });
            values.push(self.over_row(arg)?);
        }
        let call = AggCall {
            function: Arc::from(function),
            args: call_args,
            distinct: false,
            filter: None,
            ty: rex.ty.clone(),
            name: Arc::from("measure"),
            monotonic: false,
            origins: Origins::none(),
        };
        let usage = AggregateUse { retracts: false, counts_rows: false, keeps_time: false };
        let layout = AccumulatorLayout::of(std::slice::from_ref(&call), &columns, usage);
        let aggregator =
            Aggregator::local(std::slice::from_ref(&call), layout, self.build).map_err(|e| e.at(&rex.origins))?;
        Ok(self.term(rex, Term::Aggregate { variable, args: values, aggregator: Box::new(aggregator) }))
    }
}

fn without_navigation(rex: &Rex) -> Rex {
    let kind = match &rex.kind {
        RexKind::Call(Function::Builtin(def), args) if Navigation::of_function(def).is_some() && args.len() == 2 => {
            return without_navigation(&args[0]);
        }
        RexKind::Call(f, args) => RexKind::Call(f.clone(), args.iter().map(without_navigation).collect()),
        RexKind::Cast { operand, is_try } => {
            RexKind::Cast { operand: Box::new(without_navigation(operand)), is_try: *is_try }
        }
        RexKind::Field(operand, i) => RexKind::Field(Box::new(without_navigation(operand)), *i),
        other => other.clone(),
    };
    Rex { kind, ty: rex.ty.clone(), origins: rex.origins.clone() }
}
