//! Aggregates: one or two phases, hidden counts, and what Flink refuses.

use super::phases::{bundle_phases, counts_rows, incremental_input, over_incremental, phases};
use super::signs::sum_trend;
use super::{Lowering, Tree, Trend, exchange, exec_columns, pass_through, require_time};
use crate::catalog::aggregates;
use crate::catalog::options::{AggregatePhase, SessionOptions};
use crate::exec::Operator;
use crate::exec::changelog::ChangelogMode;
use crate::exec::group_aggregate::GroupAggregate;
use crate::exec::group_window_aggregate::{EmitStrategy, GroupWindowAggregate};
use crate::exec::window_aggregate::{WindowAggregate, WindowAggregateOrigin};
use crate::exec::window_spec::{WindowAttachment, WindowSpec, duration};
use crate::logical::rel::{self, AggArg, Rel, RelColumn, Split, WindowKind, Windowing};
use crate::logical::rewrite::columns::remap_call;
use crate::logical::rex::{Origins, RexKind};
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;

impl Lowering<'_> {
    pub(super) fn group_aggregate(
        &self,
        aggregate: rel::Aggregate,
        input: Rel,
        columns: Vec<RelColumn>,
        origins: Origins,
    ) -> PlanResult<Tree> {
        self.check_arguments(&aggregate.calls, &input.columns)?;
        let signs: Vec<Option<Trend>> = aggregate.calls.iter().map(|c| sum_trend(&input, c)).collect();
        let mut aggregate = aggregate;
        let (input, place) = without_permutation(self.lower(input)?, &aggregate.keys);
        if let Some(place) = place {
            aggregate.keys = aggregate.keys.iter().map(|k| place[*k]).collect();
            aggregate.calls = aggregate.calls.iter().map(|c| moved_call(c, &place)).collect();
            for w in &mut aggregate.written {
                w.call = moved_call(&w.call, &place);
            }
            if let Split::Partial(unsplit) = &mut aggregate.split {
                unsplit.calls = unsplit.calls.iter().map(|c| moved_call(c, &place)).collect();
            }
        }
        let retracts = !input.changelog.is_insert_only();
        let columns = exec_columns(columns);
        let key_count = aggregate.keys.len();
        let trends = call_trends(&aggregate, &signs, &input);
        for (call, trend) in aggregate.calls.iter_mut().zip(&trends) {
            call.monotonic = retracts
                && matches!((&*call.function, trend), ("MAX", Some(Trend::Rises)) | ("MIN", Some(Trend::Falls)));
        }
        let monotonic = std::iter::repeat_n(Some(Trend::Constant), key_count).chain(trends).collect();
        let two_phases = self.options.mini_batch_enabled()
            && self.options.aggregate_phase() != AggregatePhase::OnePhase
            && aggregate.calls.iter().all(|c| is_mergeable(&c.function));
        let node = GroupAggregate {
            keys: aggregate.keys,
            calls: aggregate.calls,
            retracts,
            key_origins: aggregate.key_origins,
            written: aggregate.written,
            grouping_sets: aggregate.grouping_sets,
            ttl: aggregate.ttl,
            split: aggregate.split,
        };
        let (op, input) = if two_phases {
            match incremental_input(&node, input, self.options.incremental_aggregate()) {
                Ok(incremental) => over_incremental(node, incremental),
                Err(input) => bundle_phases(node, *input),
            }
        } else {
            let input = exchange(input, node.keys.clone());
            (Operator::GroupAggregate(node), input)
        };
        Ok(Tree {
            op,
            inputs: vec![input],
            columns,
            changelog: ChangelogMode { insert: true, update_before: false, update_after: true, delete: retracts },
            upsert_keys: vec![(0..key_count).collect()],
            monotonic,
            origins,
        })
    }

    pub(super) fn group_window_aggregate(
        &self,
        window: rel::GroupWindow,
        input: Rel,
        columns: Vec<RelColumn>,
        origins: Origins,
    ) -> PlanResult<Tree> {
        require_time(&input.columns[window.time], &window.window)?;
        let proctime = input.columns[window.time].ty.is_proctime();
        check_legacy_functions(&window)?;
        self.check_arguments(&window.calls, &input.columns)?;
        let emit = emit_strategy(self.options, &window, origins.first().unwrap_or_default())?;
        let mut time = Some(window.time);
        let time_name = input.columns[window.time].name.clone();
        let mut window = window;
        let mut lowered = self.lower(input)?;
        if window.clock
            && let Some((below, place)) = without_clock(&lowered, window.time)
        {
            time = None;
            lowered = below;
            window.keys = window.keys.iter().map(|k| place[*k]).collect();
            window.calls = window.calls.iter().map(|c| moved_call(c, &place)).collect();
            for w in &mut window.written {
                w.call = moved_call(&w.call, &place);
            }
        }
        let input = exchange(lowered, window.keys.clone());
        let retracts = !input.changelog.is_insert_only();
        let updates = emit.produces_updates();
        let keys = window.keys.len();
        let op = Operator::GroupWindowAggregate(GroupWindowAggregate {
            keys: window.keys,
            window: window.kind,
            time,
            time_name,
            proctime,
            properties: window.properties,
            calls: window.calls,
            retracts,
            emit,
            window_origins: window.window,
            key_origins: window.key_origins,
            written_keys: window.written_keys,
            written: window.written,
        });
        let mut tree = pass_through(op, input, exec_columns(columns), origins);
        tree.changelog = ChangelogMode { insert: true, update_before: false, update_after: updates, delete: false };
        tree.monotonic.fill(None);
        tree.upsert_keys = if window.properties {
            let first = tree.columns.len() - if proctime { 3 } else { 4 };
            let key: Vec<usize> = (0..keys).collect();
            [first, first + 1].iter().map(|bound| key.iter().copied().chain([*bound]).collect()).collect()
        } else {
            Vec::new()
        };
        Ok(tree)
    }

    pub(super) fn window_aggregate(
        &self,
        aggregate: rel::WindowAggregate,
        input: Rel,
        columns: Vec<RelColumn>,
        origins: Origins,
    ) -> PlanResult<Tree> {
        let at = origins.first().unwrap_or_default();
        check_functions(&aggregate, at)?;
        self.check_arguments(&aggregate.calls, &input.columns)?;
        if self.options.early_fire().is_some() || self.options.late_fire().is_some() {
            return Err(PlanError::rejected(
                at,
                "an aggregate over a window table function does not support early-fire and late-fire",
            )
            .label("aggregated here")
            .help("unset `table.exec.emit.early-fire.enabled` and `table.exec.emit.late-fire.enabled`")
            .into());
        }
        if let Windowing::TimeColumn(i) = aggregate.windowing {
            require_time(&input.columns[i], &aggregate.tvf.written)?;
        }
        let input = self.lower(input)?;
        let retracts = !input.changelog.is_insert_only();
        let columns = exec_columns(columns);
        let window = WindowSpec {
            kind: aggregate.tvf.kind,
            offset: aggregate.tvf.offset,
            partition: aggregate.tvf.partition.clone(),
            attachment: match aggregate.windowing {
                Windowing::TimeColumn(i) => WindowAttachment::TimeColumn(i),
                Windowing::Bounds { start, end } => WindowAttachment::Bounds { start, end },
            },
            proctime: aggregate.proctime,
            origins: aggregate.tvf.written.clone(),
        };
        let two_phases = self.two_phases(&aggregate);
        let hop = matches!(aggregate.tvf.kind, WindowKind::Hop { .. });
        let hidden_count = !aggregate.calls.iter().any(counts_rows) && ((hop && two_phases) || retracts);
        let node = WindowAggregate {
            keys: aggregate.keys,
            window,
            calls: aggregate.calls,
            hidden_count,
            window_time: aggregate.window_time,
            retracts,
            origin: WindowAggregateOrigin {
                key_origins: aggregate.key_origins,
                written_keys: aggregate.written_keys,
                written: aggregate.written,
                grouping_sets: aggregate.grouping_sets,
                step: aggregate.step,
                step_computes_fields: aggregate.step_computes_fields,
            },
            split: aggregate.split,
        };
        let mut tree = if two_phases {
            phases(node, input, columns, origins)
        } else {
            let input = exchange(input, node.keys.clone());
            pass_through(Operator::WindowAggregate(node), input, columns, origins)
        };
        tree.changelog = ChangelogMode::INSERT;
        tree.monotonic = vec![None; tree.columns.len()];
        // Flink's metadata knows no key of a window aggregate.
        tree.upsert_keys.clear();
        Ok(tree)
    }

    /// Event time, not SESSION, all functions can merge, and ONE_PHASE not asked for
    /// (Flink's `TwoStageOptimizedWindowAggregateRule`).
    fn two_phases(&self, aggregate: &rel::WindowAggregate) -> bool {
        !aggregate.proctime
            && !matches!(aggregate.tvf.kind, WindowKind::Session { .. })
            && self.options.aggregate_phase() != AggregatePhase::OnePhase
            && aggregate.calls.iter().all(|c| is_mergeable(&c.function))
    }
}

