//! Splits a projection with OVER aggregates into a projection below, the OVER operator and a projection above
//! (Calcite's `ProjectToWindowRule` with its `CalcRelSplitter`).
//!
//! What is computed below decides how many columns the operator carries: if anything is, the projection below has
//! only the columns in use; if not, there is no projection and the operator carries its whole input. Literals count as
//! something to compute below, and SUM and AVG bring some (their CASE), as does every bounded frame. Other expressions are computed
//! below only if they come first ([`needs_step_below`]).

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::catalog::types::{DataType, TypeKind};
use crate::logical::make;
use crate::logical::rel::{AggArg, AggCall, Over, Rel, RelColumn, RelOp, SortKey, WrittenCall};
use crate::logical::rex::{Origins, OverCall, Rex, RexKind};
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;

/// Splits every projection with OVER aggregates in the tree.
pub fn split_over(rel: Rel) -> PlanResult<Rel> {
    let Rel { op, inputs, columns, origins } = rel;
    let inputs = inputs.into_iter().map(split_over).collect::<PlanResult<Vec<_>>>()?;
    match op {
        RelOp::Project(exprs) if exprs.iter().any(Rex::contains_over) => {
            let input = inputs.into_iter().next().expect("a projection has an input");
            split_project(exprs, columns, origins, input)
        }
        op => Ok(Rel { op, inputs, columns, origins }),
    }
}

fn split_project(exprs: Vec<Rex>, columns: Vec<RelColumn>, origins: Origins, input: Rel) -> PlanResult<Rel> {
    let window = the_window(&exprs)?;
    let exprs: Vec<Rex> = exprs.iter().map(with_squares).collect();
    let plain = plain_columns(&input);
    let (exprs, input, narrowed) = if needs_step_below(&exprs, plain) {
        let below = Below::collect(&exprs, input.columns.len(), plain);
        let names = below.names(&input);
        let step = below.exprs(&input);
        let exprs = exprs.iter().map(|e| below.rewrite(e)).collect();
        (exprs, input.project(step, names, Origins::none()), true)
    } else {
        (exprs, input, false)
    };
    reject_over_on_over(&input, &exprs, window)?;

    let width = input.columns.len();
    let mut calls: Vec<AggCall> = Vec::new();
    let mut written: Vec<WrittenCall> = Vec::new();
    let mut first: Option<OverCall> = None;
    let mut top = Vec::with_capacity(exprs.len());
    let mut state = Splitter {
        width,
        calls: &mut calls,
        written: &mut written,
        first: &mut first,
        known: FxHashMap::default(),
        known_written: FxHashSet::default(),
    };
    for (e, column) in exprs.iter().zip(&columns) {
        top.push(state.replace(e, &column.name)?);
    }
    let first = first.expect("an OVER aggregate was found");
    // A constant parts and orders nothing, and what is ordered already is not ordered again.
    let mut order: Vec<SortKey> = Vec::new();
    for key in first.order_by.iter().filter_map(SortKey::from_sort) {
        if order.iter().all(|k| k.column != key.column) {
            order.push(SortKey { origins: key.origins.outermost(), ..key });
        }
    }
    let keys = first.partition_by.iter().zip(&first.partition_origins);
    let (partition, partition_origins) = keys.filter_map(|(e, o)| Some((e.as_input()?, o.clone()))).unzip();
    let over = Over { partition, partition_origins, order, frame: first.frame.clone(), written, narrowed, calls };
    let mut out = input.columns.clone();
    out.extend(over.calls.iter().map(|c| RelColumn::new(c.name.clone(), c.ty.clone())));
    // The select list stands around the windows in it.
    let window_origins = origins.first().map_or(Origins::at(window), |list| Origins::at(window).used_at(list));
    let rel = Rel { op: RelOp::Over(over), inputs: vec![input], columns: out, origins: window_origins };
    // Where the operator carries its whole input, its results have no names above it either.
    let names = columns.iter().zip(&top).enumerate().map(|(i, (c, e))| match e.as_input() {
        Some(at) if at >= width && !narrowed => format!("${i}").into(),
        _ => c.name.clone(),
    });
    let names = names.collect();
    Ok(rel.project(top, names, origins))
}

