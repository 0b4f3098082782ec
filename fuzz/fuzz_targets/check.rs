//! Any two scripts (a NUL between them) get a report; a script that plans is compatible with itself.
#![no_main]

use keepstate::check::{Options, Text, check};
use keepstate::rules::verdict::Verdict;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let (old, new) = text.split_once('\0').unwrap_or((text, text));
    let compare = |old: &str, new: &str| check(Text::new("old.sql", old), Text::new("new.sql", new), &Options::default());
    compare(old, new);
    let same = compare(old, old).report;
    assert!(!same.errors.is_empty() || same.verdict == Verdict::Compatible, "not compatible with itself");
});
