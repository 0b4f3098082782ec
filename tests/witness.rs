//! Verdicts are claims about results: every example of the rule book and every case is rehearsed over rows, and no row may refute its
//! verdict. `compatible` must give the rows of a fresh run, `partially-compatible` those of the kept columns.
//!
//! The rows are made from the DDL: event time goes on, with some disorder, and values come from few, so that groups fill up.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use keepstate::catalog::types::{DataType, TypeKind};
use keepstate::check::{Checked, Options, Text, check};
use keepstate::eval::{Datum, Decimal, Row};
use keepstate::exec::{Plan, Purpose};
use keepstate::execution::{Execution, session};
use keepstate::rehearsal::{Exempt, JobRehearsal, Rows, Setting, Side, Split, rehearse};
use keepstate::report::model::ErrorCode;
use keepstate::rules::RuleBook;
use keepstate::run::{Change, Clock, EndOfInput};
use keepstate::target::Target;

#[path = "witness/example_rows.rs"]
mod example_rows;

struct Pair {
    id: String,
    old: String,
    new: String,
}

fn examples() -> Vec<Pair> {
    let book = RuleBook::embedded();
    let rules = book.rules().iter().filter(|r| r.targets.contains(&Target::Vvr));
    rules
        .flat_map(|rule| {
            let examples = rule.examples().expect("examples are well formed").into_iter();
            examples.map(|e| Pair { id: format!("{}: {}", rule.id, e.name), old: e.old, new: e.new })
        })
        .collect()
}

fn cases() -> Vec<Pair> {
    #[derive(serde::Deserialize)]
    struct Case {
        id: String,
        old: String,
        new: String,
    }
    let mut files: Vec<_> =
        std::fs::read_dir(Path::new("tests/cases")).expect("cases").flatten().map(|e| e.path()).collect();
    files.sort();
    let lines = files.iter().map(|f| std::fs::read_to_string(f).expect("a file"));
    lines
        .flat_map(|text| {
            text.lines().map(|l| serde_json::from_str::<Case>(l).expect("a case a line")).collect::<Vec<_>>()
        })
        .map(|c| Pair { id: c.id, old: c.old, new: c.new })
        .collect()
}

/// A number that depends on nothing but these.
fn number(seed: u64, row: usize, column: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (seed, row, column).hash(&mut hasher);
    hasher.finish()
}

const START: i64 = 1_700_000_000_000;
const ROWS: usize = 48;

/// A value of a column. Both sides give columns of one name and type the same values.
fn value(seed: u64, row: usize, name: &str, ty: &DataType, nulls: bool) -> Option<Datum> {
    let n = number(seed, row, name);
    if nulls && !ty.is_timestamp() && n.is_multiple_of(19) {
        return Some(Datum::Null);
    }
    let small = (n / 19 % 11) as i64 - 3;
    let step = [1_000, 20_000, 600_000][seed as usize % 3];
    let millis = START + row as i64 * step + (n / 7 % 3_000) as i64 - 1_000;
    Some(match &ty.kind {
        TypeKind::Boolean => Datum::Boolean((n / 19).is_multiple_of(2)),
        TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::Int | TypeKind::BigInt => Datum::Int(small),
        TypeKind::Float => Datum::Float(small as f32 / 4.0),
        TypeKind::Double => Datum::Double(small as f64 / 4.0),
        TypeKind::Decimal(p, s) => {
            Decimal { unscaled: i128::from(small) * 25, scale: 2 }.fit(*p, *s).map_or(Datum::Null, Datum::from)
        }
        TypeKind::Char(_) | TypeKind::VarChar(_) => {
            // Texts that are read as times are times.
            if name.to_lowercase().contains("time") {
                Datum::string(keepstate::eval::text::print(
                    &Datum::timestamp(millis),
                    &TypeKind::Timestamp(3, Default::default()).nullable(),
                    &jiff::tz::TimeZone::UTC,
                ))
            } else {
                Datum::string(["a", "b", "c", ""][n as usize / 19 % 4])
            }
        }
        TypeKind::Date => Datum::Date((millis / 86_400_000) as i32),
        TypeKind::Time(_) => Datum::Time((millis % 86_400_000) as i32),
        TypeKind::Timestamp(..) | TypeKind::TimestampLtz(..) => Datum::timestamp(millis),
        TypeKind::VarBinary(_) | TypeKind::Binary(_) => Datum::Bytes(vec![small as u8].into()),
        TypeKind::Array(of) => Datum::Array(vec![value(seed, row, name, of, false)?].into()),
        TypeKind::Row(fields) => {
            Datum::Row(fields.iter().map(|f| value(seed, row, &f.name, &f.ty, false)).collect::<Option<Row>>()?)
        }
        _ => return None,
    })
}

