//! Findings that somebody has accepted: by a comment at the clause, or by an entry of `keepstate.toml`.
//!
//! A suppressed finding stays in the report, marked with the reason, and does not count for verdicts. Nothing is suppressed without
//! a reason; what has expired does not hold any more, and what matches nothing is reported, so that no allowance outlives its cause.

mod directive;
mod uses;

use std::collections::BTreeMap;

use globset::GlobMatcher;
use jiff::civil::Date;

use crate::nearest::nearest;
use crate::report::model::{ErrorCode, ErrorItem, Note, Place, Suppressed, SuppressedBy};
use crate::rules::RuleBook;
use crate::rules::judge::{NO_RULE, NOT_PLANNED};
use crate::source::{SourceMap, Span};
use crate::syntax::ast::Script;
use directive::Directive;
use uses::Uses;

/// What a project has decided about rules and findings.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// Rules that count otherwise than their verdict says.
    pub levels: BTreeMap<String, Level>,
    /// Findings that are accepted.
    pub allow: Vec<Allow>,
    /// The day on which the check is made; none if nothing expires.
    pub today: Option<Date>,
}

/// How much the findings of a rule count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// They are suppressed.
    Off,
    /// They are shown, and do not make the run fail.
    Warn,
    /// They make the run fail, whatever `fail-on` says.
    Error,
}

impl Level {
    /// All levels with their names.
    pub const NAMES: [(&str, Level); 3] = [("off", Level::Off), ("warn", Level::Warn), ("error", Level::Error)];
}

/// An entry of an allow-list.
#[derive(Debug, Clone)]
pub struct Allow {
    /// The finding's fingerprint.
    pub fingerprint: Option<String>,
    /// Or the rule.
    pub rule: Option<String>,
    /// The jobs that the entry is for; all if none is named.
    pub job: Option<GlobMatcher>,
    /// Why the finding is accepted.
    pub reason: String,
    /// The last day on which it is.
    pub until: Option<Date>,
    /// Where the entry stands.
    pub at: Option<Place>,
}

impl Allow {
    /// True if the entry speaks of a finding.
    fn covers(&self, rule: &str, fingerprint: &str, job: &str) -> bool {
        self.rule.as_deref().is_none_or(|r| r == rule)
            && self.fingerprint.as_deref().is_none_or(|f| f == fingerprint)
            && self.job.as_ref().is_none_or(|glob| glob.is_match(job))
    }

    fn name(&self) -> &str {
        self.fingerprint.as_deref().or(self.rule.as_deref()).unwrap_or_default()
    }
}

/// Which book of rules a comment's names are looked up in: each command leaves those of the other alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Book {
    /// Rules about changes, for `check`.
    Changes,
    /// Rules about single scripts, for `lint`.
    Lints,
}

/// All rules that a comment or an entry may name.
pub fn rule_names(book: &RuleBook) -> Vec<&str> {
    let changes = book.rules().iter().map(|r| r.id.as_str());
    changes.chain(book.lints().iter().map(|r| r.id.as_str())).chain([NO_RULE, NOT_PLANNED]).collect()
}

/// Says that there is no rule of a name, with the nearest one.
pub fn unknown_rule(name: &str, book: &RuleBook) -> (String, String) {
    let help = match nearest(name, rule_names(book)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`keepstate rules` lists them".to_owned(),
    };
    (format!("there is no rule `{name}`"), help)
}

/// The allowances for one pair of scripts, with what has been made use of.
#[derive(Debug)]
pub struct Allowances<'a> {
    sources: &'a SourceMap,
    policy: &'a Policy,
    directives: Vec<Directive>,
    uses: Uses,
    used_directives: Vec<bool>,
    used_entries: Vec<bool>,
}