/// STDDEV and VAR read their argument and its square, both in the type of the result if that is a DECIMAL
/// (Calcite's `StandardConvertletTable.AvgVarianceConvertlet`): the square becomes a second argument.
fn with_squares(e: &Rex) -> Rex {
    match &e.kind {
        RexKind::Over(over) if make::is_variance(&over.function) && over.args.len() == 1 => {
            let x = match e.ty.kind {
                TypeKind::Decimal(..) => make::cast_kind(over.args[0].clone(), &e.ty),
                _ => over.args[0].clone(),
            };
            let mut over = over.clone();
            over.args = vec![x.clone(), make::square(x)];
            Rex { kind: RexKind::Over(over), ..e.clone() }
        }
        _ if e.contains_over() => e.map_children(&mut with_squares),
        _ => e.clone(),
    }
}

/// All OVER aggregates of a SELECT must share one window (Flink's `StreamPhysicalOverAggregateRule`).
fn the_window(exprs: &[Rex]) -> PlanResult<Span> {
    let mut first: Option<(&OverCall, Option<Span>)> = None;
    let mut other = None;
    for e in exprs {
        e.visit(&mut |r| {
            if let RexKind::Over(over) = &r.kind {
                match first {
                    None => first = Some((over, r.origins.first())),
                    Some((w, _)) => {
                        let same =
                            w.partition_by == over.partition_by && w.order_by == over.order_by && w.frame == over.frame;
                        if !same && other.is_none() {
                            other = r.origins.first();
                        }
                    }
                }
            }
        });
    }
    let at = first.and_then(|(_, span)| span).unwrap_or_default();
    match other {
        None => Ok(at),
        Some(span) => Err(PlanError::rejected(
            span,
            "unsupported use of OVER windows: all aggregates of a SELECT must be computed on the same window",
        )
        .label("this window differs from the first one in PARTITION BY, ORDER BY or frame")
        .help("use one window definition, or compute the second aggregate in another query")
        .into()),
    }
}

/// Flink names the results of every OVER operator `w0$o0`, ..., and fails when one stands right on another: a projection in
/// between gives the results of the inner one other names.
fn reject_over_on_over(input: &Rel, exprs: &[Rex], window: Span) -> PlanResult<()> {
    if !stands_on_over(input) || exprs.iter().all(only_ranking) {
        return Ok(());
    }
    Err(PlanError::rejected(window, "field names must be unique, found duplicates: [w0$o0]")
        .label("this OVER aggregate stands right on the result of another one")
        .help("Flink names both results `w0$o0`; compute something from the inner result first")
        .into())
}

fn stands_on_over(rel: &Rel) -> bool {
    match &rel.op {
        RelOp::Over(_) => true,
        RelOp::Filter(_) => stands_on_over(rel.input()),
        _ => false,
    }
}

fn only_ranking(e: &Rex) -> bool {
    let mut only = true;
    e.visit(&mut |r| {
        if let RexKind::Over(over) = &r.kind {
            only &= is_ranking(&over.function);
        }
    });
    only
}

fn is_ranking(function: &str) -> bool {
    matches!(function, "ROW_NUMBER" | "RANK" | "DENSE_RANK")
}

/// How many columns of the input are just columns. The properties of a legacy window behind them are calls of its auxiliary
/// functions when OVER is split off.
fn plain_columns(input: &Rel) -> usize {
    match &input.op {
        RelOp::GroupWindow(window) => window.keys.len() + window.calls.len(),
        RelOp::Filter(_) => plain_columns(input.input()),
        _ => input.columns.len(),
    }
}

/// True if something has to be computed below the OVER operator. Calcite takes a projection's expressions in the order in which the
/// columns they read come along, and the first of them decides what the lowest step is: a literal comes before everything, and what
/// reads earlier columns than the OVER aggregates do comes before these (`CalcRelSplitter.chooseLevels`). Then all that can be
/// computed there is. Otherwise OVER stands right on the input, and the rest is computed above.
fn needs_step_below(exprs: &[Rex], plain: usize) -> bool {
    let mut order = Steps { plain, below: false, registered: 0, over: None, step: None };
    for e in exprs {
        order.register(e);
    }
    order.below || order.step.is_some_and(|step| order.over.is_none_or(|over| step < over))
}

/// The last column that an expression reads, then its place among the projection's expressions.
type Turn = (usize, usize);

