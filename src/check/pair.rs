//! Two scripts, job by job.

use std::collections::HashSet;
use std::sync::Arc;

use super::side::{Side, side, syntax_errors};
use super::{Checked, Options, Pair, PlanPair, Text, finish, redact};
use crate::diff::change::{Change, ChangeKind, JobDiff, MatchStatus};
use crate::diff::matching as diff;
use crate::exec::NodeId;
use crate::planning::{self, JobPlan};
use crate::report::fingerprint::{Numbered, fingerprint};
use crate::report::model::{
    Carried, Column, ErrorCode, ErrorItem, Finding, Job, Note, Operator, OperatorEntry, Place, Related, SinkVerdict,
};
use crate::report::secrets::Redactor;
use crate::rules::RuleBook;
use crate::rules::judge::{self, judge};
use crate::rules::verdict::{Basis, Consequence, Verdict};
use crate::source::{FileId, SourceMap, Span};
use crate::suppress::{Allowances, Book};
use crate::syntax::ast::{Script, Statement};

pub(super) fn check_pair(pair: Pair, options: &Options) -> Checked {
    let mut sources = SourceMap::new();
    let old_ddl: Vec<FileId> = pair.old_schema.iter().map(|t| add(&mut sources, t)).collect();
    let new_ddl: Vec<FileId> = pair.new_schema.iter().map(|t| add(&mut sources, t)).collect();
    let old_beside: Vec<FileId> = pair.old_beside.iter().map(|t| add(&mut sources, t)).collect();
    let new_beside: Vec<FileId> = pair.new_beside.iter().map(|t| add(&mut sources, t)).collect();
    let names = (pair.old.as_ref().map(|t| t.name.clone()), pair.new.as_ref().map(|t| t.name.clone()));
    let mut script = |text: Option<Text>| text.map(|t| sources.add(t.name, t.text));
    let (old, new) = (script(pair.old), script(pair.new));

    let mut errors = Vec::new();
    let parse = |files: &[FileId]| -> Vec<Script> {
        files.iter().map(|f| planning::parse(&sources, *f, &options.defines)).collect()
    };
    // Both sides have the same DDL more often than not; it is read once then.
    let shared = new_ddl == old_ddl && old_beside.is_empty() && new_beside.is_empty();
    let mut old_scripts = parse(&old_ddl);
    let mut new_scripts = if shared { None } else { Some(parse(&new_ddl)) };
    for script in old_scripts.iter().chain(new_scripts.iter().flatten()) {
        syntax_errors(&sources, script, &mut errors);
    }
    let own = |file: Option<FileId>| file.map(|f| (f, planning::parse(&sources, f, &options.defines)));
    let (old, new) = (own(old), own(new));
    if let Some((_, script)) = &old {
        old_scripts.extend(not_redeclared(parse(&old_beside), script));
    }
    if let (Some((_, script)), Some(scripts)) = (&new, &mut new_scripts) {
        scripts.extend(not_redeclared(parse(&new_beside), script));
    }
    let new_scripts = new_scripts.as_ref().unwrap_or(&old_scripts);
    let mut plan = |ddl: &[Script], script: Option<(FileId, Script)>| {
        script.map(|(file, script)| side(&sources, ddl, file, script, options, pair.ddl_only, &mut errors))
    };
    let old = plan(&old_scripts, old);
    let new = plan(new_scripts, new);

    // A comment that cannot be read says nothing of the plans: what they show is shown all the same.
    let mut comment_errors = Vec::new();
    let scripts = new.iter().map(|side| &side.script).chain(new_scripts);
    let allowances = Allowances::read(&sources, scripts, &options.policy, Book::Changes, &mut comment_errors);
    let mut checker =
        Checker { sources: &sources, options, names, numbered: Numbered::default(), plans: Vec::new(), allowances };
    let mut jobs = checker.jobs(old.as_ref(), new.as_ref(), &errors);
    let mut plans = std::mem::take(&mut checker.plans);
    if errors.is_empty()
        && let Some(job) = jobs.first_mut()
    {
        job.notes.extend(checker.allowances.notes());
    }
    let used_entries = checker.allowances.used_entries();
    errors.extend(comment_errors);
    let mut report = finish(options, jobs, errors);
    let secrets = Arc::new(Redactor::of(sources.files().iter().map(|f| &*f.text), &options.defines));
    redact(&mut report, &secrets);
    plans.iter_mut().for_each(|pair| pair.secrets = Arc::clone(&secrets));
    Checked { report, sources, plans, used_entries }
}