/// A Calc that adds only `PROCTIME()` to bare columns is not needed: a window on the clock reads no column. Its input, and
/// where its columns stand there.
fn without_clock(tree: &Tree, time: usize) -> Option<(Tree, Vec<usize>)> {
    let Operator::Calc(calc) = &tree.op else { return None };
    let clock = matches!(&calc.exprs.get(time)?.kind, RexKind::Call(_, args) if args.is_empty());
    let place: Option<Vec<usize>> =
        calc.exprs.iter().enumerate().map(|(i, e)| if i == time { Some(0) } else { e.as_input() }).collect();
    if !clock || !calc.conditions.is_empty() {
        return None;
    }
    Some((tree.inputs.first()?.clone(), place?))
}

fn moved_call(call: &rel::AggCall, place: &[usize]) -> rel::AggCall {
    let map: Vec<Option<usize>> = place.iter().copied().map(Some).collect();
    remap_call(call, &map)
}

/// An input that only puts all columns in another order is read as it is, if the keys keep their order
/// (Calcite's `AggregateProjectMergeRule`, where it costs nothing).
fn without_permutation(tree: Tree, keys: &[usize]) -> (Tree, Option<Vec<usize>>) {
    // Nothing is read of VALUES: they are not narrowed to nothing.
    if let Operator::Calc(calc) = &tree.op {
        let nothing = calc.exprs.is_empty() && calc.conditions.is_empty();
        if nothing && matches!(tree.inputs[0].op, Operator::Values(_)) {
            let mut tree = tree;
            return (tree.inputs.remove(0), None);
        }
    }
    let place: Option<Vec<usize>> = match &tree.op {
        Operator::Calc(calc) if calc.conditions.is_empty() => {
            calc.exprs.iter().map(crate::logical::rex::Rex::as_input).collect()
        }
        _ => None,
    };
    let Some(place) = place else { return (tree, None) };
    let mut sorted = place.clone();
    sorted.sort_unstable();
    sorted.dedup();
    let all = sorted.len() == place.len() && tree.inputs[0].columns.len() == place.len();
    let moved: Vec<usize> = keys.iter().map(|k| place[*k]).collect();
    if !all || !moved.is_sorted() {
        return (tree, None);
    }
    let mut tree = tree;
    (tree.inputs.remove(0), Some(place))
}

