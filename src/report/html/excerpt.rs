//! Lines of a script around a place, with the place marked.

use std::fmt::Write as _;

use super::text::{escaped, line};
use crate::report::excerpt::MaskedTexts;
use crate::report::model::Place;

/// Lines shown before and after the place.
const AROUND: usize = 2;
/// The longest place that is shown in whole.
const LINES: usize = 30;
/// Of longer lines a part is shown: so many bytes before the mark, and so many at most.
const BEFORE: usize = 40;
const LONG: usize = 120;

/// The place with its lines. `label` says whose they are.
pub(super) fn excerpt(texts: &MaskedTexts<'_>, place: &Place, label: &str) -> String {
    let (file, text) = (texts.file(place), texts.text(place));
    let last = place.span.end.saturating_sub(1).max(place.span.start);
    let (first, last) = (file.line(place.span.start).0, file.line(last).0);
    let shown = first.saturating_sub(AROUND)..=last.min(first + LINES - 1) + AROUND;
    let mut rows = String::new();
    let mut at = file.line(place.span.start).1.start;
    for _ in *shown.start()..first {
        at = file.line(at.saturating_sub(1) as u32).1.start;
    }
    for number in shown {
        let (n, whole) = file.line(at as u32);
        // The last line has been shown, or is what stands behind the last line break.
        if n != number || at > text.len() || (at == text.len() && n > last) {
            break;
        }
        let carriage_return = usize::from(text.as_bytes().get(whole.clone()).is_some_and(|line| line.ends_with(b"\r")));
        let bounds = whole.start..whole.end - carriage_return;
        let (start, end) = (place.span.start as usize, place.span.end as usize);
        let mark = (start.clamp(bounds.start, bounds.end), end.clamp(bounds.start, bounds.end));
        let is_marked = (first..=last).contains(&n) && mark.0 < mark.1;
        let (from, to) = window(&text, (bounds.start, bounds.end), mark.0);
        let cut = |a: usize, b: usize| escaped(text.get(a.max(from)..b.min(to).max(a.max(from))).unwrap_or_default());
        let (head, tail) = (if from > bounds.start { "…" } else { "" }, if to < bounds.end { "…" } else { "" });
        let content = if is_marked {
            format!("{}<mark>{}</mark>{}", cut(bounds.start, mark.0), cut(mark.0, mark.1), cut(mark.1, bounds.end))
        } else {
            cut(bounds.start, bounds.end)
        };
        let _ = writeln!(rows, "<span class=\"number\" aria-hidden=\"true\">{:>4}</span> {head}{content}{tail}", n + 1);
        at = whole.end + 1;
        if at > text.len() {
            break;
        }
    }
    if last >= first + LINES {
        let _ = writeln!(
            rows,
            "<span class=\"number\" aria-hidden=\"true\">   …</span> {} more lines",
            last + 1 - first - LINES
        );
    }
    format!(
        "<figure class=\"sql\"><figcaption><span>{label}</span> {}</figcaption><pre tabindex=\"0\" aria-label=\"SQL, {label}\"><code>{rows}\
         </code></pre></figure>",
        where_it_is(place)
    )
}

/// The part of a line that is shown.
fn window(text: &str, (start, end): (usize, usize), mark: usize) -> (usize, usize) {
    if end - start <= LONG {
        return (start, end);
    }
    let floor = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let from = floor(mark.saturating_sub(BEFORE).max(start));
    (from, floor((from + LONG).min(end)))
}

/// The name of a place.
pub(super) fn where_it_is(at: &Place) -> String {
    format!("<code>{}:{}:{}</code>", line(&at.file), at.start.line, at.start.column)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::{SourceMap, Span};

    fn shown(text: &str, what: &str) -> String {
        let mut sources = SourceMap::new();
        let file = sources.add("a.sql", text);
        let start = text.find(what).unwrap();
        let place = Place::of(&sources, Span::new(file, start, start + what.len()));
        let out = excerpt(&MaskedTexts::new(&sources), &place, "old");
        out.split("<code>")
            .last()
            .unwrap()
            .split("</code>")
            .next()
            .unwrap()
            .replace("<span class=\"number\" aria-hidden=\"true\">", "")
            .replace("</span>", "")
    }

    #[test]
    fn two_lines_stand_around_the_mark() {
        let text = "one\ntwo\nthree\nfour <4>\nfive\nsix\nseven";
        assert_eq!(shown(text, "<4>"), "   2 two\n   3 three\n   4 four <mark>&lt;4&gt;</mark>\n   5 five\n   6 six\n");
        assert_eq!(shown(text, "one"), "   1 <mark>one</mark>\n   2 two\n   3 three\n");
        assert_eq!(shown(text, "seven"), "   5 five\n   6 six\n   7 <mark>seven</mark>\n");
    }

    #[test]
    fn a_mark_may_take_lines_and_secrets_stay_hidden() {
        assert_eq!(shown("a b\nc d\n", "b\nc"), "   1 a <mark>b</mark>\n   2 <mark>c</mark> d\n");
        assert_eq!(
            shown("'password' = 'hunter2'", "'hunter2'"),
            "   1 &#39;password&#39; = <mark>&#39;*******&#39;</mark>\n"
        );
    }

    #[test]
    fn long_lines_and_long_places_are_cut() {
        let text = format!("{}here{}", "ä".repeat(5000), "ü".repeat(5000));
        let out = shown(&text, "here");
        assert!(
            out.starts_with("   1 …ä") && out.contains("<mark>here</mark>ü") && out.trim_end().ends_with("ü…"),
            "{out}"
        );
        assert!(out.chars().count() < 150);
        let many = "x\n".repeat(100);
        assert!(shown(&many, &many).ends_with("   … 70 more lines\n"), "{}", shown(&many, &many));
    }
}
