//! `keepstate.toml`: what a project decides once for all its checks. Reading only; the files are found by whoever has them.

mod reader;

use std::collections::BTreeMap;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use jiff::civil::Date;

use crate::catalog::connectors::Connectors;
use crate::report::model::{ErrorCode, ErrorItem, Place};
use crate::rules::RuleBook;
use crate::rules::verdict::FailOn;
use crate::source::{FileId, SourceMap};
use crate::suppress::{Allow, Level, rule_names, unknown_rule};
use crate::target::Target;
use reader::{Entry, Reader, Section};

/// The name of the file, which is looked for from each script upwards.
pub const FILE_NAME: &str = "keepstate.toml";

/// What a configuration says. Paths and globs are relative to its directory.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The engine.
    pub target: Option<Target>,
    /// From which verdict on a run fails.
    pub fail_on: Option<FailOn>,
    /// Files with DDL for all scripts.
    pub schema: SchemaGlobs,
    /// Values of `${name}`.
    pub defines: BTreeMap<String, String>,
    /// Which scripts are jobs.
    pub jobs: JobGlobs,
    /// Rules that count otherwise than their verdict says.
    pub levels: BTreeMap<String, Level>,
    /// Findings that are accepted.
    pub allow: Vec<Allow>,
    /// What is known of connectors.
    pub connectors: Connectors,
}

/// Files with DDL.
#[derive(Debug, Clone, Default)]
pub struct SchemaGlobs {
    /// The globs as written.
    pub globs: Vec<String>,
    set: Option<GlobSet>,
}

impl SchemaGlobs {
    /// True if a file at a path (relative to the configuration, with slashes) is one of them.
    pub fn covers(&self, path: &str) -> bool {
        self.set.as_ref().is_some_and(|globs| globs.is_match(path))
    }
}

/// Which scripts are jobs: all, unless said otherwise.
#[derive(Debug, Clone, Default)]
pub struct JobGlobs {
    include: Option<GlobSet>,
    exclude: Option<GlobSet>,
}

impl JobGlobs {
    /// True if a script at a path (relative to the configuration, with slashes) is a job.
    pub fn covers(&self, path: &str) -> bool {
        self.include.as_ref().is_none_or(|globs| globs.is_match(path))
            && !self.exclude.as_ref().is_some_and(|globs| globs.is_match(path))
    }
}

/// Reads a configuration. All its errors are given, each at its place.
pub fn parse(sources: &SourceMap, file: FileId) -> Result<Config, Vec<ErrorItem>> {
    let mut reader = Reader::new(sources, file);
    let mut config = Config::default();
    if let Some(root) = reader.document() {
        root_keys(&mut reader, root, &mut config);
    }
    if reader.errors.is_empty() { Ok(config) } else { Err(reader.errors) }
}

const ROOT: [&str; 9] = ["target", "fail-on", "schema", "defines", "jobs", "rules", "allow", "connector", "formats"];

fn root_keys(reader: &mut Reader<'_>, root: Section<'_>, config: &mut Config) {
    let mut connectors = false;
    for entry in reader.known(root, &ROOT, "a configuration") {
        match entry.key.as_str() {
            "target" => config.target = reader.word(&entry, |s| s.parse().ok(), &Target::ALL.map(Target::name)),
            "fail-on" => config.fail_on = reader.word(&entry, FailOn::named, &FailOn::ALL.map(FailOn::name)),
            "schema" => {
                let globs = globs_or(reader, &entry, "files", &mut |_, _| {});
                config.schema = SchemaGlobs { set: if globs.is_empty() { None } else { set(&globs) }, globs };
            }
            "defines" => config.defines = defines(reader, &entry),
            "jobs" => config.jobs = jobs(reader, &entry),
            "rules" => config.levels = levels(reader, &entry),
            "allow" => config.allow = allow(reader, &entry),
            "connector" | "formats" => connectors = true,
            _ => {}
        }
    }
    if connectors {
        match Connectors::builtin().extended(reader.text()) {
            Ok(all) => config.connectors = all,
            Err(error) => {
                let help = "`[connector.NAME]` takes `source` and `sink`, as in src/catalog/connectors.toml; docs/configuration.md lists them";
                reader.error(error.span().unwrap_or(0..0), error.message().to_owned(), help);
            }
        }
    }
}