fn rows(plan: &Plan, seed: u64, checked: &Checked, never_null: &BTreeSet<String>) -> Option<Rows> {
    let execution = Execution::new(plan, CLOCK, &checked.sources).ok()?;
    let tables = execution.job.tables();
    let mut out = Vec::new();
    for row in 0..ROWS {
        for (place, table) in tables.iter().enumerate() {
            let schema = execution.schema(table);
            let values = schema.columns.iter().map(|(name, ty)| value(seed, row, name, ty, !never_null.contains(name)));
            let values = values.collect::<Option<Row>>()?;
            out.push((place, Change::insert(values)));
        }
    }
    Some(out)
}

/// The columns that either side declares NOT NULL: both sides read the same rows.
fn never_null(plan: &Plan, checked: &Checked) -> Vec<String> {
    let Ok(execution) = Execution::new(plan, CLOCK, &checked.sources) else { return Vec::new() };
    let tables = execution.job.tables().iter().map(|t| execution.schema(t));
    tables.flat_map(|s| s.columns).filter(|(_, ty)| !ty.nullable).map(|(name, _)| name).collect()
}

const CLOCK: Clock = Clock { start: 0, tick: 500 };

/// What rows say of the verdict on a pair: the number of rehearsals, and those that refute it.
fn refuted(pair: &Pair) -> (usize, Vec<String>) {
    let text = |name: &str, sql: &str| Text::new(name, sql.to_owned());
    let options = Options { purpose: Purpose::Collect, ..Options::default() };
    let checked = check(text("old.sql", &pair.old), text("new.sql", &pair.new), &options);
    let (mut tried, mut wrong) = (0, Vec::new());
    for (job, plans) in checked.report.jobs.iter().zip(&checked.plans) {
        let (Some(old), Some(new)) = (&plans.old, &plans.new) else { continue };
        let never_null: BTreeSet<String> = [old, new].into_iter().flat_map(|p| never_null(p, &checked)).collect();
        for seed in 0..3 {
            let (Some(before), Some(after)) =
                (rows(old, seed, &checked, &never_null), rows(new, seed, &checked, &never_null))
            else {
                continue;
            };
            // Both sides have to read the same rows.
            if before.len() != after.len() {
                continue;
            }
            let setting = Setting { split: Split::Rows(before.len() as u64 / 2), clock: CLOCK, end: EndOfInput::Fire };
            let (old, new) = (Side { plan: old, rows: &before }, Side { plan: new, rows: &after });
            match rehearse(&old, &new, job, setting, &checked.sources) {
                Err(error) if error.code == ErrorCode::Internal => {
                    wrong.push(format!("{}: {}", pair.id, error.message))
                }
                Err(_) => {}
                Ok(seen) => {
                    tried += 1;
                    let zone = session(new.plan).expect("a session").zone;
                    let seen = JobRehearsal::new(job, seen, new.plan, &zone, after.len() as u64, Exempt::of(plans));
                    if seen.agrees == Some(false) {
                        let shown: Vec<String> = seen.differences.iter().take(2).map(|d| format!("{d:?}")).collect();
                        let verdict = seen.verdict.name();
                        wrong.push(format!(
                            "{} (rows {seed}): {verdict}, {:?}\n  {}",
                            pair.id,
                            seen.changes,
                            shown.join("\n  ")
                        ));
                    }
                }
            }
        }
    }
    (tried, wrong)
}

/// Pairs whose rows are known to differ, with the reason. A line that is not needed any more fails.
fn known() -> BTreeMap<&'static str, &'static str> {
    let lines = include_str!("witness/known.txt").lines().filter(|l| !l.starts_with('#'));
    lines.map(|l| l.split_once(" # ").unwrap_or_else(|| panic!("{l} has no reason"))).collect()
}

fn no_rows_refute(pairs: &[Pair], at_least: usize) {
    let known = known();
    let (mut tried, mut wrong, mut needed) = (0, Vec::new(), BTreeSet::new());
    for pair in pairs {
        let (n, refutations) = refuted(pair);
        tried += n;
        match known.get(pair.id.as_str()) {
            Some(_) if !refutations.is_empty() => drop(needed.insert(pair.id.as_str())),
            _ => wrong.extend(refutations),
        }
    }
    let stale: Vec<_> = known.keys().filter(|id| pairs.iter().any(|p| p.id == **id) && !needed.contains(*id)).collect();
    println!("{tried} rehearsals of {} pairs", pairs.len());
    assert!(wrong.is_empty(), "{} rehearsals refute their verdicts:\n{}", wrong.len(), wrong.join("\n"));
    assert!(stale.is_empty(), "take off known.txt: {stale:?}");
    assert!(tried >= at_least, "only {tried} rehearsals were possible");
}

#[test]
fn no_rows_refute_the_rules() {
    no_rows_refute(&examples(), 300);
}

#[test]
fn no_rows_refute_the_cases() {
    no_rows_refute(&cases(), 1_000);
}
