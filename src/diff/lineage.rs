//! What a column is computed from, in a form in which both plans can be compared.
//!
//! An [`Ident`] names a computation: a source column, an expression over other idents, the result of an aggregate of one
//! *matched* operator. Matched operators share a number, so a change inside an operator (its window, say) leaves the idents of its
//! results as they are, and nothing downstream looks changed because of it. Names and layout play no part.

use std::collections::HashMap;

use rustc_hash::{FxHashMap, FxHashSet};

use super::lookup::Lookup;
use super::matching::{Matching, Side};
use super::nullability::{self, Edits};
use crate::catalog::{TableColumn, TableColumnKind};
use crate::exec::window_spec::{WindowAttachment, WindowSpec};
use crate::exec::{NodeId, Operator, Plan};
use crate::logical::correlate::Correlate;
use crate::logical::pattern::Variables;
use crate::logical::print::{digest, expression, print};
use crate::logical::rel::{AggArg, AggCall};
use crate::logical::rex::{Rex, RexKind, Value};
use crate::logical::simplify::{canonical, is_always_true, simplify, simplify_filter};
use crate::source::Span;

/// A computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ident(u32);

impl Ident {
    /// Its number among all idents of a comparison.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What is known of an ident.
#[derive(Debug, Clone, Default)]
pub struct IdentInfo {
    /// What it is computed from.
    pub parts: Vec<Ident>,
    /// The matched operator whose aggregate, window or rank it is.
    pub producer: Option<usize>,
    /// Where it is written, on the side that came first.
    pub origin: Option<Span>,
    /// True for a column of a source.
    pub is_source: bool,
    /// A name for people.
    pub name: String,
}

/// All idents of a comparison.
#[derive(Debug, Default)]
pub struct Interner {
    by_key: FxHashMap<String, Ident>,
    infos: Vec<IdentInfo>,
    /// Source columns that may be NULL on one side only.
    pub edits: Edits,
    /// What follows from those being NOT NULL on one side. It is simplified as if they were so on both, since that one side
    /// checks for NULL and the other does not is no computation of the query's own.
    never_null: FxHashSet<Ident>,
    /// Whether the results of calls may be NULL, on the side that came first.
    nullable: FxHashMap<Ident, bool>,
}

impl Interner {
    fn intern(&mut self, key: String, info: impl FnOnce() -> IdentInfo) -> Ident {
        if let Some(id) = self.by_key.get(&key) {
            return *id;
        }
        let id = Ident(self.infos.len() as u32);
        self.infos.push(info());
        self.by_key.insert(key, id);
        id
    }

    /// What is known of an ident.
    pub fn info(&self, id: Ident) -> &IdentInfo {
        &self.infos[id.0 as usize]
    }

    /// An expression over columns whose idents are `input`.
    pub fn expr(&mut self, e: &Rex, input: &[Ident]) -> Ident {
        let e = strip(e);
        if let Some(i) = e.as_input() {
            return input[i];
        }
        let (over_idents, parts) = over_idents(e, input);
        let Some(sure) = self.with_never_null(&over_idents, &parts) else {
            return self.interned(&over_idents, parts);
        };
        let sure = simplify(sure);
        if let Some(i) = sure.as_input() {
            return Ident(i as u32);
        }
        let id = self.interned(&sure, parts);
        if !sure.ty.nullable {
            self.never_null.insert(id);
        }
        id
    }

    /// A condition that filters rows; none if it always holds.
    pub fn condition(&mut self, e: &Rex, input: &[Ident]) -> Option<Ident> {
        let (over_idents, parts) = over_idents(e, input);
        match self.with_never_null(&over_idents, &parts) {
            None => Some(self.expr(e, input)),
            Some(sure) => {
                let sure = simplify_filter(sure);
                (!is_always_true(&sure)).then(|| self.interned(&sure, parts))
            }
        }
    }

    /// An expression just as it was planned, whatever is never NULL.
    pub fn as_planned(&mut self, e: &Rex, input: &[Ident]) -> Ident {
        let (over_idents, parts) = over_idents(e, input);
        self.interned(&over_idents, parts)
    }

