//! Input that nobody means well with: every one gets an answer or a clear error, in bounded time and memory.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use keepstate::check::{Checked, Options, Text, check};

const TABLE: &str = "CREATE TABLE t (a INT, b BIGINT, c STRING, ts TIMESTAMP(3), \
    WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = 'stub');\n";

/// Checks a script against itself, on as much stack as the program gives itself.
fn report(sql: String) -> Checked {
    let work =
        move || check(Text::new("old.sql", sql.as_str()), Text::new("new.sql", sql.as_str()), &Options::default());
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(work).expect("a thread");
    thread.join().expect("no panic")
}

/// The only thing a script may do beside being compatible with itself: fail with one of `words`.
fn refused(sql: &str, words: &str) {
    let report = report(sql.to_owned()).report;
    assert_eq!(report.exit_code, 2, "{}", start(sql));
    let messages: Vec<&str> = report.errors.iter().map(|e| e.message.as_str()).collect();
    assert!(messages.iter().any(|m| m.contains(words)), "{words:?} is not in {messages:?}: {}", start(sql));
}

fn accepted(sql: &str) {
    let report = report(sql.to_owned()).report;
    assert_eq!((report.exit_code, report.errors.len()), (0, 0), "{:?}: {}", report.errors.first(), start(sql));
}

/// Either of the two.
fn answered(sql: &str) {
    let report = report(sql.to_owned()).report;
    assert_eq!(report.exit_code == 2, !report.errors.is_empty(), "{}", start(sql));
}

fn start(sql: &str) -> String {
    sql.chars().take(300).collect()
}

fn on_table(sql: &str) -> String {
    format!("{TABLE}{sql};")
}

fn list(n: usize, separator: &str, item: impl Fn(usize) -> String) -> String {
    (0..n).map(item).collect::<Vec<_>>().join(separator)
}

/// `v0` is `first`; each of the `n` views after it is made from the one before.
fn views(first: &str, n: usize, next: impl Fn(usize) -> String) -> String {
    let mut sql = format!("{TABLE}CREATE VIEW v0 AS {first};\n");
    for i in 0..n {
        writeln!(sql, "CREATE VIEW v{} AS {};", i + 1, next(i)).expect("a string takes text");
    }
    write!(sql, "SELECT * FROM v{n};").expect("a string takes text");
    sql
}

#[test]
fn slips_are_named() {
    refused(&on_table("SELECT zz FROM t"), "'zz' not found");
    refused(&on_table("SELECT a FROM u"), "'u' not found");
    refused(&on_table("SELECT a FROM t WHERE ts > ts - INTERVAL '999' SECOND"), "exceeds precision");
    refused(&on_table("SELECT 'abc FROM t"), "never closed");
    refused(&on_table("SELECT `abc FROM t"), "never closed");
    refused(&on_table("SELECT a FROM t /* x"), "never closed");
    refused("", "no INSERT and no SELECT");
    refused("-- nothing\n/* here */\n", "no INSERT and no SELECT");
    refused(&on_table("SELECT SUM(b) OVER w FROM t WINDOW w AS (w ORDER BY ts)"), "window");
    refused(
        &on_table("SELECT SUM(b) OVER w FROM t WINDOW w AS (v ORDER BY ts), v AS (w PARTITION BY a)"),
        "defined by itself",
    );
    refused(&on_table("CREATE VIEW v AS SELECT * FROM v; SELECT * FROM v"), "v");
    refused(
        &on_table("CREATE VIEW v AS SELECT * FROM w; CREATE VIEW w AS SELECT * FROM v; SELECT * FROM v"),
        "Object 'v' not found",
    );
}

#[test]
fn layout_and_marks_are_no_matter() {
    accepted(&format!("\u{feff}{}", on_table("SELECT a FROM t")));
    accepted(&on_table("SELECT a,\n SUM(b)\nFROM t\nGROUP BY a").replace('\n', "\r\n"));
    accepted(&on_table("WITH t AS (SELECT a FROM t), u AS (SELECT a FROM t) SELECT * FROM u"));
    let name = "x".repeat(100_000);
    accepted(&format!("CREATE TABLE t (`{name}` INT) WITH ('connector' = 'stub'); SELECT `{name}` FROM t;"));
    accepted(
        "CREATE TABLE `t\u{202e}\u{301}😀\u{200b}` (`ש\u{301}` INT) WITH ('connector' = 'stub'); \
         SELECT `ש\u{301}` AS `😀\u{200d}` FROM `t\u{202e}\u{301}😀\u{200b}`;",
    );
    answered("SELECT ש\u{301} FROM \u{200b}t;");
    answered("SELECT ${} FROM ${a} WHERE a = '${' AND b = ${x;");
    answered("SELECT ${a}${b} FROM ${t}x WHERE a = '${}' GROUP BY ${}.${c};");
}

