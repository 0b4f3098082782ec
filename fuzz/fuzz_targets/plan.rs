//! Any script gets plans or errors, for every target.
#![no_main]

use std::collections::BTreeMap;

use keepstate::exec::plan_script;
use keepstate::source::SourceMap;
use keepstate::syntax;
use keepstate::target::Target;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut sources = SourceMap::new();
    let file = sources.add("fuzz.sql", text);
    let script = syntax::parse(&sources, file, &BTreeMap::new());
    for target in Target::ALL {
        let planned = plan_script(&[&script], target);
        assert!(planned.plans.is_empty() || planned.has_job);
    }
});
