//! ALTER TABLE and ALTER VIEW.

use std::sync::Arc;

use super::create::{TableBuilder, duplicate_column, table_column};
use super::like::remove_columns;
use super::table::{Table, TableColumnKind};
use super::{Catalog, Entry, TablePath};
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::{Alter, AlterAction, ColumnDef, Expr, Ident, ObjectName, TableElement};
use crate::syntax::ast::{ExprKind, FunctionArg};

impl Catalog {
    pub(super) fn alter(&mut self, alter: &Alter, span: Span) -> PlanResult<()> {
        let path = self.path(&alter.name)?;
        let entry = match self.get(&path).cloned() {
            Some(entry) => entry,
            // A table of the cluster's own catalogs may be altered; nothing is known about it.
            None if alter.name.parts.len() == 3 || !self.declares_tables => return Ok(()),
            None => return Err(self.unknown_table(&alter.name, [])),
        };
        match (entry, alter.what.as_str()) {
            (Entry::Table(table), "TABLE") => self.alter_table(path, &table, &alter.action, span),
            (Entry::View(view), "VIEW") => {
                match &alter.action {
                    AlterAction::RenameTo(name) => self.rename(&path, name)?,
                    AlterAction::AsQuery(query) => {
                        let view = super::View { query: Arc::new((**query).clone()), span, ..(*view).clone() };
                        self.replace(path, Entry::View(Arc::new(view)));
                    }
                    _ => {}
                }
                Ok(())
            }
            (Entry::Table(_), _) => Err(wrong_kind("ALTER VIEW for a table is not allowed", alter)),
            (Entry::View(_), _) => Err(wrong_kind("ALTER TABLE for a view is not allowed", alter)),
        }
    }

    fn alter_table(&mut self, path: TablePath, old: &Table, action: &AlterAction, span: Span) -> PlanResult<()> {
        let mut table = old.clone();
        match action {
            AlterAction::SetOptions(options) => options.iter().for_each(|o| table.options.set(o.clone())),
            AlterAction::ResetOptions(keys) => keys.iter().for_each(|k| table.options.remove(k)),
            AlterAction::RenameTo(name) => return self.rename(&path, name),
            AlterAction::RenameColumn(from, to) => rename_column(&mut table, from, to)?,
            AlterAction::Add(elements) => table = add(table, elements)?,
            AlterAction::Modify(elements) => table = modify(table, elements)?,
            AlterAction::DropColumns(names) => drop_columns(&mut table, names)?,
            AlterAction::DropPrimaryKey => {
                if table.primary_key.take().is_none() {
                    return Err(missing(span, "The base table does not define any primary key"));
                }
            }
            AlterAction::DropWatermark => {
                if table.watermark.take().is_none() {
                    return Err(missing(span, "The base table does not define any watermark strategy"));
                }
            }
            AlterAction::AsQuery(_) | AlterAction::Other(_) => {}
        }
        self.replace(path, Entry::Table(Arc::new(table)));
        Ok(())
    }

    fn replace(&mut self, path: TablePath, entry: Entry) {
        let map = Arc::make_mut(if entry.temporary() { &mut self.temporary } else { &mut self.permanent });
        map.insert(path, entry);
    }

    fn rename(&mut self, from: &TablePath, to: &ObjectName) -> PlanResult<()> {
        let to_path = TablePath { name: to.last().into(), ..from.clone() };
        let to_path = if to.parts.len() > 1 { self.path(to)? } else { to_path };
        let removed = Arc::make_mut(&mut self.temporary).remove(from);
        let Some(mut entry) = removed.or_else(|| Arc::make_mut(&mut self.permanent).remove(from)) else {
            return Ok(());
        };
        match &mut entry {
            Entry::Table(t) => Arc::make_mut(t).path = to_path.clone(),
            Entry::View(v) => Arc::make_mut(v).path = to_path.clone(),
        }
        self.insert(to_path, entry, false, Some(to.span))
    }
}

fn wrong_kind(message: &str, alter: &Alter) -> Box<PlanError> {
    PlanError::rejected(alter.name.span, message)
        .label(format!("not what ALTER {} is for", alter.what))
        .help("use the ALTER of the kind of object it is")
        .into()
}

fn missing(span: Span, message: &str) -> Box<PlanError> {
    PlanError::rejected(span, format!("Failed to execute ALTER TABLE statement. {message}"))
        .label("nothing to drop")
        .help("leave the statement out")
        .into()
}

fn failed(name: &Ident, reason: String, label: &str, help: String) -> Box<PlanError> {
    PlanError::rejected(name.span, format!("Failed to execute ALTER TABLE statement. {reason}"))
        .label(label)
        .help(help)
        .into()
}

fn find(table: &Table, name: &Ident) -> PlanResult<usize> {
    table.column_index(&name.value).ok_or_else(|| {
        let near = crate::nearest::nearest(&name.value, table.columns.iter().map(|c| c.name.as_str()));
        let help = near.map_or_else(|| "name a column of the table".to_owned(), |n| format!("did you mean `{n}`?"));
        let reason = format!("The column `{}` does not exist in the base table", name.value);
        failed(name, reason, "no such column", help)
    })
}

fn add(table: Table, elements: &[TableElement]) -> PlanResult<Table> {
    for element in elements {
        match element {
            TableElement::Column(def) if table.column_index(&def.name.value).is_some() => {
                let reason = format!("Try to add a column `{}` which already exists in the table", def.name.value);
                return Err(failed(
                    &def.name,
                    reason,
                    "already there",
                    "use ALTER TABLE ... MODIFY to change it".into(),
                ));
            }
            TableElement::PrimaryKey { span, .. } if table.primary_key.is_some() => {
                return Err(defined_twice(*span, "primary key constraint", "PRIMARY KEY"));
            }
            TableElement::Watermark(def) if table.watermark.is_some() => {
                return Err(defined_twice(def.span, "watermark strategy", "WATERMARK"));
            }
            _ => {}
        }
    }
    let mut builder = TableBuilder::new(table);
    builder.add(elements)?;
    builder.finish()
}

