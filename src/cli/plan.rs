//! `keepstate plan FILE`.

use serde::Serialize;

use super::Outcome;
use super::args::{PlanArgs, PlanFormat, Reading};
use super::settings::{Problems, Settings};
use crate::check::{self, Options, Text};
use crate::exec::Purpose;
use crate::exec::graph_text::{GraphLanguage, graph_text};
use crate::planning::{self, JobPlan, PlannedScript};
use crate::report::human::{self, Style};
use crate::report::json;
use crate::report::model::{ErrorItem, SCHEMA_VERSION};
use crate::report::secrets::Redactor;
use crate::source::SourceMap;
use crate::target::Target;
use crate::terminal::visible;

/// The plans of one script with what went wrong.
pub(super) struct Planned {
    pub target: Target,
    pub script: PlannedScript,
    pub errors: Vec<ErrorItem>,
    pub sources: SourceMap,
    /// What must not be printed.
    pub secrets: Redactor,
}

/// Reads and plans one script. Errors that concern no text are in `errors` as well.
pub(super) fn read_and_plan(file: &str, reading: &Reading, purpose: Purpose) -> Planned {
    let settings = Settings::new(reading, Options::default(), None);
    let (options, scripts) = match settings.read(&[file]) {
        Ok(read) => read,
        Err(Problems { errors, sources }) => {
            let (script, secrets, target) = (PlannedScript::default(), Redactor::default(), Target::default());
            return Planned { target, script, errors, sources, secrets };
        }
    };
    let mut sources = SourceMap::new();
    let texts = options.schema.into_iter().chain(scripts);
    let files: Vec<_> = texts.map(|Text { name, text }| sources.add(name, text)).collect();
    let scripts: Vec<_> = files.iter().map(|f| planning::parse(&sources, *f, &options.defines)).collect();
    let mut errors = Vec::new();
    for script in &scripts {
        check::syntax_errors(&sources, script, &mut errors);
    }
    let script = planning::plan(&scripts.iter().collect::<Vec<_>>(), options.target, purpose, &options.connectors);
    errors.extend(script.errors.iter().map(|e| check::plan_error(&sources, e)));
    if script.jobs.is_empty() && errors.is_empty() {
        errors.push(check::no_job(files.last().map_or(file, |f| &sources.file(*f).name)));
    }
    let secrets = Redactor::of(sources.files().iter().map(|f| &*f.text), &options.defines);
    check::redact_errors(&mut errors, &secrets);
    Planned { target: options.target, script, errors, sources, secrets }
}

#[derive(Serialize)]
struct Document {
    schema_version: u32,
    target: Target,
    plans: Vec<serde_json::Value>,
    errors: Vec<ErrorItem>,
}

pub(super) fn run(args: &PlanArgs, style: Style) -> Outcome {
    let Planned { target, script, errors, sources, secrets } =
        read_and_plan(&args.file, &args.reading, Purpose::Explain);
    let exit = if errors.is_empty() { 0 } else { 2 };
    let mut text = match args.format {
        PlanFormat::Json => json::render(&Document {
            schema_version: SCHEMA_VERSION,
            target,
            plans: script.jobs.iter().flat_map(JobPlan::to_json).collect(),
            errors,
        }),
        PlanFormat::Mermaid | PlanFormat::Dot => {
            let language = if args.format == PlanFormat::Dot { GraphLanguage::Dot } else { GraphLanguage::Mermaid };
            let plans: Vec<_> = script.jobs.iter().map(|j| &*j.plan).collect();
            let mut text = if errors.is_empty() { graph_text(&plans, language) } else { String::new() };
            text.push_str(&human::render_errors(&errors, &sources, style));
            text
        }
        PlanFormat::Tree => {
            let shown = |job: &JobPlan| {
                let state = if style.verbose { job.state_text() } else { String::new() };
                job.tree_text() + &state
            };
            let plans = script.jobs.iter().map(shown).collect::<Vec<_>>().join("\n");
            let mut text = visible(&plans).into_owned();
            text.push_str(&human::render_errors(&errors, &sources, style));
            text
        }
    };
    secrets.clean(&mut text);
    Outcome { text, exit }
}
