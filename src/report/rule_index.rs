//! The index of the rule book as Markdown: every rule, and which rules decide each documented row.

use std::fmt::Write as _;

use crate::rules::RuleBook;
use crate::rules::file::Scope;
use crate::rules::lint::LintRule;
use crate::rules::rows::{Row, Rows};
use crate::rules::verdict::Basis;

/// Writes the index of a rule book. Links are those of a document in `docs/`.
pub fn render(book: &RuleBook, rows: &Rows) -> String {
    let mut out = String::from(
        "# The rules\n\nMade by `keepstate rules --format markdown > docs/rules.md`; do not edit it. Every rule is a file under `rules/` \
         (`rules/README.md` says how it is read), and `keepstate explain RULE` prints it.\n\n## Changes\n\nWhat a change does to the \
         state. Where a rule rests on a page only in part, the other part is inferred.\n",
    );
    for page in pages(book.rules(), |r| &r.page) {
        let _ = write!(
            out,
            "\n### {}\n\n| rule | verdict | basis | rows | targets | source |\n|---|---|---|---|---|---|\n",
            page[0].page
        );
        for rule in page {
            let basis = match rule.basis {
                Basis::Documented if !rule.inferred.is_empty() => "documented, in part inferred",
                basis => basis.name(),
            };
            let scope = if rule.scope == Scope::Job { " (whole job)" } else { "" };
            let _ = writeln!(
                out,
                "| {}{scope}: {} | {} | {basis} | {} | {} | {} |",
                link(&rule.id, &rule.path),
                cell(&rule.title),
                rule.verdict,
                rule.documented.join(", "),
                targets(&rule.targets),
                source(&rule.source.url, &rule.source.date),
            );
        }
    }
    out.push_str("\n## Lints\n\nWhat `keepstate lint` finds in one script.\n");
    for page in pages(book.lints(), |r| &r.page) {
        let _ = write!(
            out,
            "\n### lint: {}\n\n| rule | level | basis | targets | source |\n|---|---|---|---|---|\n",
            page[0].page
        );
        for rule in page {
            out.push_str(&lint_line(rule));
        }
    }
    out.push_str(
        "\n## Documented rows\n\nEvery row of the documents that carries a verdict, in the order of their pages, with the rules that \
         cite it.\n",
    );
    for page in &rows.pages {
        let _ = write!(
            out,
            "\n### Rows: {}\n\n| row | change | documented verdict | rules |\n|---|---|---|---|\n",
            page.name
        );
        for row in &page.rows {
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} |",
                row.id,
                cell(&row.change),
                cell(&row.verdict),
                decided_by(book, row)
            );
        }
    }
    out
}

fn lint_line(rule: &LintRule) -> String {
    format!(
        "| {}: {} | {} | {} | {} | {} |\n",
        link(&rule.id, &rule.path),
        cell(&rule.title),
        rule.level,
        rule.basis.name(),
        targets(&rule.targets),
        source(&rule.source.url, &rule.source.date)
    )
}

/// The rules of a row, or why there are none.
fn decided_by(book: &RuleBook, row: &Row) -> String {
    let rules: Vec<String> =
        book.rules().iter().filter(|r| r.documented.contains(&row.id)).map(|r| link(&r.id, &r.path)).collect();
    match (&row.undecided, &row.pending) {
        _ if !rules.is_empty() => rules.join(", "),
        (Some(why), _) => format!("none: {}", cell(why)),
        (None, Some(what)) => format!("none yet: {} cannot be planned", cell(what)),
        (None, None) => "none".to_owned(),
    }
}

/// Rules in the order of their pages, in groups; rules of one page may stand in the folders of several engines.
fn pages<T>(rules: &[T], page: impl Fn(&T) -> &String) -> Vec<Vec<&T>> {
    let mut groups: Vec<Vec<&T>> = Vec::new();
    for rule in rules {
        match groups.iter_mut().find(|g| page(g[0]) == page(rule)) {
            Some(group) => group.push(rule),
            None => groups.push(vec![rule]),
        }
    }
    groups
}

fn link(id: &str, path: &str) -> String {
    format!("[`{id}`](../rules/{path})")
}

fn source(url: &str, date: &str) -> String {
    format!("[{date}]({url})")
}

fn targets(targets: &[crate::target::Target]) -> String {
    targets.iter().map(|t| t.name()).collect::<Vec<_>>().join(", ")
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
