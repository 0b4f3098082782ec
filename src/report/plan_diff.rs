//! Two plans line by line.

use similar::{ChangeTag, TextDiff};

use super::human::{Style, paint};

/// A unified diff; empty if the texts are the same.
pub fn unified(old: (&str, &str), new: (&str, &str), style: Style) -> String {
    let diff = TextDiff::from_lines(old.1, new.1);
    let mut out = String::new();
    for group in diff.grouped_ops(3) {
        if out.is_empty() {
            out.push_str(&paint(&format!("--- {}", old.0), "1", style));
            out.push('\n');
            out.push_str(&paint(&format!("+++ {}", new.0), "1", style));
            out.push('\n');
        } else {
            out.push_str(&paint("...", "36", style));
            out.push('\n');
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let (sign, color) = match change.tag() {
                ChangeTag::Delete => ('-', Some("31")),
                ChangeTag::Insert => ('+', Some("32")),
                ChangeTag::Equal => (' ', None),
            };
            let line = format!("{sign}{}", change.value().trim_end_matches('\n'));
            out.push_str(&color.map_or_else(|| line.clone(), |color| paint(&line, color, style)));
            out.push('\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_shown() {
        let text = unified(("a", "x\ny\n"), ("b", "x\nz\n"), Style::default());
        assert_eq!(text, "--- a\n+++ b\n x\n-y\n+z\n");
        assert_eq!(unified(("a", "x\n"), ("b", "x\n"), Style::default()), "");
    }
}
