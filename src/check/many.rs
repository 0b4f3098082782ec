//! Many pairs at once: checked in parallel, reported in the order in which they were given.

use std::collections::HashSet;
use std::sync::Arc;

use rayon::prelude::*;

use super::{Checked, Options, Pair, check_pair, failed};
use crate::report::model::{ErrorItem, Place, Report};
use crate::rules::verdict::Verdict;
use crate::source::SourceMap;
use crate::suppress::{Policy, entry_notes};
use crate::target::Target;

/// One of many pairs, with how it is to be checked: scripts of one run may have different configurations.
#[derive(Debug)]
pub struct Batch {
    /// The pair.
    pub pair: Pair,
    /// How to check it; pairs of one configuration share it.
    pub options: Arc<Options>,
}

/// Checks pairs and puts their reports into one. `errors` are those that the caller met on the way to the pairs, and `sources` the
/// texts that they point into.
pub fn check_all(target: Target, batch: Vec<Batch>, errors: Vec<ErrorItem>, sources: SourceMap) -> Checked {
    let single = batch.len() == 1;
    let one = |Batch { pair, options }: Batch| {
        let mut checked = check_pair(pair, &options);
        if !single {
            forget_plain(&mut checked);
        }
        (checked, options)
    };
    // Threads cost more than one pair takes.
    let checked: Vec<(Checked, Arc<Options>)> =
        if single { batch.into_iter().map(one).collect() } else { batch.into_par_iter().map(one).collect() };
    let target = checked.first().map_or(target, |(c, _)| c.report.target);
    let mut all = Merging::new(target, errors, sources);
    for (checked, options) in checked {
        all.add(checked, &options.policy);
    }
    all.finish()
}

/// Lets go of the texts and plans of jobs that nothing is to be shown of, so that memory does not grow with the number of files.
fn forget_plain(checked: &mut Checked) {
    let mut places = false;
    checked.report.each_place(&mut |_| places = true);
    if !places {
        checked.sources = SourceMap::new();
    }
    for (job, plans) in checked.report.jobs.iter().zip(&mut checked.plans) {
        if job.findings.is_empty() {
            *plans = super::PlanPair::default();
        }
    }
}

struct Merging {
    report: Report,
    sources: SourceMap,
    plans: Vec<super::PlanPair>,
    fingerprints: HashSet<String>,
    /// Each policy with what was made use of by any pair.
    policies: Vec<(Arc<Policy>, Vec<bool>)>,
    exit_code: u8,
}

impl Merging {
    fn new(target: Target, errors: Vec<ErrorItem>, sources: SourceMap) -> Merging {
        let exit_code = if errors.is_empty() { 0 } else { 2 };
        Merging {
            report: failed(target, errors),
            sources,
            plans: Vec::new(),
            fingerprints: HashSet::new(),
            policies: Vec::new(),
            exit_code,
        }
    }

    fn add(&mut self, mut checked: Checked, policy: &Arc<Policy>) {
        let first = self.sources.append(checked.sources);
        checked.report.each_place(&mut |place: &mut Place| place.span.file.0 += first);
        for finding in checked.report.jobs.iter_mut().flat_map(|j| &mut j.findings) {
            finding.fingerprint = self.unique(std::mem::take(&mut finding.fingerprint));
        }
        self.exit_code = self.exit_code.max(checked.report.exit_code);
        self.report.jobs.append(&mut checked.report.jobs);
        self.report.notes.append(&mut checked.report.notes);
        for error in checked.report.errors {
            // A schema file that many scripts share says its errors once.
            let same = |e: &ErrorItem| e.message == error.message && place(e) == place(&error);
            if !self.report.errors.iter().any(same) {
                self.report.errors.push(error);
            }
        }
        self.plans.append(&mut checked.plans);
        match self.policies.iter_mut().find(|(p, _)| Arc::ptr_eq(p, policy)) {
            Some((_, used)) => used.iter_mut().zip(&checked.used_entries).for_each(|(all, one)| *all |= one),
            None => self.policies.push((Arc::clone(policy), checked.used_entries)),
        }
    }

    /// A fingerprint that no finding before has: the second of one name becomes `...-2`.
    fn unique(&mut self, fingerprint: String) -> String {
        if self.fingerprints.insert(fingerprint.clone()) {
            return fingerprint;
        }
        let base = fingerprint.split('-').next().unwrap_or(&fingerprint).to_owned();
        let mut number = 2;
        loop {
            let next = format!("{base}-{number}");
            if self.fingerprints.insert(next.clone()) {
                return next;
            }
            number += 1;
        }
    }

    fn finish(mut self) -> Checked {
        let report = &mut self.report;
        for (policy, used) in &self.policies {
            report.notes.extend(entry_notes(policy, used));
        }
        report.verdict = match report.jobs.as_slice() {
            [] if !report.errors.is_empty() => Verdict::Unknown,
            jobs => Verdict::worst(jobs.iter().map(|j| j.verdict)),
        };
        report.exit_code = self.exit_code;
        Checked { report: self.report, sources: self.sources, plans: self.plans, used_entries: Vec::new() }
    }
}

fn place(error: &ErrorItem) -> Option<(&str, u32, u32)> {
    error.at.as_ref().map(|p| (p.file.as_str(), p.start.offset, p.end.offset))
}