/// Scripts without the statements that give names which a later one of them, or the job's own script, gives as well.
pub(crate) fn not_redeclared(mut beside: Vec<Script>, own: &Script) -> Vec<Script> {
    let name = |s: &Statement| s.kind.declares().map(|n| n.last().to_owned());
    let mut taken: HashSet<String> = own.statements.iter().filter_map(name).collect();
    for script in beside.iter_mut().rev() {
        let here: Vec<String> = script.statements.iter().filter_map(name).collect();
        script.statements.retain(|s| name(s).is_none_or(|n| !taken.contains(&n)));
        taken.extend(here);
    }
    beside
}

/// The number of a text, which may be there already.
pub(crate) fn add(sources: &mut SourceMap, text: &Text) -> FileId {
    let same = |f: &crate::source::SourceFile| f.name == text.name && f.text == text.text;
    match sources.files().iter().position(same) {
        Some(at) => FileId(at as u32),
        None => sources.add(text.name.clone(), Arc::clone(&text.text)),
    }
}

struct Checker<'a> {
    sources: &'a SourceMap,
    options: &'a Options,
    /// The names of the two files, of those that there are.
    names: (Option<String>, Option<String>),
    numbered: Numbered,
    plans: Vec<PlanPair>,
    allowances: Allowances<'a>,
}