/// How a legacy window fires (Flink's `WindowEmitStrategy`). Windows stay after their end only if they fire late: as long as
/// `allow-lateness` says, or else as long as state lives.
fn emit_strategy(options: &SessionOptions, window: &rel::GroupWindow, at: Span) -> PlanResult<EmitStrategy> {
    let (early, late) = (options.early_fire(), options.late_fire());
    let lateness = options.allow_lateness().unwrap_or_else(|| options.state_ttl());
    if matches!(window.kind, WindowKind::Session { .. }) && (early.is_some() || late.is_some()) {
        return Err(PlanError::rejected(at, "Session window doesn't support EMIT strategy currently")
            .label("this window ends when its rows do")
            .help("unset `table.exec.emit.early-fire.enabled` and `table.exec.emit.late-fire.enabled`")
            .into());
    }
    match late {
        Some(_) if lateness == 0 => Err(PlanError::rejected(at, "late-fire needs `table.exec.emit.allow-lateness`")
            .label("this window emits after the watermark")
            .help("set 'table.exec.emit.allow-lateness'")
            .into()),
        Some(delay) if delay > lateness => Err(PlanError::rejected(
            at,
            format!(
                "a late-fire delay of {} is longer than the allowed lateness of {}",
                duration(delay),
                duration(lateness)
            ),
        )
        .label("this window would be gone before it fires again")
        .help("lengthen 'table.exec.emit.allow-lateness'")
        .into()),
        _ => Ok(EmitStrategy { early, late, allow_lateness: late.map_or(0, |_| lateness) }),
    }
}

