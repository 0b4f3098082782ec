//! Rows that bear witness: what a restored job and a fresh one sent, where they differ.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::terminal::visible;

/// What a rehearsal of the change showed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Witness {
    /// After how many rows the savepoint was taken.
    pub split: u64,
    /// How many rows there were.
    pub rows: u64,
    /// Whether what was seen agrees with the verdict; none if the verdict claims nothing that rows could refute.
    pub agrees: Option<bool>,
    /// The changes that were sent after it.
    pub changes: Counts,
    /// The first changes that differ.
    pub differences: Vec<DifferenceReport>,
}

/// How many changes of each kind there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Counts {
    /// Sent by both runs.
    pub equal: usize,
    /// Sent by both with other values in some columns.
    pub different: usize,
    /// Sent only by the fresh run: the restored job leaves them out.
    pub missing: usize,
    /// Sent only by the restored run.
    pub extra: usize,
}

/// A change that differs.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DifferenceReport {
    /// The sink.
    pub sink: String,
    /// What the restored job sent.
    pub restored: Option<ChangeReport>,
    /// What the fresh job sent.
    pub fresh: Option<ChangeReport>,
}

/// A change as it is sent.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ChangeReport {
    /// `+I`, `-U`, `+U`, `-D`
    pub op: String,
    /// The row: its columns by name, in their order.
    #[serde(serialize_with = "in_order")]
    #[schemars(with = "std::collections::BTreeMap<String, Value>")]
    pub row: Vec<(String, Value)>,
    /// The cells as they are printed.
    #[serde(skip)]
    pub shown: Vec<String>,
}

impl Witness {
    /// What was seen, in one line.
    pub fn headline(&self) -> String {
        let Counts { equal, different, missing, extra } = self.changes;
        let verdict = match self.agrees {
            Some(true) => "this agrees with the verdict",
            Some(false) => "THIS REFUTES THE VERDICT",
            None => "the verdict claims nothing that this could refute",
        };
        format!(
            "rehearsed with the savepoint after {} of {} rows: {equal} changes equal, {different} different, {missing} missing, \
             {extra} extra; {verdict}",
            self.split, self.rows
        )
    }
}

fn in_order<S: Serializer>(row: &[(String, Value)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(row.iter().map(|(name, value)| (name, value)))
}

/// The first rows that differ, restored above fresh: a table for each sink.
pub fn write_differences(differences: &[DifferenceReport], out: &mut String) {
    if differences.is_empty() {
        return;
    }
    let mut sinks: Vec<&str> = Vec::new();
    for difference in differences {
        if !sinks.contains(&difference.sink.as_str()) {
            sinks.push(&difference.sink);
        }
    }
    out.push_str("\nthe first rows that differ:\n");
    for sink in &sinks {
        if sinks.len() > 1 {
            let _ = writeln!(out, "  {}:", visible(sink));
        }
        write_table(differences.iter().filter(|d| d.sink == *sink), out);
    }
}

const NO_ROW: &str = "no such row";

fn write_table<'a>(differences: impl Iterator<Item = &'a DifferenceReport> + Clone, out: &mut String) {
    let sides = |d: &'a DifferenceReport| [("restored", &d.restored), ("fresh", &d.fresh)];
    let Some(sample) = differences.clone().flat_map(sides).find_map(|(_, change)| change.as_ref()) else { return };
    let mut header = vec!["", "op"];
    header.extend(sample.row.iter().map(|(name, _)| name.as_str()));
    let mut lines = vec![header];
    for (side, change) in differences.flat_map(sides) {
        let mut line = vec![side];
        match change {
            Some(change) => {
                line.push(&change.op);
                line.extend(change.shown.iter().map(String::as_str));
            }
            None => line.push(NO_ROW),
        }
        lines.push(line);
    }
    let width =
        |i: usize| lines.iter().filter_map(|l| l.get(i)).filter(|c| **c != NO_ROW).map(|c| c.chars().count()).max();
    let widths: Vec<usize> = (0..lines[0].len()).map(|i| width(i).unwrap_or(0)).collect();
    for line in &lines {
        let cells: Vec<String> = line.iter().zip(&widths).map(|(c, w)| format!("{c:<w$}")).collect();
        let _ = writeln!(out, "  {}", visible(cells.join("  ").trim_end()));
    }
}
