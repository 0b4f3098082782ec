//! The formats of reports: snapshots of each, what they must never contain, and the forms that their readers demand.

use keepstate::check::{Checked, Options, PlanPair, Text, check, failed};
use keepstate::diff::change::Fate;
use keepstate::lint::{Linted, lint};
use keepstate::report::format::{Format, render_lint};
use keepstate::report::human::Style;
use keepstate::report::model::{
    Column, ErrorCode, ErrorItem, Finding, Job, Note, Operator, Place, Related, Report, SinkVerdict, Suppressed,
    SuppressedBy,
};
use keepstate::rules::verdict::{Basis, Consequence, FailOn, Verdict};
use keepstate::source::{FileId, SourceMap, Span};
use keepstate::target::Target;
use serde_json::Value;

const OLD: &str = "-- today\nINSERT INTO top SELECT city, SUM(meters) AS far\nFROM deliveries -- größer 猫\nWHERE meters > 0\nGROUP BY city;\n";
const NEW: &str =
    "-- tomorrow\nINSERT INTO top SELECT city, MAX(meters) AS far\nFROM deliveries -- größer 猫\nGROUP BY city;\n";
/// A name that tries everything: Markdown, HTML, mentions, commands of runners, terminals, XML, URIs.
const HOSTILE: &str = "a|b`c``<img src=x>@team #1 ]]>\n::error::x%0A,\u{1b}[31m\u{202e}\u{0}\u{ffff}& \"q\"";

fn place(sources: &SourceMap, file: FileId, what: &str) -> Option<Place> {
    let start = sources.file(file).text.find(what)?;
    Some(Place::of(sources, Span::new(file, start, start + what.len())))
}

fn finding(rule: &str, verdict: Verdict, message: &str, fingerprint: &str) -> Finding {
    Finding {
        rule: rule.to_owned(),
        documented: vec!["GA-01".to_owned()],
        verdict,
        basis: Basis::Documented,
        consequence: match verdict {
            Verdict::Compatible => Consequence::None,
            Verdict::PartiallyCompatible => Consequence::StartsEmpty,
            Verdict::Unknown => Consequence::Undetermined,
            Verdict::Incompatible => Consequence::WrongResults,
        },
        message: message.to_owned(),
        help: "start without state".to_owned(),
        url: Some("https://example.org/page".to_owned()),
        operator: None,
        state: Vec::new(),
        old: None,
        new: None,
        beside: None,
        related: Vec::new(),
        fingerprint: fingerprint.to_owned(),
        suppressed: None,
        fails: FailOn::Unknown.fails(verdict),
        witness: None,
    }
}

fn job(name: &str, verdict: Verdict, findings: Vec<Finding>) -> Job {
    Job {
        name: name.to_owned(),
        old: Some("jobs/old.sql".to_owned()),
        new: Some("jobs/new.sql".to_owned()),
        verdict,
        findings,
        operators: Vec::new(),
        columns: Vec::new(),
        sinks: Vec::new(),
        notes: Vec::new(),
        witness: None,
    }
}

/// Several jobs: with all verdicts, an accepted finding, one whose place is only in the old file, one that is new.
fn several() -> Checked {
    let mut sources = SourceMap::new();
    let old = sources.add("jobs/old.sql", OLD);
    let new = sources.add("jobs/new.sql", NEW);
    let both = Finding {
        old: place(&sources, old, "SUM(meters)"),
        new: place(&sources, new, "MAX(meters)"),
        operator: Some(Operator {
            kind: "GroupAggregate".to_owned(),
            path: "Sink(top)/GroupAggregate".to_owned(),
            old_id: Some(3),
            new_id: Some(3),
        }),
        state: vec!["accState".to_owned()],
        related: vec![Related {
            message: "the column `far` of the sink".to_owned(),
            old: place(&sources, old, "far"),
            new: place(&sources, new, "far"),
            beside: None,
        }],
        ..finding("aggregate-changed", Verdict::Incompatible, "SUM(`meters`) becomes MAX(`meters`)", "000000000001")
    };
    let gone = Finding {
        old: place(&sources, old, "WHERE meters > 0\n"),
        ..finding("no-rule", Verdict::Unknown, "the filter is gone", "000000000002")
    };
    let accepted = Finding {
        fails: false,
        suppressed: Some(Suppressed {
            reason: "agreed with sales".to_owned(),
            until: Some("2027-01-31".to_owned()),
            by: SuppressedBy::Configuration,
        }),
        new: place(&sources, new, "GROUP BY city"),
        ..finding("group-key-order", Verdict::Incompatible, "the order of the keys changes", "000000000003")
    };
    let partly = Finding {
        new: place(&sources, new, "city"),
        ..finding("aggregate-added", Verdict::PartiallyCompatible, "COUNT(*) is new", "000000000004")
    };
    let safe = finding("sink-changed", Verdict::Compatible, "the options of the sink change", "000000000005");
    let mut first = job("orders_top", Verdict::Incompatible, vec![both, gone, accepted]);
    let sink = |name: &str, verdict| SinkVerdict { name: name.to_owned(), verdict };
    first.sinks = vec![sink("top", Verdict::Incompatible), sink("audit", Verdict::Compatible)];
    let mut second = job("orders_daily", Verdict::PartiallyCompatible, vec![partly, safe]);
    let column = |name: &str, fate| Column { sink: "daily".to_owned(), name: name.to_owned(), fate };
    second.columns = vec![column("city", Fate::Kept), column("n", Fate::FromZero)];
    let mut third = job("orders_new", Verdict::Compatible, Vec::new());
    third.old = None;
    third.notes =
        vec![Note { message: "the old script does not have this job; it starts without state".to_owned(), at: None }];
    let jobs = vec![first, second, third];
    let mut report = Report { verdict: Verdict::Incompatible, exit_code: 1, jobs, ..failed(Target::Vvr, Vec::new()) };
    report.tool.version = "0.0.0";
    let plans = check(Text::new("old.sql", OLD), Text::new("new.sql", NEW), &Options::default()).plans;
    let plans = plans.into_iter().chain([PlanPair::default(), PlanPair::default()]).collect();
    Checked { report, sources, plans, used_entries: Vec::new() }
}

