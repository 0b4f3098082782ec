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

/// Both texts in full, line beside line; `width` is that of both together. Long lines go on below. `|` is between lines that differ,
/// `<` and `>` after and before those that only one side has.
pub fn side_by_side(old: (&str, &str), new: (&str, &str), width: usize, style: Style) -> String {
    let half = (width.saturating_sub(3) / 2).max(10);
    let mut out = String::new();
    let mut row = |left: &str, sign: char, right: &str| {
        let color = match sign {
            '|' => "33",
            '<' => "31",
            '>' => "32",
            _ => "0",
        };
        let (left, right) = (wrapped(left, half), wrapped(right, half));
        for i in 0..left.len().max(right.len()) {
            let part = |side: &[String]| side.get(i).cloned().unwrap_or_default();
            let (left, right) = (part(&left), part(&right));
            let pad = " ".repeat(half.saturating_sub(left.chars().count()));
            let line = format!("{left}{pad} {sign} {right}");
            let line = line.trim_end();
            out.push_str(&if sign == ' ' { line.to_owned() } else { paint(line, color, style) });
            out.push('\n');
        }
    };
    row(old.0, ' ', new.0);
    let (olds, news): (Vec<&str>, Vec<&str>) = (old.1.lines().collect(), new.1.lines().collect());
    for op in TextDiff::from_slices(&olds, &news).ops() {
        let (left, right) = (&olds[op.old_range()], &news[op.new_range()]);
        for i in 0..left.len().max(right.len()) {
            match (left.get(i), right.get(i)) {
                (Some(l), Some(r)) => row(l, if l == r { ' ' } else { '|' }, r),
                (Some(l), None) => row(l, '<', ""),
                (None, Some(r)) => row("", '>', r),
                (None, None) => {}
            }
        }
    }
    out
}

/// A line in pieces of at most so many characters; those after the first are indented as the line is.
fn wrapped(line: &str, width: usize) -> Vec<String> {
    let indent = line.chars().take_while(|c| matches!(c, ' ' | ':' | '+' | '-')).count().min(width / 2);
    let characters: Vec<char> = line.chars().collect();
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < characters.len() || pieces.is_empty() {
        let lead = if at == 0 { 0 } else { indent };
        let end = (at + width - lead).min(characters.len());
        pieces.push(" ".repeat(lead) + &characters[at..end].iter().collect::<String>());
        at = end;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stand_beside_each_other() {
        let text = side_by_side(("a", "x\ny\nz\n"), ("b", "x\nw\n"), 23, Style::default());
        assert_eq!(text, "a            b\nx            x\ny          | w\nz          <\n");
        let long = side_by_side(("a", "+- abcdefghijkl\n"), ("b", "+- abcdefghijkl\n"), 23, Style::default());
        assert_eq!(long, "a            b\n+- abcdefg   +- abcdefg\n   hijkl        hijkl\n");
    }

    #[test]
    fn only_what_differs_is_shown() {
        let text = unified(("a", "x\ny\n"), ("b", "x\nz\n"), Style::default());
        assert_eq!(text, "--- a\n+++ b\n x\n-y\n+z\n");
        assert_eq!(unified(("a", "x\n"), ("b", "x\n"), Style::default()), "");
    }
}
