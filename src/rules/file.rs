//! One rule file: TOML front matter between `+++` lines, prose, examples.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::matcher::Pattern;
use super::verdict::{Basis, Consequence, Verdict};
use crate::diff::change::{Facts, Fate};
use crate::engine::Engine;
use crate::target::Target;

/// What a rule judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// One change.
    #[default]
    Change,
    /// All findings of a job together.
    Job,
}

/// Where a rule comes from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleSource {
    /// The page.
    pub url: String,
    /// The date of the page as it was read.
    pub date: String,
}

/// A rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// Its name: the file's name without `.md`.
    pub id: String,
    /// One line about the change.
    pub title: String,
    /// The engines that it speaks of.
    pub targets: Vec<Target>,
    /// What it judges.
    pub scope: Scope,
    /// It applies where one of these holds.
    pub patterns: Vec<Pattern>,
    /// The verdict.
    pub verdict: Verdict,
    /// Why that is believed.
    pub basis: Basis,
    /// Where one of these holds, the rule is believed only because the change is of the class that its source speaks of: the
    /// basis is `inferred`.
    pub inferred: Vec<Pattern>,
    /// What happens at the restore.
    pub consequence: Consequence,
    /// Row ids of the documented rules.
    pub documented: Vec<String>,
    /// Rules that do not apply where this one does.
    pub overrides: Vec<String>,
    /// What becomes of the columns of the sink, where that is worse than what the plan tells.
    pub columns: Option<Fate>,
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

/// A pair of scripts with what is expected of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// The heading above it.
    pub name: String,
    /// The old script.
    pub old: String,
    /// The new script.
    pub new: String,
    /// Rows that bear the verdict out, if it is one that rows can bear out.
    pub rows: Vec<TableRows>,
    /// What must be found.
    pub expect: Expect,
}

/// Rows of a table in an example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableRows {
    /// The table's name.
    pub table: String,
    /// The rows as a CSV file with a header line.
    pub csv: String,
}

/// What an example expects.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Expect {
    /// The engine; the rule's first target if it is not given.
    #[serde(default)]
    pub target: Option<Target>,
    /// The engine version that wrote the state.
    #[serde(default)]
    pub old_engine: Option<Engine>,
    /// The engine version that is to read it.
    #[serde(default)]
    pub new_engine: Option<Engine>,
    /// The job's verdict.
    pub verdict: Verdict,
    /// The rules of all findings, in any order. If not given: the rule of this file is among them.
    #[serde(default)]
    pub rules: Option<Vec<String>>,
    /// The basis of this rule's finding.
    #[serde(default)]
    pub basis: Option<Basis>,
    /// Fates of columns.
    #[serde(default)]
    pub columns: BTreeMap<String, FateName>,
}

/// The name of a [`Fate`] in rule files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FateName {
    /// See [`Fate::Kept`].
    Kept,
    /// See [`Fate::FromZero`].
    FromZero,
    /// See [`Fate::Lost`].
    Lost,
    /// See [`Fate::Undetermined`].
    Undetermined,
}

