//! From changes to findings.
//!
//! Every change is tried against every rule of the target. Where several match, a rule drops those that it overrides,
//! on the same change and on other changes of the same operator; a dropped rule of the same verdict is not wrong, so the
//! documents that it cites are cited by the rule that dropped it. A part of a change that no rule speaks of is a finding
//! too: `no-rule`, verdict `unknown`. At last the rules about whole jobs look at all findings together.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::file::{Rule, Scope};
use super::matcher::lookup;
use super::verdict::{Basis, Consequence, Verdict};
use super::{RuleBook, template, vocabulary};
use crate::diff::change::{Change, ChangeKind, ColumnFate, Fact, Facts, Fate, Item, JobDiff, OperatorRef};
use crate::diff::matching::Side;
use crate::diff::places::Places;
use crate::exec::NodeId;
use crate::source::Span;
use crate::target::Target;

/// The rule id of a change that no rule speaks of.
pub const NO_RULE: &str = "no-rule";

/// The rule id of a job one side of which has no plan.
pub const NOT_PLANNED: &str = "not-planned";

/// What is found without a rule file.
pub fn built_in(name: &str) -> Option<&'static str> {
    match name {
        NO_RULE => Some(
            "A difference between the plans, or a part of one, that no rule of the engine speaks of. Nothing that was read or \
             measured decides it. Unknown is no pass: try the change on a copy of the job and its state.",
        ),
        NOT_PLANNED => Some(
            "One side has no plan, because it does not parse, because Flink would refuse it, or because keepstate cannot plan it \
             yet. The errors of the report say which. Without two plans nothing can be said of the state.",
        ),
        _ => None,
    }
}

/// A rule applied to a change.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The rule's id.
    pub rule: String,
    /// Row ids of the documented rules, those of the echoes included.
    pub documented: Vec<String>,
    /// The verdict.
    pub verdict: Verdict,
    /// Why it is believed.
    pub basis: Basis,
    /// What happens at the restore.
    pub consequence: Consequence,
    /// What changes.
    pub message: String,
    /// What to do.
    pub help: String,
    /// Where the rule comes from.
    pub url: Option<String>,
    /// The operator; none for findings about options or the whole job.
    pub operator: Option<OperatorRef>,
    /// The clause in the old text.
    pub old: Option<Span>,
    /// The clause in the new text.
    pub new: Option<Span>,
    /// The side that only shows what stands around the thing.
    pub beside: Option<Side>,
    /// More places of the same change.
    pub chain: Vec<Span>,
    /// What else comes of it, and what it overrides.
    pub related: Vec<Related>,
    /// The arguments that tell this finding from others of its rule.
    pub args: Vec<(String, String)>,
    /// What the rule says of the columns of the sink.
    pub columns: Option<Fate>,
    /// The operators that it and its echoes are about, old and new, with the verdict on each.
    pub touched: Vec<(Option<NodeId>, Option<NodeId>, Verdict)>,
}

/// A place that belongs to a finding.
#[derive(Debug, Clone)]
pub struct Related {
    /// What is there.
    pub message: String,
    /// The clause in the old text.
    pub old: Option<Span>,
    /// The clause in the new text.
    pub new: Option<Span>,
    /// The side that only shows what stands around the thing.
    pub beside: Option<Side>,
}

impl Related {
    fn of(finding: &Finding) -> Related {
        let Finding { old, new, beside, .. } = *finding;
        Related { message: finding.message.clone(), old, new, beside }
    }
}

/// All findings of a job.
#[derive(Debug, Clone, Default)]
pub struct Judgement {
    /// The worst verdict.
    pub verdict: Verdict,
    /// The findings, the worst first, then by place.
    pub findings: Vec<Finding>,
    /// What becomes of the output columns.
    pub columns: Vec<ColumnFate>,
}

