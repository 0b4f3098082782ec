//! One operator of one side, in the terms that are compared.

use rustc_hash::FxHashSet;

use super::lineage::{Ident, Interner, Lineage};
use super::matching::{Matching, Side};
use super::places::said;
use crate::catalog::types::DataType;
use crate::exec::global_group_aggregate::GlobalGroupAggregate;
use crate::exec::group_window_aggregate::EmitStrategy;
use crate::exec::incremental_group_aggregate::IncrementalGroupAggregate;
use crate::exec::rank::Ranking;
use crate::exec::window_spec::{WindowAttachment, WindowSpec};
use crate::exec::{NodeId, Operator, Plan};
use crate::logical::rel::{AggCall, SortKey, Split, WindowKind, WindowOrigins, WrittenCall, WrittenKey};
use crate::logical::rex::{Origins, OverFrame};
use crate::source::{SourceMap, Span};

/// A key with its place.
#[derive(Debug, Clone)]
pub struct KeyView {
    /// What it is computed from.
    pub ident: Ident,
    /// Its name.
    pub name: String,
    /// What people call it.
    pub said: String,
    /// Its type, whatever may be NULL in it.
    pub ty: DataType,
    /// Where it is written.
    pub origins: Origins,
}

/// An aggregate as written.
#[derive(Debug, Clone)]
pub struct CallView {
    /// Function and arguments; equal texts compute the same.
    pub computation: String,
    /// The same without FILTER.
    pub unfiltered: String,
    /// The condition of FILTER.
    pub filter: Option<Ident>,
    /// The function.
    pub function: String,
    /// The name of its output.
    pub name: String,
    /// What people call it.
    pub said: String,
    /// How many arguments it was planned with.
    pub args: usize,
    /// The columns of these.
    pub planned_reads: Vec<Ident>,
    /// DISTINCT that matters.
    pub distinct: bool,
    /// Where it is written.
    pub origins: Origins,
    /// The columns it reads.
    pub reads: Vec<Ident>,
}

/// The window of an operator.
#[derive(Debug, Clone)]
pub struct WindowView {
    /// Kind and lengths.
    pub kind: WindowKind,
    /// The offset.
    pub offset: i64,
    /// The time attribute.
    pub time: Option<Ident>,
    /// Processing time.
    pub proctime: bool,
    /// PARTITION BY of SESSION.
    pub session_keys: Vec<Ident>,
    /// Where its parts are written.
    pub origins: WindowOrigins,
}

/// An aggregate operator of any kind.
#[derive(Debug, Clone)]
pub struct AggregateView {
    /// Group keys (not the column that tells grouping sets apart).
    pub keys: Vec<KeyView>,
    /// GROUP BY in the order written: plain keys by index, or window columns.
    pub written_keys: Vec<WrittenKey>,
    /// The calls as written.
    pub calls: Vec<CallView>,
    /// What the rows of a split aggregate are dealt into buckets by.
    pub buckets: Option<Vec<Ident>>,
    /// The planned calls; if both sides have the same, nothing about the aggregates differs.
    pub planned: Vec<String>,
    /// The window.
    pub window: Option<WindowView>,
    /// GROUPING SETS: for each set the keys it lacks.
    pub grouping_sets: Option<Vec<Vec<Ident>>>,
    /// Where GROUPING SETS are written.
    pub grouping_span: Option<Span>,
    /// A field-computing step above the window function.
    pub step: Option<Origins>,
    /// It computes more than conditions of FILTER clauses.
    pub step_computes_fields: bool,
    /// Early and late firing.
    pub emit: EmitStrategy,
}

/// What one side's plan looks like through its lineage.
pub struct SideView<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The idents of its columns.
    pub lineage: Lineage<'a>,
    /// The texts.
    pub sources: &'a SourceMap,
}

impl<'a> SideView<'a> {
    /// A view of a plan.
    pub fn new(sources: &'a SourceMap, plan: &'a Plan, side: Side) -> Self {
        SideView { plan, lineage: Lineage::new(plan, side), sources }
    }

    /// What people call a column of this plan.
    pub fn said(&self, name: &str, ident: Ident, i: &Interner) -> String {
        said(self.sources, name, i.info(ident).origin).into_owned()
    }

    /// Forgets the idents of all columns.
    pub fn forget(&mut self) {
        self.lineage = Lineage::new(self.plan, self.lineage.side);
    }

    /// The idents of a node's output.
    pub fn idents(&mut self, id: NodeId, m: &Matching, i: &mut Interner) -> Vec<Ident> {
        self.lineage.of(id, m, i)
    }

    /// The idents of a node's (first) input.
    pub fn input_idents(&mut self, id: NodeId, m: &Matching, i: &mut Interner) -> Vec<Ident> {
        self.side_idents(id, 0, m, i)
    }