impl From<FateName> for Fate {
    fn from(name: FateName) -> Fate {
        match name {
            FateName::Kept => Fate::Kept,
            FateName::FromZero => Fate::FromZero,
            FateName::Lost => Fate::Lost,
            FateName::Undetermined => Fate::Undetermined,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FrontMatter {
    id: String,
    title: String,
    targets: Vec<Target>,
    #[serde(default)]
    scope: Scope,
    #[serde(rename = "match")]
    patterns: toml::Value,
    verdict: Verdict,
    basis: Basis,
    #[serde(default)]
    inferred: Option<toml::Value>,
    consequence: Consequence,
    documented: Vec<String>,
    #[serde(default)]
    overrides: Vec<String>,
    #[serde(default)]
    columns: Option<FateName>,
    message: String,
    help: String,
    source: RuleSource,
}

impl Rule {
    /// Reads a rule file. `path` is relative to the `rules` directory: `<engine>/<page>/<id>.md`.
    pub fn parse(path: &str, text: &str) -> Result<Rule, String> {
        let at = |why: String| format!("rules/{path}: {why}");
        let (front, body) = split(text).map_err(&at)?;
        let front: FrontMatter = toml::from_str(front).map_err(|e| at(e.to_string()))?;
        let page = stem_and_page(path, &front.id).map_err(&at)?;
        if front.targets.is_empty() {
            return Err(at("`targets` is empty".to_owned()));
        }
        for template in [&front.message, &front.help] {
            super::template::check(template).map_err(&at)?;
        }
        Ok(Rule {
            patterns: patterns("match", &front.patterns).map_err(&at)?,
            inferred: match &front.inferred {
                Some(value) => patterns("inferred", value).map_err(&at)?,
                None => Vec::new(),
            },
            id: front.id,
            title: front.title,
            targets: front.targets,
            scope: front.scope,
            verdict: front.verdict,
            basis: front.basis,
            consequence: front.consequence,
            documented: front.documented,
            overrides: front.overrides,
            columns: front.columns.map(Fate::from),
            message: front.message,
            help: front.help,
            source: front.source,
            page: page.to_owned(),
            path: path.to_owned(),
            body: body.trim().to_owned(),
        })
    }

    /// Why the rule is believed for a change with these facts.
    pub fn basis_of(&self, facts: &Facts) -> Basis {
        if self.inferred.iter().any(|p| p.holds(facts)) { Basis::Inferred } else { self.basis }
    }

    /// The prose: everything before the examples.
    pub fn prose(&self) -> &str {
        prose(&self.body)
    }

    /// The examples.
    pub fn examples(&self) -> Result<Vec<Example>, String> {
        let at = |why: String| format!("rules of page {}, {}: {why}", self.page, self.id);
        let (mut name, mut old, mut new, mut rows) = (String::new(), None, None, Vec::new());
        let mut examples = Vec::new();
        for block in blocks(&self.body) {
            match block {
                Block::Heading(text) => name = text.to_owned(),
                Block::Fence { info: "sql old", text } => old = Some(text),
                Block::Fence { info: "sql new", text } => new = Some(text),
                Block::Fence { info: "toml expect", text } => {
                    let expect: Expect = toml::from_str(&text).map_err(|e| at(e.to_string()))?;
                    let (Some(old), Some(new)) = (old.take(), new.take()) else {
                        return Err(at(format!("`expect` of `{name}` has no `sql old` and `sql new` before it")));
                    };
                    examples.push(Example { name: name.clone(), old, new, rows: std::mem::take(&mut rows), expect });
                }
                Block::Fence { info, text } => {
                    let Some(table) = info.strip_prefix("csv ") else {
                        return Err(at(format!(
                            "a block is marked `{info}`; examples have `sql old`, `sql new`, `csv TABLE` and `toml expect`"
                        )));
                    };
                    rows.push(TableRows { table: table.trim().to_owned(), csv: text });
                }
            }
        }
        match old.or(new).or(rows.pop().map(|r| r.csv)) {
            Some(_) => Err(at(format!("`{name}` has no `toml expect`"))),
            None => Ok(examples),
        }
    }
}

/// The page that a rule of this name stands in, if the file is named after it.
pub(super) fn stem_and_page<'p>(path: &'p str, id: &str) -> Result<&'p str, String> {
    let mut parts = path.rsplit('/');
    let stem = parts.next().unwrap_or_default().trim_end_matches(".md");
    let page = parts.next().unwrap_or_default();
    if id != stem {
        return Err(format!("the id is `{id}`, but the file is named `{stem}.md`"));
    }
    if !id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-') {
        return Err(format!("the id `{id}` is not kebab-case"));
    }
    Ok(page)
}

