//! Large and deep scripts: an answer or a clear error, in a test thread's 2 MB of stack.

use super::parse_text;

/// Parses `text`, then a statement after it, which must always be found.
fn error_of(text: &str) -> Option<String> {
    let (_, script) = parse_text(&format!("{text};\nSELECT 1"));
    assert!(!script.statements.is_empty(), "the statement after it is lost");
    assert!(script.errors.len() <= 1);
    script.errors.first().map(|e| e.message.clone())
}

#[test]
fn deep_nesting_is_refused() {
    let n = 10_000;
    let wrap =
        |open: &str, inner: &str, close: &str| format!("SELECT {}{inner}{} FROM t", open.repeat(n), close.repeat(n));
    for text in [
        wrap("(", "a", ")"),
        wrap("f(", "a", ")"),
        wrap("CAST(", "a", " AS INT)"),
        wrap("CASE WHEN a THEN ", "a", " END"),
        wrap("ARRAY[", "a", "]"),
        wrap("NOT ", "a", ""),
        wrap("- ", "a", ""),
        wrap("", "a", "[1]"),
        wrap("(SELECT ", "a", ")"),
        wrap("EXISTS (SELECT ", "a", ")"),
        wrap("SUM(a) OVER (ORDER BY ", "a", ")"),
        format!("SELECT * FROM {}t{}", "(".repeat(n), ")".repeat(n)),
        format!("SELECT * FROM {}t{}", "(SELECT * FROM ".repeat(n), ")".repeat(n)),
        format!("CREATE TABLE t (a {}INT{})", "ARRAY<".repeat(n), ">".repeat(n)),
    ] {
        let message = error_of(&text).expect("an error");
        assert!(message.contains("nested too deeply"), "{message}: {}", &text[..40]);
    }
}

#[test]
fn long_chains_are_read_or_refused() {
    let chain = |n: usize, op: &str| format!("SELECT * FROM t WHERE {}", vec!["a"; n].join(op));
    assert_eq!(error_of(&chain(4_000, " AND ")), None);
    assert_eq!(error_of(&chain(4_000, " OR ")), None);
    assert_eq!(error_of(&chain(500, " + ")), None);
    for (n, op) in [(10_000, " + "), (100_000, " + "), (2_000, " || "), (100_000, " AND "), (2_000, " IS NULL = ")] {
        assert!(error_of(&chain(n, op)).is_some(), "{n} {op}");
    }
    for postfix in
        [" IS NULL", " LIKE b", " BETWEEN b AND c", " IN (1)", " NOT IN (1)", " UNION SELECT b", " JOIN u ON TRUE"]
    {
        assert!(error_of(&format!("SELECT * FROM t WHERE a{}", postfix.repeat(10_000))).is_some(), "{postfix}");
    }
    assert!(error_of(&format!("SELECT * FROM t{}", " JOIN u ON TRUE".repeat(10_000))).is_some());
    assert!(error_of(&vec!["SELECT 1"; 10_000].join(" UNION ALL ")).is_some());
}

#[test]
fn wide_scripts_are_read() {
    let list = |n: usize, item: &str| vec![item; n].join(",");
    assert_eq!(error_of(&format!("CREATE TABLE t ({})", list(5_000, "a INT"))), None);
    assert_eq!(error_of(&format!("SELECT {} FROM t", list(5_000, "a AS b"))), None);
    assert_eq!(error_of(&format!("SELECT * FROM t WHERE a IN ({})", list(20_000, "1"))), None);
    assert_eq!(error_of(&format!("INSERT INTO t VALUES {}", list(20_000, "(1, 'a')"))), None);
    let (_, script) = parse_text(&"SELECT a FROM t;\n".repeat(10_000));
    assert_eq!((script.statements.len(), script.errors.len()), (10_000, 0));
}

#[test]
fn garbage_is_refused_quickly() {
    for text in ["${", "{{", "'", "`", "\"", "/*", "(", ")", "\0", "\u{fffd}", "'';", "a.", "U&'", "😀", "BEGIN "] {
        let (_, script) = parse_text(&text.repeat(20_000));
        assert!(!script.errors.is_empty(), "{text}");
    }
}

/// Flink 1.20's parser takes `//` comments, though its documentation does not name them; inside an unquoted value they are text.
#[test]
fn slashes_start_a_comment() {
    let (_, script) = parse_text("// one\nSELECT a, // two\n  b / 2 AS half // three\nFROM t;\nSET d = hdfs://host/x;");
    assert_eq!((script.statements.len(), script.errors.len(), script.comments.len()), (2, 0, 3));
}