/// Who comes first.
struct Steps {
    plain: usize,
    /// Something is computed below in any case.
    below: bool,
    registered: usize,
    /// The first OVER aggregate.
    over: Option<Turn>,
    /// The first other expression over bare columns.
    step: Option<Turn>,
}

impl Steps {
    fn register(&mut self, e: &Rex) {
        let computed = |e: &Rex| e.as_input().is_none_or(|i| i >= self.plain);
        match &e.kind {
            RexKind::Input(i) => self.below |= *i >= self.plain,
            RexKind::Literal(_) | RexKind::Outer(_) => self.below = true,
            RexKind::Over(over) => {
                let args = || over.args.iter().chain(&over.filter);
                let keys = || over.partition_by.iter().chain(over.order_by.iter().map(|s| &s.expr));
                self.below |= over.frame.preceding.is_some_and(|n| n != 0)
                    || matches!(&*over.function, "SUM" | "AVG")
                    || make::is_variance(&over.function)
                    || args().chain(keys()).any(computed);
                let last = args().chain(keys()).filter_map(Rex::as_input).max().unwrap_or(0);
                self.over = first(self.over, (last, self.registered));
            }
            RexKind::Call(..) | RexKind::Cast { .. } | RexKind::Field(..) => {
                let (mut bare, mut last) = (true, 0);
                let registered = self.registered;
                e.for_each_child(&mut |child| {
                    self.register(child);
                    bare &= child.as_input().is_some();
                    last = last.max(child.as_input().unwrap_or(0));
                });
                // What reads nothing waits for nothing.
                self.below |= registered == self.registered;
                if bare {
                    self.step = first(self.step, (last, self.registered));
                }
            }
        }
        self.registered += 1;
    }
}

fn first(a: Option<Turn>, b: Turn) -> Option<Turn> {
    Some(a.map_or(b, |a| a.min(b)))
}

/// The projection below: input columns in use in their own order, then what is computed.
struct Below {
    columns: Vec<usize>,
    computed: Vec<Rex>,
}

impl Below {
    fn collect(exprs: &[Rex], width: usize, plain: usize) -> Below {
        let mut used = vec![false; width];
        let mut computed: Vec<Rex> = Vec::new();
        for e in exprs {
            collect(e, plain, &mut used, &mut computed);
        }
        Below { columns: (0..width).filter(|i| used[*i]).collect(), computed }
    }

    fn exprs(&self, input: &Rel) -> Vec<Rex> {
        self.columns.iter().map(|i| input.column(*i)).chain(self.computed.iter().cloned()).collect()
    }

    fn names(&self, input: &Rel) -> Vec<Arc<str>> {
        let columns = self.columns.iter().map(|i| input.columns[*i].name.clone());
        let first = self.columns.len();
        columns.chain((0..self.computed.len()).map(|i| Arc::from(format!("${}", first + i)))).collect()
    }

    /// The expression over the projection's output.
    fn rewrite(&self, e: &Rex) -> Rex {
        if let Some(i) = self.computed.iter().position(|c| c == e) {
            return Rex::input(self.columns.len() + i, e.ty.clone()).with_origins(&e.origins);
        }
        match &e.kind {
            RexKind::Input(i) => {
                let at = self.columns.binary_search(i).expect("a column in use is carried");
                Rex::input(at, e.ty.clone()).with_origins(&e.origins)
            }
            _ => e.map_children(&mut |child| self.rewrite(child)),
        }
    }
}

fn collect(e: &Rex, plain: usize, used: &mut [bool], computed: &mut Vec<Rex>) {
    match &e.kind {
        RexKind::Input(i) if *i >= plain => push_unique(computed, e),
        RexKind::Input(i) => used[*i] = true,
        RexKind::Literal(_) => {}
        RexKind::Over(over) => {
            // Constant arguments (LAG's offset) stay with the call; everything else is computed below.
            for a in over.args.iter().chain(&over.filter) {
                collect(a, plain, used, computed);
            }
            for key in over.partition_by.iter().chain(over.order_by.iter().map(|s| &s.expr)) {
                collect(key, plain, used, computed);
            }
        }
        _ if !e.contains_over() => push_unique(computed, e),
        _ => e.for_each_child(&mut |child| collect(child, plain, used, computed)),
    }
}

