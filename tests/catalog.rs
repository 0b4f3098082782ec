//! DDL as Flink 1.20 takes and refuses it.

use std::collections::BTreeMap;

use keepstate::catalog::types::TimeAttribute;
use keepstate::catalog::{Catalog, Resolved, Table};
use keepstate::plan_error::PlanError;
use keepstate::source::SourceMap;
use keepstate::syntax::ast::{Ident, ObjectName};

/// Applies a script; the first error with the text that its span covers.
fn apply(sql: &str) -> Result<Catalog, (Box<PlanError>, String)> {
    let mut sources = SourceMap::new();
    let file = sources.add("x.sql", sql);
    let script = keepstate::syntax::parse(&sources, file, &BTreeMap::new());
    assert!(script.errors.is_empty(), "{sql}: {:?}", script.errors);
    let mut catalog = Catalog::new();
    for statement in &script.statements {
        if let Err(error) = catalog.apply(statement) {
            let at = error.span.map(|s| sources.text(s).to_owned()).unwrap_or_default();
            return Err((error, at));
        }
    }
    Ok(catalog)
}

fn name(text: &str) -> ObjectName {
    let parts = text.split('.').map(|p| Ident { value: p.to_owned(), quoted: false, span: Default::default() });
    ObjectName { parts: parts.collect(), span: Default::default() }
}

fn table(sql: &str, wanted: &str) -> Option<Table> {
    let catalog = apply(sql).ok()?;
    match catalog.resolve(&name(wanted)).ok()? {
        Resolved::Table(t) => Some((*t).clone()),
        _ => None,
    }
}

/// Columns with types, key and watermark in one line.
fn shape(table: &Table) -> String {
    let columns: Vec<String> = table.columns.iter().map(|c| format!("{} {}", c.name, c.ty)).collect();
    let key = table.primary_key.as_ref().map(|k| format!(" key {:?}", k.columns)).unwrap_or_default();
    let watermark = table.watermark.as_ref().map(|w| format!(" watermark {}", w.path.join("."))).unwrap_or_default();
    format!("{}{key}{watermark}", columns.join(", "))
}

const BASE: &str = "CREATE TABLE a (x INT, y STRING, ts TIMESTAMP(3), z AS x+1, WATERMARK FOR ts AS ts, \
    PRIMARY KEY (x) NOT ENFORCED) WITH ('connector'='stub', 'k'='v');";

#[test]
fn tables_keep_what_is_declared() {
    let table = table(BASE, "default_catalog.default_database.a").expect("the table");
    assert_eq!(shape(&table), "x INT NOT NULL, y VARCHAR(2147483647), ts TIMESTAMP(3), z ? key [0] watermark ts");
    assert_eq!(table.columns[2].ty.time_attribute(), TimeAttribute::None);
    assert_eq!(table.options.get("connector"), Some("stub"));
}

#[test]
fn refusals_point_at_the_clause() {
    let cases = [
        ("CREATE TABLE a (x INT, x INT)", "x", "A column named 'x' already exists"),
        ("CREATE TABLE a (x INT, PRIMARY KEY (y) NOT ENFORCED)", "y", "Primary key column 'y' is not defined"),
        ("CREATE TABLE a (x INT, y AS x+1, PRIMARY KEY (y) NOT ENFORCED)", "y", "must be declared on physical columns"),
        ("CREATE TABLE a (x INT, WATERMARK FOR y AS y)", "y", "The rowtime attribute field 'y' is not defined"),
        ("CREATE TABLE a (x TIMESTAMP(6), WATERMARK FOR x AS x)", "x", "Invalid data type of time field"),
        ("CREATE TABLE a (x STRING, WATERMARK FOR x AS x)", "x", "Invalid data type of time field"),
        ("CREATE TABLE a (x DECIMAL(5,6))", "DECIMAL(5,6)", "Decimal scale must be between 0 and the precision 5"),
        ("CREATE TABLE a (x INT) PARTITIONED BY (y)", "y", "Partition column 'y' not defined"),
        ("CREATE TABLE a (x INT); CREATE TABLE a (x INT)", "a", "already exists in Catalog default_catalog"),
        ("CREATE TABLE a (x INT); CREATE TABLE b LIKE aa", "aa", "Source table 'aa' of the LIKE clause not found"),
        ("CREATE TABLE a (x INT); DROP TABLE nope", "DROP TABLE nope", "does not exist"),
        ("CREATE TABLE a (x INT); ALTER TABLE a DROP y", "y", "The column `y` does not exist in the base table"),
        ("USE nodb", "nodb", "A database with name [nodb] does not exist"),
        ("SET 'table.exec.state.ttl' = 'soon'", "'table.exec.state.ttl' = 'soon'", "Could not parse value 'soon'"),
    ];
    for (sql, at, message) in cases {
        match apply(sql) {
            Ok(_) => panic!("accepted: {sql}"),
            Err((error, text)) => {
                assert!(error.message.contains(message), "{sql}: {}", error.message);
                assert_eq!(text, at, "{sql}: {}", error.message);
                assert!(error.help.is_some() && !error.label.is_empty(), "{sql}");
            }
        }
    }
}

