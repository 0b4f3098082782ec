//! Plans against real Flink 1.20: the operators of each query, and what identifies the stateful ones.
//!
//! `tests/plan/cases.jsonl` was measured: `kinds` are the nodes of Flink's EXPLAIN (a shared sub-plan once, the sink of a bare
//! SELECT left out), `stateful` their attributes as it prints them, `materializes` whether a sink puts updates in order, `error` that
//! Flink refuses the query. Cases that cannot be
//! planned yet are listed below: they must say so, and must be taken off the list once they can.
//!
//! `tests/plan/split.jsonl` are aggregates that are split, where the plan has to be Flink's line by line: `plan`, or `error`.

use std::collections::BTreeMap;

use keepstate::exec::{Target, plan_script};
use keepstate::plan_error::PlanErrorKind;
use keepstate::source::SourceMap;

/// Flink plans these; here they are `unsupported`.
const NOT_YET: &[&str] = &[
    "l3-in-after",
    "tj-literal",
    "tj-alone-literal",
    "j-cross-count",
    "j-iv-floor",
    "j-g8",
    "j-g9",
    "sq-in-on",
    "sq-notexists-null-safe",
    "sq2-exists-or-inside",
    "sq2-exists-union",
    "sq2-having-exists",
    "sq2-scalar-in-agg-arg",
    "sq2-scalar-corr-lexpr",
    "sq2-scalar-corr-nonequi",
    "sq2-scalar-corr-mixed",
    "sq2-scalar-corr-limit",
    "sq2-scalar-agg-above",
    "sq2-exists-values",
    "correlate-lat-6",
    "correlate-lat-7",
    "correlate-lat-8",
    "correlate-lat-9",
    "correlate-lat-10",
    "correlate-lat-12",
    "correlate-lat-13",
    "correlate-lat-15",
    "correlate-lat-16",
    "correlate-lat-19",
    "correlate-un2-0",
    "correlate-un2-2",
    "correlate-un2-18",
    "correlate-un2-49",
    "correlate-un-79",
    "correlate-un-80",
    "correlate-un-81",
    "correlate-un2-7",
    "correlate-un2-19",
    "correlate-un2-20",
    "correlate-un2-21",
    "correlate-un2-24",
    "correlate-un2-25",
    "correlate-un2-59",
];

/// These are planned, but still differ from Flink.
const DIFFERS: &[&str] = &[
    // A window over the time of a version, which is no time attribute above the join.
    "tj-legacy-window-right",
    "b-89",
    "d-96",
    "d-140",
    "e-8",
    "f-267",
    "f-348",
    "j-iv-window",
    "j-prune-src",
    "sq-in-union",
    "sq-scalar-corr-where-count",
    "sq-any",
    "sq-all",
    "sq-some-eq",
    "sq-exists-corr-sub",
    "sq-w-session",
    "sq-w-one-side",
    "sq2-in-char",
    "sq2-scalar-same",
    "sq2-in-values",
    "correlate-lat-11",
    "correlate-un2-32",
    "correlate-un2-33",
    "correlate-un2-42",
    "correlate-un2-50",
    "correlate-un2-51",
    "correlate-un-71",
    "correlate-un2-45",
    // A column's name that only the query knows.
    "sets-i-names",
    // A semi join passes on that a key only grows.
    "sets-i-orderlimit",
];

#[derive(serde::Deserialize)]
struct Case {
    id: String,
    ddl: Vec<String>,
    #[serde(default)]
    config: BTreeMap<String, String>,
    sql: String,
    #[serde(default)]
    kinds: Vec<String>,
    #[serde(default)]
    stateful: Vec<BTreeMap<String, String>>,
    /// Whether a sink puts changes of one key back into order.
    materializes: Option<bool>,
    #[serde(default)]
    error: bool,
}

/// What identifies an operator, as it is printed.
const ATTRIBUTES: [&str; 10] =
    ["groupBy", "window", "partitionBy", "orderBy", "rankRange", "rankType", "strategy", "keep", "key", "order"];

/// What identifies a join beside these.
const JOIN_ATTRIBUTES: [&str; 9] = [
    "joinType",
    "windowBounds",
    "where",
    "leftInputSpec",
    "rightInputSpec",
    "lookup",
    "joinCondition",
    "upsertMaterialize",
    "retry",
];