fn push_unique(list: &mut Vec<Rex>, e: &Rex) {
    if !list.contains(e) {
        list.push(e.clone());
    }
}

/// Replaces OVER aggregates by the columns that the operator appends.
struct Splitter<'a> {
    width: usize,
    calls: &'a mut Vec<AggCall>,
    written: &'a mut Vec<WrittenCall>,
    first: &'a mut Option<OverCall>,
    /// The places of the calls, by what they compute.
    known: FxHashMap<Computation, usize>,
    known_written: FxHashSet<Computation>,
}

/// Function, arguments, DISTINCT and FILTER of a call.
type Computation = (Arc<str>, Vec<AggArg>, bool, Option<usize>);

fn computation(call: &AggCall) -> Computation {
    (call.function.clone(), call.args.clone(), call.distinct, call.filter)
}

impl Splitter<'_> {
    fn replace(&mut self, e: &Rex, name: &Arc<str>) -> PlanResult<Rex> {
        if let RexKind::Over(over) = &e.kind {
            if self.first.is_none() {
                *self.first = Some((**over).clone());
            }
            return self.call(over, e, name);
        }
        let mut error = None;
        let out = e.map_children(&mut |child| match self.replace(child, name) {
            Ok(r) => r,
            Err(err) => {
                error.get_or_insert(err);
                child.clone()
            }
        });
        error.map_or(Ok(out), Err)
    }

    /// The calls that compute `over`, and the expression that combines them.
    fn call(&mut self, over: &OverCall, e: &Rex, name: &Arc<str>) -> PlanResult<Rex> {
        let args: Vec<AggArg> = over
            .args
            .iter()
            .map(|a| a.as_input().map_or_else(|| AggArg::Constant(a.clone()), AggArg::Column))
            .collect();
        let mut call = AggCall {
            function: over.function.clone(),
            args,
            distinct: over.distinct,
            filter: over.filter.as_ref().and_then(Rex::as_input),
            ty: e.ty.clone(),
            name: name.clone(),
            monotonic: false,
            origins: e.origins.clone(),
        };
        let (expr, planned) = match &*over.function {
            "SUM" => {
                let (sum, planned) = self.sum(&call, &over.args[0].ty);
                (sum, planned)
            }
            "AVG" => {
                let (sum, planned) = self.sum(&call, &over.args[0].ty);
                let count = self.column(planned[0]);
                (make::average(sum, count, &e.ty), planned)
            }
            f if make::is_variance(f) => {
                let of = |arg: &AggArg| AggCall { args: vec![arg.clone()], ..call.clone() };
                let (value, square) = (of(&call.args[0]), of(&call.args[1]));
                let (squares, mut planned) = self.sum(&square, &over.args[1].ty);
                let (sum, of_values) = self.sum(&value, &over.args[0].ty);
                let count = self.column(of_values[0]);
                planned.extend(of_values);
                call.args.truncate(1);
                (make::variance_over(f, squares, sum, count, &e.ty), planned)
            }
            _ => {
                let i = self.add(call.clone());
                (self.column(i), vec![i])
            }
        };
        if self.known_written.insert(computation(&call)) {
            self.written.push(WrittenCall { call, planned });
        }
        Ok(expr.with_origins(&e.origins))
    }

    /// `CASE WHEN COUNT(x) > 0 THEN $SUM0(x) ELSE NULL END`.
    fn sum(&mut self, call: &AggCall, arg: &DataType) -> (Rex, Vec<usize>) {
        let sum_ty = make::sum_type(arg);
        let count = self.add(AggCall { function: "COUNT".into(), ty: TypeKind::BigInt.not_null(), ..call.clone() });
        let sum =
            self.add(AggCall { function: "$SUM0".into(), ty: sum_ty.clone().with_nullable(false), ..call.clone() });
        (make::null_if_no_rows(self.column(count), self.column(sum), sum_ty), vec![count, sum])
    }

    fn add(&mut self, mut call: AggCall) -> usize {
        let i = *self.known.entry(computation(&call)).or_insert(self.calls.len());
        if i == self.calls.len() {
            call.name = format!("w0$o{i}").into();
            self.calls.push(call);
        }
        i
    }

    fn column(&self, i: usize) -> Rex {
        Rex::input(self.width + i, self.calls[i].ty.clone())
    }
}
