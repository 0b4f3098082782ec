//! Text of others in Markdown: nothing in it may be markup, a link, a mention or the end of what it stands in.

use std::fmt::Write as _;

use crate::terminal::visible_line;

/// Longer names and sentences are cut.
const LONG: usize = 1000;

/// A name, as code on one line.
pub fn code(text: &str) -> String {
    let text = clipped(text, LONG);
    let text = visible_line(&text);
    // In a span of code only backticks mean something, and in a table bars.
    if !text.contains(['`', '|']) && !text.is_empty() && text.trim() == text {
        return format!("`{text}`");
    }
    format!("<code>{}</code>", entities(&text, false))
}

/// A sentence in which names stand in backticks.
pub fn sentence(text: &str) -> String {
    let text = clipped(text, LONG);
    let parts: Vec<&str> = text.split('`').collect();
    // With a backtick too many it cannot be told which parts are names; all of it is plain text then.
    if parts.len().is_multiple_of(2) {
        return entities(&visible_line(&text), true);
    }
    let mut out = String::new();
    for (n, part) in parts.iter().enumerate().filter(|(_, part)| !part.is_empty()) {
        // Spaces at the ends of parts matter, so lines are made of each by itself.
        out.push_str(&if n % 2 == 1 { code(part) } else { entities(&part_of_line(part), true) });
    }
    out
}

fn part_of_line(text: &str) -> String {
    crate::terminal::visible(text).replace(['\n', '\t'], " ")
}

/// The text with everything that Markdown, HTML or a service could act on as character references.
fn entities(text: &str, prose: bool) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '|' | '`' | '*' | '_' | '[' | ']' | '~' | '$' | '\\' | '#' | '@' | '!' | '{' | '}' => {
                let _ = write!(out, "&#{};", u32::from(c));
                // References are resolved before mentions and issues are looked for, which code is spared. A space of no width parts
                // them.
                if prose && matches!(c, '@' | '#') {
                    out.push_str("&#8203;");
                }
            }
            // Of a scheme: what follows would become a link.
            ':' if chars.peek() == Some(&'/') => out.push_str("&#58;"),
            '.' if out.ends_with("www") => out.push_str("&#46;"),
            c => out.push(c),
        }
    }
    out
}

/// A block of code, in a fence that nothing in it can close.
pub fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let text = text.trim_end_matches('\n');
    format!("{fence}{language}\n{text}\n{fence}\n")
}

/// A link to a page of the rule book.
pub fn link(words: &str, url: &str) -> Option<String> {
    let fine = |c: char| c.is_ascii_graphic() && !matches!(c, '<' | '>' | '(' | ')' | '\\' | '`' | '|');
    let safe = (url.starts_with("https://") || url.starts_with("http://")) && url.chars().all(fine);
    safe.then(|| format!("[{words}]({url})"))
}

/// At most so many characters of a text.
pub fn clipped(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_only_names() {
        assert_eq!(code("a|b`<i>\n@x"), "<code>a&#124;b&#96;&lt;i&gt; &#64;x</code>");
        assert_eq!(code("|https://x www.y"), "<code>&#124;https&#58;//x www&#46;y</code>");
        assert_eq!(code("a_b <i> @x"), "`a_b <i> @x`");
        assert_eq!(code(" "), "<code> </code>");
    }

    #[test]
    fn sentences_keep_their_names() {
        assert_eq!(sentence("of `a_b` and *"), "of `a_b` and &#42;");
        assert_eq!(sentence("ask @team of #1 ` and"), "ask &#64;&#8203;team of &#35;&#8203;1 &#96; and");
        assert_eq!(sentence(&"x".repeat(2000)).chars().count(), 1001);
    }

    #[test]
    fn a_fence_holds() {
        assert_eq!(fenced("sql", "a"), "```sql\na\n```\n");
        assert_eq!(fenced("", "```\nx ````` y"), "``````\n```\nx ````` y\n``````\n");
    }

    #[test]
    fn only_plain_links_are_links() {
        assert_eq!(link("source", "https://a.org/b?c#d").as_deref(), Some("[source](https://a.org/b?c#d)"));
        assert_eq!(link("source", "javascript:x"), None);
        assert_eq!(link("source", "https://a) b"), None);
    }
}
