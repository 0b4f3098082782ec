//! What is to be said of one document: the check against the old side, the lint, and what its clauses keep.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::diagnostics::{self, Found, Head};
use super::options::Options;
use super::places::{Open, View};
use super::projects::{self, Projects};
use super::protocol::{Client, Diagnostic};
use super::text::Lines;
use crate::check::{Batch, Checked, DdlOnly, Pair, Text, check_pair};
use crate::exec::{NodeId, Plan};
use crate::lint::{Linted, lint_all};
use crate::planning;
use crate::project::settings::{Problems, Settings};
use crate::project::sides::Sides;
use crate::report::model::{Carried, ErrorItem, OperatorEntry};
use crate::rules::RuleBook;
use crate::source::SourceMap;
use crate::state;
use crate::workspace::Extent;

/// So many jobs are looked at for what is to be said of a file with their DDL.
const MOST_JOBS: usize = 200;

/// A document to look at, with all that is known at this moment.
#[derive(Debug)]
pub struct Task {
    /// Its address.
    pub uri: String,
    /// Its file; none if it was never saved.
    pub path: Option<PathBuf>,
    /// Its text.
    pub text: Arc<str>,
    /// All open documents that are files.
    pub open: Vec<Open>,
    /// The directories that the editor has open.
    pub folders: Vec<PathBuf>,
    /// What the user has set.
    pub options: Arc<Options>,
    /// The client.
    pub client: Client,
    /// The projects.
    pub projects: Arc<Projects>,
    /// Set when the answer is of no use any more.
    pub outdated: Arc<AtomicBool>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Analysis {
    /// The text that it is about.
    pub text: Arc<str>,
    /// What to show.
    pub diagnostics: Vec<Diagnostic>,
    /// Findings with their places in the text.
    pub findings: Vec<Found>,
    /// Operators with their places in the text.
    pub clauses: Vec<Clause>,
    /// Texts of the old side that something points into, by their addresses.
    pub old_texts: Vec<(String, Arc<str>)>,
    /// True if the document is DDL for other scripts, and parses: what it says may matter to them.
    pub declares: bool,
    /// Why it was not compared with what was asked for.
    pub trouble: Option<String>,
}

/// An operator of the document's plan.
#[derive(Debug, Clone)]
pub struct Clause {
    /// The bytes that it comes from.
    pub places: Vec<std::ops::Range<usize>>,
    /// The plan.
    pub plan: Arc<Plan>,
    /// The operator.
    pub id: NodeId,
    /// Whether it keeps anything.
    pub keeps: bool,
    /// How much of what it keeps comes from the old job, where there is one.
    pub carried: Option<Carried>,
}

/// Looks at a document.
pub fn analyze(task: &Task) -> Analysis {
    let unsaved = PathBuf::from("untitled.sql");
    let path = task.path.clone().unwrap_or_else(|| crate::project::files::normal(&unsaved));
    let projects::Found { sides, trouble } = match &task.path {
        Some(path) => task.projects.of(path, &task.options, &task.folders),
        None => {
            let root = path.parent().unwrap_or(Path::new("")).to_owned();
            projects::Found { sides: Arc::new(Sides::alone(root, Vec::new(), &[])), trouble: None }
        }
    };
    let mut sides = (*sides).clone();
    for open in &task.open {
        if let Some(inside) = sides.inside(&open.path) {
            sides.edit(&open.path, Text { name: inside, text: Arc::clone(&open.text) });
        }
    }
    let name = sides.inside(&path).unwrap_or_else(|| task.uri.clone());
    sides.add(Text { name: name.clone(), text: Arc::clone(&task.text) });

    let settings = Settings::new(task.options.asked(), Default::default(), None);
    let own_options = Arc::new(settings.options(&settings.of(Some(&path))));
    let plan = sides.plan_at(&name, &settings, Extent::All);
    let mut parsed = SourceMap::new();
    let file = parsed.add(name.clone(), Arc::clone(&task.text));
    let script = planning::parse(&parsed, file, &own_options.defines);
    let declares = script.only_declares();
    let lines = Lines::new(&task.text);
    let old_texts = RefCell::new(Vec::new());
    let mut of_document = Document {
        task,
        name: &name,
        sides: &sides,
        lines: &lines,
        head: Head::of(&script, &lines),
        old_texts: &old_texts,
        out: Analysis { text: Arc::clone(&task.text), declares, ..Analysis::default() },
    };
    let problems = settings.problems();
    if !problems.errors.is_empty() {
        of_document.problems(&problems);
    } else if declares || plan.pairs.is_empty() {
        of_document.as_ddl(&settings, Text { name: name.clone(), text: Arc::clone(&task.text) }, &own_options);
    } else {
        of_document.unreadable(&plan.errors);
        for batch in plan.pairs {
            of_document.job(batch);
        }
    }
    let mut out = of_document.out;
    out.diagnostics.sort_by_key(|d| (d.range, d.severity));
    out.trouble = trouble.map(|error| match error.help {
        Some(help) => format!("{}; {help}", error.message),
        None => error.message,
    });
    out.old_texts = old_texts.into_inner();
    out
}

struct Document<'a> {
    task: &'a Task,
    name: &'a str,
    sides: &'a Sides,
    lines: &'a Lines<'a>,
    head: Head,
    old_texts: &'a RefCell<Vec<(String, Arc<str>)>>,
    out: Analysis,
}