    /// The idents of one of a node's inputs.
    pub fn side_idents(&mut self, id: NodeId, side: usize, m: &Matching, i: &mut Interner) -> Vec<Ident> {
        match self.plan.node(id).inputs.get(side) {
            Some(input) => self.lineage.of(*input, m, i),
            None => Vec::new(),
        }
    }

    /// The columns of one of a node's inputs that count: those that something needs.
    pub fn needed_input(&mut self, id: NodeId, side: usize, m: &Matching, i: &mut Interner) -> Vec<KeyView> {
        let idents = self.side_idents(id, side, m, i);
        let columns = self.plan.input_columns(id, side);
        let mut out: Vec<KeyView> = Vec::new();
        let mut seen = FxHashSet::default();
        for (ident, column) in idents.iter().zip(columns) {
            if column.needed && seen.insert(*ident) {
                let origins = i.info(*ident).origin.map(Origins::at).unwrap_or_default();
                let said = self.said(&column.name, *ident, i);
                let ty = column.ty.clone().materialized().all_nullable();
                out.push(KeyView { ident: *ident, name: column.name.to_string(), said, ty, origins });
            }
        }
        out
    }

    /// An aggregate operator, if the node is one.
    pub fn aggregate(&mut self, id: NodeId, m: &Matching, i: &mut Interner) -> Option<AggregateView> {
        let plan = self.plan;
        let input = self.lineage.aggregate_input(id, m, i);
        let reads = plan.first_phase(id);
        // What was written stays with the half that reads the rows.
        let half = plan.partial_half(id).unwrap_or(id);
        let (aggregate_keys, planned_calls) = plan.aggregated(id).unwrap_or_default();
        let columns = plan.input_columns(reads, 0);
        let sources = self.sources;
        let calls = |written: &[WrittenCall], i: &Interner| calls(sources, written, &input, i);
        let said_of: Vec<String> = columns.iter().zip(&input).map(|(c, id)| self.said(&c.name, *id, i)).collect();
        let key = |column: usize, origins: Option<&Origins>| KeyView {
            ident: input[column],
            name: columns[column].name.to_string(),
            said: said_of[column].clone(),
            ty: columns[column].ty.clone().materialized().all_nullable(),
            origins: origins.cloned().unwrap_or_default(),
        };
        let keys = |origins: &[Origins]| -> Vec<KeyView> {
            aggregate_keys.iter().enumerate().map(|(n, k)| key(*k, origins.get(n))).collect()
        };
        let buckets = plan.bucket_keys(id).map(|keys| {
            let mut idents: Vec<Ident> = keys.iter().map(|k| input[*k]).collect();
            idents.sort_unstable();
            idents
        });
        let view = match &plan.node(half).op {
            Operator::WindowAggregate(a) => {
                let keys = keys(&a.origin.key_origins);
                let window = Some(self.window(half, &a.window, &input, m, i));
                AggregateView {
                    keys,
                    written_keys: a.origin.written_keys.clone(),
                    calls: calls(&a.origin.written, i),
                    buckets: buckets.clone(),
                    planned: planned(planned_calls, &input, i),
                    window,
                    grouping_sets: None,
                    grouping_span: a.origin.grouping_sets,
                    step: a.origin.step.clone(),
                    step_computes_fields: a.origin.step_computes_fields,
                    emit: EmitStrategy::default(),
                }
            }
            Operator::GlobalWindowAggregate(g) => {
                let a = &g.aggregate;
                let Operator::LocalWindowAggregate(local) = &plan.node(reads).op else { return None };
                let keys = keys(&a.origin.key_origins);
                let window = Some(self.window(reads, &local.window, &input, m, i));
                AggregateView {
                    keys,
                    written_keys: a.origin.written_keys.clone(),
                    calls: calls(&a.origin.written, i),
                    buckets: buckets.clone(),
                    planned: planned(planned_calls, &input, i),
                    window,
                    grouping_sets: None,
                    grouping_span: a.origin.grouping_sets,
                    step: a.origin.step.clone(),
                    step_computes_fields: a.origin.step_computes_fields,
                    emit: EmitStrategy::default(),
                }
            }
            Operator::GroupWindowAggregate(a) => AggregateView {
                keys: a.keys.iter().enumerate().map(|(n, k)| key(*k, a.key_origins.get(n))).collect(),
                written_keys: a.written_keys.clone(),
                calls: calls(&a.written, i),
                buckets: buckets.clone(),
                planned: planned(&a.calls, &input, i),
                window: Some(WindowView {
                    kind: a.window,
                    offset: 0,
                    time: a.time.map(|t| input[t]),
                    proctime: a.proctime,
                    session_keys: Vec::new(),
                    origins: a.window_origins.clone(),
                }),
                grouping_sets: None,
                grouping_span: None,
                step: None,
                step_computes_fields: false,
                emit: a.emit,
            },
            Operator::GroupAggregate(a)
            | Operator::GlobalGroupAggregate(GlobalGroupAggregate { aggregate: a, .. })
            | Operator::IncrementalGroupAggregate(IncrementalGroupAggregate {
                partial: GlobalGroupAggregate { aggregate: a, .. },
                ..
            }) => AggregateView {
                keys: keys(&a.key_origins),
                written_keys: (0..aggregate_keys.len()).map(WrittenKey::Key).collect(),
                calls: calls(&a.written, i),
                buckets: buckets.clone(),
                planned: planned(planned_calls, &input, i),
                window: None,
                grouping_sets: None,
                grouping_span: a.grouping_sets,
                step: None,
                step_computes_fields: false,
                emit: EmitStrategy::default(),
            },
            Operator::OverAggregate(o) => AggregateView {
                keys: Vec::new(),
                written_keys: Vec::new(),
                calls: in_text_order(calls(&o.written, i)),
                buckets: buckets.clone(),
                planned: planned(&o.calls, &input, i),
                window: None,
                grouping_sets: None,
                grouping_span: None,
                step: None,
                step_computes_fields: false,
                emit: EmitStrategy::default(),
            },
            _ => return None,
        };
        Some(self.with_grouping_sets(view, (half, reads), m, i))
    }

