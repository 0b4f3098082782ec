//! Joins with versions: by event time (Flink's `StreamPhysicalTemporalJoinRule`, `TemporalJoinRewriteWithUniqueKeyRule`) or looked
//! up (`StreamPhysicalLookupJoinRule`, `CommonPhysicalLookupJoin`).

use super::join::joined;
use super::{Lowering, Tree, calc, exec_columns};
use crate::catalog::connectors::Connector;
use crate::exec::join::side_keys;
use crate::exec::lookup_join::{AsyncLookup, LookupJoin, LookupKey, LookupValue};
use crate::exec::temporal_join::TemporalJoin;
use crate::exec::{Column, Operator};
use crate::logical::join::{Join, JoinKey, JoinType, LookupOptions, Side, join_columns, side};
use crate::logical::rel::{Rel, RelColumn, RelOp, Scan};
use crate::logical::rex::{Origins, Rex, RexKind};
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;

impl Lowering<'_> {
    /// A join with the versions that were valid at `time`.
    pub(super) fn temporal_join(
        &self,
        join: Join,
        (time, from): (usize, usize),
        [left, right]: [Rel; 2],
        origins: Origins,
    ) -> PlanResult<Tree> {
        let at = origins.first().unwrap_or_default();
        let keys = join.keys(left.columns.len());
        if keys.is_empty() {
            return Err(PlanError::rejected(at, "Currently the join key in Temporal Table Join can not be empty.")
                .label("no equality with the primary key of the versions")
                .help("compare a column of the left table with the primary key in ON")
                .into());
        }
        let inputs = [self.lower(left)?, without_normalize(self.lower(right)?, at)?];
        let right_keys = side_keys(&keys, 1);
        let all = &inputs[1].upsert_keys;
        let Some(primary_key) = all.iter().find(|k| k.iter().all(|c| right_keys.contains(c))) else {
            let message = match all.first() {
                None => "Temporal Table Join requires primary key in versioned table, but no primary key can be found"
                    .to_owned(),
                Some(key) => {
                    let names: Vec<&str> = key.iter().map(|c| &*inputs[1].columns[*c].name).collect();
                    format!(
                        "Temporal table's primary key [{}] must be included in the equivalence condition of temporal join",
                        names.join(",")
                    )
                }
            };
            return Err(PlanError::rejected(at, message)
                .label("the versions have no key that the condition compares")
                .help("declare PRIMARY KEY on the versioned table and compare all of its columns in ON")
                .into());
        };
        let primary_key = primary_key.clone();
        let Join { join_type, conditions, condition_origins, .. } = join;
        let changelog = inputs[0].changelog;
        let op = TemporalJoin { join_type, time, from, conditions, keys: keys.clone(), primary_key, condition_origins };
        Ok(joined(Operator::TemporalJoin(op), join_type, &keys, inputs, changelog, origins))
    }

    /// A join with what an external table has.
    pub(super) fn lookup_join(
        &self,
        join: Join,
        options: LookupOptions,
        [left, right]: [Rel; 2],
        origins: Origins,
    ) -> PlanResult<Tree> {
        let at = origins.first().unwrap_or_default();
        let width = left.columns.len();
        let pairs = join.keys(width);
        let Join { join_type, conditions, condition_origins, .. } = join;
        let right_columns = right.columns.clone();
        let Some(table) = lookup_table(right) else {
            return Err(PlanError::unsupported(at, "a lookup in something else than a table").into());
        };
        let keys = lookup_keys(&table, &pairs);
        if keys.is_empty() {
            let path = &table.scan.table.path;
            return Err(PlanError::rejected(
                at,
                format!(
                    "Temporal table join requires an equality condition on fields of table [{}.{}.{}].",
                    path.catalog, path.database, path.name
                ),
            )
            .label("rows can only be looked up by a column of the table")
            .help("compare a bare column of the table with a value of the same type in ON")
            .into());
        }
        if let Some(c) = conditions.iter().find(|c| JoinKey::of(c, width).is_some_and(|k| k.nulls_match)) {
            return Err(PlanError::rejected(
                c.origins.first().unwrap_or(at),
                "LookupJoin doesn't support join condition contains 'a IS NOT DISTINCT FROM b' (or alternative '(a = b) or \
                 (a IS NULL AND b IS NULL)')",
            )
            .label("NULL cannot be looked up")
            .help("compare with `=`")
            .into());
        }
        // Flink leaves out the equalities of all columns that it looks up by.
        let used: Vec<usize> = keys.iter().filter_map(|k| column_of(&k.value)).collect();
        let rest = conditions.into_iter().filter(|c| JoinKey::of(c, width).is_none_or(|k| !used.contains(&k.left)));
        let is_before = |c: &Rex| join_type == JoinType::Left && side(c, width) == Side::Left;
        let (before, remaining): (Vec<Rex>, Vec<Rex>) = rest.partition(is_before);
        let input = self.lower(left)?;
        let is_unique = table
            .scan
            .table
            .primary_key
            .as_ref()
            .is_some_and(|pk| pk.columns.iter().all(|c| keys.iter().any(|k| table.scan.fields[k.field] == *c)));
        let rel_columns = |tree: &Tree| -> Vec<RelColumn> {
            tree.columns.iter().map(|c| RelColumn::new(c.name.clone(), c.ty.clone())).collect()
        };
        let columns = exec_columns(join_columns(&rel_columns(&input), &right_columns, join_type));
        let resolves_updates = self.options.resolves_updates() && !input.changelog.is_insert_only();
        let asynchronous = self.asynchronous(&table.scan, &options, input.changelog.is_insert_only());
        let op = LookupJoin {
            table: table.scan.table.clone(),
            hints: table.scan.hints.clone(),
            join_type,
            keys,
            fields: table.fields,
            pushed: table.scan.filters,
            conditions: table.conditions,
            exprs: table.exprs,
            before,
            remaining,
            asynchronous,
            retry: options.retry,
            upsert_materialize: false,
            resolves_updates,
            condition_origins,
        };
        let mut monotonic = input.monotonic.clone();
        monotonic.resize(columns.len(), None);
        Ok(Tree {
            op: Operator::LookupJoin(op),
            columns,
            changelog: input.changelog,
            // A row for which several are found is sent several times.
            upsert_keys: if is_unique { input.upsert_keys.clone() } else { Vec::new() },
            monotonic,
            inputs: vec![input],
            origins,
        })
    }

    /// Whether the table answers later (Flink's `LookupJoinUtil`): the hint decides among what the connector offers.
    fn asynchronous(&self, scan: &Scan, options: &LookupOptions, insert_only: bool) -> Option<AsyncLookup> {
        let offered = Connector::of(&scan.table).source.lookup_async;
        if !offered || options.asynchronous == Some(false) {
            return None;
        }
        let unordered = options.allow_unordered.unwrap_or_else(|| self.options.async_lookup_unordered());
        Some(AsyncLookup {
            unordered: unordered && insert_only,
            timeout: options.timeout.unwrap_or_else(|| self.options.async_lookup_timeout()),
            capacity: options.capacity.unwrap_or_else(|| self.options.async_lookup_capacity()),
        })
    }
}