/// A report of errors only, one of them with a place, one hostile.
fn errors() -> Checked {
    let mut sources = SourceMap::new();
    let file = sources.add("jobs/new.sql", "SELEC a\nFROM t;\n");
    let mut parse = ErrorItem::new(ErrorCode::Parse, "a statement cannot begin with `SELEC`").help("write SELECT");
    parse.at = place(&sources, file, "SELEC");
    let io = ErrorItem::new(ErrorCode::Io, format!("there is no file {HOSTILE}"));
    let mut report = failed(Target::Vvr, vec![parse, io]);
    report.tool.version = "0.0.0";
    Checked { report, sources, plans: Vec::new(), used_entries: Vec::new() }
}

/// Hostile names wherever a name may stand.
fn hostile() -> Checked {
    let mut sources = SourceMap::new();
    let text = format!("SELECT 1 AS `{}`;\n````\n'password' = 'hunter2'", HOSTILE.replace('\n', " "));
    let file = sources.add(HOSTILE, text.as_str());
    let whole = Some(Place::of(&sources, Span::new(file, 0, text.len())));
    let mut found = Finding {
        help: HOSTILE.to_owned(),
        old: whole.clone(),
        new: whole.clone(),
        related: vec![Related { message: HOSTILE.to_owned(), old: None, new: whole.clone(), beside: None }],
        ..finding("no-rule", Verdict::Unknown, HOSTILE, "000000000001")
    };
    let accepted = Finding {
        fails: false,
        suppressed: Some(Suppressed { reason: HOSTILE.to_owned(), until: None, by: SuppressedBy::Configuration }),
        ..finding("no-rule", Verdict::Unknown, HOSTILE, "000000000002")
    };
    found.state = vec![HOSTILE.to_owned()];
    let mut hostile = job(HOSTILE, Verdict::Unknown, vec![found, accepted]);
    (hostile.old, hostile.new) = (Some(HOSTILE.to_owned()), Some(HOSTILE.to_owned()));
    hostile.columns = vec![Column { sink: HOSTILE.to_owned(), name: HOSTILE.to_owned(), fate: Fate::Lost }];
    hostile.sinks = vec![SinkVerdict { name: HOSTILE.to_owned(), verdict: Verdict::Unknown }; 2];
    hostile.notes = vec![Note { message: HOSTILE.to_owned(), at: whole.clone() }];
    let mut error = ErrorItem::new(ErrorCode::Config, HOSTILE).help(HOSTILE);
    error.at = whole;
    let mut report = failed(Target::Vvr, vec![error]);
    report.jobs = vec![hostile];
    report.tool.version = "0.0.0";
    Checked { report, sources, plans: vec![PlanPair::default()], used_entries: Vec::new() }
}

fn linted() -> Linted {
    let text = "CREATE TABLE t (k STRING, v INT) WITH ('connector' = 'kafka');\nSELECT k, SUM(v) AS total FROM t GROUP BY k;\n";
    let mut linted = lint([Text::new("jobs/lint.sql", text)], &Options::default());
    linted.report.tool.version = "0.0.0";
    linted
}

fn written(checked: &Checked, format: Format) -> String {
    checked.render(format, Style::default())
}

