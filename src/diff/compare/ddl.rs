//! Columns that differ because a CREATE TABLE computes or types them otherwise.

use super::super::lineage::Ident;
use super::super::matching::Side;
use super::super::places::Places;
use super::Comparison;
use crate::catalog::Table;
use crate::exec::{Operator, Plan};
use crate::source::Span;

/// A column of a source table whose definition differs.
#[derive(Debug, Clone)]
pub struct DdlColumn {
    /// Its name.
    pub name: String,
    /// Its definition in the old text.
    old: Option<Span>,
    /// Its definition in the new text.
    new: Option<Span>,
}

impl DdlColumn {
    /// The definitions, where both sides have one; else where the change was seen.
    pub fn places(&self, seen: Places) -> Places {
        match (self.old, self.new) {
            (Some(_), Some(_)) => Places::from((self.old, self.new)),
            _ => seen,
        }
    }
}

impl Comparison<'_> {
    /// The column of a source that makes some of these differ, if its definition differs.
    pub fn computed_in_ddl(&self, idents: &[Ident]) -> Option<DdlColumn> {
        let id = idents.iter().find_map(|id| self.defined_otherwise(*id, idents))?;
        let info = self.interner.info(id);
        let home = info.origin.and_then(|origin| {
            [self.old.plan, self.new.plan].into_iter().flat_map(tables).find(|t| t.span.contains(origin))
        });
        let definition = |side: Side| {
            let plan = if side == Side::Old { self.old.plan } else { self.new.plan };
            let with_it = || tables(plan).filter_map(|t| Some((t, t.columns.iter().find(|c| c.name == info.name)?)));
            let same = with_it().find(|(t, _)| home.is_some_and(|home| home.path == t.path));
            same.or_else(|| with_it().next()).map(|(_, column)| column.span)
        };
        Some(DdlColumn { name: info.name.clone(), old: definition(Side::Old), new: definition(Side::New) })
    }

    /// True if something of this reads a column that the DDL gives another type.
    pub fn retyped_in_ddl(&self, idents: &[Ident]) -> bool {
        idents.iter().any(|id| self.retyped_below(*id).is_some())
    }

    /// The computed or retyped column that an ident is, or the retyped one that it reads. A computed column is defined
    /// otherwise if the other side has one of its name; else it is just another column that is read.
    fn defined_otherwise(&self, id: Ident, differing: &[Ident]) -> Option<Ident> {
        if let Some(retyped) = self.retyped_below(id) {
            return Some(retyped);
        }
        let info = self.interner.info(id);
        let origin = info.origin.filter(|_| !info.is_source)?;
        if !differing.iter().any(|other| *other != id && self.interner.info(*other).name == info.name) {
            return None;
        }
        [self.old.plan, self.new.plan].into_iter().flat_map(tables).any(|t| t.span.contains(origin)).then_some(id)
    }

    /// The column that the DDL retypes among those that are read.
    fn retyped_below(&self, id: Ident) -> Option<Ident> {
        if self.retyped.contains(&id) {
            return Some(id);
        }
        self.interner.info(id).parts.iter().find_map(|part| self.retyped_below(*part))
    }
}

/// The tables that a plan reads.
fn tables(plan: &Plan) -> impl Iterator<Item = &Table> {
    plan.nodes.iter().filter_map(|n| match &n.op {
        Operator::TableSourceScan(scan) => Some(&*scan.table),
        _ => None,
    })
}