/// Versions need no before-images: what makes them of an upsert source with an assigner goes (Flink's
/// `EventTimeTemporalJoinRewriteRule`, which knows no source that makes watermarks itself).
fn without_normalize(tree: Tree, at: Span) -> PlanResult<Tree> {
    let chain = chain(&tree);
    let is_there = |kind: fn(&Operator) -> bool| chain.iter().any(|op| kind(op));
    let normalized = is_there(|op| matches!(op, Operator::ChangelogNormalize(_)));
    if !normalized || !is_there(|op| matches!(op, Operator::WatermarkAssigner(_))) {
        return Ok(tree);
    }
    if is_there(|op| matches!(op, Operator::Calc(calc) if !calc.conditions.is_empty())) {
        return Err(filtered_versions(at));
    }
    Ok(strip(tree))
}

/// The operators from a side of a join down to its source, if there is nothing else than what the rule looks for.
fn chain(tree: &Tree) -> Vec<&Operator> {
    let mut out = Vec::new();
    let mut at = tree;
    loop {
        out.push(&at.op);
        let known = matches!(
            at.op,
            Operator::Calc(_)
                | Operator::WatermarkAssigner(_)
                | Operator::ChangelogNormalize(_)
                | Operator::Exchange(_)
        );
        match at.inputs.first().filter(|_| known) {
            Some(below) => at = below,
            None if matches!(at.op, Operator::TableSourceScan(_)) => return out,
            None => return Vec::new(),
        }
    }
}

