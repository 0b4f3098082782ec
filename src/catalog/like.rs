//! `CREATE TABLE ... LIKE`: what of the source table comes along.
//!
//! Flink's `MergeTableLikeUtil`: per feature one strategy. Defaults: INCLUDING for constraints and partitions, INCLUDING
//! for generated columns, metadata and watermarks, OVERWRITING for options. With INCLUDING, a clash is an error.

use super::table::{Table, TableColumn, TableColumnKind};
use super::{Catalog, Resolved, create};
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::{ColumnKind, CreateTable, LikeClause, TableElement};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strategy {
    Including,
    Excluding,
    Overwriting,
}

#[derive(Debug, Clone, Copy)]
struct Strategies {
    options: Strategy,
    generated: Strategy,
    metadata: Strategy,
    watermarks: Strategy,
    constraints: Strategy,
    partitions: Strategy,
}

impl Strategies {
    fn of(like: &LikeClause) -> PlanResult<Strategies> {
        use Strategy::{Excluding, Including, Overwriting};
        let mut s = Strategies {
            options: Overwriting,
            generated: Including,
            metadata: Including,
            watermarks: Including,
            constraints: Including,
            partitions: Including,
        };
        let span = like.source.span;
        let mut seen: Vec<&str> = Vec::new();
        // ALL first, wherever it stands: the others refine it.
        let (all, rest): (Vec<_>, Vec<_>) = like.options.iter().partition(|(_, feature)| feature == "ALL");
        for (strategy, feature) in all.into_iter().chain(rest) {
            if seen.contains(&feature.as_str()) {
                return Err(refused(span, "Each like option feature can be declared only once", "name it once"));
            }
            seen.push(feature);
            let strategy = match strategy.as_str() {
                "INCLUDING" => Including,
                "EXCLUDING" => Excluding,
                _ => Overwriting,
            };
            if strategy == Overwriting && matches!(feature.as_str(), "ALL" | "CONSTRAINTS" | "PARTITIONS") {
                let message = format!("Illegal merging strategy 'OVERWRITING' for '{feature}' option");
                return Err(refused(span, &message, "use INCLUDING or EXCLUDING"));
            }
            match feature.as_str() {
                "ALL" => {
                    s = Strategies {
                        options: strategy,
                        generated: strategy,
                        metadata: strategy,
                        watermarks: strategy,
                        constraints: strategy,
                        partitions: strategy,
                    };
                }
                "OPTIONS" => s.options = strategy,
                "GENERATED" => s.generated = strategy,
                "METADATA" => s.metadata = strategy,
                "WATERMARKS" => s.watermarks = strategy,
                "CONSTRAINTS" => s.constraints = strategy,
                "PARTITIONS" => s.partitions = strategy,
                _ => {}
            }
        }
        Ok(s)
    }
}

fn refused(span: Span, message: &str, help: &str) -> Box<PlanError> {
    PlanError::rejected(span, message).label("copied from here").help(help).into()
}

impl Catalog {
    /// What `create` starts from: the parts of the source table that come along, and the merged options; and the names of
    /// columns that are already replaced by the new table's own.
    pub(super) fn like(&self, like: &LikeClause, create: &CreateTable) -> PlanResult<(Table, Vec<String>)> {
        let source = match self.resolve(&like.source)? {
            Resolved::Table(table) => table,
            Resolved::View(_) => {
                let message = format!("Source table '{}' of the LIKE clause can not be a VIEW", like.source.last());
                return Err(refused(like.source.span, &message, "name a table"));
            }
            Resolved::Unknown { .. } => {
                let mut error = self.unknown_table(&like.source, []);
                error.message =
                    format!("Source table '{}' of the LIKE clause not found in the catalog", like.source.last());
                return Err(error);
            }
        };
        let strategies = Strategies::of(like)?;
        let mut table = (*source).clone();
        table.inferred = false;
        let overwritten = self.merge_columns(&mut table, create, strategies)?;
        merge_key_and_watermark(&mut table, create, strategies)?;
        if strategies.partitions == Strategy::Excluding {
            table.partition_keys.clear();
        } else if !create.partitioned_by.is_empty() && !table.partition_keys.is_empty() {
            let message =
                "The base table already has partitions defined. You might want to specify EXCLUDING PARTITIONS";
            return Err(refused(create.name.span, message, "write EXCLUDING PARTITIONS, or leave PARTITIONED BY out"));
        }
        merge_options(&mut table, create, strategies)?;
        Ok((table, overwritten))
    }