/// Judges the differences of one job.
pub fn judge(book: &RuleBook, target: Target, diff: &JobDiff) -> Judgement {
    let rules: Vec<&Rule> = book.rules().iter().filter(|r| r.targets.contains(&target)).collect();
    let judge = Judge { rules };
    let mut findings: Vec<Finding> = diff.changes.iter().flat_map(|change| judge.change(change)).collect();
    judge.override_on_operators(&mut findings);
    let about_job = judge.job(diff, &findings);
    findings.extend(about_job);
    findings.sort_by_cached_key(|f| {
        (std::cmp::Reverse(f.verdict), f.new.or(f.old), f.rule.clone(), f.operator.as_ref().map(|o| o.path.clone()))
    });
    Judgement {
        verdict: Verdict::worst(findings.iter().map(|f| f.verdict)),
        columns: columns(&diff.columns, &findings),
        findings,
    }
}

struct Judge<'a> {
    rules: Vec<&'a Rule>,
}

/// A rule that matches, with the documents of the rules it stands in for.
struct Match<'a> {
    rule: &'a Rule,
    documented: Vec<String>,
}

impl<'a> Judge<'a> {
    /// The rules that match facts, without the overridden ones, and which of the aspects of the change they speak of:
    /// those that they ask for by name, or all if they ask for none.
    fn matches<'b>(&self, scope: Scope, facts: &Facts, aspects: &[&'b str]) -> (Vec<Match<'a>>, BTreeSet<&'b str>) {
        let mut covered = BTreeSet::new();
        let mut matching: Vec<&'a Rule> = Vec::new();
        for rule in self.rules.iter().copied().filter(|r| r.scope == scope) {
            let mut holds = false;
            for pattern in rule.patterns.iter().filter(|p| p.holds(facts)) {
                holds = true;
                let named: Vec<&str> = aspects.iter().copied().filter(|a| pattern.names().any(|n| n == *a)).collect();
                let general = pattern.names().all(vocabulary::is_descriptive);
                covered.extend(if general { aspects.to_vec() } else { named });
            }
            if holds {
                matching.push(rule);
            }
        }
        let overridden = |rule: &Rule| matching.iter().any(|r| r.overrides.contains(&rule.id));
        let kept: Vec<Match<'a>> = matching
            .iter()
            .filter(|rule| !overridden(rule))
            .map(|&rule| {
                let mut documented = rule.documented.clone();
                let stood_in_for = matching.iter().filter(|r| rule.overrides.contains(&r.id));
                for other in stood_in_for.filter(|r| r.verdict == rule.verdict) {
                    merge(&mut documented, &other.documented);
                }
                Match { rule, documented }
            })
            .collect();
        (kept, covered)
    }

    /// The findings of one change, its echoes folded in.
    fn change(&self, change: &Change) -> Vec<Finding> {
        let mut findings = self.own(change);
        for echo in &change.echoes {
            for found in self.change(echo) {
                fold(&mut findings, found);
            }
        }
        findings
    }

    /// The findings of one change by itself.
    fn own(&self, change: &Change) -> Vec<Finding> {
        let facts = change.facts();
        let aspects = vocabulary::aspects(&change.kind);
        let (matches, covered) = self.matches(Scope::Change, &facts, &aspects);
        let mut findings: Vec<Finding> = matches.into_iter().map(|m| finding(m, change, &facts)).collect();
        let verdict = findings.iter().map(|f| f.verdict).max();
        if verdict < Some(Verdict::Unknown) {
            let left: Vec<&str> = aspects.into_iter().filter(|a| !covered.contains(a)).collect();
            if verdict.is_none() || !left.is_empty() {
                findings.push(no_rule(change, &facts, &left));
            }
        }
        findings
    }

    /// Drops findings that a rule on another change of the same operator overrides; they become related places.
    fn override_on_operators(&self, findings: &mut Vec<Finding>) {
        let mut dropped: Vec<(usize, usize)> = Vec::new();
        for (i, over) in findings.iter().enumerate() {
            let Some(rule) = self.rules.iter().find(|r| r.id == over.rule) else { continue };
            let same_operator = |f: &Finding| f.operator.is_some() && f.operator == over.operator;
            for (j, under) in findings.iter().enumerate() {
                if i != j && same_operator(under) && rule.overrides.contains(&under.rule) {
                    dropped.push((i, j));
                }
            }
        }
        let gone: BTreeSet<usize> = dropped.iter().map(|(_, j)| *j).collect();
        for (i, j) in dropped.into_iter().filter(|(i, _)| !gone.contains(i)) {
            let under = findings[j].clone();
            let over = &mut findings[i];
            if under.verdict == over.verdict {
                merge(&mut over.documented, &under.documented);
            }
            over.related.push(Related::of(&under));
            over.related.extend(under.related);
        }
        let mut index = 0;
        findings.retain(|_| {
            index += 1;
            !gone.contains(&(index - 1))
        });
    }

    /// The findings about the job as a whole.
    fn job(&self, diff: &JobDiff, findings: &[Finding]) -> Vec<Finding> {
        let changes: Vec<&Change> = diff.changes.iter().filter(|c| c.item != Item::Other).collect();
        let items: BTreeSet<Item> = changes.iter().map(|c| c.item).collect();
        let count = |verdict| findings.iter().filter(|f| f.verdict == verdict).count();
        let ignored = |c: &&Change| match c.kind {
            ChangeKind::Filter { ignored, below_stateful, .. } => ignored && below_stateful,
            ChangeKind::LookupJoin { ignored, .. } => ignored && c.item == Item::Filter,
            _ => false,
        };
        let facts: Facts = vec![
            ("items", items.len().into()),
            ("incompatible", count(Verdict::Incompatible).into()),
            ("unknown", count(Verdict::Unknown).into()),
            ("partially_compatible", count(Verdict::PartiallyCompatible).into()),
            ("ignored_filter", changes.iter().any(ignored).into()),
        ];
        let words: Vec<&str> = items.iter().map(|item| item_name(*item)).collect();
        let args = vec![("items_named".to_owned(), words.join(" and "))];
        let (matches, _) = self.matches(Scope::Job, &facts, &[]);
        matches
            .into_iter()
            .map(|m| {
                let arg = |name: &str| argument(name, &args, &facts);
                let first = changes.first();
                Finding {
                    message: template::fill(&m.rule.message, arg),
                    help: template::fill(&m.rule.help, arg),
                    operator: None,
                    old: first.and_then(|c| c.old),
                    new: first.and_then(|c| c.new),
                    beside: first.and_then(|c| c.beside),
                    chain: Vec::new(),
                    related: changes
                        .iter()
                        .skip(1)
                        .map(|c| Related {
                            message: format!("{} change here", item_name(c.item)),
                            old: c.old,
                            new: c.new,
                            beside: c.beside,
                        })
                        .collect(),
                    args: args.clone(),
                    ..from_rule(m)
                }
            })
            .collect()
    }
}

