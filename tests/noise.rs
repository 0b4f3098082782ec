//! Scripts with random slips get an answer or an error, never a panic: through parsing, planning and comparing.
//!
//! `KEEPSTATE_CASES` sets how many.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use keepstate::check::{Options, Text, check};
use keepstate::target::Target;

/// Numbers that are the same on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

/// All scripts of the tests and the rules' examples.
fn corpus() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    let mut folders = vec![root.join("tests"), root.join("rules")];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for path in entries.filter_map(Result::ok).map(|e| e.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "sql" || e == "md") {
                files.push(path);
            }
        }
    }
    files.sort();
    let texts = files.iter().filter_map(|f| std::fs::read_to_string(f).ok());
    let mut scripts: Vec<String> = Vec::new();
    for text in texts {
        let examples: Vec<&str> = text.split("```sql").skip(1).filter_map(|e| e.split("```").next()).collect();
        // What stands on the fence's line is `old` or `new`.
        scripts.extend(examples.iter().filter_map(|e| e.split_once('\n')).map(|(_, sql)| sql.to_owned()));
        if examples.is_empty() {
            scripts.push(text);
        }
    }
    scripts.retain(|s| s.len() < 20_000);
    assert!(scripts.len() > 20, "the corpus is gone");
    scripts
}

/// Cuts a text into words, blanks and marks.
fn tokens(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut word = false;
    for (i, c) in text.char_indices() {
        let is_word = c.is_alphanumeric() || c == '_';
        if i > start && !(word && is_word) {
            out.push(&text[start..i]);
            start = i;
        }
        word = is_word;
    }
    out.push(&text[start..]);
    out
}

fn changed(text: &str, other: &str, random: &mut Random) -> String {
    const NOISE: &[&str] = &[
        "(",
        ")",
        ",",
        ";",
        "'",
        "`",
        "NULL",
        "*",
        "-1",
        "9223372036854775808",
        "SELECT",
        "FROM",
        "OVER",
        "GROUP",
        "BY",
        "DISTINCT",
        "INTERVAL",
        "0",
        "''",
        "NOT",
        "CASE",
        "END",
        "AS",
        ".",
        "[",
        "<",
        "=",
        "/*",
        "--",
        "é",
        "\u{0}",
        "TABLE",
        "DESCRIPTOR",
        "ROW_NUMBER()",
        "PROCTIME()",
        "CAST",
        "DECIMAL(38, 38)",
        "WINDOW",
        "UNION ALL",
    ];
    let mut list = tokens(text);
    let others = tokens(other);
    for _ in 0..=random.below(4) {
        let at = random.below(list.len());
        match random.below(6) {
            0 => drop(list.remove(at)),
            1 => list.insert(at, NOISE[random.below(NOISE.len())]),
            2 => list[at] = NOISE[random.below(NOISE.len())],
            3 => list[at] = others[random.below(others.len())],
            4 => {
                let to = random.below(list.len());
                list.swap(at, to);
            }
            _ => list.insert(at, list[random.below(list.len())]),
        }
        if list.is_empty() {
            break;
        }
    }
    list.concat()
}

#[test]
fn slips_never_panic() {
    let corpus = corpus();
    let cases = std::env::var("KEEPSTATE_CASES").ok().and_then(|v| v.parse().ok()).unwrap_or(2_000);
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for case in 0..cases {
        let old = &corpus[random.below(corpus.len())];
        let other = &corpus[random.below(corpus.len())];
        let new = changed(old, other, &mut random);
        let target = Target::ALL[case % Target::ALL.len()];
        let options = Options { target, ..Options::default() };
        let work = || check(Text::new("old.sql", old.as_str()), Text::new("new.sql", new.as_str()), &options);
        let checked = catch_unwind(AssertUnwindSafe(work));
        assert!(checked.is_ok(), "case {case} for {target:?}\n--- old\n{old}\n--- new\n{new}");
    }
}
