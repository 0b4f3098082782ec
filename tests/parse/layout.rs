//! Comments, white space and the letter case of keywords never change a tree.

use proptest::prelude::*;

use super::{dump, parse_text, scripts};

/// Cuts a text where white space may stand: outside strings, quoted names, comments, hints, placeholders.
fn cuts(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut i) = (0, 0);
    while i < text.len() {
        let rest = &text[i..];
        let skip = |from: usize, close: &str| rest[from..].find(close).map_or(rest.len(), |at| from + at + close.len());
        let len = match rest.as_bytes() {
            [b'\'', ..] => skip(1, "'"),
            [b'`', ..] => skip(1, "`"),
            [b'-', b'-', ..] => skip(2, "\n"),
            [b'/', b'*', ..] => skip(2, "*/"),
            [b'$', b'{', ..] => skip(2, "}"),
            [b'{', b'{', ..] => skip(2, "}}"),
            [b' ' | b'\n', ..] => {
                pieces.push(&text[start..i]);
                start = i + 1;
                1
            }
            _ => rest.chars().next().map_or(1, char::len_utf8),
        };
        i += len;
    }
    pieces.push(&text[start..]);
    pieces
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn layout_does_not_matter(fillers in prop::collection::vec(prop::sample::select(vec![
        " ", "\n", "\t  \r\n", " /* c */ ", " -- c; 'x\n", " /**/ ", "\n\n  /* + x */ ",
    ]), 1..20)) {
        for (name, text) in scripts("ok") {
            // Unquoted values of SET keep their blanks, prompts stand at the start of a line, and so do continued strings.
            if name == "statements" {
                continue;
            }
            let mut filler = fillers.iter().cycle();
            let mut changed = String::new();
            for piece in cuts(&text) {
                changed.push_str(piece);
                changed.push_str(filler.next().expect("endless"));
            }
            let (_, before) = parse_text(&text);
            let (_, after) = parse_text(&changed);
            prop_assert_eq!(&after.errors, &[], "{}", changed);
            prop_assert_eq!(dump::script(&before), dump::script(&after));
        }
    }

    #[test]
    fn any_text_gets_an_answer(text in "[a-z(),.;'`\"${}/*+#\\-\\[\\]<>=:é ]{0,80}") {
        let (sources, script) = parse_text(&text);
        for error in &script.errors {
            prop_assert!((error.span.end as usize) <= text.len() && error.span.start <= error.span.end);
            sources.positions(error.span);
        }
    }

    #[test]
    fn cut_and_mixed_scripts_get_an_answer(from in 0usize..4000, len in 0usize..4000) {
        let all: String = scripts("ok").into_iter().map(|(_, text)| text).collect();
        let piece: String = all.chars().skip(from).take(len).collect();
        let (_, script) = parse_text(&piece);
        for statement in &script.statements {
            prop_assert!((statement.span.end as usize) <= piece.len());
        }
    }
}
