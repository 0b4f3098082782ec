//! The rows that rule examples carry: they have to bear the example's verdict out, and to show it: a restore that lost the state, or
//! carried what starts from zero, would not pass.

use std::io::Cursor;

use keepstate::check::{Checked, Options, Text, check};
use keepstate::exec::{Plan, Purpose};
use keepstate::execution::{Execution, session};
use keepstate::rehearsal::{Exempt, JobRehearsal, Observation, Rows, Setting, Side, Split, rehearse};
use keepstate::report::model::Job;
use keepstate::rows::{Arrivals, CsvReader, Interleave, Source};
use keepstate::rules::RuleBook;
use keepstate::rules::file::{Example, TableRows};
use keepstate::rules::verdict::Verdict;
use keepstate::run::{Clock, EndOfInput};

const CLOCK: Clock = Clock { start: 0, tick: 500 };

fn rows(plan: &Plan, blocks: &[TableRows], others: &[String], checked: &Checked) -> Result<Rows, String> {
    let execution = Execution::new(plan, CLOCK, &checked.sources).map_err(|e| e.message.clone())?;
    let tables = execution.job.tables();
    let mut sources = Vec::new();
    for (place, table) in tables.iter().enumerate() {
        let name = &*table.table.path.name;
        let block = blocks.iter().find(|b| b.table == name).ok_or_else(|| format!("no rows of `{name}`"))?;
        let schema = execution.schema(table).ignoring(others);
        let reader = CsvReader::open(Cursor::new(block.csv.clone().into_bytes()), name, schema, &table.read, None);
        let reader = reader.map_err(|e| format!("{name}: {}", e.message))?;
        sources.push(Source { table: place, rows: Box::new(reader), event_time: execution.event_time(table) });
    }
    let (mut interleaved, mut out) = (Interleave::files(sources), Vec::new());
    while let Some(row) = interleaved.next_row().map_err(|e| e.message.clone())? {
        out.push(row);
    }
    Ok(out)
}

fn stored(plan: &Plan, checked: &Checked) -> Result<Vec<String>, String> {
    let execution = Execution::new(plan, CLOCK, &checked.sources).map_err(|e| e.message.clone())?;
    let tables = execution.job.tables().iter().map(|t| execution.schema(t));
    Ok(tables.flat_map(|s| s.columns).map(|(name, _)| name).collect())
}

/// What the rows of an example show: with the state restored as the verdict says, and with none restored.
fn rehearsed(example: &Example) -> Result<(JobRehearsal, JobRehearsal), String> {
    let text = |name: &str, sql: &str| Text::new(name, sql.to_owned());
    let options = Options { purpose: Purpose::Collect, ..Options::default() };
    let checked = check(text("old.sql", &example.old), text("new.sql", &example.new), &options);
    let both = checked.report.jobs.iter().zip(&checked.plans).find_map(|(job, pair)| match (&pair.old, &pair.new) {
        (Some(old), Some(new)) => Some((job, pair, old, new)),
        _ => None,
    });
    let (job, pair, old, new) = both.ok_or("no job is on both sides")?;
    let before = rows(old, &example.rows, &stored(new, &checked)?, &checked)?;
    let after = rows(new, &example.rows, &stored(old, &checked)?, &checked)?;
    let setting = Setting { split: Split::Rows(before.len() as u64 / 2), clock: CLOCK, end: EndOfInput::Fire };
    let zone = session(new).map_err(|e| e.message.clone())?.zone;
    let show = |job: &Job| {
        let (first, second) = (Side { plan: old, rows: &before }, Side { plan: new, rows: &after });
        let seen = rehearse(&first, &second, job, setting, &checked.sources).map_err(|e| e.message.clone())?;
        Ok::<_, String>(JobRehearsal::new(job, seen, new, &zone, after.len() as u64, Exempt::of(pair)))
    };
    let empty = Job { verdict: Verdict::Incompatible, ..job.clone() };
    Ok((show(job)?, show(&empty)?))
}

/// Why the rows of an example do not show its verdict, if they do not.
fn complaint(example: &Example) -> Option<String> {
    let (restored, empty) = match rehearsed(example) {
        Ok(seen) => seen,
        Err(message) => return Some(message),
    };
    if empty.observed == Observation::Equal {
        return Some("a job that starts empty sends the same rows, so they show nothing".to_owned());
    }
    match restored.verdict {
        Verdict::Compatible if restored.observed != Observation::Equal => {
            Some(format!("the restored job sends other rows: {:?}", restored.differences))
        }
        Verdict::PartiallyCompatible => {
            let wrong = restored.columns.iter().find(|c| c.equal != (c.fate == keepstate::diff::change::Fate::Kept));
            match wrong {
                Some(column) if column.equal => {
                    Some(format!("`{}` starts from zero, but no row shows it", column.name))
                }
                Some(column) => Some(format!("`{}` is kept, but differs: {:?}", column.name, restored.differences)),
                None if restored.columns.iter().all(|c| c.equal) => Some("no column starts from zero".to_owned()),
                None => None,
            }
        }
        _ => None,
    }
}

#[test]
fn the_rows_of_the_rules_show_their_verdicts() {
    let book = RuleBook::embedded();
    let (mut wrong, mut with_rows) = (Vec::new(), 0);
    for rule in book.rules() {
        for example in rule.examples().expect("examples are well formed").iter().filter(|e| !e.rows.is_empty()) {
            with_rows += 1;
            let name = format!("{}: {}", rule.id, example.name);
            wrong.extend(complaint(example).map(|why| format!("{name}: {why}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(with_rows >= 130, "only {with_rows} examples have rows");
}