/// What identifies a match.
const MATCH_ATTRIBUTES: [&str; 5] = ["measures", "after", "pattern", "subset", "define"];

fn is_stateful(kind: &str) -> bool {
    ["Match", "Aggregate", "Rank", "Deduplicate", "Sort", "Limit", "Normalize", "WindowTableFunction", "Join"]
        .iter()
        .any(|word| kind.contains(word))
}

/// The attributes of one printed operator; numbers of generated names do not count.
fn attributes(text: &str) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    let kind = text.split('(').next().unwrap_or_default();
    let (is_join, is_match) = (kind.ends_with("Join"), kind == "Match");
    let more = JOIN_ATTRIBUTES.iter().filter(|_| is_join).chain(MATCH_ATTRIBUTES.iter().filter(|_| is_match));
    for name in ATTRIBUTES.iter().chain(more) {
        let wanted = format!("{name}=[");
        let at = text.match_indices(&wanted).map(|(i, _)| i).find(|i| text[..*i].ends_with(['(', ' ']));
        let Some(start) = at.map(|i| i + wanted.len()) else { continue };
        let mut depth = 1;
        let len = text[start..].find(|c| {
            depth += i32::from(c == '[') - i32::from(c == ']');
            depth == 0
        });
        out.insert((*name).to_owned(), plain(&text[start..start + len.unwrap_or(0)]));
    }
    out
}

/// `$f0` and `$1` become `$`, spaces single.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.trim().chars().peekable();
    while let Some(c) = chars.next() {
        if c == '$' {
            while chars.next_if(|c| c.is_ascii_lowercase() || *c == '_').is_some() {}
            while chars.next_if(char::is_ascii_digit).is_some() {}
        }
        if !(c == ' ' && out.ends_with(' ')) {
            out.push(c);
        }
    }
    out.replace("RANG BETWEEN", "RANGE BETWEEN")
}

enum Outcome {
    Planned { kinds: Vec<String>, stateful: Vec<BTreeMap<String, String>>, materializes: bool },
    Rejected(String),
    Unsupported(String),
}

/// A case as a script.
fn script(case: &Case) -> String {
    let mut text = String::new();
    for (option, value) in &case.config {
        text += &format!("SET '{option}' = '{value}';\n");
    }
    for statement in case.ddl.iter().chain([&case.sql]) {
        text += statement.trim_end().trim_end_matches(';');
        text += ";\n";
    }
    text
}

fn plan(case: &Case) -> Outcome {
    let mut sources = SourceMap::new();
    let file = sources.add("case.sql", script(case));
    let script = keepstate::syntax::parse(&sources, file, &BTreeMap::new());
    if let Some(e) = script.errors.first() {
        return Outcome::Rejected(e.message.clone());
    }
    let planned = plan_script(&[&script], Target::Flink120);
    if let Some(e) = planned.errors.first() {
        return match e.kind {
            PlanErrorKind::Rejected => Outcome::Rejected(e.message.clone()),
            PlanErrorKind::Unsupported => Outcome::Unsupported(e.message.clone()),
        };
    }
    let (mut kinds, mut stateful, mut materializes) = (Vec::new(), Vec::new(), false);
    for plan in &planned.plans {
        for id in plan.ids() {
            let kind = plan.node(id).op.kind();
            kinds.push(kind.to_owned());
            materializes |= kind == "Sink" && plan.text(id).contains("upsertMaterialize=[true]");
            if is_stateful(kind) {
                stateful.push(attributes(&plan.text(id)));
            }
        }
    }
    if !case.kinds.iter().any(|k| k == "Sink") {
        kinds.retain(|k| k != "Sink");
    }
    kinds.sort();
    stateful.sort();
    Outcome::Planned { kinds, stateful, materializes }
}

/// What is wrong with a case; none if it is as Flink has it.
fn problem(case: &Case) -> Option<String> {
    let found = difference(case);
    match (DIFFERS.contains(&case.id.as_str()), found) {
        (true, None) => Some("is on the list of differences, but is as in Flink: take it off".to_owned()),
        (true, Some(_)) => None,
        (false, found) => found,
    }
}