#[test]
fn numbers_do_not_overflow() {
    for condition in [
        "rn <= -9223372036854775808",
        "rn < -9223372036854775808",
        "rn > 9223372036854775807",
        "rn >= 9223372036854775807 AND rn <= 9223372036854775807",
        "rn BETWEEN -9223372036854775808 AND 9223372036854775807",
        "rn < 9223372036854775807 AND rn > -9223372036854775808",
        "rn <= 99999999999999999999",
        "rn = -9223372036854775808",
    ] {
        answered(&on_table(&format!(
            "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) rn FROM t) WHERE {condition}"
        )));
    }
    for expression in [
        "9223372036854775807 + 1",
        "-9223372036854775808 - 1",
        "1e400",
        "1 / 0",
        "MOD(1, 0)",
        "CAST(99999999999 AS INT)",
        "99999999999999999999999999999999999999 * 10",
        "-(-9223372036854775808)",
        "ABS(-9223372036854775808)",
        "MOD(-9223372036854775808, -1)",
        "-9223372036854775808 / -1",
        "CAST(1e300 AS DECIMAL(38, 10))",
        "ts + INTERVAL '999999999' YEAR(9)",
        "ts + INTERVAL '99999999' DAY(8) - INTERVAL '-99999999' DAY(8)",
        "INTERVAL '9999999999' DAY(10) * 9223372036854775807",
        "TIMESTAMP '9999-12-31 00:00:00' + INTERVAL '99999999' DAY(8)",
        "INTERVAL '99999999999999999999999' SECOND(3)",
        "SUBSTRING('abc', -2147483648, 9223372036854775807)",
        "REPEAT('x', 2147483647)",
        "LPAD('x', 2147483647, 'y')",
        "ROUND(1.5, 2147483647)",
        "POWER(10, 400)",
    ] {
        answered(&on_table(&format!("SELECT {expression} FROM t")));
    }
    for window in ["INTERVAL '9999999999' DAY(10)", "INTERVAL '0' SECOND", "INTERVAL '-1' SECOND", "INTERVAL '1' YEAR"]
    {
        for function in [
            format!("TUMBLE(TABLE t, DESCRIPTOR(ts), {window})"),
            format!("HOP(TABLE t, DESCRIPTOR(ts), {window}, {window})"),
        ] {
            let sql = format!("SELECT window_start, COUNT(*) FROM TABLE({function}) GROUP BY window_start, window_end");
            answered(&on_table(&sql));
        }
    }
    for ty in ["DECIMAL(99, 1)", "DECIMAL(10, 20)", "VARCHAR(0)", "CHAR(99999999999999)", "TIMESTAMP(99)", "DECIMAL(0)"]
    {
        answered(&format!("CREATE TABLE t (a {ty}) WITH ('connector' = 'stub'); SELECT a FROM t;"));
    }
}

#[test]
fn depth_is_limited() {
    let n = 10_000;
    refused(&on_table(&format!("SELECT {}a{} FROM t", "(".repeat(n), ")".repeat(n))), "nested too deeply");
    refused(
        &on_table(&format!("SELECT a FROM {}SELECT a FROM t{}", "(".repeat(n), ")".repeat(n))),
        "nested too deeply",
    );
    refused(
        &on_table(&format!("SELECT a FROM {}t{}", "(SELECT a FROM ".repeat(n), ")".repeat(n))),
        "nested too deeply",
    );
    answered(&on_table(&format!("SELECT a FROM {}t{}", "(SELECT a FROM ".repeat(90), ")".repeat(90))));
    for operator in [" AND ", " OR "] {
        answered(&on_table(&format!("SELECT a FROM t WHERE {}", list(10_000, operator, |i| format!("a <> {i}")))));
        answered(&on_table(&format!("SELECT a FROM t WHERE {}", list(4_000, operator, |i| format!("a + {i} > b")))));
    }
    answered(&on_table(&format!("SELECT {} FROM t", list(10_000, " + ", |_| "a".to_owned()))));
    accepted(&on_table(&format!("SELECT a FROM t WHERE a IN ({})", list(10_000, ", ", |i| (2 * i).to_string()))));
    refused(
        &on_table(&format!("SELECT a FROM t WHERE a IN ({})", list(200_001, ",", |i| i.to_string()))),
        "an IN list of more than",
    );
    answered(&on_table(&list(300, " UNION ALL ", |i| format!("SELECT a FROM t WHERE a = {i}"))));
    refused(&views("SELECT * FROM t", 1_000, |i| format!("SELECT * FROM v{i}")), "levels deep");
    refused(&views("SELECT a, b FROM t", 1_000, |i| format!("SELECT a, SUM(b) b FROM v{i} GROUP BY a")), "levels deep");
}

