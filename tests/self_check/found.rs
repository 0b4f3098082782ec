//! What random jobs found, in its smallest form.

use keepstate::rules::verdict::Verdict;
use keepstate::target::Target;

use super::{compare, same};

const TABLE: &str = "CREATE TABLE t (a INT, b BIGINT, s STRING) WITH ('connector' = 'stub');";

fn verdict(old: &str, new: &str) -> Verdict {
    let checked = compare(&format!("{TABLE}{old};"), &format!("{TABLE}{new};"), Target::Vvr);
    assert!(checked.report.errors.is_empty(), "{:?}", checked.report.errors);
    checked.report.verdict
}

#[test]
fn a_decimal_literal_changes_the_type_of_an_argument() {
    let query = |n: &str| format!("SELECT b, MAX(a + {n}) AS m FROM t GROUP BY b");
    assert_eq!(verdict(&query("1"), &query("1.0")), Verdict::Incompatible);
    let filtered = |n: &str| format!("SELECT b, COUNT(*) AS n FROM t WHERE a > {n} GROUP BY b");
    assert_eq!(verdict(&filtered("1"), &filtered("1.0")), Verdict::Compatible);
}

#[test]
fn a_condition_in_one_branch_over_a_shared_scan_counts() {
    let query = |condition: &str| {
        format!("SELECT DISTINCT a FROM (SELECT a, b FROM t UNION ALL SELECT a, a AS b FROM t {condition})")
    };
    assert_ne!(verdict(&query(""), &query("WHERE b <> 12345")), Verdict::Compatible);
}

#[test]
fn aggregates_spelled_differently_are_one() {
    let query = |having: &str| {
        format!(
            "{TABLE}SELECT m FROM (SELECT a, COUNT(*) FILTER (WHERE s = 'x') AS n, SUM(b) AS m FROM t GROUP BY a \
             HAVING COUNT(*) FILTER (WHERE {having}) > 1);"
        )
    };
    same(&query("s = 'x'"), &query("'x' = s"), Target::Vvr).unwrap_or_else(|e| panic!("{e}"));
}
