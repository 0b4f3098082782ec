//! Expressions as Flink 1.20 plans them: texts and types read off real EXPLAIN output.
//!
//! `tests/expression/plans.jsonl`: `kind` (where or select), `schema` (plain, or rowtime with `ts` as event time), `expr`, and
//! Flink's `text`, `type` of the result, or `error`. `known.txt` lists the expressions on which keepstate and Flink still
//! differ in text; a test fails when the list is wrong in either direction.

use std::collections::BTreeMap;

use keepstate::catalog::Catalog;
use keepstate::catalog::types::{DataType, TimeAttribute, TypeKind};
use keepstate::logical::print::print;
use keepstate::logical::rex::Rex;
use keepstate::logical::scope::Scope;
use keepstate::logical::simplify::{materialize, simplify, simplify_filter};
use keepstate::logical::translate::Translator;
use keepstate::plan_error::PlanError;
use keepstate::source::SourceMap;
use keepstate::syntax::ast::{Expr, SelectItem, SetExpr, StatementKind};

const COLUMNS: &str = "CREATE TABLE t (i INT, j INT, k INT NOT NULL, b BIGINT, c BIGINT, d DOUBLE, f FLOAT, \
    n DECIMAL(10,2), s STRING, s2 VARCHAR(10), ch CHAR(5), p BOOLEAN, q BOOLEAN NOT NULL, ts TIMESTAMP(3), \
    t6 TIMESTAMP(6), lt TIMESTAMP_LTZ(3), dt DATE, tm TIME, arr ARRAY<INT>, m MAP<STRING,INT>, \
    r ROW<x INT, y ROW<z STRING>>, bs BYTES)";

/// The one expression of `SELECT expr AS z` or `SELECT 1 ... WHERE expr`.
fn parse(kind: &str, text: &str) -> Result<Expr, String> {
    let sql = match kind {
        "where" => format!("SELECT i FROM t WHERE {text}"),
        _ => format!("SELECT {text} AS z FROM t"),
    };
    let mut sources = SourceMap::new();
    let file = sources.add("x.sql", sql);
    let script = keepstate::syntax::parse(&sources, file, &BTreeMap::new());
    if let Some(error) = script.errors.first() {
        return Err(error.message.clone());
    }
    let Some(StatementKind::Query(query)) = script.statements.into_iter().next().map(|s| s.kind) else {
        return Err("no query".to_owned());
    };
    let SetExpr::Select(select) = query.body else { return Err("no select".to_owned()) };
    match (kind, select.selection, select.items.into_iter().next()) {
        ("where", Some(e), _) => Ok(e),
        ("select", _, Some(SelectItem::Expr { expr, .. })) => Ok(expr),
        _ => Err("no expression".to_owned()),
    }
}

fn scope(schema: &str, ddl: &str) -> Result<Scope, String> {
    let mut sources = SourceMap::new();
    let file = sources.add("t.sql", ddl);
    let script = keepstate::syntax::parse(&sources, file, &BTreeMap::new());
    if let Some(error) = script.errors.first() {
        return Err(format!("{ddl}: {}", error.message));
    }
    let mut catalog = Catalog::new();
    for statement in &script.statements {
        catalog.apply(statement).map_err(|e| e.message)?;
    }
    let path = keepstate::catalog::TablePath {
        catalog: "default_catalog".into(),
        database: "default_database".into(),
        name: if ddl == COLUMNS { "t".into() } else { "T".into() },
    };
    let table = catalog.table(&path).ok_or("no table")?.clone();
    let table_name = if ddl == COLUMNS { "t" } else { "T" };
    let rowtime = schema == "rowtime";
    let mut columns: Vec<(String, DataType)> = table.columns.iter().map(|c| (c.name.clone(), c.ty.clone())).collect();
    for (name, ty) in &mut columns {
        if name == "ts" && rowtime {
            *ty = ty.clone().with_time_attribute(TimeAttribute::Rowtime);
        }
    }
    if rowtime {
        columns.push(("pt".to_owned(), TypeKind::TimestampLtz(3, TimeAttribute::Proctime).not_null()));
    }
    Ok(Scope::of_table(&["default_catalog", "default_database", table_name], columns))
}

fn plan(kind: &str, scope: &mut Scope, expr: &Expr) -> Result<Rex, Box<PlanError>> {
    let catalog = Catalog::new();
    let mut translator = Translator::new(&catalog);
    let rex = match kind {
        "where" => simplify_filter(translator.condition(expr, scope, "WHERE")?),
        _ => simplify(translator.select_item(expr, scope)?),
    };
    Ok(materialize(rex))
}