fn defined_twice(span: Span, what: &str, word: &str) -> Box<PlanError> {
    let message = format!("Failed to execute ALTER TABLE statement. The base table has already defined the {what}");
    PlanError::rejected(span, message)
        .label("a second one")
        .help(format!("drop the first with ALTER TABLE ... DROP {word}, or use MODIFY"))
        .into()
}

fn modify(mut table: Table, elements: &[TableElement]) -> PlanResult<Table> {
    let mut rest = Vec::new();
    for element in elements {
        match element {
            TableElement::Column(def) => modify_column(&mut table, def)?,
            TableElement::PrimaryKey { .. } => {
                table.primary_key = None;
                rest.push(element.clone());
            }
            TableElement::Watermark(_) => {
                table.watermark = None;
                rest.push(element.clone());
            }
        }
    }
    let mut builder = TableBuilder::new(table);
    builder.add(&rest)?;
    builder.finish()
}

fn modify_column(table: &mut Table, def: &ColumnDef) -> PlanResult<()> {
    let Some(i) = table.column_index(&def.name.value) else {
        let reason = format!("Try to modify a column `{}` which does not exist in the table", def.name.value);
        return Err(failed(&def.name, reason, "no such column", "use ALTER TABLE ... ADD to add it".into()));
    };
    let mut column = table_column(def)?;
    if table.primary_key.as_ref().is_some_and(|key| key.columns.contains(&i)) {
        column.ty.nullable = false;
    }
    table.columns[i] = column;
    Ok(())
}

fn rename_column(table: &mut Table, from: &Ident, to: &Ident) -> PlanResult<()> {
    let i = find(table, from)?;
    check_unreferenced(table, from, &[])?;
    if table.column_index(&to.value).is_some() {
        return Err(duplicate_column(&to.value, to.span));
    }
    table.columns[i].name = to.value.clone();
    Ok(())
}

fn drop_columns(table: &mut Table, names: &[Ident]) -> PlanResult<()> {
    let mut gone: Vec<&str> = Vec::new();
    for name in names {
        find(table, name)?;
        gone.push(&name.value);
    }
    for name in names {
        let i = find(table, name)?;
        check_unreferenced(table, name, &gone)?;
        if table.primary_key.as_ref().is_some_and(|key| key.columns.contains(&i)) {
            let reason = format!("The column `{}` is used as the primary key", name.value);
            return Err(failed(name, reason, "a key column", "drop the primary key first".into()));
        }
    }
    remove_columns(table, |c| gone.contains(&c.name.as_str()));
    Ok(())
}

/// A column that computed columns or the watermark read can be neither dropped nor renamed.
fn check_unreferenced(table: &Table, name: &Ident, gone: &[&str]) -> PlanResult<()> {
    for column in table.columns.iter().filter(|c| !gone.contains(&c.name.as_str())) {
        if let TableColumnKind::Computed(expr) = &column.kind
            && mentions(expr, &name.value)
        {
            let reason = format!("The column `{}` is referenced by computed column `{}`", name.value, column.name);
            return Err(failed(name, reason, "still used", format!("drop `{}` first", column.name)));
        }
    }
    if let Some(watermark) = &table.watermark
        && (watermark.path.first() == Some(&name.value) || mentions(&watermark.expr, &name.value))
    {
        let reason = format!("The column `{}` is referenced by watermark expression", name.value);
        return Err(failed(name, reason, "still used", "drop the watermark first".into()));
    }
    Ok(())
}

/// True if the expression reads a column of this name. A worklist, so that depth does not matter.
fn mentions(expr: &Expr, name: &str) -> bool {
    let mut work = vec![expr];
    while let Some(expr) = work.pop() {
        match &expr.kind {
            ExprKind::Column(path) if path.first().is_some_and(|p| p.value == name) => return true,
            ExprKind::Unary(_, e) | ExprKind::Field(e, _) => work.push(e),
            ExprKind::Binary(a, _, b) | ExprKind::Index(a, b) | ExprKind::AtTimeZone(a, b) => work.extend([&**a, &**b]),
            ExprKind::Is { expr, .. } | ExprKind::Cast { expr, .. } => work.push(expr),
            ExprKind::IsDistinctFrom { left, right, .. } => work.extend([&**left, &**right]),
            ExprKind::Between { expr, low, high, .. } => work.extend([&**expr, &**low, &**high]),
            ExprKind::Like { expr, pattern, .. } => work.extend([&**expr, &**pattern]),
            ExprKind::InList { expr, list, .. } => {
                work.push(expr);
                work.extend(list);
            }
            ExprKind::Case { operand, branches, otherwise } => {
                work.extend(operand.as_deref());
                work.extend(otherwise.as_deref());
                work.extend(branches.iter().flat_map(|(a, b)| [a, b]));
            }
            ExprKind::Row(list) | ExprKind::Array(list) | ExprKind::Map(list) => work.extend(list),
            ExprKind::Function(call) => work.extend(call.args.iter().filter_map(|arg| match arg {
                FunctionArg::Expr(e) | FunctionArg::Named(_, e) => Some(e),
                FunctionArg::Star(_) => None,
            })),
            _ => {}
        }
    }
    false
}
