//! The rule book: judges the changes that `diff` states and what `observe` sees.
//!
//! Every rule is a Markdown file under `rules/`, found by `build.rs`; see `rules/README.md` for its form. The code here
//! reads them, matches them and combines what they say; it knows no rule by name.

pub mod file;
pub mod judge;
pub mod lint;
pub mod matcher;
pub mod rows;
pub mod template;
pub mod verdict;
pub mod vocabulary;

use std::sync::OnceLock;

use file::Rule;
use lint::LintRule;

/// The embedded rule files: path below `rules/`, text.
static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/rule_files.rs"));

/// All rules.
#[derive(Debug)]
pub struct RuleBook {
    rules: Vec<Rule>,
    lints: Vec<LintRule>,
}

impl RuleBook {
    /// Reads rules from texts: pairs of a path below `rules/` and the file's text. Refuses a book with mistakes.
    pub fn parse<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<RuleBook, Vec<String>> {
        let (mut rules, mut lints, mut errors) = (Vec::<Rule>::new(), Vec::<LintRule>::new(), Vec::new());
        let mut names: Vec<String> = Vec::new();
        for (path, text) in files {
            let read = if path.starts_with("lint/") {
                LintRule::parse(path, text).map(|rule| {
                    names.push(rule.id.clone());
                    lints.push(rule);
                })
            } else {
                Rule::parse(path, text).map(|rule| {
                    names.push(rule.id.clone());
                    rules.push(rule);
                })
            };
            match (read, names.split_last()) {
                (Err(why), _) => errors.push(why),
                (Ok(()), Some((name, others))) if others.contains(name) => {
                    errors.push(format!("rules/{path}: there is another rule named `{name}`"));
                }
                (Ok(()), _) => {}
            }
        }
        let unknown = |id: &str, over: &str| format!("`{id}` overrides `{over}`, but there is no such rule");
        for rule in &rules {
            for over in rule.overrides.iter().filter(|o| !rules.iter().any(|r| r.id == **o && r.scope == rule.scope)) {
                errors.push(unknown(&rule.id, over));
            }
        }
        for rule in &lints {
            for over in rule.overrides.iter().filter(|o| !lints.iter().any(|r| r.id == **o)) {
                errors.push(unknown(&rule.id, over));
            }
        }
        if errors.is_empty() { Ok(RuleBook { rules, lints }) } else { Err(errors) }
    }

    /// The rules that come with keepstate.
    pub fn embedded() -> &'static RuleBook {
        static BOOK: OnceLock<RuleBook> = OnceLock::new();
        BOOK.get_or_init(|| match RuleBook::parse(FILES.iter().copied()) {
            Ok(book) => book,
            // Cannot happen in a build whose tests passed: `tests/rules.rs` reads the same files.
            Err(errors) => panic!("the embedded rules are not well formed:\n{}", errors.join("\n")),
        })
    }

    /// All lint rules, in the order of their files.
    pub fn lints(&self) -> &[LintRule] {
        &self.lints
    }

    /// The lint rule of a name.
    pub fn lint(&self, id: &str) -> Option<&LintRule> {
        self.lints.iter().find(|r| r.id == id)
    }

    /// All rules that judge changes, in the order of their files.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The rule of a name.
    pub fn get(&self, id: &str) -> Option<&Rule> {
        self.rules.iter().find(|r| r.id == id)
    }

    /// The rules that a name asks for: a rule's name, or a documented row id such as `WTN-09` in any letter case.
    pub fn find(&self, name: &str) -> Vec<&Rule> {
        match self.get(name) {
            Some(rule) => vec![rule],
            None => self.rules.iter().filter(|r| r.documented.iter().any(|d| d.eq_ignore_ascii_case(name))).collect(),
        }
    }

    /// The known name that is nearest to a mistyped one.
    pub fn suggest(&self, name: &str) -> Option<&str> {
        let names = self
            .rules
            .iter()
            .flat_map(|r| std::iter::once(r.id.as_str()).chain(r.documented.iter().map(String::as_str)))
            .chain(self.lints.iter().map(|r| r.id.as_str()));
        crate::nearest::nearest(name, names)
    }
}