    fn interned(&mut self, e: &Rex, parts: Vec<Ident>) -> Ident {
        let origin = e.origins.first();
        self.intern(identity(&canonical(e)), || IdentInfo { parts, origin, ..IdentInfo::default() })
    }

    /// An expression over columns of which some are never NULL; nothing if it reads none of these.
    fn with_never_null(&self, e: &Rex, parts: &[Ident]) -> Option<Rex> {
        let never = |id: &Ident| self.never_null.contains(id);
        parts.iter().any(never).then(|| nullability::with_never_null(e, &|i| never(&Ident(i as u32))))
    }

    /// Column `i` of the rows that a table function makes of `args`.
    fn made_by(&mut self, call: &Correlate, i: usize, args: &[Ident]) -> Ident {
        let column = &call.columns[i];
        let list: Vec<String> = args.iter().map(|a| format!("${}", a.0)).collect();
        let ty = column.ty.all_nullable().kind;
        let key = format!("T{:?}({}).{i}:{}:{ty}", call.function, list.join(","), call.columns.len());
        self.intern(key, || IdentInfo {
            parts: args.to_vec(),
            origin: call.call_origins.first(),
            name: column.name.to_string(),
            ..IdentInfo::default()
        })
    }

    /// The idents of a call's arguments; constants by their digest.
    pub fn call(&mut self, operator: usize, call: &AggCall, input: &[Ident]) -> Ident {
        let mut parts = Vec::new();
        let key = format!("A{operator}:{}", self.computation(call, input, &mut parts));
        let (origin, name) = (call.origins.first(), call.name.to_string());
        let id =
            self.intern(key, || IdentInfo { parts, origin, producer: Some(operator), name, ..IdentInfo::default() });
        if !self.edits.is_empty() && *self.nullable.entry(id).or_insert(call.ty.nullable) != call.ty.nullable {
            self.never_null.insert(id);
        }
        id
    }

    /// How many idents are known to be never NULL: if more are than before, what is computed from them has to be named anew.
    pub fn never_null(&self) -> usize {
        self.never_null.len()
    }

    /// What a call computes, as text.
    pub fn computation(&self, call: &AggCall, input: &[Ident], parts: &mut Vec<Ident>) -> String {
        let mut text = format!("{}({}", call.function, if call.distinct { "DISTINCT " } else { "" });
        // A COUNT of something that is never NULL counts rows.
        let never = |arg: &AggArg| arg.column().is_some_and(|c| self.never_null.contains(&input[c]));
        let counts_rows = &*call.function == "COUNT" && !call.distinct && call.args.iter().all(never);
        for arg in call.args.iter().filter(|_| !counts_rows) {
            match arg {
                AggArg::Column(i) => {
                    parts.push(input[*i]);
                    text.push_str(&format!("${},", input[*i].0));
                }
                AggArg::Constant(e) => text.push_str(&format!("{},", identity(e))),
            }
        }
        text.push(')');
        if let Some(f) = call.filter {
            parts.push(input[f]);
            text.push_str(&format!(" FILTER ${}", input[f].0));
        }
        text
    }
}

/// An expression as text, with its type, which the text does not always tell: state is laid out by it. What may be NULL in it
/// is compared where it is stored ([`nullability`]).
fn identity(e: &Rex) -> String {
    format!("{}:{}", digest(e), e.ty.all_nullable().kind)
}

/// An expression over idents instead of columns, and which these are.
fn over_idents(e: &Rex, input: &[Ident]) -> (Rex, Vec<Ident>) {
    let mut parts = Vec::new();
    let over_idents = e.map_inputs(&mut |i, used| {
        if !parts.contains(&input[i]) {
            parts.push(input[i]);
        }
        Rex { kind: RexKind::Input(input[i].0 as usize), ..used.clone() }
    });
    (over_idents, parts)
}

/// Casts that only turn a time attribute into a value, and reinterpretations, are no computation.
fn strip(e: &Rex) -> &Rex {
    match &e.kind {
        RexKind::Call(f, args) if matches!(f.name(), "Reinterpret" | "PROCTIME_MATERIALIZE") && args.len() == 1 => {
            strip(&args[0])
        }
        RexKind::Cast { operand, is_try: false }
            if operand.ty.time_attribute() != crate::catalog::types::TimeAttribute::None
                && operand.ty.clone().materialized().kind == e.ty.kind =>
        {
            strip(operand)
        }
        _ => e,
    }
}

/// The idents of every node's output columns, of one side.
pub struct Lineage<'a> {
    plan: &'a Plan,
    /// Which side the plan is.
    pub side: Side,
    known: HashMap<NodeId, Vec<Ident>>,
}