/// Legacy HOP and SESSION windows merge accumulators.
fn check_legacy_functions(window: &rel::GroupWindow) -> PlanResult<()> {
    if matches!(window.kind, WindowKind::Tumble { .. }) {
        return Ok(());
    }
    match window.calls.iter().find(|c| !is_mergeable(&c.function)) {
        Some(call) => Err(PlanError::rejected(
            call.origins.first().unwrap_or_default(),
            format!(
                "{} cannot be used in a {} window: Flink finds no `merge` method for it",
                call.function,
                window.kind.name()
            ),
        )
        .label("this function cannot merge windows")
        .help("use TUMBLE, or MAX or MIN of the value")
        .into()),
        None => Ok(()),
    }
}

/// Functions that Flink refuses over windows that share slices.
fn check_functions(aggregate: &rel::WindowAggregate, at: Span) -> PlanResult<()> {
    let shares = matches!(aggregate.tvf.kind, WindowKind::Hop { .. } | WindowKind::Cumulate { .. });
    if !shares {
        return Ok(());
    }
    for call in &aggregate.calls {
        let span = call.origins.first().unwrap_or(at);
        let window = aggregate.tvf.kind.name();
        if !is_mergeable(&call.function) {
            return Err(PlanError::rejected(
                span,
                format!("{} cannot be used in a {window} window: Flink finds no `merge` method for it", call.function),
            )
            .label("this function cannot merge slices")
            .help("use TUMBLE, or MAX or MIN of the value")
            .into());
        }
        if call.distinct && &*call.function == "SUM" && window == "HOP" {
            return Err(PlanError::rejected(
                span,
                "SUM(DISTINCT ...) cannot be used in a HOP window: this function does not support retraction",
            )
            .label("DISTINCT is not possible here")
            .help("use COUNT(DISTINCT ...), or a TUMBLE window")
            .into());
        }
    }
    Ok(())
}

/// How the results of the calls change from update to update of a key, given what is known of sums
/// (Flink's `FlinkRelMdModifiedMonotonicity`).
fn call_trends(aggregate: &rel::Aggregate, signs: &[Option<Trend>], input: &Tree) -> Vec<Option<Trend>> {
    let retracts = !input.changelog.is_insert_only();
    let stays = |column: &usize| input.monotonic[*column] == Some(Trend::Constant);
    if retracts && (input.changelog.delete || !aggregate.keys.iter().all(stays)) {
        return vec![None; aggregate.calls.len()];
    }
    let over_rows = aggregate.calls.iter().zip(signs).map(|(call, sign)| match &*call.function {
        "COUNT" | "MAX" => Some(Trend::Rises),
        "MIN" => Some(Trend::Falls),
        "SUM" | "$SUM0" => *sign,
        _ => None,
    });
    // Over updates a result goes where the argument goes; a COUNT of rows that stay goes up whatever these become.
    let over_updates = |(call, trend): (&rel::AggCall, Option<Trend>)| {
        let argument = call.args.first().and_then(AggArg::column).map(|c| input.monotonic[c]);
        match argument {
            Some(argument) if &*call.function != "COUNT" => trend.filter(|t| argument == Some(*t)),
            _ => trend,
        }
    };
    match retracts {
        true => aggregate.calls.iter().zip(over_rows).map(over_updates).collect(),
        false => over_rows.collect(),
    }
}

fn is_mergeable(function: &str) -> bool {
    aggregates::lookup(function).is_none_or(|def| def.mergeable)
}
