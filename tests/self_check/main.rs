//! Random jobs against themselves, against other texts of the same meaning, and against small changes of meaning.
//!
//! `KEEPSTATE_CASES` sets the number of jobs, `KEEPSTATE_SEED` another seed than the fixed one.

mod choices;
mod found;
mod generate;
mod job;
mod mutate;
mod print;

use choices::Choices;
use keepstate::check::{Checked, Options, Text, check};
use keepstate::report::model::ErrorCode;
use keepstate::rules::verdict::Verdict;
use keepstate::target::Target;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};

fn runner() -> TestRunner {
    let variable = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<u32>().ok());
    let config = Config {
        cases: variable("KEEPSTATE_CASES").unwrap_or(150),
        failure_persistence: None,
        max_shrink_iters: 3_000,
        ..Config::default()
    };
    let mut seed = [7; 32];
    seed[..4].copy_from_slice(&variable("KEEPSTATE_SEED").unwrap_or(7).to_le_bytes());
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed))
}

fn decisions(most: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..most)
}

fn compare(old: &str, new: &str, target: Target) -> Checked {
    let options = Options { target, ..Options::default() };
    check(Text::new("old.sql", old), Text::new("new.sql", new), &options)
}

/// Fails unless the two texts are the same job.
fn same(old: &str, new: &str, target: Target) -> Result<(), TestCaseError> {
    let report = compare(old, new, target).report;
    if !report.errors.is_empty() && report.errors.iter().all(|e| e.code == ErrorCode::Unsupported) {
        return Err(TestCaseError::reject("not planned yet"));
    }
    let errors: Vec<&str> = report.errors.iter().map(|e| e.message.as_str()).collect();
    prop_assert!(errors.is_empty(), "{errors:?}\n--- old\n{old}\n--- new\n{new}\n");
    let findings: Vec<String> = report
        .jobs
        .iter()
        .flat_map(|j| &j.findings)
        .map(|f| format!("{} {:?} {} {:?}", f.rule, f.verdict, f.message, f.operator.as_ref().map(|o| o.kind.clone())))
        .collect();
    let good = report.verdict == Verdict::Compatible && findings.is_empty();
    prop_assert!(good, "{target:?} {:?} {findings:#?}\n--- old\n{old}\n--- new\n{new}\n", report.verdict);
    Ok(())
}

#[test]
fn texts_of_one_meaning_are_compatible() {
    let strategy = (decisions(120), decisions(120), 0..8usize);
    runner()
        .run(&strategy, |(job, text, target)| {
            let target = if target == 7 { Target::Flink22 } else { Target::Vvr };
            let job = generate::job(&mut Choices::new(&job));
            let plain = print::sql(&job, &mut Choices::new(&[]));
            same(&plain, &plain, target)?;
            let variant = print::sql(&job, &mut Choices::new(&text));
            same(&plain, &variant, target)
        })
        .unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn changes_of_meaning_are_never_compatible() {
    let strategy = (decisions(120), decisions(120), any::<u8>(), 0..8usize);
    let mut runner = runner();
    runner
        .run(&strategy, |(job, text, site, target)| {
            let target = if target == 7 { Target::Flink22 } else { Target::Vvr };
            let job = generate::job(&mut Choices::new(&job));
            let Some((changed, what)) = mutate::mutated(&job, &mut Choices::new(&[site])) else { return Ok(()) };
            let old = print::sql(&job, &mut Choices::new(&[]));
            let new = print::sql(&changed, &mut Choices::new(&text));
            let report = compare(&old, &new, target).report;
            // Conditions that exclude each other leave nothing to keep.
            let empty = report.jobs.iter().flat_map(|j| &j.operators).any(|o| o.kind == "Values");
            let told = empty || report.verdict > Verdict::Compatible || !report.errors.is_empty();
            prop_assert!(told, "{target:?}: {what}\n--- old\n{old}\n--- new\n{new}\n");
            Ok(())
        })
        .unwrap_or_else(|e| panic!("{e}"));
}
