//! Lint rules: what is observed in one plan and will hurt later.
//!
//! A file under `rules/lint/` has the form of any rule file, but for what it speaks of: an observation instead of a change, a level
//! instead of a verdict, and examples of one script each.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::file::{Block, RuleSource, blocks, patterns, prose, split, stem_and_page};
use super::matcher::Pattern;
use super::verdict::Basis;
use super::{RuleBook, judge, template};
use crate::diff::change::Facts;
use crate::exec::NodeId;
use crate::observe::Observation;
use crate::target::Target;

/// How bad it is. From mild to grave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Worth knowing before the job is changed or replayed.
    Info,
    /// State or results get worse as time goes by.
    Warning,
    /// Rows are lost, or results are wrong.
    Error,
}

impl Level {
    /// The name used in rules and reports.
    pub fn name(self) -> &'static str {
        match self {
            Level::Info => "info",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A lint rule.
#[derive(Debug, Clone)]
pub struct LintRule {
    /// Its name: the file's name without `.md`.
    pub id: String,
    /// One line about what is observed.
    pub title: String,
    /// The engines that it speaks of.
    pub targets: Vec<Target>,
    /// How bad it is.
    pub level: Level,
    /// Why that is believed.
    pub basis: Basis,
    /// It applies where one of these holds.
    pub patterns: Vec<Pattern>,
    /// Rules that do not apply where this one does, on the same operator.
    pub overrides: Vec<String>,
    /// The message, with `{named}` arguments and `[optional parts]`.
    pub message: String,
    /// One thing to do, in the same notation.
    pub help: String,
    /// Where the rule comes from.
    pub source: RuleSource,
    /// The page directory that the file stands in.
    pub page: String,
    /// The file, below `rules/`.
    pub path: String,
    /// The text after the front matter.
    pub body: String,
}

/// A script with what is found in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintExample {
    /// The heading above it.
    pub name: String,
    /// The script.
    pub sql: String,
    /// What must be found.
    pub expect: LintExpect,
}

/// What an example expects.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LintExpect {
    /// The engine; the rule's first target if it is not given.
    #[serde(default)]
    pub target: Option<Target>,
    /// The rules of all findings, in any order.
    pub rules: Vec<String>,
    /// The clause that this rule's finding points at.
    #[serde(default)]
    pub at: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FrontMatter {
    id: String,
    title: String,
    targets: Vec<Target>,
    level: Level,
    basis: Basis,
    #[serde(rename = "match")]
    patterns: toml::Value,
    #[serde(default)]
    overrides: Vec<String>,
    message: String,
    help: String,
    source: RuleSource,
}

impl LintRule {
    /// Reads a rule file. `path` is relative to the `rules` directory: `lint/<page>/<id>.md`.
    pub fn parse(path: &str, text: &str) -> Result<LintRule, String> {
        let at = |why: String| format!("rules/{path}: {why}");
        let (front, body) = split(text).map_err(&at)?;
        let front: FrontMatter = toml::from_str(front).map_err(|e| at(e.to_string()))?;
        let page = stem_and_page(path, &front.id).map_err(&at)?;
        if front.targets.is_empty() {
            return Err(at("`targets` is empty".to_owned()));
        }
        for template in [&front.message, &front.help] {
            template::check(template).map_err(&at)?;
        }
        Ok(LintRule {
            patterns: patterns("match", &front.patterns).map_err(&at)?,
            id: front.id,
            title: front.title,
            targets: front.targets,
            level: front.level,
            basis: front.basis,
            overrides: front.overrides,
            message: front.message,
            help: front.help,
            source: front.source,
            page: page.to_owned(),
            path: path.to_owned(),
            body: body.trim().to_owned(),
        })
    }

    /// The prose: everything before the examples.
    pub fn prose(&self) -> &str {
        prose(&self.body)
    }

    /// The examples.
    pub fn examples(&self) -> Result<Vec<LintExample>, String> {
        let at = |why: String| format!("rules of page {}, {}: {why}", self.page, self.id);
        let (mut name, mut sql, mut examples) = (String::new(), None, Vec::new());
        for block in blocks(&self.body) {
            match block {
                Block::Heading(text) => name = text.to_owned(),
                Block::Fence { info: "sql", text } => sql = Some(text),
                Block::Fence { info: "toml expect", text } => {
                    let expect: LintExpect = toml::from_str(&text).map_err(|e| at(e.to_string()))?;
                    let sql = sql.take().ok_or_else(|| at(format!("`expect` of `{name}` has no `sql` before it")))?;
                    examples.push(LintExample { name: name.clone(), sql, expect });
                }
                Block::Fence { info, .. } => {
                    return Err(at(format!("a block is marked `{info}`; examples have `sql` and `toml expect`")));
                }
            }
        }
        if sql.is_some() { Err(at(format!("`{name}` has no `toml expect`"))) } else { Ok(examples) }
    }

    fn holds(&self, facts: &Facts) -> bool {
        self.patterns.iter().any(|p| p.holds(facts))
    }
}

/// A lint rule applied to an observation.
#[derive(Debug, Clone)]
pub struct LintFinding<'a> {
    /// The rule.
    pub rule: &'a LintRule,
    /// What is there.
    pub message: String,
    /// What to do.
    pub help: String,
    /// What was observed.
    pub observation: &'a Observation,
}

/// Judges the observations about one plan. The gravest first, then by place.
pub fn lint<'a>(book: &'a RuleBook, target: Target, observations: &'a [Observation]) -> Vec<LintFinding<'a>> {
    let rules: Vec<&LintRule> = book.lints().iter().filter(|r| r.targets.contains(&target)).collect();
    let mut findings: Vec<LintFinding<'a>> = Vec::new();
    for observation in observations {
        let facts = observation.facts();
        for &rule in rules.iter().filter(|r| r.holds(&facts)) {
            let args: Vec<(String, String)> =
                observation.args.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
            let arg =
                |name: &str| judge::argument(name, &args, &facts).map(|v: Cow<'_, str>| Cow::Owned(v.into_owned()));
            findings.push(LintFinding {
                rule,
                message: template::fill(&rule.message, arg),
                help: template::fill(&rule.help, arg),
                observation,
            });
        }
    }
    let mut overridden: BTreeMap<NodeId, BTreeSet<&str>> = BTreeMap::new();
    for finding in &findings {
        let names = finding.rule.overrides.iter().map(String::as_str);
        overridden.entry(finding.observation.operator.id).or_default().extend(names);
    }
    let gone = |f: &LintFinding<'_>| overridden[&f.observation.operator.id].contains(f.rule.id.as_str());
    let mut kept: Vec<LintFinding<'a>> = findings.iter().filter(|f| !gone(f)).cloned().collect();
    kept.sort_by_key(|f| (std::cmp::Reverse(f.rule.level), f.observation.at, f.observation.operator.id));
    kept
}