impl<'a> Lineage<'a> {
    /// Nothing computed yet.
    pub fn new(plan: &'a Plan, side: Side) -> Self {
        Lineage { plan, side, known: HashMap::new() }
    }

    /// The idents of a node's output columns.
    pub fn of(&mut self, id: NodeId, matching: &Matching, interner: &mut Interner) -> Vec<Ident> {
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        let idents = self.compute(id, matching, interner);
        self.known.insert(id, idents.clone());
        idents
    }

    fn input(&mut self, id: NodeId, matching: &Matching, interner: &mut Interner) -> Vec<Ident> {
        match self.plan.node(id).inputs.first() {
            Some(input) => self.of(*input, matching, interner),
            None => Vec::new(),
        }
    }

    /// The idents of the rows that an aggregate reads: those that its first phase reads.
    pub fn aggregate_input(&mut self, id: NodeId, matching: &Matching, interner: &mut Interner) -> Vec<Ident> {
        let id = self.plan.first_phase(id);
        self.input(id, matching, interner)
    }

    fn compute(&mut self, id: NodeId, matching: &Matching, interner: &mut Interner) -> Vec<Ident> {
        let plan = self.plan;
        let node = plan.node(id);
        let operator = matching.number(self.side, id);
        match &node.op {
            Operator::TableSourceScan(scan) => scan
                .fields
                .iter()
                .map(|f| {
                    let column = &scan.table.columns[*f];
                    // Another type is another column; where types are only inferred, they say nothing.
                    let ty = if scan.table.inferred { String::new() } else { type_text(column) };
                    let id = interner.intern(format!("S{operator}.{}:{ty}", column.name), || IdentInfo {
                        origin: Some(column.span),
                        is_source: true,
                        name: column.name.clone(),
                        ..IdentInfo::default()
                    });
                    if interner.edits.read(operator, &column.name, id) {
                        interner.never_null.insert(id);
                    }
                    id
                })
                .collect(),
            Operator::Values(values) => (0..node.columns.len())
                .map(|i| {
                    let column: Vec<String> = values.rows.iter().map(|r| digest(&r[i])).collect();
                    interner.intern(format!("V{}", column.join("|")), IdentInfo::default)
                })
                .collect(),
            Operator::Calc(calc) => {
                let input = self.input(id, matching, interner);
                let mut out = Vec::with_capacity(calc.exprs.len());
                for (e, column) in calc.exprs.iter().zip(&node.columns) {
                    let ident = interner.expr(e, &input);
                    if let Some(info) = interner.infos.get_mut(ident.0 as usize).filter(|i| i.name.is_empty()) {
                        info.name = column.name.to_string();
                    }
                    out.push(ident);
                }
                out
            }
            Operator::Expand(expand) => {
                let input = self.input(id, matching, interner);
                (0..node.columns.len())
                    .map(|i| {
                        let own = expand.projects.iter().find_map(|p| p[i].as_input());
                        match own {
                            Some(c) => input[c],
                            None => interner.intern("E".to_owned(), IdentInfo::default),
                        }
                    })
                    .collect()
            }
            Operator::Correlate(c) => {
                let mut out = self.input(id, matching, interner);
                let args: Vec<Ident> = c.call.args.iter().map(|e| interner.expr(e, &out)).collect();
                out.extend((0..c.call.columns.len()).map(|i| interner.made_by(&c.call, i, &args)));
                out
            }
            Operator::WindowTableFunction(tvf) => {
                let mut out = self.input(id, matching, interner);
                let time = match tvf.window.attachment {
                    WindowAttachment::TimeColumn(i) => out[i],
                    _ => out[0],
                };
                let spec = spec_text(&tvf.window);
                for bound in ["start", "end", "time"] {
                    out.push(interner.intern(format!("W{bound}({spec},${})", time.0), || IdentInfo {
                        parts: vec![time],
                        origin: tvf.window.origins.call.first(),
                        name: format!("window_{bound}"),
                        ..IdentInfo::default()
                    }));
                }
                out
            }
            Operator::WindowAggregate(_) | Operator::GlobalWindowAggregate(_) => {
                let input = self.aggregate_input(id, matching, interner);
                let Some((keys, calls)) = plan.aggregated(id) else { return Vec::new() };
                let window_time = match &node.op {
                    Operator::WindowAggregate(a) => a.window_time,
                    Operator::GlobalWindowAggregate(g) => g.aggregate.window_time,
                    _ => false,
                };
                let keys = keys.iter().map(|k| input[*k]).collect();
                self.window_outputs(operator, keys, calls, window_time, &input, interner)
            }
            Operator::GroupWindowAggregate(a) => {
                let input = self.input(id, matching, interner);
                let mut out: Vec<Ident> = a.keys.iter().map(|k| input[*k]).collect();
                out.extend(a.calls.iter().map(|c| interner.call(operator, c, &input)));
                for property in a.property_names() {
                    out.push(window_bound(operator, property, interner));
                }
                out
            }
            Operator::GroupAggregate(_)
            | Operator::GlobalGroupAggregate(_)
            | Operator::IncrementalGroupAggregate(_) => {
                let input = self.aggregate_input(id, matching, interner);
                let Some((keys, calls)) = plan.aggregated(id) else { return Vec::new() };
                let mut out: Vec<Ident> = keys.iter().map(|k| input[*k]).collect();
                out.extend(calls.iter().map(|c| interner.call(operator, c, &input)));
                out
            }
            Operator::OverAggregate(o) => {
                let mut out = self.input(id, matching, interner);
                let calls: Vec<Ident> = o.calls.iter().map(|c| interner.call(operator, c, &out)).collect();
                out.extend(calls);
                out
            }
            Operator::Match(m) => {
                let input = self.input(id, matching, interner);
                let p = &m.pattern;
                // Keys are named in the order written, but filled in the order of the input.
                let mut out: Vec<Ident> = p.partition.iter().map(|k| input[*k]).collect();
                let variables = p.variables.names.iter();
                let columns: Vec<String> =
                    variables.flat_map(|v| input.iter().map(move |ident| format!("{v}.${}", ident.0))).collect();
                for measure in &p.measures {
                    let (text, reads) = match_text(&measure.expr, &p.variables, &columns);
                    let parts = reads.into_iter().map(|c| input[c]).collect();
                    let ty = measure.expr.ty.all_nullable().kind;
                    out.push(interner.intern(format!("M{operator}:{text}:{ty}"), || IdentInfo {
                        parts,
                        origin: measure.origins.first(),
                        producer: Some(operator),
                        name: measure.name.to_string(),
                        ..IdentInfo::default()
                    }));
                }
                out
            }
            Operator::Union(_) => self.union(id, operator, matching, interner),
            Operator::Join(_) | Operator::IntervalJoin(_) | Operator::WindowJoin(_) | Operator::TemporalJoin(_) => {
                let mut both = self.join(id, operator, matching, interner);
                both.truncate(self.plan.node(id).columns.len());
                both
            }
            Operator::LookupJoin(j) => {
                let mut out = self.input(id, matching, interner);
                let fields = j.field_names();
                let found = Lookup::new(j, &out).of_values();
                for (e, column) in j.exprs.iter().zip(&node.columns[out.len()..]) {
                    let text = expression(e, &fields).to_string();
                    let key = format!("K{operator}.{found}.{text}");
                    out.push(
                        interner.intern(key, || IdentInfo { name: column.name.to_string(), ..IdentInfo::default() }),
                    );
                }
                out
            }
            Operator::Rank(_) | Operator::WindowRank(_) => {
                let mut out = self.input(id, matching, interner);
                if node.columns.len() > out.len() {
                    out.push(interner.intern(format!("R{operator}"), || IdentInfo {
                        producer: Some(operator),
                        name: "the rank number".to_owned(),
                        ..IdentInfo::default()
                    }));
                }
                out
            }
            Operator::LocalWindowAggregate(_) | Operator::LocalGroupAggregate(_) => {
                // Only read through `aggregate_input`; its own columns are accumulators.
                (0..node.columns.len())
                    .map(|i| interner.intern(format!("L{operator}.{i}"), IdentInfo::default))
                    .collect()
            }
            Operator::Deduplicate(_)
            | Operator::WindowDeduplicate(_)
            | Operator::WatermarkAssigner(_)
            | Operator::Exchange(_)
            | Operator::ChangelogNormalize(_)
            | Operator::DropUpdateBefore(_)
            | Operator::MiniBatchAssigner(_)
            | Operator::Limit(_)
            | Operator::SortLimit(_)
            | Operator::TemporalSort(_)
            | Operator::Sink(_) => self.input(id, matching, interner),
        }
    }