    /// Reads the grouping sets off the Expand below, and leaves out the column that tells them apart.
    fn with_grouping_sets(
        &mut self,
        mut view: AggregateView,
        (half, reads): (NodeId, NodeId),
        m: &Matching,
        i: &mut Interner,
    ) -> AggregateView {
        if view.grouping_span.is_none() {
            return view;
        }
        let plan = self.plan;
        let mut id = reads;
        // An Expand that deals rows into buckets stands above that of the sets.
        let mut skipped = match self.plan.node(half).op.split() {
            Split::Partial(unsplit) => usize::from(unsplit.expanded),
            Split::None | Split::Final => 0,
        };
        while let Some(input) = plan.node(id).inputs.first() {
            id = *input;
            if let Operator::Expand(expand) = &plan.node(id).op {
                if skipped > 0 {
                    skipped -= 1;
                    continue;
                }
                let idents = self.lineage.of(id, m, i);
                let below = self.input_idents(id, m, i);
                let nulled = expand
                    .projects
                    .iter()
                    .map(|p| {
                        let mut set: Vec<Ident> = p
                            .iter()
                            .enumerate()
                            .filter(|(c, e)| e.as_literal().is_some() && below.contains(&idents[*c]))
                            .map(|(c, _)| idents[c])
                            .collect();
                        set.sort_unstable();
                        set
                    })
                    .collect();
                view.grouping_sets = Some(nulled);
                let plain = |k: &KeyView| below.contains(&k.ident);
                let dropped = view.keys.iter().position(|k| !plain(k));
                view.keys.retain(plain);
                view.written_keys.retain(|k| !matches!((k, dropped), (WrittenKey::Key(n), Some(d)) if *n == d));
                return view;
            }
        }
        view
    }

    /// A window with its time attribute, which is further down if the bounds came as columns.
    pub fn window(
        &mut self,
        id: NodeId,
        window: &WindowSpec,
        input: &[Ident],
        m: &Matching,
        i: &mut Interner,
    ) -> WindowView {
        let time = match window.attachment {
            WindowAttachment::TimeColumn(c) => Some(input[c]),
            _ => self.time_below(id, m, i),
        };
        WindowView {
            kind: window.kind,
            offset: window.offset.unwrap_or(0),
            time,
            proctime: window.proctime,
            session_keys: window.partition.iter().filter_map(|c| input.get(*c).copied()).collect(),
            origins: window.origins.clone(),
        }
    }

    fn time_below(&mut self, id: NodeId, m: &Matching, i: &mut Interner) -> Option<Ident> {
        let plan = self.plan;
        let mut id = id;
        loop {
            id = *plan.node(id).inputs.first()?;
            let spec = match &plan.node(id).op {
                Operator::WindowTableFunction(t) => &t.window,
                Operator::WindowAggregate(a) => &a.window,
                Operator::LocalWindowAggregate(a) => &a.window,
                _ => continue,
            };
            if let WindowAttachment::TimeColumn(c) = spec.attachment {
                let input = self.input_idents(id, m, i);
                return input.get(c).copied();
            }
        }
    }

