//! What is said of a slip: the words of Flink, the place, and one thing to do.

use keepstate::check::{Options, Text, check};
use keepstate::report::model::Report;

const TABLES: &str = "CREATE TABLE orders (a STRING, price BIGINT, order_time TIMESTAMP(3), \
    WATERMARK FOR order_time AS order_time) WITH ('connector' = 'kafka');\n\
    CREATE TABLE daily (a STRING, b BIGINT) WITH ('connector' = 'print');\n";

fn report(sql: &str) -> (Report, String) {
    let sql = format!("{TABLES}{sql};\n");
    (check(Text::new("old.sql", sql.as_str()), Text::new("new.sql", sql.as_str()), &Options::default()).report, sql)
}

/// The first error of a script has this message, at this text, with this help.
#[track_caller]
fn says(sql: &str, message: &str, at: &str, help: &str) {
    let (report, sql) = report(sql);
    let error = report.errors.first().unwrap_or_else(|| panic!("no error: {sql}"));
    assert!(error.message.contains(message), "`{}` does not say `{message}`: {sql}", error.message);
    let place = error.at.as_ref().map(|p| &sql[p.start.offset as usize..p.end.offset as usize]);
    assert_eq!(place, Some(at), "{sql}");
    assert!(error.help.as_ref().is_some_and(|h| h.contains(help)), "{:?} does not say `{help}`: {sql}", error.help);
}

#[test]
fn names_that_are_not_there_have_neighbours() {
    says("SELECT a FROM ordres", "Object 'ordres' not found", "ordres", "did you mean `orders`?");
    says("SELECT pirce FROM orders", "Column 'pirce' not found", "pirce", "did you mean `price`?");
    says("SELECT o.pirce FROM orders AS o", "Column 'pirce' not found in table 'o'", "pirce", "did you mean `price`?");
    says("SELECT Price FROM orders", "Column 'Price' not found", "Price", "did you mean `price`?");
    says("SELECT ordrs.price FROM orders", "Table 'ordrs' not found", "ordrs", "did you mean `orders`?");
    says("WITH tmp AS (SELECT a FROM orders) SELECT a FROM tmpp", "Object 'tmpp' not found", "tmpp", "`tmp`");
    says(
        "SELECT a FROM (SELECT a, price AS prize FROM orders) WHERE price > 2",
        "Column 'price' not found",
        "price",
        "did you mean `prize`?",
    );
    says("INSERT INTO dayly SELECT a, price FROM orders", "Object 'dayly' not found", "dayly", "`daily`");
    says(
        "SELECT a FROM TABLE(TUMBLE(TABLE ordres, DESCRIPTOR(order_time), INTERVAL '1' MINUTE))",
        "Object 'ordres' not found",
        "ordres",
        "did you mean `orders`?",
    );
    says(
        "SELECT a FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(order_tiem), INTERVAL '1' MINUTE))",
        "Column 'order_tiem' not found",
        "order_tiem",
        "did you mean `order_time`?",
    );
    says(
        "SELECT a FROM TABLE(TUMBEL(TABLE orders, DESCRIPTOR(order_time), INTERVAL '1' MINUTE))",
        "No match found for function signature TUMBEL",
        "TUMBEL",
        "did you mean TUMBLE?",
    );
    says(
        "SELECT a, COUNT(*) FROM orders GROUP BY a, TUMBEL(order_time, INTERVAL '1' MINUTE)",
        "No match found for function signature TUMBEL",
        "TUMBEL",
        "did you mean `TUMBLE`?",
    );
    // One letter is near to any other: nothing is offered.
    says("SELECT b FROM orders", "Column 'b' not found", "b", "check the columns");
}

#[test]
fn a_view_is_not_there_while_it_is_defined() {
    says(
        "CREATE VIEW v AS SELECT * FROM v; SELECT * FROM v",
        "Object 'v' not found",
        "v",
        "read the table that the view is made of",
    );
    says(
        "CREATE VIEW v AS SELECT * FROM w; CREATE VIEW w AS SELECT * FROM v; SELECT * FROM v",
        "Object 'v' not found",
        "v",
        "read the table that the view is made of",
    );
}

