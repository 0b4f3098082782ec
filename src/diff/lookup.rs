//! What a lookup join does, in terms that mean the same on both sides of a comparison.

use super::lineage::Ident;
use crate::exec::lookup_join::{LookupJoin, LookupValue};
use crate::logical::join::JoinType;
use crate::logical::print::{digest, expression};
use crate::logical::rex::Rex;

/// A lookup join, part by part.
#[derive(Debug, PartialEq, Eq)]
pub struct Lookup {
    /// The table and how it is reached.
    pub table: Vec<String>,
    /// `LEFT` or `INNER`.
    pub join_type: JoinType,
    /// Columns of the table with the columns of the input that they have to be equal to.
    pub keys: Vec<String>,
    /// Columns of the table with constants, and all other conditions.
    pub conditions: Vec<String>,
    /// How the table is asked: how many questions are under way, and how often one is repeated.
    pub asking: String,
    /// Every row of the input is sent exactly once, whatever the table answers.
    pub one_for_each: bool,
}

impl Lookup {
    /// Describes a lookup join over an input of these columns.
    pub fn new(join: &LookupJoin, input: &[Ident]) -> Lookup {
        let fields = join.field_names();
        let name = |i: usize| input.get(i).map(|ident| ident.index().to_string()).unwrap_or_default();
        let mut table = vec![join.table.path.to_string()];
        table.extend(join.table.options.get("connector").map(str::to_owned));
        let (mut keys, mut conditions) = (Vec::new(), Vec::new());
        for key in &join.keys {
            match &key.value {
                LookupValue::Constant(c) => conditions.push(format!("{}={}", fields[key.field], digest(c))),
                LookupValue::Column(i) => keys.push(format!("{}=${}", fields[key.field], name(*i))),
            }
        }
        conditions.extend(join.conditions.iter().chain(&join.pushed).map(|c| expression(c, &fields).to_string()));
        // Columns behind those of the input are those of the table.
        let both = |i: usize| match i.checked_sub(input.len()) {
            None => format!("${}", name(i)),
            Some(own) => join.exprs.get(own).map(|e| expression(e, &fields).to_string()).unwrap_or_default(),
        };
        for c in join.before.iter().chain(&join.remaining) {
            let mut text = String::new();
            c.visit(&mut |r| {
                if let Some(i) = r.as_input() {
                    text.push_str(&both(i));
                }
            });
            conditions.push(format!("{} {text}", digest_without_places(c)));
        }
        keys.sort_unstable();
        conditions.sort_unstable();
        let asking = format!("{:?} {:?}", join.asynchronous, join.retry);
        Lookup { table, join_type: join.join_type, keys, conditions, asking, one_for_each: one_for_each(join) }
    }

    /// What the columns of the table's row depend on, beside the table's column: an outer join sends NULL for what it does not find.
    pub fn of_values(&self) -> String {
        let conditions: &[String] = if self.join_type == JoinType::Left { &self.conditions } else { &[] };
        format!("{:?}{:?}{conditions:?}", self.table, self.keys)
    }

    /// True if nothing differs but how the table is asked.
    pub fn finds_the_same(&self, other: &Lookup) -> bool {
        self.table == other.table
            && self.join_type == other.join_type
            && self.keys == other.keys
            && self.conditions == other.conditions
    }

    /// True if one of the two sends what the other sends, but for rows that its conditions hold back.
    pub fn filters_alone(&self, other: &Lookup) -> bool {
        let inner = |lookup: &Lookup| lookup.join_type == JoinType::Inner;
        // LEFT JOIN with a condition in WHERE is an inner join with that condition.
        let outer_without = |a: &Lookup, b: &Lookup| {
            a.join_type == JoinType::Left && inner(b) && a.conditions.is_empty() && !b.conditions.is_empty()
        };
        self.table == other.table
            && self.keys == other.keys
            && self.conditions != other.conditions
            && ((inner(self) && inner(other)) || outer_without(self, other) || outer_without(other, self))
    }
}

/// An outer join that finds a row by its primary key at most once.
fn one_for_each(join: &LookupJoin) -> bool {
    let looked_up = |column: &str| join.keys.iter().any(|k| &*join.fields[k.field].name == column);
    join.join_type == JoinType::Left
        && join
            .table
            .primary_key
            .as_ref()
            .is_some_and(|key| key.columns.iter().all(|c| looked_up(join.table.columns[*c].name.as_str())))
}

/// A condition's form, whatever columns it reads.
fn digest_without_places(c: &Rex) -> String {
    digest(&c.map_inputs(&mut |_, used| Rex::input(0, used.ty.clone())))
}