/// Everything before the examples.
pub(super) fn prose(body: &str) -> &str {
    body.split("\n## Examples").next().unwrap_or_default().trim()
}

/// `match` and `inferred` are one table, or an array of tables of which one must hold.
pub(super) fn patterns(key: &str, value: &toml::Value) -> Result<Vec<Pattern>, String> {
    match value {
        toml::Value::Table(table) => Ok(vec![Pattern::from_toml(table)?]),
        toml::Value::Array(tables) if !tables.is_empty() => tables
            .iter()
            .map(|t| Pattern::from_toml(t.as_table().ok_or(format!("every entry of `{key}` must be a table"))?))
            .collect(),
        _ => Err(format!("`{key}` must be a table of predicates, or several of them as `[[{key}]]`")),
    }
}

/// The front matter and what follows it.
pub(super) fn split(text: &str) -> Result<(&str, &str), String> {
    let text = text.strip_prefix("+++\n").ok_or("the first line must be `+++`")?;
    text.split_once("\n+++\n").ok_or_else(|| "the front matter has no closing `+++` line".to_owned())
}

/// A part of the examples.
pub(super) enum Block<'a> {
    Heading(&'a str),
    Fence { info: &'a str, text: String },
}

/// Headings and fenced blocks, in order.
pub(super) fn blocks(body: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut lines = body.lines();
    while let Some(line) = lines.next() {
        if let Some(heading) = line.strip_prefix("### ") {
            blocks.push(Block::Heading(heading.trim()));
        } else if let Some(info) = line.strip_prefix("```") {
            let mut text = String::new();
            for line in lines.by_ref().take_while(|l| !l.starts_with("```")) {
                text.push_str(line);
                text.push('\n');
            }
            blocks.push(Block::Fence { info: info.trim(), text });
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: &str = "+++\nid = 'x'\ntitle = 't'\ntargets = ['vvr']\nmatch = { change = 'filter' }\n\
        verdict = 'compatible'\nbasis = 'documented'\nconsequence = 'none'\ndocumented = []\nmessage = 'm'\n\
        help = 'h'\nsource = { url = 'u', date = 'd' }\n+++\n\nProse.\n\n## Examples\n\n### One\n\n\
        ```sql old\nSELECT 1\n```\n\n```sql new\nSELECT 2\n```\n\n```toml expect\nverdict = 'compatible'\n```\n";

    #[test]
    fn a_rule_file_is_read() {
        let rule = Rule::parse("vvr/p/x.md", RULE).unwrap();
        assert_eq!((rule.page.as_str(), rule.prose()), ("p", "Prose."));
        let examples = rule.examples().unwrap();
        assert_eq!(examples.len(), 1);
        assert_eq!((examples[0].name.as_str(), examples[0].old.as_str()), ("One", "SELECT 1\n"));
    }

    #[test]
    fn mistakes_name_the_file_and_the_reason() {
        let error = |text: &str| Rule::parse("vvr/p/x.md", text).unwrap_err();
        assert_eq!(error("id = 1"), "rules/vvr/p/x.md: the first line must be `+++`");
        assert_eq!(error("+++\nid = 1"), "rules/vvr/p/x.md: the front matter has no closing `+++` line");
        assert!(error(&RULE.replace("id = 'x'", "id = 'y'")).contains("the file is named `x.md`"));
        assert!(error(&RULE.replace("basis =", "basics =")).contains("unknown field `basics`"));
        assert!(error(&RULE.replace("'vvr'", "'flonk'")).contains("the targets are vvr, flink-1.20, flink-2.2"));
        assert!(error(&RULE.replace("'m'", "'{old'")).contains("`{` is not closed"));
    }

    #[test]
    fn an_example_without_expectation_is_refused() {
        let rule = Rule::parse("vvr/p/x.md", &RULE.replace("toml expect", "toml expected")).unwrap();
        assert!(rule.examples().unwrap_err().contains("marked `toml expected`"));
    }
}