fn item_name(item: Item) -> &'static str {
    match item {
        Item::Aggregates => "the aggregates",
        Item::Sink => "the sinks",
        Item::Filter => "the filters in front of state",
        Item::Other => "other parts",
    }
}

/// What a rule says, without place and words.
fn from_rule(m: Match<'_>) -> Finding {
    Finding {
        rule: m.rule.id.clone(),
        documented: m.documented,
        verdict: m.rule.verdict,
        basis: m.rule.basis,
        consequence: m.rule.consequence,
        message: String::new(),
        help: String::new(),
        url: Some(m.rule.source.url.clone()),
        operator: None,
        old: None,
        new: None,
        beside: None,
        chain: Vec::new(),
        related: Vec::new(),
        args: Vec::new(),
        columns: m.rule.columns,
        touched: Vec::new(),
    }
}

/// The operator that a change is about, under a verdict.
fn touched(change: &Change, verdict: Verdict) -> Vec<(Option<NodeId>, Option<NodeId>, Verdict)> {
    change.operator.iter().map(|o| (o.old, o.new, verdict)).collect()
}

fn finding(m: Match<'_>, change: &Change, facts: &Facts) -> Finding {
    let args = owned_args(change);
    let arg = |name: &str| argument(name, &args, facts);
    // Of a change that is made of several differences, the rule speaks of those that it asks for.
    let Places { old, new, beside } =
        change.places(|fact| m.rule.patterns.iter().any(|p| p.names().any(|n| n == fact)));
    Finding {
        message: template::fill(&m.rule.message, arg),
        help: template::fill(&m.rule.help, arg),
        operator: change.operator.clone(),
        old,
        new,
        beside,
        chain: change.chain.clone(),
        args: args.clone(),
        basis: m.rule.basis_of(facts),
        touched: touched(change, m.rule.verdict),
        ..from_rule(m)
    }
}