#[test]
fn two_columns_of_one_name_are_told_apart() {
    let ambiguous = "Column 'a' is ambiguous";
    let rename = "another name with AS";
    says("SELECT a FROM (SELECT a, price AS a FROM orders)", ambiguous, "a", rename);
    says("SELECT * FROM (SELECT a, price AS a FROM orders)", ambiguous, "*", rename);
    says("SELECT a, price AS a FROM orders ORDER BY a LIMIT 2", ambiguous, "a", rename);
    says(
        "WITH x AS (SELECT a, price AS a FROM orders) SELECT price FROM orders",
        "duplicate column name 'a' and no column list",
        "a",
        rename,
    );
    says("CREATE VIEW v AS SELECT a, price AS a FROM orders; SELECT 1", "same name `a`", "a", rename);
    says("SELECT p FROM (SELECT a, price FROM orders) AS x (p, p)", "Duplicate name 'p'", "p", "a name of its own");
    // The plan may number them, and a name that nothing asks for is no matter.
    for fine in ["SELECT a, price AS a FROM orders", "SELECT price FROM (SELECT a, order_time AS a, price FROM orders)"]
    {
        assert!(report(fine).0.errors.is_empty(), "{fine}");
    }
}

#[test]
fn what_is_not_planned_yet_is_no_mistake() {
    let help = |sql: &str| report(sql).0.jobs[0].findings[0].help.clone();
    let unsupported = help("SELECT a FROM orders FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01 00:00:00'");
    assert!(unsupported.contains("does not plan the clause that is marked yet"), "{unsupported}");
    assert!(unsupported.contains("the verdict is unknown"), "{unsupported}");
    let mistake = help("SELECT a FROM ordres");
    assert!(mistake.contains("correct the errors"), "{mistake}");
}

/// An ORDER BY counts where the rows leave the job; a subquery has no order, so that it comes and goes freely.
#[test]
fn the_order_of_a_subquery_is_none() {
    let compare = |old: &str, new: &str| {
        let text = |sql: &str| format!("{TABLES}{sql};\n");
        check(Text::new("old.sql", text(old)), Text::new("new.sql", text(new)), &Options::default()).report
    };
    let pairs = [
        (
            "SELECT a, SUM(price) AS s FROM (SELECT a, price FROM orders ORDER BY price) GROUP BY a",
            "SELECT a, SUM(price) AS s FROM (SELECT a, price FROM orders) GROUP BY a",
        ),
        (
            "WITH x AS (SELECT a, price FROM orders ORDER BY order_time) SELECT a, SUM(price) AS s FROM x GROUP BY a",
            "SELECT a, SUM(price) AS s FROM orders GROUP BY a",
        ),
        (
            "CREATE VIEW v AS SELECT a, price FROM orders ORDER BY price; SELECT a, SUM(price) AS s FROM v GROUP BY a",
            "SELECT a, SUM(price) AS s FROM orders GROUP BY a",
        ),
    ];
    for (old, new) in pairs {
        let report = compare(old, new);
        assert!(report.errors.is_empty(), "{:?}", report.errors);
        assert_eq!((report.verdict.name(), report.jobs[0].findings.len()), ("compatible", 0), "{old}");
    }
    // A view that stands for the whole query keeps its order, and so its sort.
    let view = "CREATE VIEW v AS SELECT a, order_time FROM orders ORDER BY order_time; SELECT a, order_time FROM v";
    let sorted = compare("SELECT a, order_time FROM orders ORDER BY order_time", view);
    assert_eq!((sorted.verdict.name(), sorted.jobs[0].findings.len()), ("compatible", 0));
    says(
        "(SELECT a FROM orders ORDER BY order_time) LIMIT 3",
        "has an ORDER BY or LIMIT of its own",
        "3",
        "make it a subquery",
    );
}
