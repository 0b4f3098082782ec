//! Spans: every expression's span is exactly its text, and the clauses that findings point at have theirs.

use keepstate::source::SourceMap;
use keepstate::syntax::ast::*;

use super::{dump, parse_text, scripts};

/// Collects the expressions of a script.
#[derive(Default)]
struct Collector<'a>(Vec<&'a Expr>);

impl<'a> Collector<'a> {
    fn statement(&mut self, kind: &'a StatementKind) {
        match kind {
            StatementKind::Insert(i) => self.query(&i.query),
            StatementKind::StatementSet(inserts) => inserts.iter().for_each(|(i, _)| self.query(&i.query)),
            StatementKind::Query(q) => self.query(q),
            StatementKind::CreateView(v) => self.query(&v.query),
            StatementKind::Wrapped { inner, .. } => self.statement(&inner.kind),
            StatementKind::CreateTable(t) => {
                t.as_query.iter().for_each(|q| self.query(q));
                for element in &t.elements {
                    match element {
                        TableElement::Column(ColumnDef { kind: ColumnKind::Computed(e), .. }) => self.expr(e),
                        TableElement::Watermark(w) => self.expr(&w.expr),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn query(&mut self, q: &'a Query) {
        q.with.iter().for_each(|c| self.query(&c.query));
        self.set_expr(&q.body);
        q.order_by.iter().for_each(|o| self.expr(&o.expr));
        q.limit.iter().chain(&q.offset).for_each(|e| self.expr(e));
    }

    fn set_expr(&mut self, s: &'a SetExpr) {
        match s {
            SetExpr::Values(rows, _) => rows.iter().flatten().for_each(|e| self.expr(e)),
            SetExpr::SetOperation { left, right, .. } => {
                self.set_expr(left);
                self.set_expr(right);
            }
            SetExpr::Query(q) => self.query(q),
            SetExpr::Select(s) => {
                for item in &s.items {
                    if let SelectItem::Expr { expr, .. } = item {
                        self.expr(expr);
                    }
                }
                s.from.iter().for_each(|t| self.table(t));
                s.selection.iter().chain(&s.having).chain(&s.qualify).for_each(|e| self.expr(e));
                for item in s.group_by.iter().flat_map(|g| &g.items) {
                    match item {
                        GroupItem::Expr(e) => self.expr(e),
                        GroupItem::GroupingSets(sets, _) | GroupItem::Cube(sets, _) | GroupItem::Rollup(sets, _) => {
                            sets.iter().flatten().for_each(|e| self.expr(e));
                        }
                    }
                }
                s.windows.iter().for_each(|w| self.window(&w.spec));
            }
        }
    }

    fn table(&mut self, t: &'a TableRef) {
        match &t.kind {
            TableRefKind::Table { system_time, .. } => system_time.iter().for_each(|e| self.expr(e)),
            TableRefKind::Derived { query, .. } => self.query(query),
            TableRefKind::Function { call, .. } => self.call(call),
            TableRefKind::Unnest { expr, .. } => self.expr(expr),
            TableRefKind::Join(j) => {
                self.table(&j.left);
                self.table(&j.right);
                j.on.iter().for_each(|e| self.expr(e));
            }
            TableRefKind::MatchRecognize(m) => {
                self.table(&m.input);
                m.partition_by.iter().for_each(|e| self.expr(e));
                m.order_by.iter().for_each(|o| self.expr(&o.expr));
                m.measures.iter().for_each(|(e, _)| self.expr(e));
                m.define.iter().for_each(|(_, e)| self.expr(e));
                m.within.iter().for_each(|e| self.expr(e));
            }
            TableRefKind::Parenthesized(inner) => self.table(inner),
        }
    }

    fn call(&mut self, c: &'a FunctionCall) {
        for arg in &c.args {
            if let FunctionArg::Expr(e) | FunctionArg::Named(_, e) = arg {
                self.expr(e);
            }
        }
        c.order_by.iter().chain(&c.within_group).for_each(|o| self.expr(&o.expr));
        c.filter.iter().for_each(|e| self.expr(e));
        c.over.iter().for_each(|w| self.window(w));
    }

    fn window(&mut self, w: &'a WindowSpec) {
        w.partition_by.iter().chain(w.order_by.iter().map(|o| &o.expr)).for_each(|e| self.expr(e));
        let bounds = w.frame.iter().flat_map(|f| std::iter::once(&f.start).chain(&f.end));
        for bound in bounds {
            if let FrameBound::Preceding(Some(e)) | FrameBound::Following(Some(e)) = bound {
                self.expr(e);
            }
        }
    }

    fn expr(&mut self, e: &'a Expr) {
        self.0.push(e);
        match &e.kind {
            ExprKind::Unary(_, a)
            | ExprKind::Is { expr: a, .. }
            | ExprKind::Cast { expr: a, .. }
            | ExprKind::Field(a, _) => self.expr(a),
            ExprKind::Binary(a, _, b)
            | ExprKind::IsDistinctFrom { left: a, right: b, .. }
            | ExprKind::Like { expr: a, pattern: b, .. }
            | ExprKind::Index(a, b)
            | ExprKind::AtTimeZone(a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Between { expr, low, high, .. } => [expr, low, high].into_iter().for_each(|e| self.expr(e)),
            ExprKind::InList { expr, list, .. } => {
                self.expr(expr);
                list.iter().for_each(|e| self.expr(e));
            }
            ExprKind::InSubquery { expr, query, .. } => {
                self.expr(expr);
                self.query(query);
            }
            ExprKind::Exists { query, .. } | ExprKind::Subquery(query) => self.query(query),
            ExprKind::Case { operand, branches, otherwise } => {
                operand.iter().chain(otherwise).for_each(|e| self.expr(e));
                branches.iter().for_each(|(c, r)| {
                    self.expr(c);
                    self.expr(r);
                });
            }
            ExprKind::Function(c) => self.call(c),
            ExprKind::Row(items) | ExprKind::Array(items) | ExprKind::Map(items) => {
                items.iter().for_each(|e| self.expr(e))
            }
            ExprKind::TableArgument(t) => {
                t.partition_by.iter().for_each(|e| self.expr(e));
                if let TableArgumentSource::Query(q) = &t.source {
                    self.query(q);
                }
            }
            ExprKind::Column(_)
            | ExprKind::Literal(_)
            | ExprKind::Descriptor(_)
            | ExprKind::Default
            | ExprKind::Placeholder(_) => {}
        }
    }
}

/// The texts of all expressions' spans.
pub fn expressions(sources: &SourceMap, script: &Script) -> Vec<String> {
    let mut all = Collector::default();
    script.statements.iter().for_each(|s| all.statement(&s.kind));
    all.0.iter().map(|e| sources.text(e.span).to_owned()).collect()
}

/// What a span covers, parsed alone, is the same expression: the span is neither too short nor too long.
#[test]
fn the_span_of_an_expression_is_its_text() {
    let mut count = 0;
    for (name, text) in scripts("ok") {
        let (sources, script) = parse_text(&text);
        let mut all = Collector::default();
        script.statements.iter().for_each(|s| all.statement(&s.kind));
        for e in all.0 {
            let alone = match &e.kind {
                // These stand only where they stand.
                ExprKind::TableArgument(_) | ExprKind::Literal(Literal::Symbol(_)) | ExprKind::Default => continue,
                ExprKind::Function(call) if call.name.last() == "MODEL" || call.name.last().starts_with("IS JSON") => {
                    continue;
                }
                ExprKind::Row(_) if !sources.text(e.span).ends_with(')') => continue,
                _ => format!("SELECT {}", sources.text(e.span)),
            };
            let (_, again) = parse_text(&alone);
            let Some(StatementKind::Query(query)) = again.statements.first().map(|s| &s.kind) else {
                panic!("{name}: {alone:?} does not parse: {:?}", again.errors);
            };
            let SetExpr::Select(select) = &query.body else { panic!("{alone}") };
            match &select.items[..] {
                [SelectItem::Expr { expr, alias: None }] => {
                    assert_eq!(dump::expr(expr), dump::expr(e), "{name}: {alone}")
                }
                other => panic!("{name}: {alone:?}: {other:?}"),
            }
            count += 1;
        }
    }
    assert!(count > 300, "{count}");
}

/// The places that findings point at.
#[test]
fn clauses_have_their_spans() {
    let text = "INSERT INTO top /*+ OPTIONS('a'='b') */ (x, y)
SELECT w AS x, SUM(b) FILTER (WHERE c) OVER (PARTITION BY k ORDER BY ts DESC ROWS 2 PRECEDING) AS y
FROM TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' HOUR)) AS h
WHERE (rk) < 3 AND a IS NOT NULL GROUP BY k, CAST(d AS STRING) ORDER BY k ASC";
    let (sources, script) = parse_text(text);
    let at = |span| sources.text(span);
    let StatementKind::Insert(insert) = &script.statements[0].kind else { panic!("{:?}", script.errors) };
    assert_eq!(at(insert.head_span), "INSERT INTO top /*+ OPTIONS('a'='b') */ (x, y)");
    assert_eq!(at(insert.hints[0].span), "OPTIONS('a'='b')");
    assert_eq!(at(insert.hints[0].options[0].span), "'a'='b'");
    let SetExpr::Select(select) = &insert.query.body else { panic!() };
    let SelectItem::Expr { expr, alias: Some(alias) } = &select.items[1] else { panic!() };
    let ExprKind::Function(sum) = &expr.kind else { panic!() };
    assert_eq!(at(alias.span), "y");
    assert_eq!(at(expr.span), at(sum.span));
    assert!(at(sum.span).starts_with("SUM(b) FILTER") && at(sum.span).ends_with("PRECEDING)"));
    let over = sum.over.as_ref().expect("OVER");
    assert_eq!(at(over.span), "(PARTITION BY k ORDER BY ts DESC ROWS 2 PRECEDING)");
    assert_eq!(at(over.order_by[0].span), "ts DESC");
    assert_eq!(at(over.frame.as_ref().expect("frame").span), "ROWS 2 PRECEDING");
    let TableRefKind::Function { call, .. } = &select.from[0].kind else { panic!() };
    assert_eq!(at(call.span), "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '1' HOUR)");
    let FunctionArg::Expr(size) = &call.args[3] else { panic!() };
    assert_eq!(at(size.span), "INTERVAL '1' HOUR");
    assert!(at(select.from[0].span).starts_with("TABLE(HOP") && at(select.from[0].span).ends_with("AS h"));
    let Some(ExprKind::Binary(rank, _, not_null)) = select.selection.as_ref().map(|e| &e.kind) else { panic!() };
    assert_eq!((at(rank.span), at(not_null.span)), ("(rk) < 3", "a IS NOT NULL"));
    let group = select.group_by.as_ref().expect("GROUP BY");
    assert_eq!(at(group.span), "GROUP BY k, CAST(d AS STRING)");
    assert_eq!(at(insert.query.order_by[0].span), "k ASC");
    assert_eq!(at(insert.query.span).lines().count(), 3);
}

#[test]
fn ddl_has_its_spans() {
    let text = "CREATE TABLE t (a INT NOT NULL COMMENT 'x', p AS f(a), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND,
 PRIMARY KEY (a) NOT ENFORCED) WITH ('k' = 'v')";
    let (sources, script) = parse_text(text);
    let StatementKind::CreateTable(table) = &script.statements[0].kind else { panic!("{:?}", script.errors) };
    let texts: Vec<_> = table
        .elements
        .iter()
        .map(|e| match e {
            TableElement::Column(c) => sources.text(c.span),
            TableElement::Watermark(w) => sources.text(w.span),
            TableElement::PrimaryKey { span, .. } => sources.text(*span),
        })
        .collect();
    let watermark = "WATERMARK FOR ts AS ts - INTERVAL '1' SECOND";
    assert_eq!(texts, ["a INT NOT NULL COMMENT 'x'", "p AS f(a)", watermark, "PRIMARY KEY (a) NOT ENFORCED"]);
    assert_eq!(sources.text(table.options[0].span), "'k' = 'v'");
    assert_eq!(sources.text(script.statements[0].span), text);
}
