//! Any text gets statements and errors, and their places are inside of it.
#![no_main]

use std::collections::BTreeMap;

use keepstate::source::SourceMap;
use keepstate::syntax;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut sources = SourceMap::new();
    let file = sources.add("fuzz.sql", text);
    let script = syntax::parse(&sources, file, &BTreeMap::new());
    let spans = script.statements.iter().map(|s| s.span).chain(script.errors.iter().map(|e| e.span));
    for span in spans {
        assert!(span.start <= span.end && span.end as usize <= text.len());
        sources.positions(span);
    }
});