    fn window_outputs(
        &self,
        operator: usize,
        keys: Vec<Ident>,
        calls: &[AggCall],
        window_time: bool,
        input: &[Ident],
        interner: &mut Interner,
    ) -> Vec<Ident> {
        let mut out = keys;
        out.extend(calls.iter().map(|c| interner.call(operator, c, input)));
        out.push(window_bound(operator, "start", interner));
        out.push(window_bound(operator, "end", interner));
        if window_time {
            out.push(window_bound(operator, "rowtime", interner));
        }
        out
    }

    /// The conditions on the way from a branch down to the next operator with several inputs or none.
    pub fn conditions(&mut self, branch: NodeId, matching: &Matching, interner: &mut Interner) -> Vec<Ident> {
        let plan = self.plan;
        let mut out = Vec::new();
        let mut at = branch;
        while let [input] = plan.node(at).inputs.as_slice() {
            if let Operator::Calc(calc) = &plan.node(at).op
                && !calc.conditions.is_empty()
            {
                let columns = self.of(*input, matching, interner);
                out.extend(calc.conditions.iter().filter_map(|c| interner.condition(c, &columns)));
            }
            at = *input;
        }
        out.sort_unstable();
        out
    }

    /// The columns of both rows of a join, those that it does not send among them.
    pub fn of_both_sides(&mut self, id: NodeId, matching: &Matching, interner: &mut Interner) -> Vec<Ident> {
        let operator = matching.number(self.side, id);
        self.join(id, operator, matching, interner)
    }

