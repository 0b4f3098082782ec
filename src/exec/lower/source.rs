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
    /// A scan, all of whose columns are read.
    pub(super) fn scan(&self, scan: Scan, columns: Vec<RelColumn>, origins: Origins) -> PlanResult<Tree> {
        let all: Vec<usize> = (0..columns.len()).collect();
        self.scan_for(scan, columns, origins, &all)
    }

    /// A scan of which only `read` columns are read above.
    pub(super) fn scan_for(
        &self,
        scan: Scan,
        columns: Vec<RelColumn>,
        origins: Origins,
        read: &[usize],
    ) -> PlanResult<Tree> {
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
            (SourceChangelog::Upsert, Some(key)) => Ok(normalize(tree, key, read)),
            _ => Ok(tree),
        }
    }
}

/// The columns that nobody reads are dropped below; the reader still sees them where they were, as no one looks.
fn normalize(scan: Tree, key: Vec<usize>, read: &[usize]) -> Tree {
    let width = scan.columns.len();
    let kept: Vec<usize> = (0..width).filter(|i| read.contains(i) || key.contains(i)).collect();
    let narrow = |columns: &[Column]| -> Vec<Column> { kept.iter().map(|i| columns[*i].clone()).collect() };
    let columns = narrow(&scan.columns);
    let exprs = kept.iter().map(|i| Rex::input(*i, scan.columns[*i].ty.clone())).collect();
    let full = scan.columns.clone();
    let input = calc(exprs, Vec::new(), scan, columns.clone(), Origins::none());
    let keys: Vec<usize> =
        key.iter().map(|k| kept.iter().position(|i| i == k).expect("key columns are kept")).collect();
    let exchanged = exchange(input, keys.clone());
    let mut tree =
        pass_through(Operator::ChangelogNormalize(ChangelogNormalize { keys }), exchanged, columns, Origins::none());
    tree.changelog = ChangelogMode::UPSERT;
    if kept.len() == width {
        return tree;
    }
    widen(tree, &kept, full)
}

/// A placeholder projection that the Calc above absorbs: column `i` of the scan is looked up by its old place.
fn widen(tree: Tree, kept: &[usize], full: Vec<Column>) -> Tree {
    let exprs = (0..full.len())
        .map(|i| match kept.iter().position(|k| *k == i) {
            Some(at) => Rex::input(at, full[i].ty.clone()),
            None => Rex::literal(crate::logical::rex::Value::Null, full[i].ty.clone()),
        })
        .collect();
    calc(exprs, Vec::new(), tree, full, Origins::none())
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