#[test]
fn texts_and_types_are_flinks() -> Result<(), Box<dyn std::error::Error>> {
    let known: Vec<&str> =
        include_str!("expression/known.txt").lines().filter(|l| !l.is_empty() && !l.starts_with('#')).collect();
    let mut differing = Vec::new();
    let mut total = 0;
    for line in include_str!("expression/plans.jsonl").lines() {
        let case: serde_json::Value = serde_json::from_str(line)?;
        let field = |name: &str| case[name].as_str().unwrap_or_default();
        let (kind, expr) = (field("kind"), field("expr"));
        let mut scope = scope(field("schema"), COLUMNS)?;
        let names: Vec<String> = scope.columns().iter().map(|(n, _)| n.clone()).collect();
        let planned = parse(kind, expr).and_then(|e| plan(kind, &mut scope, &e).map_err(|e| e.message));
        total += 1;
        let difference = match (&planned, case["error"].as_str()) {
            (Err(_), Some(_)) => None,
            (Ok(rex), Some(error)) => Some(format!("accepted: {} (Flink: {error})", print(rex, &names))),
            (Err(error), None) => Some(format!("refused: {error} (Flink: {})", field("text"))),
            (Ok(rex), None) => {
                let text = print(rex, &names);
                let ty = rex.ty.to_string().replace("TIMESTAMP_LTZ(3)", "TIMESTAMP(3) WITH LOCAL TIME ZONE");
                // The sink makes ordinary what is still a time attribute.
                let ty = ty.replace(" *ROWTIME*", "").replace(" *PROCTIME*", "");
                let type_differs = case["type"].as_str().is_some_and(|t| t != ty);
                if text != field("text") {
                    Some(format!("{text} (Flink: {})", field("text")))
                } else if type_differs {
                    Some(format!("type {ty} (Flink: {})", field("type")))
                } else {
                    None
                }
            }
        };
        if let Some(difference) = difference {
            differing.push((format!("{kind} {expr}"), difference));
        }
    }
    let new: Vec<String> = differing
        .iter()
        .filter(|(case, _)| !known.contains(&case.as_str()))
        .map(|(case, d)| format!("{case}  =>  {d}"))
        .collect();
    assert!(new.is_empty(), "{} of {total} differ from Flink:\n{}", new.len(), new.join("\n"));
    let stale: Vec<&&str> = known.iter().filter(|k| !differing.iter().any(|(case, _)| case == *k)).collect();
    assert!(stale.is_empty(), "no longer different, take out of known.txt: {stale:?}");
    Ok(())
}

/// `tests/expression/types.jsonl`: the type that Flink's validator gives, or its refusal, for expressions over `columns`.
#[test]
fn types_are_those_of_flinks_validator() -> Result<(), Box<dyn std::error::Error>> {
    let known: Vec<&str> =
        include_str!("expression/known_types.txt").lines().filter(|l| !l.is_empty() && !l.starts_with('#')).collect();
    let catalog = Catalog::new();
    let mut differing = Vec::new();
    for line in include_str!("expression/types.jsonl").lines() {
        let case: serde_json::Value = serde_json::from_str(line)?;
        let expr = case["expr"].as_str().unwrap_or_default();
        let mut scope = match case["columns"].as_str() {
            Some(columns) => scope("plain", &format!("CREATE TABLE T ({columns})"))?,
            None => Scope::new(),
        };
        let typed = parse("select", expr)
            .and_then(|e| Translator::new(&catalog).select_item(&e, &mut scope).map_err(|e| e.message))
            .map(|rex| {
                rex.ty.to_string().replace("VARCHAR(2147483647)", "STRING").replace("VARBINARY(2147483647)", "BYTES")
            });
        let difference = match (typed, case["type"].as_str()) {
            (Ok(ty), Some(expected)) if ty == expected => None,
            // The units of an interval are not part of what is compared.
            (Ok(ty), Some(expected)) if ty.starts_with("INTERVAL") && expected.starts_with("INTERVAL") => None,
            (Ok(ty), Some(expected)) => Some(format!("{ty} (Flink: {expected})")),
            (Err(error), Some(expected)) => Some(format!("refused: {error} (Flink: {expected})")),
            (Ok(ty), None) => Some(format!("accepted as {ty} (Flink: {})", case["error"])),
            (Err(_), None) => None,
        };
        if let Some(difference) = difference {
            differing.push((expr.to_owned(), difference));
        }
    }
    let new: Vec<String> = differing
        .iter()
        .filter(|(case, _)| !known.contains(&case.as_str()))
        .map(|(case, d)| format!("{case}  =>  {d}"))
        .collect();
    assert!(new.is_empty(), "{} differ from Flink:\n{}", new.len(), new.join("\n"));
    Ok(())
}

#[test]
fn long_chains_and_deep_nesting_get_an_answer() -> Result<(), String> {
    let catalog = Catalog::new();
    let translate = |text: &str| {
        let mut scope = scope("plain", COLUMNS)?;
        let expr = parse("where", text)?;
        Translator::new(&catalog).condition(&expr, &mut scope, "WHERE").map_err(|e| e.message)
    };
    let many: Vec<String> = (0..10_000).map(|n| n.to_string()).collect();
    let many = many.join(", ");
    let rex = simplify_filter(translate(&format!("i IN ({many})"))?);
    assert_eq!(print(&rex, &["i"]), format!("SEARCH(i, Sarg[{many}])"));
    let rex = simplify_filter(translate(&format!("i NOT IN ({many}) AND i > 9998 AND i < 10001"))?);
    assert_eq!(print(&rex, &["i"]), "SEARCH(i, Sarg[(9998..9999), (9999..10001)])");
    let sum = format!("i{} > 1", " + 1".repeat(300));
    assert!(translate(&sum).is_err_and(|e| e.contains("levels deep")));
    Ok(())
}
