//! Nothing is dropped silently: a clause added to a query changes the plan, or the query is refused.
//!
//! Clauses of many dialects are put at places of the scripts of `tests/cases` where some parser would take them. What may be added
//! without any effect is not among them.

use keepstate::exec::{Target, plan_script};
use keepstate::source::SourceMap;
use keepstate::state;

/// Where a clause is put.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// At the end of the last statement.
    End,
    /// Behind its first SELECT.
    Select,
    /// Behind the name of the first table that it reads.
    Table,
    /// Behind the first `)` of an aggregate call.
    Call,
    /// Before that `)`.
    Argument,
    /// Behind the type of the first column of the first table.
    Column,
    /// Behind the `)` that ends the columns of the first table.
    Columns,
    /// Behind the target of the INSERT.
    Target,
}

use Place::*;

const CLAUSES: &[(Place, &str)] = &[
    (End, "LIMIT 3"),
    (End, "OFFSET 2 ROWS"),
    (End, "FETCH FIRST 3 ROWS ONLY"),
    (End, "FETCH FIRST 3 ROWS WITH TIES"),
    (End, "LIMIT 3, 4"),
    (End, "LIMIT 3 BY 1"),
    (End, "ORDER BY 1 LIMIT 7"),
    (End, "HAVING 1 > 2"),
    (End, "QUALIFY 1 > 2"),
    (End, "WHERE 1 > 2"),
    (End, "GROUP BY GROUPING SETS (())"),
    (End, "FOR UPDATE"),
    (End, "FOR SYSTEM_TIME AS OF PROCTIME()"),
    (End, "CLUSTER BY 1"),
    (End, "DISTRIBUTE BY 1"),
    (End, "SORT BY 1"),
    (End, "UNION SELECT 1"),
    (End, "UNION ALL SELECT * FROM nowhere"),
    (End, "EXCEPT SELECT 1"),
    (End, "INTERSECT SELECT 1"),
    (End, "SETTINGS max_threads = 1"),
    (End, "FORMAT JSON"),
    (End, "TABLESAMPLE SYSTEM (10)"),
    (End, "EMIT CHANGES"),
    (End, "EMIT AFTER WATERMARK"),
    (End, "WINDOW TUMBLING (SIZE 1 MINUTE)"),
    (End, "ON CONFLICT DO NOTHING"),
    (End, "RETURNING *"),
    (End, "CONNECT BY 1 = 1"),
    (End, "START WITH 1 = 1"),
    (End, "LATERAL VIEW explode(x) t AS y"),
    (End, "CROSS JOIN (VALUES (1), (2)) AS two (n)"),
    (End, "INTO OUTFILE 'x'"),
    (Select, "DISTINCT ON (1)"),
    (Select, "TOP 5"),
    (Select, "STREAM"),
    (Select, "SQL_CALC_FOUND_ROWS"),
    (Select, "STRAIGHT_JOIN"),
    (Select, "AS STRUCT"),
    (Select, "1 AS added_column,"),
    (Table, "TABLESAMPLE BERNOULLI (10)"),
    (Table, "FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01 00:00:00'"),
    (Table, "PARTITION (p0)"),
    (Table, "WITH (NOLOCK)"),
    (Table, "WITH ORDINALITY"),
    (Table, "VERSION AS OF 3"),
    (Table, "PIVOT (SUM(a) FOR b IN (1, 2))"),
    (Table, "UNPIVOT (a FOR b IN (c, d))"),
    (Table, "MATCH_RECOGNIZE (PATTERN (A) DEFINE A AS TRUE)"),
    (Table, "CROSS JOIN (VALUES (1), (2)) AS two (n)"),
    (Table, "SAMPLE 10"),
    (Table, "INDEXED BY x"),
    (Table, "EMIT CHANGES"),
    (Call, "FILTER (WHERE 1 > 2)"),
    (Call, "WITHIN GROUP (ORDER BY 1)"),
    (Call, "IGNORE NULLS"),
    (Call, "RESPECT NULLS"),
    (Call, "OVER ()"),
    (Call, "KEEP (DENSE_RANK FIRST ORDER BY 1)"),
    (Call, "WITHIN DISTINCT (1)"),
    (Argument, "ORDER BY 1"),
    (Argument, "LIMIT 3"),
    (Argument, "IGNORE NULLS"),
    (Argument, "HAVING MAX 1"),
    (Argument, "SEPARATOR ','"),
    (Argument, "ON OVERFLOW TRUNCATE"),
    (Column, "UNIQUE"),
    (Column, "DEFAULT 1"),
    (Column, "CHECK (1 > 2)"),
    (Column, "COLLATE latin1"),
    (Column, "REFERENCES other (id)"),
    (Column, "AUTO_INCREMENT"),
    (Column, "GENERATED ALWAYS AS (1)"),
    (Column, "ENCODE zstd"),
    (Columns, "ENGINE = MergeTree"),
    (Columns, "CLUSTER BY (a)"),
    (Columns, "INHERITS (other)"),
    (Columns, "ON COMMIT DROP"),
    (Columns, "TTL 1"),
    (Columns, "AS SELECT 1"),
    (Columns, "STORED AS ORC"),
    (Target, "PARTITION (p = '1')"),
    (Target, "AS t"),
    (Target, "OVERRIDING SYSTEM VALUE"),
    (Target, "DEFAULT VALUES"),
    (Target, "VALUES (1)"),
];

