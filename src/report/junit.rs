//! JUnit XML, as CI services show test results: a suite for each job, a case for each finding.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite, XmlString};

use super::listing::{Item, JobItems, Listing};
use super::model::{ErrorItem, Place};
use crate::terminal::visible;

/// Writes a report. A finding fails if it makes the run fail, an accepted one is skipped, and a job without findings passes.
pub(super) fn render(listing: &Listing<'_>) -> String {
    let mut report = Report::new(format!("keepstate {}", listing.kind.name()));
    for job in &listing.jobs {
        let mut suite = TestSuite::new(safe(job.name));
        for item in &job.items {
            suite.add_test_case(of_item(item, job, listing.kind.name()));
        }
        if job.items.is_empty() {
            let mut case = TestCase::new("nothing found", TestCaseStatus::success());
            case.set_classname(class(listing.kind.name(), job.name));
            suite.add_test_case(case);
        }
        report.add_test_suite(suite);
    }
    if !listing.errors.is_empty() {
        let mut suite = TestSuite::new("errors");
        for (n, error) in listing.errors.iter().enumerate() {
            suite.add_test_case(of_error(n + 1, error, listing.kind.name()));
        }
        report.add_test_suite(suite);
    }
    // The document is written to memory, and its texts are made fit for XML; should it fail, the reason is the document.
    report.to_string().unwrap_or_else(|error| {
        let (mut report, mut suite) = (Report::new("keepstate"), TestSuite::new("errors"));
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
        status.set_message(error.to_string());
        suite.add_test_case(TestCase::new("internal", status));
        report.add_test_suite(suite);
        report.to_string().unwrap_or_default()
    })
}

fn of_item(item: &Item<'_>, job: &JobItems<'_>, kind: &str) -> TestCase {
    let mut status = match (item.suppressed, item.fails) {
        (Some(_), _) => TestCaseStatus::skipped(),
        (None, true) => TestCaseStatus::non_success(NonSuccessKind::Failure),
        (None, false) => TestCaseStatus::success(),
    };
    match item.suppressed {
        Some(accepted) => {
            status.set_message(safe(&accepted.reason));
        }
        None if item.fails => {
            status.set_type(item.word).set_message(safe(item.message)).set_description(details(item));
        }
        None => {}
    }
    // Services tell cases apart by their names, so the fingerprint is part of it.
    let name = format!("{} {} [{}]", item.word, item.rule, item.fingerprint);
    let mut case = TestCase::new(safe(&name), status);
    case.set_classname(class(kind, job.name));
    if item.suppressed.is_some() || !item.fails {
        case.set_system_out(details(item));
    }
    if let Some(file) = item.at.map(|at| at.file.as_str()).or(job.file) {
        case.extra.insert(XmlString::new("file"), safe(file));
    }
    if let Some(at) = item.at {
        case.extra.insert(XmlString::new("line"), XmlString::new(at.start.line.to_string()));
    }
    case
}

fn of_error(number: usize, error: &ErrorItem, kind: &str) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    let mut text = error.message.clone();
    if let Some(help) = &error.help {
        text.push_str(&format!("\nhelp: {help}"));
    }
    text.push_str(&error.at.as_ref().map(|at| format!("\n{}", place(at))).unwrap_or_default());
    status.set_type(error.code.name()).set_message(safe(&error.message)).set_description(safe(&text));
    let mut case = TestCase::new(format!("{} error {number}", error.code.name()), status);
    case.set_classname(format!("keepstate.{kind}"));
    case
}

/// What a finding says, line by line.
fn details(item: &Item<'_>) -> XmlString {
    let mut lines = vec![item.message.to_owned(), format!("help: {}", item.help)];
    lines.extend(item.at.map(place));
    lines.extend(item.elsewhere().map(|(message, at)| format!("{}: {message}", place(at))));
    lines.extend(item.url.map(str::to_owned));
    safe(&lines.join("\n"))
}

fn place(at: &Place) -> String {
    format!("{}:{}:{}", at.file, at.start.line, at.start.column)
}

/// The class of a case: dots part packages, so those of a job's name become underscores.
fn class(kind: &str, job: &str) -> XmlString {
    safe(&format!("keepstate.{kind}.{}", job.replace('.', "_")))
}

/// A text that XML can hold: these two characters are none of XML's, and the library lets them pass.
fn safe(text: &str) -> XmlString {
    XmlString::new(visible(text).replace('\u{fffe}', "\\u{fffe}").replace('\u{ffff}', "\\u{ffff}"))
}