    /// A column of a join is that of its side, told apart from the same column of the other side: a table may be joined with itself.
    fn join(&mut self, id: NodeId, operator: usize, matching: &Matching, interner: &mut Interner) -> Vec<Ident> {
        let inputs = self.plan.node(id).inputs.clone();
        let padded = match &self.plan.node(id).op {
            Operator::Join(j) => [j.join_type.pads_left(), j.join_type.pads_right()],
            Operator::IntervalJoin(j) => [j.join_type.pads_left(), j.join_type.pads_right()],
            Operator::WindowJoin(j) => [j.join_type.pads_left(), j.join_type.pads_right()],
            Operator::TemporalJoin(j) => [j.join_type.pads_left(), j.join_type.pads_right()],
            _ => [true, true],
        };
        let mut out = Vec::new();
        for (side, input) in inputs.into_iter().enumerate() {
            for ident in self.of(input, matching, interner) {
                let IdentInfo { origin, is_source, name, .. } = interner.info(ident).clone();
                let info = IdentInfo { parts: vec![ident], origin, is_source, name, producer: None };
                let id = interner.intern(format!("J{operator}.{side}.${}", ident.0), || info);
                if !padded[side] && interner.never_null.contains(&ident) {
                    interner.never_null.insert(id);
                }
                out.push(id);
            }
        }
        out
    }

