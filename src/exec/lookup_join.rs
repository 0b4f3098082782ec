//! `LookupJoin`: rows with those that an external table has for them at that moment. Keeps nothing, unless it waits for answers
//! (`asynchronous`) or has to take back what it has sent (`upsert_materialize`).

use std::sync::Arc;

use super::calc::conjunction;
use super::{Column, ExecNode, TextContext, join};
use crate::catalog::Table;
use crate::logical::join::{JoinType, Retry};
use crate::logical::print::expression;
use crate::logical::rex::{Origins, Rex};

/// Looks up the rows of a table for every row.
#[derive(Debug, Clone)]
pub struct LookupJoin {
    /// The table.
    pub table: Arc<Table>,
    /// OPTIONS hints on it.
    pub hints: Vec<(String, String)>,
    /// What becomes of rows for which nothing is found.
    pub join_type: JoinType,
    /// The columns that are looked up by, constants first.
    pub keys: Vec<LookupKey>,
    /// The columns of the table's row, before anything is computed.
    pub fields: Vec<Column>,
    /// Conditions on the table's row that the source takes over.
    pub pushed: Vec<Rex>,
    /// Conditions on the table's row.
    pub conditions: Vec<Rex>,
    /// What is sent of the table's row.
    pub exprs: Vec<Rex>,
    /// Conditions on the row of the input alone: nothing is looked up for others.
    pub before: Vec<Rex>,
    /// What else the input's row and what is sent of the table's row have to fulfil, side by side.
    pub remaining: Vec<Rex>,
    /// It asks for many rows at once.
    pub asynchronous: Option<AsyncLookup>,
    /// It asks again where nothing was found.
    pub retry: Option<Retry>,
    /// It remembers what it has sent, so that updates take back the same (`TRY_RESOLVE`).
    pub upsert_materialize: bool,
    /// Updates may need to be taken back, and `TRY_RESOLVE` is set.
    pub resolves_updates: bool,
    /// Where the condition is written.
    pub condition_origins: Origins,
}

/// How many questions are under way at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AsyncLookup {
    /// Answers may be sent in another order than the rows came in.
    pub unordered: bool,
    /// How long an answer may take, in milliseconds.
    pub timeout: i64,
    /// How many rows may wait.
    pub capacity: i64,
}

/// A column that rows are looked up by.
#[derive(Debug, Clone, PartialEq)]
pub struct LookupKey {
    /// The column of the table, among [`LookupJoin::fields`].
    pub field: usize,
    /// What it has to be.
    pub value: LookupValue,
}

/// What a column is compared with.
#[derive(Debug, Clone, PartialEq)]
pub enum LookupValue {
    /// A constant.
    Constant(Rex),
    /// A column of the input.
    Column(usize),
}

impl LookupJoin {
    /// The columns of the input that rows are looked up by, in the order of the keys.
    pub fn input_keys(&self) -> Vec<usize> {
        let column = |k: &LookupKey| match k.value {
            LookupValue::Column(i) => Some(i),
            LookupValue::Constant(_) => None,
        };
        self.keys.iter().filter_map(column).collect()
    }

    /// It keeps state.
    pub fn is_stateful(&self) -> bool {
        self.asynchronous.is_some() || self.upsert_materialize
    }

    /// The names of the table's columns.
    pub fn field_names(&self) -> Vec<&str> {
        self.fields.iter().map(|c| &*c.name).collect()
    }
}

impl ExecNode for LookupJoin {
    fn kind(&self) -> &'static str {
        "LookupJoin"
    }

    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        let input = context.input_names();
        let fields = self.field_names();
        let keys = self.keys.iter().map(|k| {
            let value = match &k.value {
                LookupValue::Constant(c) if c.ty.is_character() => format!("_UTF-16LE{}", expression(c, &input)),
                LookupValue::Constant(c) => expression(c, &input).to_string(),
                LookupValue::Column(i) => input[*i].to_owned(),
            };
            format!("{}={value}", fields[k.field])
        });
        let path = &self.table.path;
        let mut out = vec![
            ("table", format!("{}.{}.{}", path.catalog, path.database, path.name)),
            ("joinType", self.join_type.name().to_owned()),
        ];
        if let Some(a) = &self.asynchronous {
            let mode = if a.unordered { "UNORDERED" } else { "ORDERED" };
            out.push(("async", format!("{mode}, {}ms, {}", a.timeout, a.capacity)));
        }
        out.push(("lookup", join(keys)));
        if !self.conditions.is_empty() {
            out.push(("where", conjunction(&self.conditions, &fields)));
        }
        let both: Vec<&str> = context.node.columns.iter().map(|c| &*c.name).collect();
        if !self.before.is_empty() || !self.remaining.is_empty() {
            let text = |list: &[Rex]| if list.is_empty() { String::new() } else { conjunction(list, &both) };
            out.push(("joinCondition", text(&self.before) + &text(&self.remaining)));
        }
        let computed = self.exprs.iter().zip(&context.node.columns[input.len()..]).map(|(e, column)| {
            let text = expression(e, &fields).to_string();
            if e.as_input().is_some() { text } else { format!("{text} AS {}", column.name) }
        });
        out.push(("select", join(input.iter().map(|n| (*n).to_owned()).chain(computed))));
        if self.upsert_materialize {
            out.push(("upsertMaterialize", "true".to_owned()));
        }
        if let Some(retry) = &self.retry {
            out.push(("retry", format!("lookup_miss, FIXED_DELAY, {}ms, {}", retry.delay, retry.attempts)));
        }
        out
    }
}