fn no_rule(change: &Change, facts: &Facts, aspects: &[&str]) -> Finding {
    let family = match lookup(facts, "family") {
        Some(Fact::Word(family)) => family.replace('-', " "),
        _ => String::new(),
    };
    let place = if family.is_empty() { String::new() } else { format!(" of the {family}") };
    let mut args = owned_args(change);
    let Places { old, new, beside } = change.places(|fact| aspects.contains(&fact));
    let mut what = change.kind.name().replace('-', " ");
    if let ChangeKind::JobOption { key } = &change.kind {
        what = format!("option `{key}`");
    } else if !aspects.is_empty() {
        let words: Vec<String> = aspects.iter().map(|a| a.replace('_', " ")).collect();
        what = format!("{what} ({})", words.join(", "));
    }
    let noun = format!("{}{place}", change.kind.name().replace('-', " "));
    let statement = statement(&change.kind, &args)
        .or_else(|| activity(aspects, &noun))
        .unwrap_or_else(|| format!("a change of the {what}{place}"));
    args.push(("change".to_owned(), what));
    Finding {
        rule: NO_RULE.to_owned(),
        documented: Vec::new(),
        verdict: Verdict::Unknown,
        basis: Basis::Undocumented,
        consequence: Consequence::Undetermined,
        message: match change.kind {
            ChangeKind::OperatorAdded => format!("no rule says what a new operator does to the state: {family}"),
            ChangeKind::OperatorRemoved => format!("no rule says what becomes of the state without the {family}"),
            ChangeKind::WindowOutput { .. } | ChangeKind::OutputColumns { .. } | ChangeKind::RankOutput { .. } => {
                format!("{statement}, and no rule says what that does to the state")
            }
            _ => format!("no rule says what {statement} does to the state"),
        },
        help: "try it on a copy of the job and its state, or start without state".to_owned(),
        url: None,
        operator: change.operator.clone(),
        old,
        new,
        beside,
        chain: change.chain.clone(),
        related: Vec::new(),
        args,
        columns: None,
        touched: touched(change, Verdict::Unknown),
    }
}

/// What is done to a list, in words; `None` if something else differs, too.
fn activity(aspects: &[&str], noun: &str) -> Option<String> {
    let words = |aspect: &&str| match *aspect {
        "added" => Some("adding to"),
        "removed" => Some("removing from"),
        "changed" => Some("changing"),
        "moved" => Some("reordering"),
        _ => None,
    };
    let words: Option<Vec<&str>> = aspects.iter().map(words).collect();
    words.filter(|w| !w.is_empty()).map(|w| format!("{} the {noun}", w.join(" and ")))
}

/// Changes of what is sent out, as a sentence.
fn statement(kind: &ChangeKind, args: &[(String, String)]) -> Option<String> {
    let names = |key: &str| args.iter().find(|(name, _)| name == key).map(|(_, names)| names.as_str());
    let sent = |names: &str, now: bool| {
        let (verb, when) = match (names.contains("`, `"), now) {
            (false, true) => ("is", "now"),
            (true, true) => ("are", "now"),
            (false, false) => ("is", "no longer"),
            (true, false) => ("are", "no longer"),
        };
        format!("{names} {verb} {when} sent out")
    };
    match kind {
        ChangeKind::WindowOutput { .. } | ChangeKind::OutputColumns { .. } => {
            let parts = [names("added_names").map(|n| sent(n, true)), names("removed_names").map(|n| sent(n, false))];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            (!parts.is_empty()).then(|| parts.join(", and "))
        }
        ChangeKind::RankOutput { added } => Some(sent("the rank number", *added)),
        _ => None,
    }
}

