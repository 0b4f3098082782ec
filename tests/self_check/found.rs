//! What random jobs found, in its smallest form.

use keepstate::rules::verdict::Verdict;
use keepstate::target::Target;

use super::{compare, same};

const TABLE: &str = "CREATE TABLE t (a INT, b BIGINT, s STRING) WITH ('connector' = 'stub');
CREATE TABLE u (a INT, b BIGINT, s STRING) WITH ('connector' = 'stub');";

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
fn constants_have_types() {
    let query = |e: &str| format!("SELECT b, SUM({e}) AS m FROM t GROUP BY b");
    for (old, new) in [
        ("CAST(1 AS INT)", "CAST(1 AS DECIMAL(5, 1))"),
        ("CASE WHEN a > 0 THEN 1 ELSE 0 END", "CASE WHEN a > 0 THEN CAST(1 AS BIGINT) ELSE 0 END"),
        ("1", "CAST(1 AS BIGINT)"),
    ] {
        assert_eq!(verdict(&query(old), &query(new)), Verdict::Incompatible, "{old} and {new}");
    }
}

#[test]
fn constants_belong_to_their_branch() {
    let query = |x: &str, y: &str| {
        format!("SELECT k, SUM(b) AS m FROM (SELECT {x} AS k, b FROM t UNION ALL SELECT {y} AS k, b FROM u) GROUP BY k")
    };
    assert_eq!(verdict(&query("1", "2"), &query("2", "1")), Verdict::Incompatible);
    let of_one_table = |x: &str, y: &str| {
        format!(
            "SELECT k, SUM(b) AS m FROM (SELECT {x} AS k, b FROM t WHERE a = 1 UNION ALL SELECT {y} AS k, b FROM t \
             WHERE a = 2) GROUP BY k"
        )
    };
    assert_eq!(verdict(&of_one_table("1", "2"), &of_one_table("2", "1")), Verdict::Incompatible);
}

#[test]
fn a_column_that_equals_itself_is_not_null() {
    let query = |filter: &str| format!("SELECT b, COUNT(*) {filter} AS n FROM t GROUP BY b");
    assert_ne!(verdict(&query(""), &query("FILTER (WHERE a = a)")), Verdict::Compatible);
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
