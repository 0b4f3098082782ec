//! Rows that bear witness: what a restored job and a fresh one sent, where they differ.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Map, Value};

/// What a rehearsal of the change showed.
#[derive(Debug, Clone, Serialize)]
pub struct Witness {
    /// After how many rows the savepoint was taken.
    pub split: u64,
    /// The changes that were sent after it.
    pub changes: Counts,
    /// The first changes that differ.
    pub differences: Vec<DifferenceReport>,
}

/// How many changes of each kind there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
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
#[derive(Debug, Clone, Serialize)]
pub struct DifferenceReport {
    /// The sink.
    pub sink: String,
    /// What the restored job sent.
    pub restored: Option<ChangeReport>,
    /// What the fresh job sent.
    pub fresh: Option<ChangeReport>,
}

/// A change as it is sent.
#[derive(Debug, Clone, Serialize)]
pub struct ChangeReport {
    /// `+I`, `-U`, `+U`, `-D`
    pub op: String,
    /// The row.
    pub row: Map<String, Value>,
    /// The cells as they are printed.
    #[serde(skip)]
    pub shown: Vec<String>,
}

/// The first rows that differ, restored above fresh.
pub fn write_differences(differences: &[DifferenceReport], out: &mut String) {
    let Some(first) = differences.first() else { return };
    let Some(sample) = first.fresh.as_ref().or(first.restored.as_ref()) else { return };
    out.push_str("\nthe first rows that differ:\n");
    let mut lines: Vec<Vec<String>> = Vec::new();
    let mut header = vec![String::new(), "op".to_owned()];
    header.extend(sample.row.keys().cloned());
    lines.push(header);
    for difference in differences {
        for (side, change) in [("restored", &difference.restored), ("fresh", &difference.fresh)] {
            let mut line = vec![side.to_owned()];
            match change {
                Some(change) => {
                    line.push(change.op.clone());
                    line.extend(change.shown.iter().cloned());
                }
                None => line.push("no such row".to_owned()),
            }
            lines.push(line);
        }
    }
    let width = |i: usize| {
        lines.iter().filter_map(|l| l.get(i)).filter(|c| *c != "no such row").map(|c| c.chars().count()).max()
    };
    let widths: Vec<usize> = (0..lines[0].len()).map(|i| width(i).unwrap_or(0)).collect();
    for line in &lines {
        let cells: Vec<String> = line.iter().zip(&widths).map(|(c, w)| format!("{c:<w$}")).collect();
        let _ = writeln!(out, "  {}", cells.join("  ").trim_end());
    }
}