/// Formats that snapshots are taken of; the older ones have theirs in `tests/report.rs`, pages are read back in `tests/html.rs`.
fn new_formats() -> impl Iterator<Item = Format> {
    Format::ALL.into_iter().filter(|f| !matches!(f, Format::Human | Format::Json | Format::Html))
}

#[test]
fn reports_of_several_jobs() {
    for format in new_formats() {
        insta::assert_snapshot!(format!("{}_several", format.name()), written(&several(), format));
    }
}

#[test]
fn reports_of_errors() {
    for format in new_formats() {
        insta::assert_snapshot!(format!("{}_errors", format.name()), written(&errors(), format));
    }
}

#[test]
fn reports_with_hostile_names() {
    for format in new_formats() {
        insta::assert_snapshot!(format!("{}_hostile", format.name()), written(&hostile(), format));
    }
}

#[test]
fn reports_of_lints() {
    let Linted { report, sources } = linted();
    assert!(!report.jobs[0].findings.is_empty());
    for format in new_formats() {
        let text = render_lint(format, &report, &sources, Style::default());
        insta::assert_snapshot!(format!("{}_lint", format.name()), text);
    }
}

#[test]
fn no_format_lets_through_what_a_terminal_acts_on_or_a_secret() {
    let colored = Style { color: true, verbose: true, ..Style::default() };
    for format in Format::ALL {
        for checked in [hostile(), errors(), several()] {
            let machine = checked.render(format, colored);
            let style = if format == Format::Human { Style::default() } else { colored };
            let text = checked.render(format, style);
            assert!(format == Format::Human || machine == text, "{}", format.name());
            let acts = |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202a}'..='\u{202e}');
            assert!(!text.contains(acts), "{}: {text}", format.name());
            assert!(!text.contains("hunter2"), "{}: {text}", format.name());
        }
    }
}

fn sarif_schema() -> jsonschema::Validator {
    let text = std::fs::read_to_string("tests/schemas/sarif-2.1.0.json").unwrap();
    // The pattern of languages has a bracket too many, which not every library of regular expressions lets pass.
    let text = text.replace("[a-zA-Z]{2}]?$", "[a-zA-Z]{2}$");
    let schema: Value = serde_json::from_str(&text).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

#[test]
fn sarif_is_valid() {
    let schema = sarif_schema();
    let Linted { report, sources } = linted();
    let mut documents = vec![render_lint(Format::Sarif, &report, &sources, Style::default())];
    documents.extend([several(), errors(), hostile()].iter().map(|checked| written(checked, Format::Sarif)));
    for document in documents {
        let value: Value = serde_json::from_str(&document).unwrap();
        let wrong: Vec<String> = schema.iter_errors(&value).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(wrong.is_empty(), "{wrong:#?}\n{document}");
        let run = &value["runs"][0];
        for result in run["results"].as_array().unwrap() {
            let number = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(run["tool"]["driver"]["rules"][number]["id"], result["ruleId"]);
            assert_eq!(result["locations"].as_array().map(Vec::len), Some(1));
        }
    }
    let mut broken: Value = serde_json::from_str(&written(&several(), Format::Sarif)).unwrap();
    broken["runs"][0]["results"][0]["level"] = "bad".into();
    assert!(!schema.is_valid(&broken));
}

#[test]
fn sarif_says_what_stood_in_the_way() {
    let value: Value = serde_json::from_str(&written(&errors(), Format::Sarif)).unwrap();
    let invocation = &value["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    assert_eq!(invocation["toolExecutionNotifications"].as_array().map(Vec::len), Some(2));
}

#[test]
fn fingerprints_for_gitlab_are_unique() {
    let mut checked = several();
    let twin = checked.report.errors.first().cloned();
    assert!(twin.is_none());
    let error = ErrorItem::new(ErrorCode::Io, "the same twice");
    checked.report.errors = vec![error.clone(), error];
    let entries: Vec<Value> = serde_json::from_str(&written(&checked, Format::Gitlab)).unwrap();
    let names: std::collections::BTreeSet<&str> = entries.iter().filter_map(|e| e["fingerprint"].as_str()).collect();
    assert_eq!((names.len(), entries.len()), (6, 6));
}

/// Reading it back is the test that it is well formed.
#[test]
fn junit_is_well_formed() {
    for checked in [several(), errors(), hostile()] {
        let text = written(&checked, Format::Junit);
        let report = quick_junit::Report::deserialize_from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
        assert_eq!(report.errors, checked.report.errors.len(), "{text}");
        assert!(!text.contains(['\u{fffe}', '\u{ffff}']), "{text}");
    }
    // A case fails if the finding makes the run fail.
    let report = quick_junit::Report::deserialize_from_str(&written(&several(), Format::Junit)).unwrap();
    assert_eq!((report.tests, report.failures), (6, 2));
    let mut checked = several();
    checked.report.jobs[0].findings[1].fails = false;
    let report = quick_junit::Report::deserialize_from_str(&written(&checked, Format::Junit)).unwrap();
    assert_eq!((report.tests, report.failures), (6, 1));
}

#[test]
fn github_shows_the_worst_first_and_says_what_it_hides() {
    let mut checked = several();
    let partly = checked.report.jobs[1].findings[0].clone();
    checked.report.jobs[1].findings = vec![partly; 12];
    let text = written(&checked, Format::Github);
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].starts_with("::error file=jobs/new.sql,line=2,endLine=2,col=30,endColumn=41,title=orders_top"),
        "{text}"
    );
    assert!(lines[1].starts_with("::warning file=jobs/old.sql,line=4,endLine=5,title="), "{text}");
    assert!(text.contains("GitHub shows 10 of 13 annotations of level warning"), "{text}");
}

