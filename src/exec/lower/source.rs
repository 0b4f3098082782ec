//! Scans. An upsert source is completed by a ChangelogNormalize right above it.

use super::{Lowering, Tree, calc, exchange, exec_columns, leaf, pass_through};
use crate::catalog::connectors::{Connector, SourceChangelog};
use crate::exec::changelog::ChangelogMode;
use crate::exec::changelog_normalize::ChangelogNormalize;
use crate::exec::table_source_scan::TableSourceScan;
use crate::exec::{Column, Operator};
use crate::logical::rel::{RelColumn, Scan};
use crate::logical::rex::{Origins, Rex};
use crate::plan_error::PlanResult;

impl Lowering<'_> {
    /// A scan; one of an upsert source with the operator that completes its changes.
    pub(super) fn scan(&self, scan: Scan, columns: Vec<RelColumn>, origins: Origins) -> PlanResult<Tree> {
        let connector = Connector::of(&scan.table);
        let changelog = match connector.source.changelog {
            SourceChangelog::Insert => ChangelogMode::INSERT,
            SourceChangelog::Upsert => ChangelogMode::UPSERT,
            SourceChangelog::All => ChangelogMode::ALL,
        };
        let key: Option<Vec<usize>> = scan.table.primary_key.as_ref().and_then(|pk| {
            pk.columns.iter().map(|c| scan.fields.iter().position(|f| f == c)).collect::<Option<Vec<_>>>()
        });
        let columns = exec_columns(columns);
        let op = Operator::TableSourceScan(TableSourceScan {
            table: scan.table.clone(),
            fields: scan.fields,
            projected: scan.projected,
            watermark: scan.watermark,
            filters: scan.filters,
            hints: scan.hints,
        });
        let upsert_keys = key.iter().cloned().collect();
        let tree = leaf(op, columns, changelog, upsert_keys, origins);
        match (connector.source.changelog, key) {
            (SourceChangelog::Upsert, Some(key)) => Ok(normalize(tree, key)),
            _ => Ok(tree),
        }
    }
}

fn normalize(scan: Tree, keys: Vec<usize>) -> Tree {
    let columns = scan.columns.clone();
    let exchanged = exchange(scan, keys.clone());
    let op = Operator::ChangelogNormalize(ChangelogNormalize { keys });
    let mut tree = pass_through(op, exchanged, columns, Origins::none());
    tree.changelog = ChangelogMode::UPSERT;
    tree
}

/// What a Calc does not read, and conditions on the key alone, go below a ChangelogNormalize
/// (Flink's `PushCalcPastChangelogNormalizeRule`). Returns the Calc's new expressions and conditions, and its new input.
pub(super) fn push_past_normalize(
    exprs: Vec<Rex>,
    conditions: Vec<Rex>,
    normalize: Tree,
) -> (Vec<Rex>, Vec<Rex>, Tree) {
    let Operator::ChangelogNormalize(node) = &normalize.op else { return (exprs, conditions, normalize) };
    let key = node.keys.clone();
    let on_key = |c: &Rex| {
        let mut only = true;
        c.visit(&mut |r| only &= r.as_input().is_none_or(|i| key.contains(&i)));
        only
    };
    let (down, up): (Vec<Rex>, Vec<Rex>) = conditions.into_iter().partition(on_key);
    let width = normalize.columns.len();
    let mut read = vec![false; width];
    for e in exprs.iter().chain(&up) {
        e.visit(&mut |r| {
            if let Some(i) = r.as_input() {
                read[i] = true;
            }
        });
    }
    let kept: Vec<usize> = (0..width).filter(|i| read[*i] || key.contains(i)).collect();
    if kept.len() == width && down.is_empty() {
        return (exprs, up, normalize);
    }
    let columns: Vec<Column> = kept.iter().map(|i| normalize.columns[*i].clone()).collect();
    let place: Vec<Option<usize>> = (0..width).map(|i| kept.iter().position(|k| *k == i)).collect();
    let keys: Vec<usize> = key.iter().filter_map(|k| place[*k]).collect();
    let origins = normalize.origins.clone();
    let below = normalize.inputs.into_iter().next().and_then(|exchange| exchange.inputs.into_iter().next());
    let below = below.expect("a ChangelogNormalize stands on an exchange");
    let narrow = kept.iter().map(|i| Rex::input(*i, below.columns[*i].ty.clone())).collect();
    let below = calc(narrow, down, below, columns.clone(), Origins::none());
    let exchanged = exchange(below, keys.clone());
    let op = Operator::ChangelogNormalize(ChangelogNormalize { keys });
    let mut tree = pass_through(op, exchanged, columns, origins);
    tree.changelog = ChangelogMode::UPSERT;
    let exprs = exprs.iter().map(|e| e.remap(&place)).collect();
    let up = up.iter().map(|e| e.remap(&place)).collect();
    (exprs, up, tree)
}

/// An assigner stands below a ChangelogNormalize (Flink's `WatermarkAssignerChangelogNormalizeTransposeRule`).
pub(super) fn below_normalize(op: Operator, input: Tree, columns: Vec<Column>, origins: Origins) -> Tree {
    if !matches!(input.op, Operator::ChangelogNormalize(_)) {
        return pass_through(op, input, columns, origins);
    }
    let mut normalize = input;
    let mut exchanged = normalize.inputs.remove(0);
    let below = exchanged.inputs.remove(0);
    let assigner = pass_through(op, below, columns.clone(), origins);
    exchanged.columns = columns.clone();
    exchanged.inputs.push(assigner);
    normalize.columns = columns;
    normalize.inputs.push(exchanged);
    normalize
}
