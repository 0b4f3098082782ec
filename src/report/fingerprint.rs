//! Stable names of findings, for allow-lists and for services that track findings over time.
//!
//! A fingerprint is made of the rule, the job, the operator's path and the arguments. Messages, lines and the order of
//! findings are no part of it, so that it survives rewording and edits elsewhere.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

/// The fingerprint of a finding: 12 hexadecimal digits.
pub fn fingerprint(rule: &str, job: &str, path: &str, args: &[(String, String)]) -> String {
    let mut args: Vec<&(String, String)> = args.iter().collect();
    args.sort();
    let mut hash = Sha256::new();
    // Every part is preceded by its length, so that parts cannot run into each other.
    let mut part = |text: &str| {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    };
    for text in [rule, job, path] {
        part(text);
    }
    for (name, value) in args {
        part(name);
        part(value);
    }
    hash.finalize().iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

/// Tells equal fingerprints of one report apart: the second becomes `...-2`, the third `...-3`.
#[derive(Debug, Default)]
pub struct Numbered(HashMap<String, u32>);

impl Numbered {
    /// The fingerprint as it stands in the report.
    pub fn next(&mut self, fingerprint: String) -> String {
        let count = self.0.entry(fingerprint.clone()).or_insert(0);
        *count += 1;
        if *count == 1 { fingerprint } else { format!("{fingerprint}-{count}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect()
    }

    #[test]
    fn the_order_of_arguments_does_not_count() {
        let one = fingerprint("r", "j", "p", &args(&[("a", "1"), ("b", "2")]));
        assert_eq!(one, fingerprint("r", "j", "p", &args(&[("b", "2"), ("a", "1")])));
        assert_eq!(one.len(), 12);
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(fingerprint("ab", "c", "", &[]), fingerprint("a", "bc", "", &[]));
        assert_ne!(fingerprint("r", "j", "p", &args(&[("a", "b")])), fingerprint("r", "j", "p", &args(&[("ab", "")])));
    }

    /// The value is kept in allow-lists of users: it must never change.
    #[test]
    fn the_value_is_stable() {
        assert_eq!(fingerprint("rule", "job", "Sink(a)/Rank", &args(&[("old", "2"), ("new", "3")])), "1e15f3242732");
    }

    #[test]
    fn equal_fingerprints_are_numbered() {
        let mut numbered = Numbered::default();
        let names: Vec<_> = ["x", "x", "y", "x"].iter().map(|f| numbered.next((*f).to_owned())).collect();
        assert_eq!(names, ["x", "x-2", "y", "x-3"]);
    }
}