/// GitHub's limit, and one word about each kind of thing that did not fit; what is worst stays.
#[test]
fn comments_stay_below_the_limit() {
    let mut checked = several();
    let mut worst = checked.report.jobs[0].findings[0].clone();
    let mut unknown = checked.report.jobs[0].findings[1].clone();
    unknown.message = format!("{} `{HOSTILE}`", "so much to say of it ".repeat(500));
    checked.report.jobs[0].findings = vec![unknown; 200];
    worst.message = "the worst of all".to_owned();
    checked.report.jobs[0].findings.push(worst);
    let many = checked.report.jobs[2].clone();
    checked.report.jobs.extend((0..2000).map(|n| Job { name: format!("job{n}"), ..many.clone() }));
    let error = ErrorItem::new(ErrorCode::Io, "there is no file ".repeat(30));
    checked.report.errors = vec![error; 500];
    let text = written(&checked, Format::Markdown);
    assert!(text.len() <= 65_536 && text.len() > 50_000, "{}", text.len());
    assert!(text.contains("the worst of all"));
    let last = text.lines().last().unwrap();
    assert!(last.starts_with("Left out, since a comment holds 65536 characters: "), "{last}");
    for what in ["errors", "rows of the table of jobs", "findings"] {
        assert!(last.contains(what), "{last}");
    }
    assert!(!written(&several(), Format::Markdown).contains("Left out"));
}

/// Outside of fences there is no tag but those of this format, no table cell is broken open, and no one is called.
#[test]
fn comments_hold_no_markup_of_others() {
    let text = written(&hostile(), Format::Markdown);
    let mut fence: Option<String> = None;
    for line in text.lines() {
        let ticks: String = line.chars().take_while(|c| *c == '`').collect();
        match &fence {
            Some(open) if line == open => fence = None,
            Some(_) => continue,
            None if ticks.len() >= 3 => fence = Some(ticks),
            None => {
                let plain = ["<code>", "</code>", "<details>", "</details>", "<summary>", "</summary>"];
                let rest = plain.iter().fold(line.to_owned(), |rest, tag| rest.replace(tag, ""));
                assert!(!rest.contains(['<', '@']), "{line}");
                if line.starts_with('|') {
                    assert!([3, 8].contains(&line.matches('|').count()), "{line}");
                }
            }
        }
    }
    assert!(fence.is_none());
}

/// The lines of another revision are not those of the checkout: what is only there is shown at the file that is checked out.
#[test]
fn what_is_only_in_another_revision_is_shown_at_the_file() {
    let mut checked = several();
    let job = &mut checked.report.jobs[0];
    job.old = Some("main:jobs/new.sql".to_owned());
    job.findings.remove(0);
    job.findings[0].old.as_mut().unwrap().file = "main:jobs/new.sql".to_owned();
    checked.report.jobs.truncate(1);
    let github = written(&checked, Format::Github);
    assert!(github.starts_with("::warning file=jobs/new.sql,title=orders_top unknown"), "{github}");
    let gitlab: Value = serde_json::from_str(&written(&checked, Format::Gitlab)).unwrap();
    assert_eq!(
        (&gitlab[0]["location"]["path"], &gitlab[0]["location"]["lines"]["begin"]),
        (&"jobs/new.sql".into(), &1.into())
    );
    let sarif: Value = serde_json::from_str(&written(&checked, Format::Sarif)).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    let location = |of: &Value| of["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap().to_owned();
    assert_eq!(location(&result["locations"][0]), "jobs/new.sql");
    assert_eq!(location(&result["relatedLocations"][0]), "main%3Ajobs/new.sql");
    assert!(written(&checked, Format::Concise).starts_with("main:jobs/new.sql:4:1: unknown"));
}
