//! Source columns that may be NULL on one side only.
//!
//! A column keeps its name and its type, so its lineage is the same; but operators are planned otherwise where it cannot be NULL
//! (`COUNT(b)` counts rows, `b IS NOT NULL` always holds), and what is stored has another type. The first is put right where
//! idents are made, so that one edit is one change; the second is stated for the operators that store it.

use std::collections::HashMap;

use super::lineage::{Ident, Interner, type_text};
use super::matching::Matching;
use crate::catalog::functions::ArgumentType;
use crate::catalog::types::DataType;
use crate::catalog::{Table, TableColumn, TableColumnKind};
use crate::exec::{Operator, Plan};
use crate::logical::rex::{Function, Rex, RexKind};
use crate::source::Span;

/// One column that was edited.
#[derive(Debug, Clone)]
pub struct Edit {
    /// The table's path.
    table: String,
    /// The column's name.
    pub name: String,
    /// Its type on the old side.
    pub old: DataType,
    /// Its type on the new side.
    pub new: DataType,
    /// Where the two sides declare it.
    pub places: (Span, Span),
}

/// All of a comparison.
#[derive(Debug, Default)]
pub struct Edits {
    list: Vec<Edit>,
    /// By the number of the scan and the column's name.
    by_scan: HashMap<(usize, String), usize>,
    by_ident: HashMap<Ident, usize>,
}

impl Edits {
    /// The columns of matched scans that have one type, apart from what may be NULL.
    pub fn between(matching: &Matching, old: &Plan, new: &Plan) -> Edits {
        let mut edits = Edits::default();
        for (number, pair) in matching.pairs.iter().enumerate() {
            let (Some(o), Some(n)) = (pair.old, pair.new) else { continue };
            let (Operator::TableSourceScan(a), Operator::TableSourceScan(b)) = (&old.node(o).op, &new.node(n).op)
            else {
                continue;
            };
            // What is only inferred may be NULL for want of a better word.
            if a.table.inferred || b.table.inferred {
                continue;
            }
            for (x, y) in a.table.columns.iter().filter_map(|x| Some((x, column(&b.table, &x.name)?))) {
                if !differs(x, y) || keyed(&a.table, &b.table, &x.name) {
                    continue;
                }
                let table = b.table.path.to_string();
                let at = edits.list.iter().position(|e| e.table == table && e.name == x.name).unwrap_or_else(|| {
                    let (old, new) = (x.ty.clone(), y.ty.clone());
                    edits.list.push(Edit { table, name: x.name.clone(), old, new, places: (x.span, y.span) });
                    edits.list.len() - 1
                });
                edits.by_scan.insert((number, x.name.clone()), at);
            }
        }
        edits
    }

    /// Remembers by which ident a column is read. True if it is one that is NOT NULL on one side only.
    pub fn read(&mut self, scan: usize, name: &str, id: Ident) -> bool {
        if self.list.is_empty() {
            return false;
        }
        let Some(edit) = self.by_scan.get(&(scan, name.to_owned())).copied() else { return false };
        self.by_ident.insert(id, edit);
        self.list[edit].old.nullable != self.list[edit].new.nullable
    }

    /// True if no column was edited so.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// One of them.
    pub fn get(&self, edit: usize) -> &Edit {
        &self.list[edit]
    }

    /// The edited columns that something is computed from.
    pub fn behind(interner: &Interner, id: Ident) -> Vec<usize> {
        let mut found: Vec<usize> = Vec::new();
        let mut seen = vec![id];
        let mut next = 0;
        while let Some(id) = seen.get(next).copied() {
            next += 1;
            let edit = interner.edits.by_ident.get(&id).copied();
            found.extend(edit.filter(|e| !found.contains(e)));
            for part in &interner.info(id).parts {
                if !seen.contains(part) {
                    seen.push(*part);
                }
            }
        }
        found
    }
}

fn column<'t>(table: &'t Table, name: &str) -> Option<&'t TableColumn> {
    table.columns.iter().find(|c| c.name == name)
}

/// Of a computed column that follows from what it is computed from.
fn differs(a: &TableColumn, b: &TableColumn) -> bool {
    let computed = |c: &TableColumn| matches!(c.kind, TableColumnKind::Computed(_));
    let ty = |c: &TableColumn| c.ty.clone().materialized();
    !computed(a) && !computed(b) && type_text(a) == type_text(b) && ty(a) != ty(b)
}

/// True if the column is NOT NULL because the primary key has it, on one side: then the key is what was edited.
fn keyed(old: &Table, new: &Table, name: &str) -> bool {
    let in_key = |table: &Table| {
        table.primary_key.as_ref().is_some_and(|k| k.columns.iter().any(|c| table.columns[*c].name == name))
    };
    in_key(old) != in_key(new)
}

/// An expression with the inputs that `never` names taken as NOT NULL, and with what follows from that for the types of its
/// parts.
pub fn with_never_null(e: &Rex, never: &dyn Fn(usize) -> bool) -> Rex {
    let mut e = match e.as_input() {
        Some(i) => Rex { ty: e.ty.clone().with_nullable(e.ty.nullable && !never(i)), ..e.clone() },
        None => e.map_children(&mut |child| with_never_null(child, never)),
    };
    if e.ty.nullable && !e.ty.is_unknown() {
        let nullable = match &e.kind {
            RexKind::Cast { operand, is_try: false } => operand.ty.nullable,
            RexKind::Call(Function::Builtin(def), args) => {
                let types: Vec<ArgumentType<'_>> =
                    args.iter().map(|a| ArgumentType { ty: &a.ty, literal: a.as_literal() }).collect();
                def.check(&types).map_or(true, |ty| ty.nullable)
            }
            _ => true,
        };
        e.ty.nullable = nullable;
    }
    e
}