impl Checker<'_> {
    fn jobs(&mut self, old: Option<&Side>, new: Option<&Side>, errors: &[ErrorItem]) -> Vec<Job> {
        if !errors.is_empty() {
            self.plans.push(PlanPair::default());
            return vec![self.not_planned(old, new, errors)];
        }
        let olds = old.map_or(&[][..], |s| s.planned.jobs.as_slice());
        let news = new.map_or(&[][..], |s| s.planned.jobs.as_slice());
        let single = olds.len().max(news.len()) <= 1;
        let mut jobs = Vec::new();
        let mut free: Vec<&JobPlan> = olds.iter().collect();
        for plan in news {
            let same = free.iter().position(|o| single || o.sinks == plan.sinks);
            jobs.extend(match (same, old, new) {
                (Some(at), Some(old), Some(new)) => Some(self.pair(free.remove(at), plan, old, new, single)),
                (_, _, new) => new.map(|new| self.lone(plan, new, diff::Side::New, single)),
            });
        }
        if let Some(old) = old {
            jobs.extend(free.into_iter().map(|plan| self.lone(plan, old, diff::Side::Old, single)));
        }
        jobs
    }

    fn pair(&mut self, old: &JobPlan, new: &JobPlan, old_side: &Side, new_side: &Side, single: bool) -> Job {
        let name = new_side.job_name(self.names.1.as_deref().unwrap_or_default(), Some(new), single);
        let mut diff = planning::diff(self.sources, old, new);
        let engines = self.options.engines.as_ref();
        diff.changes.extend(engines.and_then(|(old, new)| Change::of_engines(old, new)));
        let ignored = |kind: &ChangeKind| matches!(kind, ChangeKind::Filter { ignored: true, .. });
        let watermark = |kind: &ChangeKind| matches!(kind, ChangeKind::Source { watermark: true, .. });
        let any = |is: &dyn Fn(&ChangeKind) -> bool| {
            diff.changes.iter().any(|c| is(&c.kind) || c.echoes.iter().any(|echo| is(&echo.kind)))
        };
        self.plans.push(PlanPair {
            old: Some(Arc::clone(&old.plan)),
            new: Some(Arc::clone(&new.plan)),
            filters_by_new: diff.filters_by_new,
            ignores_filters: any(&ignored),
            late_rows_differ: any(&watermark),
            ..PlanPair::default()
        });
        let judged = judge(RuleBook::embedded(), self.options.target, &diff);
        let operators = operators(old, new, &diff, &judged);
        let findings: Vec<Finding> = judged.findings.iter().map(|f| self.finding(&name, f)).collect();
        let counted = judged.findings.iter().zip(&findings).filter(|(_, shown)| shown.suppressed.is_none());
        let counted: Vec<&judge::Finding> = counted.map(|(f, _)| f).collect();
        let sinks = sink_verdicts(old, new, &diff, &counted);
        let mut notes = new_side.notes.clone();
        for note in &old_side.notes {
            if !notes.iter().any(|n| n.message == note.message) {
                notes.push(note.clone());
            }
        }
        Job {
            old: self.names.0.clone(),
            new: self.names.1.clone(),
            verdict: Verdict::worst(findings.iter().filter(|f| f.suppressed.is_none()).map(|f| f.verdict)),
            findings,
            operators,
            sinks,
            columns: judged.columns.into_iter().map(|c| Column { sink: c.sink, name: c.name, fate: c.fate }).collect(),
            notes,
            witness: None,
            name,
        }
    }

    /// A job without a partner: nothing is restored into a new one, and nothing of an old one is left.
    fn lone(&mut self, plan: &JobPlan, side: &Side, which: diff::Side, single: bool) -> Job {
        let own = Some(Arc::clone(&plan.plan));
        let mut kept: Vec<&str> = Vec::new();
        for node in plan.plan.nodes.iter().filter(|n| n.op.is_stateful()) {
            if !kept.contains(&node.op.kind()) {
                kept.push(node.op.kind());
            }
        }
        let kept = kept.join(", ");
        let (file, message) = match (which, kept.is_empty()) {
            (diff::Side::Old, true) => (&self.names.0, "the job is gone on the new side; it keeps no state".to_owned()),
            (diff::Side::Old, false) => {
                (&self.names.0, format!("the job is gone on the new side, and its state is dropped with it ({kept})"))
            }
            (diff::Side::New, true) => (&self.names.1, "the job is new; it keeps no state".to_owned()),
            (diff::Side::New, false) => (&self.names.1, format!("the job is new, and starts without state ({kept})")),
        };
        let file = file.clone().unwrap_or_default();
        let name = side.job_name(&file, Some(plan), single);
        let (old, new) = match which {
            diff::Side::Old => (Some(file), None),
            diff::Side::New => (None, Some(file)),
        };
        self.plans.push(match which {
            diff::Side::Old => PlanPair { old: own, ..PlanPair::default() },
            diff::Side::New => PlanPair { new: own, ..PlanPair::default() },
        });
        let mut notes = vec![Note { message, at: None }];
        notes.extend(side.notes.iter().cloned());
        Job {
            name,
            old,
            new,
            verdict: Verdict::Compatible,
            findings: Vec::new(),
            operators: Vec::new(),
            columns: Vec::new(),
            sinks: Vec::new(),
            notes,
            witness: None,
        }
    }

    fn not_planned(&mut self, old: Option<&Side>, new: Option<&Side>, errors: &[ErrorItem]) -> Job {
        let named = |side: Option<&Side>, file: &Option<String>| Some(side?.job_name(file.as_deref()?, None, true));
        let name = named(new, &self.names.1).or_else(|| named(old, &self.names.0)).unwrap_or_default();
        let failed = |side: Option<&Side>| side.and_then(|s| s.failed);
        let which = match (failed(old).is_some(), failed(new).is_some()) {
            (true, false) => "the old script",
            (false, true) => "the new script",
            (true, true) => "neither script",
            (false, false) => "a schema file",
        };
        let verb = match which {
            "neither script" => "can be planned",
            "a schema file" => "cannot be read",
            _ => "cannot be planned",
        };
        // What cannot be planned yet is no mistake of the script's.
        let only_unsupported = errors.iter().all(|e| e.code == ErrorCode::Unsupported);
        let help = if only_unsupported {
            "keepstate does not plan the clause that is marked yet, so the verdict is unknown: try the change on a copy of the \
             job and its state"
        } else {
            "correct the errors that are listed, then check again"
        };
        let notes = [old, new].into_iter().flatten().flat_map(|side| side.notes.iter().cloned()).collect();
        let finding = judge::Finding {
            rule: judge::NOT_PLANNED.to_owned(),
            documented: Vec::new(),
            verdict: Verdict::Unknown,
            basis: Basis::Undocumented,
            consequence: Consequence::Undetermined,
            message: format!("{which} {verb}, so nothing can be said of the state"),
            help: help.to_owned(),
            url: None,
            operator: None,
            old: failed(old).flatten(),
            new: failed(new).flatten(),
            beside: None,
            chain: Vec::new(),
            related: Vec::new(),
            args: Vec::new(),
            columns: None,
            touched: Vec::new(),
        };
        Job {
            findings: vec![self.finding(&name, &finding)],
            name,
            old: self.names.0.clone(),
            new: self.names.1.clone(),
            verdict: Verdict::Unknown,
            operators: Vec::new(),
            columns: Vec::new(),
            sinks: Vec::new(),
            notes,
            witness: None,
        }
    }

    fn finding(&mut self, job: &str, f: &judge::Finding) -> Finding {
        let place = |span: Option<Span>| span.map(|s| Place::of(self.sources, s));
        let path = f.operator.as_ref().map_or("", |o| o.path.as_str());
        let fingerprint = self.numbered.next(fingerprint(&f.rule, job, path, &f.args));
        // What cannot be planned is never accepted unseen.
        let clauses: Vec<Span> = f.new.into_iter().chain(f.chain.iter().copied()).collect();
        let acceptable = f.rule != judge::NOT_PLANNED;
        let suppressed = if acceptable { self.allowances.suppress(&f.rule, &fingerprint, job, &clauses) } else { None };
        Finding {
            rule: f.rule.clone(),
            documented: f.documented.clone(),
            verdict: f.verdict,
            basis: f.basis,
            consequence: f.consequence,
            message: f.message.clone(),
            help: f.help.clone(),
            url: f.url.clone(),
            operator: f.operator.as_ref().map(|o| Operator {
                kind: o.kind.to_owned(),
                path: o.path.clone(),
                old_id: o.old.map(number),
                new_id: o.new.map(number),
            }),
            state: f.operator.as_ref().map(|o| o.state.clone()).unwrap_or_default(),
            old: place(f.old),
            new: place(f.new),
            beside: f.beside,
            related: f
                .related
                .iter()
                .map(|r| Related { message: r.message.clone(), old: place(r.old), new: place(r.new), beside: r.beside })
                .collect(),
            fingerprint,
            suppressed,
            // Known when all findings are.
            fails: false,
            witness: None,
        }
    }
}