fn owned_args(change: &Change) -> Vec<(String, String)> {
    change.args.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

/// A template argument: an argument of the change, or a fact.
pub(super) fn argument<'a>(name: &str, args: &'a [(String, String)], facts: &'a Facts) -> Option<Cow<'a, str>> {
    if let Some((_, value)) = args.iter().find(|(n, _)| n == name) {
        return Some(Cow::Borrowed(value));
    }
    match lookup(facts, name)? {
        Fact::Bool(b) => Some(Cow::Borrowed(if *b { "yes" } else { "no" })),
        Fact::Count(n) => Some(Cow::Owned(n.to_string())),
        Fact::Word(word) => Some(Cow::Borrowed(word)),
        Fact::Words(words) => Some(Cow::Owned(words.join(", "))),
    }
}

/// Folds what an echo gives into the findings of its cause. An echo is no finding of its own; but one that is worse than
/// its cause, or as bad and better founded, decides, at the cause's place.
fn fold(findings: &mut [Finding], echo: Finding) {
    let Some(cause) = findings.iter_mut().max_by_key(|f| f.verdict) else { return };
    merge(&mut cause.documented, &echo.documented);
    cause.touched.extend(&echo.touched);
    let mut related = echo.related.clone();
    let mut own = Related::of(&echo);
    if let Some(operator) = echo.operator.as_ref().filter(|_| echo.message == cause.message) {
        own.message = format!("the same for {}", operator.path);
    }
    related.insert(0, own);
    // What an echo leaves open or breaks, it does so for the sinks that it reaches, be they others than those of its cause.
    if (echo.verdict >= Verdict::Unknown || (echo.columns.is_some() && echo.columns == cause.columns))
        && let (Some(operator), Some(echo)) = (&mut cause.operator, &echo.operator)
    {
        let more = echo.sinks.iter().filter(|s| !operator.sinks.contains(s)).cloned().collect::<Vec<_>>();
        operator.sinks.extend(more);
    }
    let better_founded = echo.verdict == cause.verdict && echo.basis < cause.basis;
    if echo.verdict > cause.verdict || better_founded {
        cause.message = format!("{}; {}", cause.message, echo.message);
        cause.args.extend(echo.args.into_iter().map(|(n, v)| (format!("echo_{n}"), v)));
        cause.rule = echo.rule;
        cause.verdict = echo.verdict;
        cause.basis = echo.basis;
        cause.consequence = echo.consequence;
        cause.help = echo.help;
        cause.url = echo.url;
        cause.operator = echo.operator;
        cause.columns = echo.columns.or(cause.columns);
    }
    cause.related.extend(related);
}

fn merge(into: &mut Vec<String>, more: &[String]) {
    for id in more {
        if !into.contains(id) {
            into.push(id.clone());
        }
    }
}

/// The fates of the columns after the rules have spoken: an incompatible or undecided finding takes the columns of its
/// sink (of all sinks, if it is about none) with it.
fn columns(planned: &[ColumnFate], findings: &[Finding]) -> Vec<ColumnFate> {
    let mut columns = planned.to_vec();
    for finding in findings {
        let effect = finding.columns.or(match finding.verdict {
            Verdict::Compatible | Verdict::PartiallyCompatible => None,
            Verdict::Unknown | Verdict::Incompatible => Some(Fate::Undetermined),
        });
        let Some(effect) = effect else { continue };
        let sinks = finding.operator.as_ref().map_or(&[][..], |o| &o.sinks);
        for column in columns.iter_mut().filter(|c| sinks.is_empty() || sinks.contains(&c.sink)) {
            column.fate = column.fate.max(effect);
        }
    }
    columns
}
