//! The lock: what is deployed now, as planned when it was deployed.
//!
//! It holds the scripts of the deployed jobs with their DDL (secrets masked, definitions put in), and of each job the plan with the
//! state that its operators keep. A check against the lock plans the scripts again and compares; that the plans are still the recorded
//! ones is made sure of first, so a lock that was edited, or that another version of keepstate would plan otherwise, is noticed.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::check::{DdlOnly, Options, Pair, Text, check_pair};
use crate::exec::Plan;
use crate::nearest::nearest;
use crate::report::model::{ErrorCode, ErrorItem, Note};
use crate::report::secrets;
use crate::source::SourceMap;
use crate::state;
use crate::syntax::expand;
use crate::target::Target;
use crate::workspace::Tree;

/// The name of the file.
pub const FILE_NAME: &str = "keepstate.lock";

/// The version of the file's form.
pub const SCHEMA_VERSION: u32 = 1;

/// What is deployed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// The version of the form.
    pub schema_version: u32,
    /// The version of keepstate that wrote it.
    pub keepstate: String,
    /// The engine that the jobs were planned for.
    pub target: Target,
    /// SHA-256 of everything else, so that what was not written by keepstate is noticed.
    pub digest: String,
    /// The jobs, by file and name.
    pub jobs: Vec<LockedJob>,
    /// The texts of scripts and DDL, line by line, by path from the directory of the lock.
    pub texts: BTreeMap<String, Vec<String>>,
}

/// A deployed job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LockedJob {
    /// Its name.
    pub name: String,
    /// Its script.
    pub file: String,
    /// DDL that came with it, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schema: Vec<String>,
    /// DDL that was found beside it, the nearest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<String>,
    /// The plan of each sink, with the state of every operator: as `keepstate plan --format json` has it.
    pub plans: Vec<Value>,
}

/// A script that was planned, to be recorded.
#[derive(Debug)]
pub struct Recorded {
    /// Its jobs.
    pub jobs: Vec<LockedJob>,
    /// The texts that they were made of, by path.
    pub texts: Vec<(String, Arc<str>)>,
}

/// Plans the new side of a pair, for the lock. `path` gives each text the path that it is to have there.
pub fn record(
    pair: Pair,
    options: &Options,
    path: &dyn Fn(&Text) -> String,
) -> Result<Recorded, (Vec<ErrorItem>, SourceMap)> {
    let Some(script) = pair.new.clone() else { return Ok(Recorded { jobs: Vec::new(), texts: Vec::new() }) };
    let schema: Vec<String> = pair.new_schema.iter().map(path).collect();
    let beside: Vec<String> = pair.new_beside.iter().map(path).collect();
    let all = pair.new_schema.iter().chain(&pair.new_beside).chain([&script]);
    let texts = all.map(|t| (path(t), masked(&t.text, options))).collect();
    let file = path(&script);
    let checked = check_pair(pair, options);
    if !checked.report.errors.is_empty() {
        return Err((checked.report.errors, checked.sources));
    }
    let jobs = checked.report.jobs.iter().zip(&checked.plans).filter_map(|(job, plans)| {
        let plans = plans_json(plans.new.as_deref()?);
        Some(LockedJob {
            name: job.name.clone(),
            file: file.clone(),
            schema: schema.clone(),
            beside: beside.clone(),
            plans,
        })
    });
    Ok(Recorded { jobs: jobs.collect(), texts })
}

/// A text as it may be kept: definitions put in, secrets struck out.
fn masked(text: &Arc<str>, options: &Options) -> Arc<str> {
    secrets::mask(&expand(text, &options.defines)).into()
}

fn plans_json(plan: &Plan) -> Vec<Value> {
    plan.to_json(&|id| vec![("state", state::entries(plan, id).iter().map(state::StateEntry::to_json).collect())])
}

