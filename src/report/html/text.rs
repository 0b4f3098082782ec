//! Text of others in HTML: nothing in it may be markup, end what it stands in, or reorder what stands beside it.
//!
//! What is written is also well-formed XML, so that a strict parser can read the page back.

use crate::terminal::{acts, visible, visible_line};

/// Longer texts are cut: a reader looks at the script instead.
const LONG: usize = 20_000;

/// A text of one or more lines, for the content of an element or the value of an attribute in double quotes.
pub(super) fn escaped(text: &str) -> String {
    let text = clipped(text, LONG);
    let mut out = String::with_capacity(text.len() + 16);
    for c in visible(&text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // No characters at all, which no document may hold.
            c if u32::from(c) & 0xfffe == 0xfffe => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}

/// The same on one line.
pub(super) fn line(text: &str) -> String {
    escaped(&visible_line(text))
}

/// A name, set as code.
pub(super) fn code(text: &str) -> String {
    format!("<code>{}</code>", line(text))
}

/// Prose with names in backticks.
pub(super) fn sentence(text: &str) -> String {
    let text = clipped(text, LONG);
    let parts: Vec<&str> = text.split('`').collect();
    // With a backtick too many it cannot be told which parts are names.
    if parts.len().is_multiple_of(2) {
        return line(&text);
    }
    let mut out = String::new();
    for (n, part) in parts.iter().enumerate().filter(|(_, part)| !part.is_empty()) {
        if n % 2 == 1 {
            out.push_str(&code(part));
        } else {
            // Spaces at the ends of parts matter.
            out.push_str(&escaped(part).replace(['\n', '\t'], " "));
        }
    }
    out
}

/// A link to a page, if the address is one; else the words alone.
pub(super) fn link(words: &str, url: &str) -> String {
    let web = url.starts_with("https://") || url.starts_with("http://");
    if web && !url.contains(|c: char| acts(c) || c.is_whitespace()) {
        format!("<a href=\"{}\" rel=\"noopener noreferrer\">{words}</a>", escaped(url))
    } else {
        words.to_owned()
    }
}

/// A text of at most so many characters.
pub(super) fn clipped(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// A number with the word that fits it.
pub(super) fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_markup() {
        assert_eq!(escaped("</script>\"'&"), "&lt;/script&gt;&quot;&#39;&amp;");
        assert_eq!(escaped("a\u{0}\u{202e}b\u{ffff}\u{1fffe}\n"), "a\\u{0}\\u{202e}b\\u{ffff}\\u{1fffe}\n");
        assert_eq!(line("a\nb"), "a b");
    }

    #[test]
    fn names_in_sentences_are_code() {
        assert_eq!(sentence("of `a<b` and"), "of <code>a&lt;b</code> and");
        assert_eq!(sentence("one ` only"), "one ` only");
        assert_eq!(sentence("``"), "");
    }

    #[test]
    fn only_addresses_of_the_web_are_links() {
        assert!(link("page", "https://a.org/?b=\"c\"").contains("href=\"https://a.org/?b=&quot;c&quot;\""));
        for bad in ["javascript:alert(1)", "data:text/html,x", "https://a b", "https://a\u{202e}b"] {
            assert_eq!(link("page", bad), "page");
        }
    }
}