/// The number of an operator in reports: operators count from 1 in print order.
fn number(id: NodeId) -> u32 {
    id.0 + 1
}

/// The verdict on each sink: the worst of the findings about operators whose results reach it, and about the job.
fn sink_verdicts(old: &JobPlan, new: &JobPlan, diff: &JobDiff, findings: &[&judge::Finding]) -> Vec<SinkVerdict> {
    let gone = |id: &&NodeId| diff.operators.iter().any(|pair| pair.old == Some(**id) && pair.new.is_none());
    let names = new.plan.sinks.iter().map(|id| new.plan.sink_name(*id));
    let names = names.chain(old.plan.sinks.iter().filter(gone).map(|id| old.plan.sink_name(*id)));
    let mut sinks: Vec<SinkVerdict> = Vec::new();
    for name in names {
        if sinks.iter().any(|s| s.name == name) {
            continue;
        }
        let reaches = |f: &&&judge::Finding| f.operator.as_ref().is_none_or(|o| o.sinks.iter().any(|s| s == name));
        let verdict = Verdict::worst(findings.iter().filter(reaches).map(|f| f.verdict));
        sinks.push(SinkVerdict { name: name.to_owned(), verdict });
    }
    sinks
}

fn operators(old: &JobPlan, new: &JobPlan, diff: &JobDiff, judged: &judge::Judgement) -> Vec<OperatorEntry> {
    diff.operators
        .iter()
        .map(|pair| {
            let about = judged.findings.iter().flat_map(|f| &f.touched);
            let about =
                about.filter(|(old, new, _)| (*old, *new) == (pair.old, pair.new)).map(|(.., verdict)| *verdict);
            let whole_job = judged.findings.iter().filter(|f| f.operator.is_none()).map(|f| f.verdict);
            let worst = Verdict::worst(about.chain(whole_job));
            let carried = match (pair.status, worst) {
                (MatchStatus::Added | MatchStatus::Removed, _) => Carried::None,
                (_, Verdict::Compatible) => Carried::All,
                (_, Verdict::PartiallyCompatible) => Carried::Part,
                (_, Verdict::Unknown | Verdict::Incompatible) => Carried::None,
            };
            let (kind, mut state) = match (pair.new, pair.old) {
                (Some(id), _) => new.operator(id),
                (None, Some(id)) => old.operator(id),
                (None, None) => Default::default(),
            };
            for entry in &mut state {
                entry.carried = carried;
            }
            OperatorEntry {
                old_id: pair.old.map(number),
                new_id: pair.new.map(number),
                kind,
                status: pair.status,
                state,
            }
        })
        .collect()
}