    /// A union's columns are known by those of the branches that both sides have, whatever order these stand in.
    fn union(&mut self, id: NodeId, operator: usize, matching: &Matching, interner: &mut Interner) -> Vec<Ident> {
        let branches = super::descent::union_branches(self.plan, id);
        // Each with the number of its branch: the same columns from other branches are other columns.
        let mut common: Vec<(usize, Vec<Ident>)> = Vec::new();
        let mut alone: Vec<(usize, Vec<Ident>)> = Vec::new();
        for branch in branches {
            let idents = self.of(branch, matching, interner);
            let (is_alone, _) = matching.branch_rank(self.side, self.plan, branch);
            if is_alone {
                alone.push((0, idents));
            } else {
                common.push((matching.branch_number(self.side, self.plan, branch), idents));
            }
        }
        let counted = if common.is_empty() { alone } else { common };
        (0..self.plan.node(id).columns.len())
            .map(|i| {
                let mut sources: Vec<(usize, Ident)> =
                    counted.iter().filter_map(|(branch, idents)| Some((*branch, *idents.get(i)?))).collect();
                sources.sort_unstable();
                let parts: Vec<Ident> = sources.iter().map(|(_, ident)| *ident).collect();
                if let [first, rest @ ..] = parts.as_slice()
                    && rest.iter().all(|p| p == first)
                {
                    return *first;
                }
                let names: Vec<String> = sources.iter().map(|(branch, p)| format!("{branch}.{}", p.0)).collect();
                let name = self.plan.node(id).columns[i].name.to_string();
                let key = format!("U{operator}.${}", names.join(",$"));
                interner.intern(key, || IdentInfo { parts, name, ..IdentInfo::default() })
            })
            .collect()
    }
}

/// What an expression of MATCH_RECOGNIZE computes, as text over the names of its columns (the input's once per variable), and
/// the columns of the input that it reads. What comes to the same row in other words is the same.
pub fn match_text(e: &Rex, variables: &Variables, names: &[String]) -> (String, Vec<usize>) {
    let plain = canonical(&plain_navigation(e));
    let mut reads = Vec::new();
    plain.visit(&mut |r| reads.extend(r.as_input().map(|i| variables.split(i).1)));
    reads.sort_unstable();
    reads.dedup();
    (print(&plain, names), reads)
}

/// `LAST(A.x, 0)`, `PREV(A.x, 0)`, `FINAL A.x` and `A.x` all read the last row of A so far.
fn plain_navigation(e: &Rex) -> Rex {
    use crate::catalog::functions::pattern::{FINAL, LAST, NEXT, PREV};
    let last_row = |name: &str| [LAST.name, PREV.name, NEXT.name].contains(&name);
    let Rex { kind, ty, origins } = e.clone();
    let kind = match kind {
        RexKind::Call(f, args) => {
            let mut args: Vec<Rex> = args.iter().map(plain_navigation).collect();
            let of_last_row = last_row(f.name()) && args.len() == 2 && args[1].as_literal() == Some(&Value::Int(0));
            if of_last_row || f.name() == FINAL.name && args.len() == 1 {
                return args.remove(0);
            }
            RexKind::Call(f, args)
        }
        RexKind::Cast { operand, is_try } => RexKind::Cast { operand: Box::new(plain_navigation(&operand)), is_try },
        RexKind::Field(operand, i) => RexKind::Field(Box::new(plain_navigation(&operand)), i),
        kind => kind,
    };
    Rex { kind, ty, origins }
}

/// The type of a table's column, what may be NULL in it and whether it is a time attribute left out; of a metadata column
/// its key, too.
pub fn type_text(column: &TableColumn) -> String {
    let ty = format!("{:?}", column.ty.clone().materialized().all_nullable().kind);
    match &column.kind {
        TableColumnKind::Metadata { key, .. } => format!("{ty} from {key}"),
        _ => ty,
    }
}

/// A window bound that an operator puts out.
pub fn window_bound(operator: usize, bound: &str, interner: &mut Interner) -> Ident {
    interner.intern(format!("B{operator}.{bound}"), || IdentInfo {
        producer: Some(operator),
        name: match bound {
            "start" | "end" => format!("window_{bound}"),
            "rowtime" | "time" => "window_time".to_owned(),
            other => other.to_owned(),
        },
        ..IdentInfo::default()
    })
}

/// Kind, lengths and offset of a window, as text.
pub fn spec_text(window: &WindowSpec) -> String {
    format!("{:?}+{:?}{}", window.kind, window.offset.unwrap_or(0), if window.proctime { "p" } else { "" })
}