#[test]
fn what_doubles_is_refused() {
    let doubled = |i| format!("SELECT * FROM v{i} UNION ALL SELECT * FROM v{i}");
    refused(&views("SELECT a, b FROM t", 40, doubled), "once its views are written out");
    let ctes = list(40, ", ", |i| format!("v{} AS (SELECT * FROM v{i} UNION ALL SELECT * FROM v{i})", i + 1));
    refused(&on_table(&format!("WITH v0 AS (SELECT a FROM t), {ctes} SELECT * FROM v40")), "written out");
    refused(&views("SELECT a, b FROM t", 40, |i| format!("SELECT a * b + a AS a, b FROM v{i}")), "too large");
    let filtered = |i| format!("SELECT a + a AS a, b FROM v{i} WHERE a + b > 1");
    refused(&views("SELECT a, b FROM t", 40, filtered), "too large");
    let names = list(20, ", ", |i| format!("c{i}"));
    let columns = list(20, ", ", |i| format!("c{i} INT"));
    let cube = format!(
        "CREATE TABLE t ({columns}) WITH ('connector' = 'stub'); SELECT COUNT(*) FROM t GROUP BY CUBE ({names});"
    );
    answered(&cube);
    let rollups = list(12, ", ", |i| format!("ROLLUP (c{i}, c{}, c{})", i + 1, i + 2));
    answered(&format!(
        "CREATE TABLE t ({columns}) WITH ('connector' = 'stub'); SELECT COUNT(*) FROM t GROUP BY {rollups};"
    ));
}

#[test]
fn wide_tables_are_planned() {
    let n = if cfg!(debug_assertions) { 2_000 } else { 5_000 };
    let table = format!(
        "CREATE TABLE t (ts TIMESTAMP(3), {}, WATERMARK FOR ts AS ts) WITH ('connector' = 'stub');\n",
        list(n, ", ", |i| format!("c{i} INT"))
    );
    let all = list(n, ", ", |i| format!("c{i}"));
    let window = "FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end";
    for query in [
        "SELECT * FROM t".to_owned(),
        format!("SELECT {all}, COUNT(*) FROM t GROUP BY {all}"),
        format!("SELECT window_start, {} {window}", list(n, ", ", |i| format!("SUM(c{i})"))),
        format!("SELECT {} FROM t", list(n, ", ", |i| format!("SUM(c{i}) OVER (PARTITION BY c1 ORDER BY ts)"))),
        "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY c1 ORDER BY c2) rn FROM t) WHERE rn <= 3".to_owned(),
        "SELECT DISTINCT * FROM t".to_owned(),
        "SELECT * FROM t UNION ALL SELECT * FROM t".to_owned(),
        format!(
            "CREATE VIEW v AS SELECT ts, {} FROM t; SELECT * FROM v",
            list(n, ", ", |i| format!("c{i} + 1 AS c{i}"))
        ),
    ] {
        accepted(&format!("{table}{query};"));
    }
}

#[test]
fn long_scripts_are_read() {
    let tables = list(10_000, ";\n", |i| format!("CREATE TABLE t{i} (a INT) WITH ('connector' = 'stub')"));
    accepted(&on_table(&format!("{tables}; SELECT a FROM t")));
    accepted(&on_table(&list(1_000, ";\n", |i| format!("SELECT a, SUM(b) FROM t WHERE a > {i} GROUP BY a"))));
    let megabytes = if cfg!(debug_assertions) { 2 } else { 10 };
    accepted(&on_table(&format!("/*{}*/ SELECT a FROM t", "x".repeat(megabytes << 20))));
    accepted(&on_table(&format!("SELECT '{}' FROM t", "x".repeat(megabytes << 20))));
    refused(&on_table(&format!("SELECT {} FROM t", list(101_000, ", ", |i| format!("a AS c{i}")))), "too large");
}

fn keepstate(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_keepstate")).args(args).stdin(Stdio::null()).output().expect("the program runs")
}

/// A file of this test's own.
fn file(name: &str, bytes: &[u8]) -> String {
    let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("hostile");
    std::fs::create_dir_all(&dir).expect("a directory");
    let path = dir.join(name);
    std::fs::File::create(&path).and_then(|mut f| f.write_all(bytes)).expect("a file");
    path.display().to_string()
}

#[test]
fn the_program_never_crashes() {
    let good = file("good.sql", on_table("SELECT a FROM t").as_bytes());
    let dir = env!("CARGO_TARGET_TMPDIR");
    for (old, new) in [
        (good.clone(), file("nul.sql", b"SELECT \0 FROM t\0")),
        (good.clone(), file("latin.sql", b"SELECT '\xff\xfe' FROM t")),
        (good.clone(), file("empty.sql", b"")),
        (good.clone(), dir.to_owned()),
        (good.clone(), format!("{dir}/there-is-no-such-file.sql")),
        ("-".to_owned(), "-".to_owned()),
        (file("deep.sql", on_table(&format!("SELECT {}a{}", "(".repeat(10_000), ")".repeat(10_000))).as_bytes()), good),
    ] {
        for format in ["human", "json"] {
            let output = keepstate(&["check", &old, &new, "--format", format]);
            assert_eq!(output.status.code(), Some(2), "{old} {new}");
            assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
            if format == "json" {
                serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("a document");
            }
        }
    }
}