    /// The names of the columns that the new table's own definitions overwrote.
    fn merge_columns(&self, table: &mut Table, create: &CreateTable, s: Strategies) -> PlanResult<Vec<String>> {
        let mut overwritten = Vec::new();
        let dropped = |c: &TableColumn| match c.kind {
            TableColumnKind::Physical => false,
            TableColumnKind::Computed(_) => s.generated == Strategy::Excluding,
            TableColumnKind::Metadata { .. } => s.metadata == Strategy::Excluding,
        };
        remove_columns(table, |c| dropped(c));
        for element in &create.elements {
            let TableElement::Column(def) = element else { continue };
            let Some(i) = table.column_index(&def.name.value) else { continue };
            let overwritable = match (&table.columns[i].kind, &def.kind) {
                (TableColumnKind::Computed(_), ColumnKind::Computed(_)) => s.generated == Strategy::Overwriting,
                (TableColumnKind::Metadata { .. }, ColumnKind::Metadata { .. }) => s.metadata == Strategy::Overwriting,
                _ => false,
            };
            if !overwritable {
                return Err(clash(&table.columns[i], def.name.span));
            }
            // The new definition takes the old one's place, so the builder must not add it again.
            table.columns[i] = create::table_column(def)?;
            overwritten.push(def.name.value.clone());
        }
        Ok(overwritten)
    }
}

fn clash(column: &TableColumn, span: Span) -> Box<PlanError> {
    let name = &column.name;
    let (message, help) = match column.kind {
        TableColumnKind::Physical => (
            format!("A column named '{name}' already exists in the base table"),
            "leave the column out: LIKE copies it",
        ),
        TableColumnKind::Computed(_) => (
            format!("A generated column named '{name}' already exists in the base table"),
            "write EXCLUDING GENERATED or OVERWRITING GENERATED",
        ),
        TableColumnKind::Metadata { .. } => (
            format!("A metadata column named '{name}' already exists in the base table"),
            "write EXCLUDING METADATA or OVERWRITING METADATA",
        ),
    };
    PlanError::rejected(span, message).label("already in the base table").help(help).into()
}

/// Removes columns, and what refers to them follows: key and watermark indices are renumbered or dropped.
pub(super) fn remove_columns(table: &mut Table, mut gone: impl FnMut(&TableColumn) -> bool) {
    let mut renumbered = Vec::with_capacity(table.columns.len());
    let mut kept = 0;
    table.columns.retain(|c| {
        let keep = !gone(c);
        renumbered.push(keep.then_some(kept));
        kept += usize::from(keep);
        keep
    });
    if let Some(key) = &mut table.primary_key {
        key.columns = key.columns.iter().filter_map(|i| renumbered[*i]).collect();
    }
    table.primary_key.take_if(|key| key.columns.is_empty());
    match table.watermark.as_mut().map(|w| (renumbered[w.column], w)) {
        Some((Some(i), w)) => w.column = i,
        Some((None, _)) => table.watermark = None,
        None => {}
    }
}

fn merge_key_and_watermark(table: &mut Table, create: &CreateTable, s: Strategies) -> PlanResult<()> {
    let declares_key = |e: &&TableElement| match e {
        TableElement::PrimaryKey { .. } => true,
        TableElement::Column(c) => c.primary_key,
        TableElement::Watermark(_) => false,
    };
    if s.constraints == Strategy::Excluding {
        table.primary_key = None;
    } else if table.primary_key.is_some()
        && let Some(element) = create.elements.iter().find(declares_key)
    {
        let span = match element {
            TableElement::PrimaryKey { span, .. } => *span,
            TableElement::Column(c) => c.span,
            TableElement::Watermark(w) => w.span,
        };
        return Err(PlanError::rejected(span, "The base table already has a primary key")
            .label("the second key")
            .help("write EXCLUDING CONSTRAINTS to leave the copied one out")
            .into());
    }
    let watermark = create.elements.iter().find_map(|e| match e {
        TableElement::Watermark(w) => Some(w),
        _ => None,
    });
    if s.watermarks == Strategy::Excluding {
        table.watermark = None;
    } else if let (Some(_), Some(new)) = (&table.watermark, watermark) {
        if s.watermarks != Strategy::Overwriting {
            return Err(PlanError::rejected(new.span, "There already exists a watermark spec in the base table")
                .label("the second watermark")
                .help("write EXCLUDING WATERMARKS or OVERWRITING WATERMARKS")
                .into());
        }
        table.watermark = None;
    }
    Ok(())
}

fn merge_options(table: &mut Table, create: &CreateTable, s: Strategies) -> PlanResult<()> {
    if s.options == Strategy::Excluding {
        table.options = create::written_options(create);
        return Ok(());
    }
    for option in &create.options {
        if s.options == Strategy::Including && table.options.get(&option.key).is_some() {
            let message = format!("There already exists an option ['{}'] in the base table", option.key);
            return Err(PlanError::rejected(option.span, message)
                .label("already set by the base table")
                .help("write EXCLUDING OPTIONS or OVERWRITING OPTIONS")
                .into());
        }
        table.options.set(option.clone());
    }
    Ok(())
}