/// A list of globs: `key = [...]`, or a table that has the list under `name`; its other keys are given to `more`.
fn globs_or(
    reader: &mut Reader<'_>,
    entry: &Entry<'_>,
    name: &str,
    more: &mut dyn FnMut(&mut Reader<'_>, &Entry<'_>),
) -> Vec<String> {
    let Some(section) = entry.table() else { return globs(reader, entry) };
    let mut list = Vec::new();
    let known: &[&str] = if name == "include" { &["include", "exclude"] } else { &["files"] };
    for inner in reader.known(section, known, &format!("[{}]", entry.key)) {
        if inner.key == name {
            list = globs(reader, &inner);
        } else {
            more(reader, &inner);
        }
    }
    list
}

fn globs(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Vec<String> {
    let list = reader.strings(entry);
    for glob in &list {
        if let Err(error) = path_glob(glob) {
            reader.error(entry.value_at(), format!("`{glob}` is no glob: {}", error.kind()), "such as `jobs/**/*.sql`");
        }
    }
    list
}

/// A glob of paths: `*` stays within a directory, `**` does not.
fn path_glob(glob: &str) -> Result<Glob, globset::Error> {
    GlobBuilder::new(glob.strip_prefix("./").unwrap_or(glob)).literal_separator(true).build()
}

/// Globs as one set; those that are none have been reported.
fn set(globs: &[String]) -> Option<GlobSet> {
    let mut builder = GlobSetBuilder::new();
    for glob in globs.iter().filter_map(|g| path_glob(g).ok()) {
        builder.add(glob);
    }
    builder.build().ok()
}

fn jobs(reader: &mut Reader<'_>, entry: &Entry<'_>) -> JobGlobs {
    let mut exclude = None;
    let include = globs_or(reader, entry, "include", &mut |reader, inner| exclude = set(&globs(reader, inner)));
    JobGlobs { include: if include.is_empty() { None } else { set(&include) }, exclude }
}

fn defines(reader: &mut Reader<'_>, entry: &Entry<'_>) -> BTreeMap<String, String> {
    let entries = reader.table(entry);
    entries.into_iter().filter_map(|e| Some((e.key.clone(), reader.string(&e)?))).collect()
}

fn levels(reader: &mut Reader<'_>, entry: &Entry<'_>) -> BTreeMap<String, Level> {
    let mut out = BTreeMap::new();
    for rule in reader.table(entry) {
        known_rule(reader, &rule.key, rule.key_at());
        let named = |s: &str| Level::NAMES.iter().find(|(name, _)| *name == s).map(|(_, level)| *level);
        if let Some(level) = reader.word(&rule, named, &Level::NAMES.map(|(name, _)| name)) {
            out.insert(rule.key.clone(), level);
        }
    }
    out
}

fn known_rule(reader: &mut Reader<'_>, name: &str, at: std::ops::Range<usize>) {
    let book = RuleBook::embedded();
    if !rule_names(book).contains(&name) {
        let (message, help) = unknown_rule(name, book);
        reader.error(at, message, &help);
    }
}

const ALLOW: [&str; 5] = ["fingerprint", "rule", "job", "reason", "until"];

fn allow(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Vec<Allow> {
    let mut out = Vec::new();
    for (section, at) in reader.tables(entry) {
        let mut one = Allow {
            fingerprint: None,
            rule: None,
            job: None,
            reason: String::new(),
            until: None,
            at: Some(reader.place(at.clone())),
        };
        for inner in reader.known(section, &ALLOW, "[[allow]]") {
            match inner.key.as_str() {
                "fingerprint" => one.fingerprint = reader.string(&inner),
                "rule" => {
                    one.rule = reader.string(&inner);
                    if let Some(rule) = &one.rule {
                        known_rule(reader, rule, inner.value_at());
                    }
                }
                "job" => {
                    let glob = reader.string(&inner).map(|g| Glob::new(&g));
                    match glob {
                        Some(Ok(glob)) => one.job = Some(glob.compile_matcher()),
                        Some(Err(error)) => {
                            reader.error(inner.value_at(), format!("no glob: {}", error.kind()), "such as `orders_*`");
                        }
                        None => {}
                    }
                }
                "reason" => one.reason = reader.string(&inner).unwrap_or_default().trim().to_owned(),
                "until" => one.until = date(reader, &inner),
                _ => {}
            }
        }
        if one.fingerprint.is_none() && one.rule.is_none() {
            let help = "add `fingerprint = \"...\"` of the finding, or `rule = \"...\"` with `job = \"...\"`";
            reader.error(at.clone(), "the entry does not say which finding it allows".to_owned(), help);
        }
        if one.reason.is_empty() {
            let help = "say why it is safe: `reason = \"...\"`";
            reader.error(at, "the entry gives no reason".to_owned(), help);
        }
        out.push(one);
    }
    out
}

fn date(reader: &mut Reader<'_>, entry: &Entry<'_>) -> Option<Date> {
    let text = entry.datetime().or_else(|| entry.text().map(str::to_owned));
    let date = text.as_deref().and_then(|t| t.parse::<Date>().ok());
    if date.is_none() {
        reader.error(entry.value_at(), "this is no date".to_owned(), "write it as YYYY-MM-DD");
    }
    date
}

/// Says that a file cannot be used as a configuration.
fn config_error(message: String, help: &str, at: Place) -> ErrorItem {
    ErrorItem { at: Some(at), label: "here".to_owned(), ..ErrorItem::new(ErrorCode::Config, message).help(help) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Config, Vec<String>> {
        let mut sources = SourceMap::new();
        let file = sources.add(FILE_NAME, text);
        parse(&sources, file).map_err(|errors| {
            let said = |e: &ErrorItem| {
                let line = e.at.as_ref().map_or(0, |p| p.start.line);
                format!("{line}: {}; {}", e.message, e.help.as_deref().unwrap_or_default())
            };
            errors.iter().map(said).collect()
        })
    }

    #[test]
    fn everything_that_is_written_is_read() {
        let config = read(
            r#"
target = "flink-2.2"
fail-on = "incompatible"
[schema]
files = ["schema/*.sql"]
[defines]
env = "prod"
[jobs]
include = ["jobs/**/*.sql"]
exclude = ["jobs/old/**"]
[rules]
window-top-n-n-changed = "warn"
over-grows = "off"
[[allow]]
rule = "sink-added-with-state"
job = "orders_*"
reason = "the new sink may start empty"
until = 2030-01-31
[[allow]]
fingerprint = "9f2c41d07ab3"
reason = "x"
"#,
        );
        let config = config.unwrap_or_else(|e| panic!("{e:?}"));
        assert_eq!(config.target, Some(Target::Flink22));
        assert_eq!(config.fail_on, Some(FailOn::Incompatible));
        assert!(config.schema.covers("schema/a.sql") && !config.schema.covers("a.sql"));
        assert!(config.jobs.covers("jobs/a/b.sql"));
        assert!(!config.jobs.covers("jobs/old/b.sql") && !config.jobs.covers("x.sql"));
        assert_eq!(config.levels["window-top-n-n-changed"], Level::Warn);
        assert_eq!(config.allow.len(), 2);
        assert_eq!(config.allow[0].until.map(|d| d.to_string()).as_deref(), Some("2030-01-31"));
    }

    #[test]
    fn what_is_misspelt_is_an_error_with_the_nearest_name() {
        let errors =
            read("targett = 'vvr'\nfail-on = 'unknwn'\n[rules]\nwindow-top-n-n-changd = 'off'\nsink-added = 'of'\n");
        let errors = errors.unwrap_err();
        assert_eq!(errors.len(), 4, "{errors:#?}");
        assert!(errors[0].contains("1: a configuration has no `targett`; did you mean `target`?"), "{errors:#?}");
        assert!(errors.iter().any(|e| e.contains("did you mean `unknown`?")), "{errors:#?}");
        assert!(errors.iter().any(|e| e.contains("did you mean `window-top-n-n-changed`?")), "{errors:#?}");
        assert!(errors.iter().any(|e| e.contains("did you mean `off`?")), "{errors:#?}");
    }

    #[test]
    fn an_entry_needs_a_reason_and_a_finding() {
        let errors = read("[[allow]]\njob = 'x'\n").unwrap_err();
        assert_eq!(errors.len(), 2, "{errors:#?}");
        assert!(errors[0].contains("1: the entry does not say which finding"));
    }

    #[test]
    fn what_is_no_toml_is_said_where() {
        let errors = read("target = vvr\n").unwrap_err();
        assert!(errors[0].starts_with("1: "), "{errors:?}");
        assert!(read("").is_ok());
    }
}