#[test]
fn like_merges_as_flink_merges() {
    let like = |rest: &str| table(&format!("{BASE} CREATE TABLE b {rest}"), "b").map(|t| shape(&t));
    let all = "x INT NOT NULL, y VARCHAR(2147483647), ts TIMESTAMP(3), z ? key [0] watermark ts";
    assert_eq!(like("LIKE a").as_deref(), Some(all));
    assert_eq!(like("(z AS x) LIKE a (OVERWRITING GENERATED)").as_deref(), Some(all));
    assert_eq!(like("(WATERMARK FOR ts AS ts) LIKE a (OVERWRITING WATERMARKS)").as_deref(), Some(all));
    assert_eq!(
        like("WITH ('connector'='stub') LIKE a (EXCLUDING ALL)").as_deref(),
        Some("x INT NOT NULL, y VARCHAR(2147483647), ts TIMESTAMP(3)")
    );
    let refused = |rest: &str| apply(&format!("{BASE} CREATE TABLE b {rest}")).err().map(|(e, _)| e.message);
    for rest in [
        "(x INT) LIKE a",
        "(z AS x) LIKE a",
        "(WATERMARK FOR ts AS ts) LIKE a",
        "(PRIMARY KEY (y) NOT ENFORCED) LIKE a",
        "WITH ('k'='w') LIKE a (INCLUDING OPTIONS)",
        "LIKE a (OVERWRITING CONSTRAINTS)",
        "LIKE a (INCLUDING OPTIONS INCLUDING OPTIONS)",
    ] {
        assert!(refused(rest).is_some(), "accepted: {rest}");
    }
}

#[test]
fn alter_changes_tables() {
    let alter = |action: &str| table(&format!("{BASE} ALTER TABLE a {action}"), "a").map(|t| shape(&t));
    assert_eq!(
        alter("MODIFY (x BIGINT)").as_deref(),
        Some("x BIGINT NOT NULL, y VARCHAR(2147483647), ts TIMESTAMP(3), z ? key [0] watermark ts")
    );
    assert_eq!(
        alter("DROP WATERMARK").as_deref(),
        Some("x INT NOT NULL, y VARCHAR(2147483647), ts TIMESTAMP(3), z ? key [0]")
    );
    assert_eq!(alter("DROP y").as_deref(), Some("x INT NOT NULL, ts TIMESTAMP(3), z ? key [0] watermark ts"));
    for action in ["DROP x", "DROP ts", "RENAME x TO xx", "ADD (x INT)", "ADD (WATERMARK FOR ts AS ts)"] {
        assert!(apply(&format!("{BASE} ALTER TABLE a {action}")).is_err(), "accepted: {action}");
    }
}

#[test]
fn names_resolve_in_the_current_database() {
    let sql = "CREATE TABLE orders (x INT); CREATE DATABASE d; USE d; CREATE TABLE t (x INT); \
        CREATE TEMPORARY TABLE t (y INT); CREATE VIEW v AS SELECT x FROM t;";
    let catalog = apply(sql).unwrap_or_default();
    assert!(catalog.declares_tables());
    let resolve = |text: &str| catalog.resolve(&name(text));
    assert!(matches!(resolve("v"), Ok(Resolved::View(_))));
    // The temporary table hides the permanent one.
    assert!(matches!(resolve("t"), Ok(Resolved::Table(t)) if t.columns[0].name == "y"));
    assert!(matches!(resolve("default_database.orders"), Ok(Resolved::Table(_))));
    match resolve("default_database.order") {
        Ok(Resolved::Unknown { qualified, suggestion, .. }) => {
            assert!(!qualified);
            assert_eq!(suggestion.as_deref(), Some("orders"));
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(resolve("c.d.t"), Ok(Resolved::Unknown { qualified: true, .. })));
}