impl<'a> Allowances<'a> {
    /// Reads the comments of scripts. Comments that cannot be read are errors.
    pub fn read<'s>(
        sources: &'a SourceMap,
        scripts: impl IntoIterator<Item = &'s Script>,
        policy: &'a Policy,
        book: Book,
        errors: &mut Vec<ErrorItem>,
    ) -> Allowances<'a> {
        let rules = RuleBook::embedded();
        let scripts: Vec<&Script> = scripts.into_iter().collect();
        let mut directives = Vec::new();
        for comment in scripts.iter().flat_map(|s| &s.comments) {
            match Directive::parse(sources, comment, rules) {
                Ok(None) => {}
                Ok(Some(directive)) => directives.push(directive),
                Err(error) => errors.push(ErrorItem {
                    at: Some(Place::of(sources, error.span)),
                    label: error.label.to_owned(),
                    ..ErrorItem::new(ErrorCode::Config, error.message).help(error.help)
                }),
            }
        }
        let other = |rule: &str| match book {
            Book::Changes => rules.lint(rule).is_some(),
            Book::Lints => rules.lint(rule).is_none(),
        };
        directives.retain(|d| !other(&d.rule));
        // Most scripts have nothing to say, and need not be walked.
        let uses = if directives.is_empty() { Uses::default() } else { Uses::of(scripts) };
        let (used_directives, used_entries) = (vec![false; directives.len()], vec![false; policy.allow.len()]);
        Allowances { sources, policy, directives, uses, used_directives, used_entries }
    }

    /// Whether a finding is accepted. `clauses` are those that it comes of; where they stand in views, their uses count as well.
    pub fn suppress(&mut self, rule: &str, fingerprint: &str, job: &str, clauses: &[Span]) -> Option<Suppressed> {
        let mut found = None;
        let places: Vec<Span> = if self.directives.is_empty() {
            Vec::new()
        } else {
            clauses.iter().flat_map(|c| self.uses.chain(*c)).collect()
        };
        for (directive, used) in self.directives.iter().zip(&mut self.used_directives) {
            let here = || places.iter().any(|place| directive.reaches(self.sources, *place));
            if directive.rule == rule && here() {
                *used = true;
                let holds = directive.until.is_none_or(|until| self.policy.today.is_none_or(|today| today <= until));
                if found.is_none() && holds {
                    found = Some(suppressed(&directive.reason, directive.until, SuppressedBy::Comment));
                }
            }
        }
        for (entry, used) in self.policy.allow.iter().zip(&mut self.used_entries) {
            if entry.covers(rule, fingerprint, job) {
                *used = true;
                let holds = entry.until.is_none_or(|until| self.policy.today.is_none_or(|today| today <= until));
                if found.is_none() && holds {
                    found = Some(suppressed(&entry.reason, entry.until, SuppressedBy::Configuration));
                }
            }
        }
        let off = self.policy.levels.get(rule) == Some(&Level::Off);
        found.or_else(|| {
            off.then(|| suppressed("the rule is off in the configuration", None, SuppressedBy::Configuration))
        })
    }

    /// Comments that match nothing any more, and those that have expired.
    pub fn notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        for (directive, used) in self.directives.iter().zip(&self.used_directives) {
            let expired = directive.until.filter(|until| self.policy.today.is_some_and(|today| today > *until));
            let message = match (used, expired) {
                (false, _) => format!("nothing to allow here: `{}` finds nothing at this clause", directive.rule),
                (true, Some(until)) => format!("the allowance of `{}` expired on {until}", directive.rule),
                (true, None) => continue,
            };
            notes.push(Note { message, at: Some(Place::of(self.sources, directive.span)) });
        }
        notes
    }

    /// Which entries of the allow-list were made use of, in their order.
    pub fn used_entries(self) -> Vec<bool> {
        self.used_entries
    }
}

/// What is to be said of the entries of an allow-list after all jobs: those that match nothing, and those that have expired.
pub fn entry_notes(policy: &Policy, used: &[bool]) -> Vec<Note> {
    let mut notes = Vec::new();
    for (i, entry) in policy.allow.iter().enumerate() {
        let expired = entry.until.filter(|until| policy.today.is_some_and(|today| today > *until));
        let message = match (used.get(i).copied().unwrap_or(false), expired) {
            (false, _) => format!("the entry for `{}` allows nothing: no finding matches it", entry.name()),
            (true, Some(until)) => format!("the entry for `{}` expired on {until}", entry.name()),
            (true, None) => continue,
        };
        notes.push(Note { message, at: entry.at.clone() });
    }
    notes
}

fn suppressed(reason: &str, until: Option<Date>, by: SuppressedBy) -> Suppressed {
    Suppressed { reason: reason.to_owned(), until: until.map(|d| d.to_string()), by }
}