fn scripts() -> Vec<(String, String)> {
    #[derive(serde::Deserialize)]
    struct Case {
        id: String,
        old: String,
    }
    let mut files: Vec<_> = std::fs::read_dir("tests/cases").unwrap().flatten().map(|e| e.path()).collect();
    files.sort();
    let texts = files.iter().map(|f| std::fs::read_to_string(f).unwrap());
    let cases = texts.flat_map(|t| t.lines().map(|l| serde_json::from_str::<Case>(l).unwrap()).collect::<Vec<_>>());
    cases.map(|c| (c.id, c.old)).collect()
}

/// Everything that is planned of a script, or nothing if any of it is refused.
fn planned(text: &str) -> Option<String> {
    let mut sources = SourceMap::new();
    let file = sources.add("job.sql", text);
    let script = keepstate::syntax::parse(&sources, file, &Default::default());
    let planned = plan_script(&[&script], Target::Vvr);
    if !script.errors.is_empty() || !planned.errors.is_empty() || planned.plans.is_empty() {
        return None;
    }
    let mut out = String::new();
    for plan in &planned.plans {
        out += &plan.tree_text();
        out += &state::text::of_plan(plan);
        let types =
            plan.nodes.iter().map(|n| format!("{:?}", n.columns.iter().map(|c| c.ty.to_string()).collect::<Vec<_>>()));
        out += &types.collect::<String>();
    }
    Some(out)
}

/// The end of the word at `at`.
fn word_end(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    at + rest.find(|c: char| !c.is_alphanumeric() && !"_.`".contains(c)).unwrap_or(rest.len())
}

/// The `)` that closes the `(` at `at`.
fn closing(text: &str, at: usize) -> Option<usize> {
    let mut depth = 0;
    for (i, c) in text[at..].char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 1 => return Some(at + i),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Where in a script a clause of this kind goes; none if the script has no such place.
fn spot(text: &str, place: Place) -> Option<usize> {
    let lower = text.to_ascii_lowercase();
    // Comments and quotes would hide what stands where.
    if text.contains("--") || text.contains("/*") || lower.contains("statement set") {
        return None;
    }
    let end = text.trim_end().trim_end_matches(';').len();
    let last = lower[..end].rfind(';').map_or(0, |i| i + 1);
    let in_last = |word: &str| lower[last..end].find(word).map(|i| last + i + word.len());
    let call = || {
        let calls = ["sum(", "count(", "max(", "min(", "avg("];
        let open = calls.iter().filter_map(|c| in_last(c)).min()? - 1;
        closing(text, open)
    };
    let create = || lower.find("create ").and_then(|i| lower[i..].find('(').map(|j| i + j));
    match place {
        End => Some(end),
        Select => in_last("select "),
        Table => {
            let at = in_last("from ")?;
            let start = at + lower[at..].len() - lower[at..].trim_start().len();
            (!lower[start..].starts_with(['(', 't'])).then(|| word_end(text, start))
        }
        Call => call().map(|at| at + 1),
        Argument => call(),
        Column => {
            let open = create()? + 1;
            let name = open + text[open..].len() - text[open..].trim_start().len();
            let ty = word_end(text, name);
            let ty = ty + text[ty..].len() - text[ty..].trim_start().len();
            let end = word_end(text, ty);
            Some(if text[end..].starts_with('(') { closing(text, end)? + 1 } else { end })
        }
        Columns => closing(text, create()?).map(|at| at + 1),
        Target => in_last("insert into ").map(|at| word_end(text, at)),
    }
}

#[test]
fn every_clause_that_is_added_shows() {
    let scripts = scripts();
    let (mut tried, mut silent) = (0, Vec::new());
    for (c, (place, clause)) in CLAUSES.iter().enumerate() {
        // Each clause meets other scripts, all of them together every one.
        for (id, script) in scripts.iter().skip(c % 9).step_by(9) {
            let Some(at) = spot(script, *place) else { continue };
            let Some(before) = planned(script) else { continue };
            let added = format!("{} {clause} {}", &script[..at], &script[at..]);
            tried += 1;
            if planned(&added).is_some_and(|after| after == before) {
                silent.push(format!("{id}: {place:?} {clause}"));
            }
        }
    }
    println!("{tried} scripts with one clause more");
    assert!(silent.is_empty(), "{} of {tried} change nothing:\n{}", silent.len(), silent.join("\n"));
    assert!(tried > 2_000, "only {tried} were tried");
}