impl<'a> Document<'a> {
    fn view<'v>(&'v self, sources: &'v SourceMap) -> View<'v> {
        View {
            uri: &self.task.uri,
            name: self.name,
            text: &self.task.text,
            lines: self.lines,
            sides: self.sides,
            sources,
            open: &self.task.open,
            client: self.task.client,
            old_texts: self.old_texts,
            masked: RefCell::default(),
        }
    }

    /// The document's own job or jobs.
    fn job(&mut self, Batch { pair, options }: Batch) {
        let lints = self.task.options.lint.then(|| lint_of(&pair, &options));
        let checked = check_pair(pair, &options);
        let view = self.view(&checked.sources);
        let mut found = diagnostics::of_check(&view, &checked.report, &options.policy, self.head);
        if let Some(linted) = &lints {
            let view = self.view(&linted.sources);
            found.add(diagnostics::of_lint(&view, &linted.report));
        }
        let clauses = clauses(&view, &checked, self.sides.has_old());
        self.out.clauses.extend(clauses);
        self.take(found);
    }

    /// A document with DDL for others: what the jobs that use it say of it.
    fn as_ddl(&mut self, settings: &Settings, text: Text, options: &Arc<crate::check::Options>) {
        let mut sides = self.sides.clone();
        let uses = |batch: &Batch| {
            let pair = &batch.pair;
            pair.new_schema.iter().chain(&pair.new_beside).any(|t| t.name == text.name)
        };
        // Of what runs nowhere, jobs can say only that they do not understand it.
        let jobs: Vec<Batch> = sides.plan_at("", settings, Extent::Changed).pairs.into_iter().filter(uses).collect();
        if jobs.is_empty() {
            let pair = Pair { new: Some(text), ddl_only: DdlOnly::NoJob, ..Pair::default() };
            let pair = Pair { new_schema: options.schema.clone(), ..pair };
            let checked = check_pair(pair, options);
            let found = diagnostics::of_ddl(&self.view(&checked.sources), &checked.report, &options.policy);
            self.take(found);
            return;
        }
        let mut all = diagnostics::Said::default();
        for Batch { pair, options } in jobs.into_iter().take(MOST_JOBS) {
            if self.task.outdated.load(Ordering::Relaxed) {
                return;
            }
            let checked = check_pair(pair, &options);
            all.add(diagnostics::of_ddl(&self.view(&checked.sources), &checked.report, &options.policy));
        }
        all.merge_jobs();
        self.take(all);
    }

    /// An old side that cannot be read: there is nothing to compare with.
    fn unreadable(&mut self, errors: &[ErrorItem]) {
        let none = SourceMap::new();
        let said = diagnostics::of_errors(&self.view(&none), errors, self.head);
        self.take(said);
    }

    /// Configurations that are not what somebody meant: nothing is checked under them.
    fn problems(&mut self, problems: &Problems) {
        let view = self.view(&problems.sources);
        let said = diagnostics::of_errors(&view, &problems.errors, self.head);
        self.take(said);
    }

    fn take(&mut self, said: diagnostics::Said) {
        self.out.diagnostics.extend(said.diagnostics);
        self.out.findings.extend(said.findings);
    }
}

/// What in the new side of a pair will hurt later.
fn lint_of(pair: &Pair, options: &Arc<crate::check::Options>) -> Linted {
    let Pair { new, new_schema, new_beside, ddl_only, .. } = pair.clone();
    let pair = Pair { new, new_schema, new_beside, ddl_only, ..Pair::default() };
    lint_all(RuleBook::embedded(), options.target, [Batch { pair, options: Arc::clone(options) }])
}

/// The operators of the new plans that come from the document.
fn clauses(view: &View<'_>, checked: &Checked, compared: bool) -> Vec<Clause> {
    let mut out = Vec::new();
    for (job, plans) in checked.report.jobs.iter().zip(&checked.plans) {
        let Some(plan) = &plans.new else { continue };
        let known = |id: NodeId| job.operators.iter().find(|o| o.new_id == Some(id.shown()));
        for id in plan.ids() {
            let spans = plan.node(id).origins.iter();
            let here = spans.filter(|span| {
                let file = &view.sources.file(span.file);
                file.name == view.name && *file.text == *view.text
            });
            let places: Vec<_> = here.map(|s| s.start as usize..s.end as usize).collect();
            if places.is_empty() {
                continue;
            }
            let carried = |entry: &OperatorEntry| entry.state.first().map(|s| s.carried);
            let keeps = !state::entries(plan, id).is_empty();
            let carried = if compared { known(id).and_then(carried) } else { None };
            out.push(Clause { places, plan: Arc::clone(plan), id, keeps, carried });
        }
    }
    out
}