    /// The ranking of a rank or deduplication with the window of its input.
    pub fn ranking(&self, id: NodeId) -> Option<(&'a Ranking, Option<&'a WindowSpec>)> {
        match &self.plan.node(id).op {
            Operator::Rank(r) => Some((&r.ranking, None)),
            Operator::Deduplicate(d) => Some((&d.ranking, None)),
            Operator::WindowRank(r) => Some((&r.ranking, Some(&r.window))),
            Operator::WindowDeduplicate(d) => Some((&d.ranking, Some(&d.window))),
            _ => None,
        }
    }

    /// PARTITION BY in the order written.
    pub fn partition(
        &mut self,
        id: NodeId,
        written: &[usize],
        origins: &[Origins],
        m: &Matching,
        i: &mut Interner,
    ) -> Vec<KeyView> {
        let input = self.input_idents(id, m, i);
        let columns = self.plan.input_columns(id, 0);
        let mut out: Vec<KeyView> = Vec::new();
        for (n, c) in written.iter().enumerate() {
            if out.iter().all(|k| k.ident != input[*c]) {
                out.push(KeyView {
                    ident: input[*c],
                    name: columns[*c].name.to_string(),
                    said: self.said(&columns[*c].name, input[*c], i),
                    ty: columns[*c].ty.clone().materialized().all_nullable(),
                    origins: origins.get(n).cloned().unwrap_or_default(),
                });
            }
        }
        out
    }
}

/// An ORDER BY entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderView {
    /// What is ordered by.
    pub ident: Ident,
    /// `DESC`.
    pub descending: bool,
    /// Nulls first.
    pub nulls_first: bool,
}

/// ORDER BY over a node's input.
pub fn order(keys: &[SortKey], input: &[Ident]) -> Vec<OrderView> {
    keys.iter()
        .map(|k| OrderView { ident: input[k.column], descending: k.descending, nulls_first: k.nulls_first })
        .collect()
}

/// A frame in words.
pub fn frame_text(frame: &OverFrame) -> String {
    let units = match frame.units {
        crate::syntax::ast::FrameUnits::Rows => "ROWS",
        crate::syntax::ast::FrameUnits::Range => "RANGE",
    };
    match (frame.preceding, frame.units) {
        (None, _) => format!("{units} UNBOUNDED PRECEDING"),
        (Some(n), crate::syntax::ast::FrameUnits::Range) => {
            format!("{units} {} PRECEDING", crate::exec::window_spec::duration(n))
        }
        (Some(n), _) => format!("{units} {n} PRECEDING"),
    }
}

/// A window in words.
pub fn window_text(w: &WindowView) -> String {
    use crate::exec::window_spec::duration;
    let lengths = match w.kind {
        WindowKind::Tumble { size } => duration(size),
        WindowKind::Hop { size, slide } => format!("{} every {}", duration(size), duration(slide)),
        WindowKind::Cumulate { max_size, step } => format!("up to {} by {}", duration(max_size), duration(step)),
        WindowKind::Session { gap } => format!("gap {}", duration(gap)),
    };
    let offset = if w.offset != 0 { format!(", offset {}", duration(w.offset)) } else { String::new() };
    format!("{} {lengths}{offset}", w.kind.name())
}

fn calls(sources: &SourceMap, written: &[WrittenCall], input: &[Ident], interner: &Interner) -> Vec<CallView> {
    let mut out: Vec<CallView> = Vec::new();
    let mut seen = FxHashSet::default();
    for w in written {
        let mut reads = Vec::new();
        let computation = interner.computation(&w.call, input, &mut reads);
        if !seen.insert(computation.clone()) {
            continue;
        }
        let bare = AggCall { filter: None, ..w.call.clone() };
        out.push(CallView {
            computation,
            unfiltered: interner.computation(&bare, input, &mut Vec::new()),
            filter: w.call.filter.map(|f| input[f]),
            function: w.call.function.to_string(),
            name: w.call.name.to_string(),
            said: said(sources, &w.call.name, w.call.origins.first()).into_owned(),
            args: w.call.args.len(),
            planned_reads: w.call.args.iter().filter_map(|a| Some(input[a.column()?])).collect(),
            distinct: w.call.distinct,
            origins: w.call.origins.clone(),
            reads,
        });
    }
    out
}

/// OVER calls in the order in which they are written: projections above the operator may have moved them.
fn in_text_order(mut calls: Vec<CallView>) -> Vec<CallView> {
    let places: Option<Vec<Span>> = calls.iter().map(|c| c.origins.first()).collect();
    if places.is_some_and(|p| p.windows(2).all(|w| w[0].file == w[1].file)) {
        calls.sort_by_key(|c| c.origins.first().map(|s| s.start));
    }
    calls
}

fn planned(calls: &[AggCall], input: &[Ident], interner: &Interner) -> Vec<String> {
    calls.iter().map(|c| interner.computation(c, input, &mut Vec::new())).collect()
}