fn strip(mut tree: Tree) -> Tree {
    match &tree.op {
        Operator::ChangelogNormalize(_) => tree.inputs.remove(0).inputs.remove(0),
        Operator::Calc(_) => {
            let input = strip(tree.inputs.remove(0));
            let Tree { op: Operator::Calc(own), columns, origins, .. } = tree else { unreachable!("matched above") };
            calc(own.exprs, own.conditions, input, columns, origins)
        }
        Operator::WatermarkAssigner(_) => {
            tree.inputs = tree.inputs.into_iter().map(strip).collect();
            tree
        }
        _ => tree,
    }
}

fn filtered_versions(at: Span) -> Box<PlanError> {
    PlanError::rejected(
        at,
        "Filter is not allowed for right changelog input of event time temporal join, it will corrupt the versioning of data",
    )
    .label("some of the versions are filtered out")
    .help("remove the filter from the versioned table and filter behind the join")
    .into()
}

/// A table that is looked up in, with what is done to its rows.
struct LookupTable {
    scan: Scan,
    fields: Vec<Column>,
    conditions: Vec<Rex>,
    exprs: Vec<Rex>,
}

fn lookup_table(rel: Rel) -> Option<LookupTable> {
    let Rel { op, mut inputs, columns, .. } = rel;
    match op {
        RelOp::Scan(scan) => {
            let exprs = (0..columns.len()).map(|i| Rex::input(i, columns[i].ty.clone())).collect();
            Some(LookupTable { scan, fields: exec_columns(columns), conditions: Vec::new(), exprs })
        }
        RelOp::Filter(conditions) => {
            let mut below = lookup_table(inputs.remove(0))?;
            let conditions = conditions.iter().map(|c| c.substitute(&below.exprs)).collect::<Vec<_>>();
            below.conditions.extend(conditions);
            Some(below)
        }
        RelOp::Project(exprs) => {
            let mut below = lookup_table(inputs.remove(0))?;
            below.exprs = exprs.iter().map(|e| e.substitute(&below.exprs)).collect();
            Some(below)
        }
        _ => None,
    }
}

fn column_of(value: &LookupValue) -> Option<usize> {
    match value {
        LookupValue::Column(i) => Some(*i),
        LookupValue::Constant(_) => None,
    }
}

/// The columns that are looked up by: those that a condition fixes, then those that equal a column of the input. Of several values
/// of one column the last one counts.
fn lookup_keys(table: &LookupTable, pairs: &[JoinKey]) -> Vec<LookupKey> {
    let mut keys: Vec<LookupKey> = Vec::new();
    let mut put = |field: usize, value: LookupValue| match keys.iter_mut().find(|k| k.field == field) {
        Some(key) => key.value = value,
        None => keys.push(LookupKey { field, value }),
    };
    for c in table.conditions.iter().rev() {
        if let Some((field, constant)) = fixed(c) {
            put(field, LookupValue::Constant(constant.clone()));
        }
    }
    for pair in pairs {
        if let Some(field) = looked_up_column(&table.exprs[pair.right]) {
            put(field, LookupValue::Column(pair.left));
        }
    }
    if keys.len() > 4 {
        keys.sort_by_key(|k| hash_order(k.field));
    }
    keys
}

/// The column that an expression is; text that is only made longer is still that column.
fn looked_up_column(e: &Rex) -> Option<usize> {
    match &e.kind {
        RexKind::Cast { operand, .. } if e.ty.is_character() && operand.ty.is_character() => operand.as_input(),
        _ => e.as_input(),
    }
}

/// A condition that fixes a column to a constant.
fn fixed(condition: &Rex) -> Option<(usize, &Rex)> {
    let [a, b] = condition.as_call(crate::catalog::functions::operators::EQUALS.name)? else { return None };
    let constant = |e: &Rex| e.as_literal().is_some() && !e.is_null_literal();
    match (a.as_input(), b.as_input()) {
        (Some(field), None) if constant(b) => Some((field, b)),
        (None, Some(field)) if constant(a) => Some((field, a)),
        _ => None,
    }
}

/// Where Scala's immutable hash map of more than four entries has a key: by its scrambled bits, five by five.
fn hash_order(key: usize) -> [u32; 7] {
    let mut h = u32::try_from(key).unwrap_or(u32::MAX);
    h = h.wrapping_add(!(h << 9));
    h ^= h >> 14;
    h = h.wrapping_add(h << 4);
    h ^= h >> 10;
    std::array::from_fn(|level| (h >> (5 * level)) & 31)
}