/// The JSON schema of a lock; `tests/schemas.rs` holds `schemas/lock.json` against it.
pub fn schema() -> Value {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Lock>();
    schema.insert("title".to_owned(), "keepstate lock, version 1".into());
    schema.to_value()
}

impl Lock {
    /// A lock of scripts.
    pub fn new(target: Target, recorded: Vec<Recorded>) -> Lock {
        let mut lock = Lock {
            schema_version: SCHEMA_VERSION,
            keepstate: env!("CARGO_PKG_VERSION").to_owned(),
            target,
            digest: String::new(),
            jobs: Vec::new(),
            texts: BTreeMap::new(),
        };
        for one in recorded {
            lock.jobs.extend(one.jobs);
            let lines = |text: &str| text.split('\n').map(str::to_owned).collect();
            lock.texts.extend(one.texts.into_iter().map(|(path, text)| (path, lines(&text))));
        }
        lock.order();
        lock
    }

    /// Brings the jobs into order and seals them.
    fn order(&mut self) {
        self.jobs.sort_by(|a, b| (&a.file, &a.name).cmp(&(&b.file, &b.name)));
        self.digest = self.sum();
    }

    /// The digest of what is in the lock.
    fn sum(&self) -> String {
        let mut hash = Sha256::new();
        for part in [
            serde_json::to_vec(&(self.schema_version, &self.keepstate, self.target, &self.jobs)),
            serde_json::to_vec(&self.texts),
        ] {
            hash.update(part.unwrap_or_default());
        }
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Takes over the jobs of other scripts from an older lock: those that `kept` holds for.
    pub fn keep(&mut self, older: Lock, kept: &dyn Fn(&str) -> bool) {
        let fresh: Vec<String> = self.jobs.iter().map(|j| j.file.clone()).collect();
        for job in older.jobs.into_iter().filter(|j| kept(&j.file) && !fresh.contains(&j.file)) {
            for path in job.schema.iter().chain(&job.beside).chain([&job.file]) {
                if let Some(lines) = older.texts.get(path) {
                    self.texts.entry(path.clone()).or_insert_with(|| lines.clone());
                }
            }
            self.jobs.push(job);
        }
        self.order();
    }

    /// The file's text: stable, one operator or line of SQL a line where it can be.
    pub fn to_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Reads a file's text. What it says is taken for nothing but data.
    pub fn parse(name: &str, text: &str) -> Result<Lock, Box<ErrorItem>> {
        let error = |message: String, help: &str| Box::new(ErrorItem::new(ErrorCode::Config, message).help(help));
        let again = "write it again with `keepstate lock`, from the scripts that are deployed";
        let value: Value = serde_json::from_str(text).map_err(|e| error(format!("{name} is no lock: {e}"), again))?;
        let version = value.get("schema_version").and_then(Value::as_u64);
        match version {
            Some(v) if v == u64::from(SCHEMA_VERSION) => {}
            Some(v) if v > u64::from(SCHEMA_VERSION) => {
                let by = value.get("keepstate").and_then(Value::as_str).unwrap_or("a newer one");
                let message = format!(
                    "{name} was written by a newer keepstate ({by}; its form is {v}, this one reads {SCHEMA_VERSION})"
                );
                return Err(error(message, "use that version, or a newer one"));
            }
            _ => return Err(error(format!("{name} is no lock: it has no `schema_version` that is known"), again)),
        }
        if let Some(target) = value.get("target").and_then(Value::as_str)
            && let Err(message) = target.parse::<Target>()
        {
            let help = nearest(target, Target::ALL.map(Target::name))
                .map_or(again.to_owned(), |n| format!("did you mean `{n}`?"));
            return Err(error(format!("{name} cannot be used: {message}"), &help));
        }
        let lock: Lock = serde_json::from_value(value).map_err(|e| error(format!("{name} is no lock: {e}"), again))?;
        if lock.digest != lock.sum() {
            return Err(error(format!("{name} is not as keepstate wrote it: it was edited, or merged by hand"), again));
        }
        Ok(lock)
    }

    /// The scripts that are deployed, under names that say where they come from, and of each job the DDL that came with it.
    pub fn tree(&self, name: &str) -> Tree {
        let files = self.jobs.iter().flat_map(|j| j.schema.iter().chain(&j.beside).chain([&j.file]));
        files.filter_map(|path| Some((path.clone(), self.text(name, path)?))).collect()
    }

    /// A text of the lock.
    pub fn text(&self, name: &str, path: &str) -> Option<Text> {
        Some(Text::new(format!("{name}:{path}"), self.texts.get(path)?.join("\n")))
    }

    /// The DDL of a script: that which was named, and that which was beside it.
    pub fn ddl(&self, name: &str, file: &str) -> (Vec<Text>, Vec<Text>) {
        let Some(job) = self.jobs.iter().find(|j| j.file == file) else { return Default::default() };
        let texts = |paths: &[String]| paths.iter().filter_map(|p| self.text(name, p)).collect();
        (texts(&job.schema), texts(&job.beside))
    }

    /// Plans the recorded scripts again, and holds the plans against the recorded ones. `options` says how a script is checked.
    pub fn verify_all(&self, name: &str, options: &(dyn Fn(&str) -> Arc<Options> + Sync)) -> Verified {
        let mut files: Vec<&str> = self.jobs.iter().map(|j| j.file.as_str()).collect();
        files.dedup();
        let one = |file: &&str| {
            let (new_schema, new_beside) = self.ddl(name, file);
            let pair = Pair {
                new: self.text(name, file),
                new_schema,
                new_beside,
                ddl_only: DdlOnly::NoJob,
                ..Pair::default()
            };
            let checked = check_pair(pair, &options(file));
            let jobs = checked.report.jobs.iter().zip(&checked.plans);
            let unlike =
                jobs.filter_map(|(job, plans)| self.verify(name, file, &job.name, plans.new.as_deref()?).err());
            unlike.collect::<Vec<_>>()
        };
        let mut verified = Verified::default();
        for unlike in files.par_iter().map(one).collect::<Vec<_>>().into_iter().flatten() {
            match unlike {
                Unlike::Edited(error) => verified.errors.push(*error),
                Unlike::OtherVersion(note) => verified.notes.push(note),
            }
        }
        verified
    }

    /// The job of a file under a name.
    fn job(&self, file: &str, name: &str) -> Option<&LockedJob> {
        self.jobs.iter().find(|j| j.file == file && j.name == name)
    }

    /// What is to be said if the plan of a deployed job is not the recorded one.
    fn verify(&self, name: &str, file: &str, job: &str, plan: &Plan) -> Result<(), Unlike> {
        let Some(locked) = self.job(file, job) else { return Ok(()) };
        if locked.plans == plans_json(plan) {
            return Ok(());
        }
        if self.keepstate == env!("CARGO_PKG_VERSION") {
            let message = format!("the plan of {job} in {name} is not that of the script recorded with it");
            let help = "the file was edited: write it again with `keepstate lock`, from the scripts that are deployed";
            return Err(Unlike::Edited(Box::new(ErrorItem::new(ErrorCode::Config, message).help(help))));
        }
        let message = format!(
            "{name} was written by keepstate {}, which planned this job otherwise; lock it again once it is deployed",
            self.keepstate
        );
        Err(Unlike::OtherVersion(Note { message, at: None }))
    }
}

/// What planning a lock again showed.
#[derive(Debug, Default)]
pub struct Verified {
    /// Jobs that somebody edited in the file.
    pub errors: Vec<ErrorItem>,
    /// Jobs that another version of keepstate planned otherwise.
    pub notes: Vec<Note>,
}

/// Why a recorded plan is not that of its script.
#[derive(Debug)]
enum Unlike {
    /// Somebody changed the file.
    Edited(Box<ErrorItem>),
    /// Another version of keepstate planned it.
    OtherVersion(Note),
}
