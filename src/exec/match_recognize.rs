//! `Match`: finds row patterns. State: the rows that wait for their time, and every match that has begun
//! (Flink's `StreamExecMatch`, `CepOperator`).

use super::over_aggregate::order_text;
use super::{ExecNode, TextContext};
use crate::logical::pattern::{self, Definition, Variables};
use crate::logical::print::print_prefix;
use crate::logical::rex_text::RexText;

/// MATCH_RECOGNIZE.
#[derive(Debug, Clone)]
pub struct Match {
    /// What is matched.
    pub pattern: pattern::Match,
    /// Processing time.
    pub proctime: bool,
}

impl ExecNode for Match {
    fn kind(&self) -> &'static str {
        "Match"
    }

    // Flink prints no WITHIN.
    fn attributes(&self, context: &TextContext<'_>) -> Vec<(&'static str, String)> {
        let p = &self.pattern;
        let mut out = Vec::new();
        if !p.partition.is_empty() {
            out.push(("partitionBy", context.names(&p.partition)));
        }
        out.push(("orderBy", order_text(&p.order, context)));
        let names = names(&p.variables, |column| context.name(column).to_owned());
        let measures = p.measures.iter().map(|m| format!("FINAL({}) AS {}", print_prefix(&m.expr, &names), m.name));
        out.push(("measures", super::join(measures)));
        out.push(("rowsPerMatch", "ONE ROW PER MATCH".to_owned()));
        out.push(("after", p.after_text()));
        out.push(("pattern", p.pattern_text.to_string()));
        if let Some(subset) = &p.subset_text {
            out.push(("subset", subset.to_string()));
        }
        let names = self::names(&p.variables, |column| format!("${column}"));
        let definition = |d: &Definition| {
            format!("{}={}", p.variables.names[d.variable], RexText { rex: &d.condition, columns: &names })
        };
        out.push(("define", format!("{{{}}}", super::join(p.definitions.iter().map(definition)))));
        out
    }
}

/// The names of all columns of all variables.
fn names(variables: &Variables, column: impl Fn(usize) -> String) -> Vec<String> {
    let of = |variable: &std::sync::Arc<str>| {
        (0..variables.width).map(|c| format!("{variable}.{}", column(c))).collect::<Vec<_>>()
    };
    variables.names.iter().flat_map(of).collect()
}