fn difference(case: &Case) -> Option<String> {
    let listed = NOT_YET.contains(&case.id.as_str());
    match (plan(case), case.error) {
        (Outcome::Unsupported(_), _) if listed => None,
        (_, _) if listed => Some("is on the list of what cannot be planned, but is planned: take it off".to_owned()),
        (Outcome::Unsupported(message), _) => Some(format!("unsupported: {message}")),
        (Outcome::Rejected(_), true) => None,
        (Outcome::Rejected(message), false) => Some(format!("rejected, but Flink plans it: {message}")),
        (Outcome::Planned { .. }, true) => Some("planned, but Flink rejects it".to_owned()),
        (Outcome::Planned { kinds, stateful, materializes }, false) => {
            let mut wanted: Vec<_> = case.stateful.iter().map(values).collect();
            wanted.sort();
            let mut got: Vec<_> = stateful.iter().map(values).collect();
            got.sort();
            if kinds != case.kinds {
                Some(format!("operators\n  flink {:?}\n  here  {kinds:?}", case.kinds))
            } else if wanted != got {
                Some(format!("attributes\n  flink {wanted:?}\n  here  {got:?}"))
            } else if case.materializes.is_some_and(|m| m != materializes) {
                Some(format!("the sink materializes here: {materializes}"))
            } else {
                None
            }
        }
    }
}

fn values(attributes: &BTreeMap<String, String>) -> Vec<(String, String)> {
    attributes.iter().map(|(k, v)| (k.clone(), plain(v))).collect()
}

#[test]
fn plans_have_the_operators_of_real_flink() {
    let text = include_str!("plan/cases.jsonl");
    let cases: Vec<Case> = text.lines().map(|l| serde_json::from_str(l).expect("a case a line")).collect();
    for id in NOT_YET.iter().chain(DIFFERS) {
        assert!(cases.iter().any(|c| c.id == *id), "{id} is listed, but there is no such case");
    }
    let wrong: Vec<String> =
        cases.iter().filter_map(|c| problem(c).map(|p| format!("{}: {}\n  {p}", c.id, c.sql))).collect();
    assert!(wrong.is_empty(), "{} of {} plans differ from Flink:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[derive(serde::Deserialize)]
struct WholePlan {
    #[serde(flatten)]
    case: Case,
    #[serde(default)]
    plan: Vec<String>,
}

/// The lines of a plan without its branches, its sink if it has none of its own, and the numbers of what is used again.
fn lines<'a>(plan: impl Iterator<Item = &'a str>, sink: bool) -> Vec<String> {
    let bare = |line: &str| line.trim_start_matches([' ', ':', '|', '+', '-']).to_owned();
    let lines = plan.map(bare).filter(|l| !l.is_empty() && (sink || !l.starts_with("Sink(")));
    lines.map(|l| if l.starts_with("Reused(") { "Reused".to_owned() } else { l }).collect()
}

#[test]
fn plans_of_split_aggregates_are_those_of_real_flink() {
    let text = include_str!("plan/split.jsonl");
    let cases: Vec<WholePlan> = text.lines().map(|l| serde_json::from_str(l).expect("a case a line")).collect();
    let mut wrong = Vec::new();
    for WholePlan { case, plan } in &cases {
        let sink = case.sql.starts_with("INSERT");
        let wanted = lines(plan.iter().map(String::as_str), sink);
        match planned(case) {
            Ok(text) if case.error => wrong.push(format!("{}: Flink rejects it\n{text}", case.id)),
            Ok(text) => {
                let got = lines(text.lines(), sink);
                if got != wanted {
                    wrong.push(format!("{}\n  flink {wanted:#?}\n  here  {got:#?}", case.id));
                }
            }
            Err((PlanErrorKind::Rejected, _)) if case.error => {}
            Err((_, message)) => wrong.push(format!("{}: {message}", case.id)),
        }
    }
    assert!(wrong.is_empty(), "{} of {} plans differ from Flink:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// The plan of a case, as it is printed.
fn planned(case: &Case) -> Result<String, (PlanErrorKind, String)> {
    let mut sources = SourceMap::new();
    let file = sources.add("case.sql", script(case));
    let script = keepstate::syntax::parse(&sources, file, &BTreeMap::new());
    if let Some(e) = script.errors.first() {
        return Err((PlanErrorKind::Rejected, e.message.clone()));
    }
    let planned = plan_script(&[&script], Target::Flink120);
    match planned.errors.first() {
        Some(e) => Err((e.kind, e.message.clone())),
        None => Ok(planned.plans.iter().map(keepstate::exec::Plan::tree_text).collect()),
    }
}
