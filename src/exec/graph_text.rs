//! `plan --format mermaid|dot`: the plan as a graph, rows flowing up to the sinks.

use std::fmt::Write as _;

use super::Plan;

/// The languages of graphs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphLanguage {
    /// Mermaid, as GitHub and GitLab draw it in Markdown.
    Mermaid,
    /// Graphviz.
    Dot,
}

/// Plans as one graph. Operators that keep state have another shape; a sub-plan that several read is drawn once.
pub fn graph_text(plans: &[&Plan], language: GraphLanguage) -> String {
    let mut out = String::from(match language {
        GraphLanguage::Mermaid => "flowchart BT\n",
        GraphLanguage::Dot => "digraph plan {\n  rankdir=BT;\n  node [shape=box, fontname=monospace];\n",
    });
    for (job, plan) in plans.iter().enumerate() {
        // Operators of several jobs have numbers of their own.
        let prefix = if plans.len() > 1 { format!("j{}n", job + 1) } else { "n".to_owned() };
        for id in plan.ids() {
            let (text, number) = (plan.text(id), id.shown());
            let stateful = plan.node(id).op.is_stateful();
            let _ = match (language, stateful) {
                (GraphLanguage::Mermaid, true) => writeln!(out, "  {prefix}{number}[(\"{}\")]", mermaid(&text)),
                (GraphLanguage::Mermaid, false) => writeln!(out, "  {prefix}{number}[\"{}\"]", mermaid(&text)),
                (GraphLanguage::Dot, true) => {
                    writeln!(out, "  {prefix}{number} [label=\"{}\", shape=cylinder];", dot(&text))
                }
                (GraphLanguage::Dot, false) => writeln!(out, "  {prefix}{number} [label=\"{}\"];", dot(&text)),
            };
        }
        for id in plan.ids() {
            for input in &plan.node(id).inputs {
                let (from, to) = (input.shown(), id.shown());
                let _ = match language {
                    GraphLanguage::Mermaid => writeln!(out, "  {prefix}{from} --> {prefix}{to}"),
                    GraphLanguage::Dot => writeln!(out, "  {prefix}{from} -> {prefix}{to};"),
                };
            }
        }
    }
    if language == GraphLanguage::Dot {
        out.push_str("}\n");
    }
    out
}

/// A label of Mermaid: what it would read as markup is written as entities.
fn mermaid(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '"' => out.push_str("#quot;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '#' => out.push_str("#35;"),
            '&' => out.push_str("#amp;"),
            '`' => out.push_str("#96;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// A label of Graphviz.
fn dot(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_hold_no_markup() {
        assert_eq!(mermaid("a<b>\"c\"#`\n"), "a#lt;b#gt;#quot;c#quot;#35;#96; ");
        assert_eq!(dot("\"\\n\""), "\\\"\\\\n\\\"");
    }
}
