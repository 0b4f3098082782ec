//! A compact text form of scripts: everything but spans.

use keepstate::syntax::ast::*;

/// All statements, one a line.
pub fn script(script: &Script) -> String {
    let mut lines: Vec<String> = script.statements.iter().map(|s| statement(&s.kind)).collect();
    for p in &script.placeholders {
        lines.push(format!("placeholder {}", p.name));
    }
    lines.join("\n")
}

fn list<T>(items: &[T], f: impl Fn(&T) -> String) -> String {
    items.iter().map(f).collect::<Vec<_>>().join(", ")
}

fn flag(on: bool, word: &str) -> &str {
    if on { word } else { "" }
}

fn clause<T>(word: &str, items: &[T], f: impl Fn(&T) -> String) -> String {
    if items.is_empty() { String::new() } else { format!(" {word} {}", list(items, f)) }
}

fn ident(i: &Ident) -> String {
    if i.quoted { format!("`{}`", i.value) } else { i.value.clone() }
}

fn name(n: &ObjectName) -> String {
    n.parts.iter().map(ident).collect::<Vec<_>>().join(".")
}

fn option(o: &TableOption) -> String {
    format!("{:?}={:?}", o.key, o.value)
}

fn statement(kind: &StatementKind) -> String {
    match kind {
        StatementKind::Set(None) => "Set".into(),
        StatementKind::Set(Some(o)) => format!("Set {:?} = {:?}", o.key, o.value),
        StatementKind::Reset(key) => format!("Reset {:?}", key.as_ref().map(|k| &k.value)),
        StatementKind::CreateTable(t) => create_table(t),
        StatementKind::CreateView(v) => format!(
            "CreateView{}{}{} {} ({}) AS {}",
            flag(v.or_replace, " or-replace"),
            flag(v.temporary, " temporary"),
            flag(v.if_not_exists, " if-not-exists"),
            name(&v.name),
            list(&v.columns, ident),
            query(&v.query)
        ),
        StatementKind::CreateFunction(f) => format!("CreateFunction {} AS {:?}", name(&f.name), f.class),
        StatementKind::CreateCatalog { name, options } => {
            format!("CreateCatalog {} {}", ident(name), list(options, option))
        }
        StatementKind::CreateDatabase(n) => format!("CreateDatabase {}", name(n)),
        StatementKind::UseCatalog(n) => format!("UseCatalog {}", ident(n)),
        StatementKind::UseDatabase(n) => format!("UseDatabase {}", name(n)),
        StatementKind::Drop(d) => format!("Drop {} {}{}", d.what, name(&d.name), flag(d.if_exists, " if-exists")),
        StatementKind::Alter(a) => format!("Alter {} {}: {}", a.what, name(&a.name), alter(&a.action)),
        StatementKind::Insert(i) => insert(i),
        StatementKind::StatementSet(inserts) => format!("StatementSet [{}]", list(inserts, |(i, _)| insert(i))),
        StatementKind::Query(q) => format!("Query {}", query(q)),
        StatementKind::Wrapped { verb, inner } => format!("{verb} → {}", statement(&inner.kind)),
        StatementKind::Other(words) => format!("Other {words}"),
    }
}

fn create_table(t: &CreateTable) -> String {
    let like = t.like.as_ref().map_or(String::new(), |l| {
        format!(" LIKE {} [{}]", name(&l.source), list(&l.options, |(a, b)| format!("{a} {b}")))
    });
    format!(
        "CreateTable{}{}{}{} {} ({}){}{}{}{like}{}",
        flag(t.or_replace, " or-replace"),
        flag(t.temporary, " temporary"),
        flag(t.materialized, " materialized"),
        flag(t.if_not_exists, " if-not-exists"),
        name(&t.name),
        list(&t.elements, element),
        t.comment.as_ref().map_or(String::new(), |c| format!(" comment {c:?}")),
        clause("partitioned-by", &t.partitioned_by, ident),
        clause("with", &t.options, option),
        t.as_query.as_ref().map_or(String::new(), |q| format!(" AS {}", query(q)))
    )
}

fn element(e: &TableElement) -> String {
    match e {
        TableElement::Column(c) => {
            let kind = match &c.kind {
                ColumnKind::Physical(t) => format!(" {}", ty(t)),
                ColumnKind::Computed(e) => format!(" := {}", expr(e)),
                ColumnKind::Metadata { ty: t, from, is_virtual } => {
                    format!(" {} metadata {from:?}{}", ty(t), flag(*is_virtual, " virtual"))
                }
                ColumnKind::NameOnly => String::new(),
            };
            let comment = c.comment.as_ref().map_or(String::new(), |c| format!(" comment {c:?}"));
            format!("{}{kind}{}{comment}", ident(&c.name), flag(c.primary_key, " key"))
        }
        TableElement::Watermark(w) => format!("watermark {} := {}", list(&w.column, ident), expr(&w.expr)),
        TableElement::PrimaryKey { columns, .. } => format!("key ({})", list(columns, ident)),
    }
}

fn ty(t: &TypeName) -> String {
    let kind = match &t.kind {
        TypeNameKind::Simple(name, numbers) if numbers.is_empty() => name.clone(),
        TypeNameKind::Simple(name, numbers) => format!("{name}({})", list(numbers, u32::to_string)),
        TypeNameKind::Array(e) => format!("ARRAY<{}>", ty(e)),
        TypeNameKind::Multiset(e) => format!("MULTISET<{}>", ty(e)),
        TypeNameKind::Map(k, v) => format!("MAP<{}, {}>", ty(k), ty(v)),
        TypeNameKind::Row(fields) => format!("ROW<{}>", list(fields, |f| format!("{} {}", ident(&f.name), ty(&f.ty)))),
        TypeNameKind::Other(text) => format!("other {text:?}"),
    };
    format!("{kind}{}", flag(t.not_null, " NOT NULL"))
}

fn alter(a: &AlterAction) -> String {
    match a {
        AlterAction::SetOptions(o) => format!("set {}", list(o, option)),
        AlterAction::ResetOptions(o) => format!("reset {o:?}"),
        AlterAction::RenameTo(n) => format!("rename to {}", name(n)),
        AlterAction::RenameColumn(a, b) => format!("rename {} to {}", ident(a), ident(b)),
        AlterAction::Add(e) => format!("add {}", list(e, element)),
        AlterAction::Modify(e) => format!("modify {}", list(e, element)),
        AlterAction::DropColumns(c) => format!("drop {}", list(c, ident)),
        AlterAction::DropPrimaryKey => "drop primary key".into(),
        AlterAction::DropWatermark => "drop watermark".into(),
        AlterAction::AsQuery(q) => format!("as {}", query(q)),
        AlterAction::Other(words) => format!("other {words}"),
    }
}

fn insert(i: &Insert) -> String {
    let partition = clause("partition", &i.partition, |(k, v)| {
        format!("{}{}", ident(k), v.as_ref().map_or(String::new(), |v| format!("={}", expr(v))))
    });
    let columns = if i.columns.is_empty() { String::new() } else { format!(" ({})", list(&i.columns, ident)) };
    let (overwrite, table, hints) = (flag(i.overwrite, " overwrite"), name(&i.table), hints(&i.hints));
    format!("Insert{overwrite} {table}{hints}{partition}{columns} ← {}", query(&i.query))
}

fn hints(hints: &[Hint]) -> String {
    clause("hint", hints, |h| format!("{}({}{})", h.name, list(&h.options, option), list(&h.arguments, Clone::clone)))
}

fn query(q: &Query) -> String {
    let with =
        q.with.iter().map(|c| format!("WITH {} ({}) AS {} ", ident(&c.name), list(&c.columns, ident), query(&c.query)));
    format!(
        "{}{}{}{}{}",
        with.collect::<String>(),
        set_expr(&q.body),
        clause("ORDER BY", &q.order_by, order),
        q.limit.as_ref().map_or(String::new(), |e| format!(" LIMIT {}", expr(e))),
        q.offset.as_ref().map_or(String::new(), |e| format!(" OFFSET {}", expr(e)))
    )
}

fn set_expr(s: &SetExpr) -> String {
    match s {
        SetExpr::Select(s) => select(s),
        SetExpr::Values(rows, _) => format!("VALUES {}", list(rows, |r| format!("({})", list(r, expr)))),
        SetExpr::SetOperation { op, all, left, right, .. } => {
            format!("[{} {op:?}{} {}]", set_expr(left), flag(*all, " all"), set_expr(right))
        }
        SetExpr::Query(q) => format!("({})", query(q)),
    }
}

fn select(s: &Select) -> String {
    let items = list(&s.items, |i| match i {
        SelectItem::Expr { expr: e, alias } => {
            format!("{}{}", expr(e), alias.as_ref().map_or(String::new(), |a| format!(" AS {}", ident(a))))
        }
        SelectItem::Star(_) => "*".into(),
        SelectItem::QualifiedStar(n) => format!("{}.*", name(n)),
    });
    let optional = |word: &str, e: &Option<Expr>| e.as_ref().map_or(String::new(), |e| format!(" {word} {}", expr(e)));
    let group = s.group_by.as_ref().map_or(String::new(), |g| format!(" GROUP BY {}", list(&g.items, group_item)));
    format!(
        "SELECT{}{} {items}{}{}{group}{}{}{}",
        flag(s.distinct, " DISTINCT"),
        hints(&s.hints),
        clause("FROM", &s.from, table),
        optional("WHERE", &s.selection),
        optional("HAVING", &s.having),
        optional("QUALIFY", &s.qualify),
        clause("WINDOW", &s.windows, |w| format!("{} AS {}", ident(&w.name), window(&w.spec)))
    )
}

fn group_item(g: &GroupItem) -> String {
    let sets = |sets: &[Vec<Expr>]| list(sets, |s| format!("({})", list(s, expr)));
    match g {
        GroupItem::Expr(e) => expr(e),
        GroupItem::GroupingSets(s, _) => format!("GROUPING SETS ({})", sets(s)),
        GroupItem::Cube(s, _) => format!("CUBE ({})", sets(s)),
        GroupItem::Rollup(s, _) => format!("ROLLUP ({})", sets(s)),
    }
}

fn table(t: &TableRef) -> String {
    let kind = match &t.kind {
        TableRefKind::Table { name: n, hints: h, system_time } => {
            let time = system_time.as_ref().map_or(String::new(), |e| format!(" AS OF {}", expr(e)));
            format!("{}{}{time}", name(n), hints(h))
        }
        TableRefKind::Derived { lateral, query: q } => format!("{}({})", flag(*lateral, "lateral "), query(q)),
        TableRefKind::Function { lateral, wrapped, call: c } => {
            format!("{}{}{}", flag(*lateral, "lateral "), flag(*wrapped, "table "), call(c))
        }
        TableRefKind::Unnest { expr: e, with_ordinality } => {
            format!("unnest {}{}", expr(e), flag(*with_ordinality, " with ordinality"))
        }
        TableRefKind::Join(j) => format!(
            "[{} {:?}{} {}{}{}]",
            table(&j.left),
            j.kind,
            flag(j.natural, " natural"),
            table(&j.right),
            j.on.as_ref().map_or(String::new(), |e| format!(" ON {}", expr(e))),
            clause("USING", &j.using, ident)
        ),
        TableRefKind::MatchRecognize(m) => format!(
            "{} match{}{}{}{}{} pattern {} within {}{} define {}",
            table(&m.input),
            clause("PARTITION BY", &m.partition_by, expr),
            clause("ORDER BY", &m.order_by, order),
            clause("MEASURES", &m.measures, |(e, n)| format!("{} AS {}", expr(e), ident(n))),
            flag(m.all_rows.is_some(), " all rows"),
            m.after_match.as_ref().map_or(String::new(), |a| format!(" after {}", skip(&a.skip))),
            pattern(&m.pattern),
            m.within.as_ref().map_or(String::new(), expr),
            clause("SUBSET", &m.subsets, |(n, of)| format!("{} = ({})", ident(n), list(of, ident))),
            list(&m.define, |(n, e)| format!("{} AS {}", ident(n), expr(e)))
        ),
        TableRefKind::Parenthesized(inner) => format!("({})", table(inner)),
    };
    let alias = t.alias.as_ref().map_or(String::new(), |a| {
        let columns = if a.columns.is_empty() { String::new() } else { format!(" ({})", list(&a.columns, ident)) };
        format!(" AS {}{columns}", ident(&a.name))
    });
    format!("{kind}{alias}")
}

fn skip(s: &Skip) -> String {
    match s {
        Skip::PastLastRow => "past last row".to_owned(),
        Skip::ToNextRow => "to next row".to_owned(),
        Skip::ToFirst(name) => format!("to first {}", ident(name)),
        Skip::ToLast(name) => format!("to last {}", ident(name)),
    }
}

fn pattern(p: &Pattern) -> String {
    match &p.kind {
        PatternKind::Variable(name) => ident(name),
        PatternKind::Concat(parts) => {
            format!("({})", parts.iter().map(pattern).collect::<Vec<_>>().join(" "))
        }
        PatternKind::Alternation(parts) => {
            format!("({})", parts.iter().map(pattern).collect::<Vec<_>>().join(" | "))
        }
        PatternKind::Quantified { of, quantifier: q } => {
            let number = |n: Option<u32>| n.map_or(String::new(), |n| n.to_string());
            format!("{}{{{},{}}}{}", pattern(of), number(q.from), number(q.to), flag(q.reluctant, "?"))
        }
        PatternKind::Permute(parts) => format!("permute({})", list(parts, pattern)),
        PatternKind::Exclude(of) => format!("{{- {} -}}", pattern(of)),
    }
}

fn order(o: &OrderItem) -> String {
    let nulls = match o.nulls_first {
        None => "",
        Some(true) => " NULLS FIRST",
        Some(false) => " NULLS LAST",
    };
    format!("{}{}{nulls}", expr(&o.expr), flag(o.descending, " DESC"))
}

fn window(w: &WindowSpec) -> String {
    let bound = |b: &FrameBound| match b {
        FrameBound::CurrentRow => "current".to_owned(),
        FrameBound::Preceding(e) => format!("-{}", e.as_ref().map_or("∞".into(), |e| expr(e))),
        FrameBound::Following(e) => format!("+{}", e.as_ref().map_or("∞".into(), |e| expr(e))),
    };
    let frame = w.frame.as_ref().map_or(String::new(), |f| {
        let end = f.end.as_ref().map_or(String::new(), |e| format!(" .. {}", bound(e)));
        format!(" {:?} {}{end}", f.units, bound(&f.start))
    });
    let base = w.base.as_ref().map_or(String::new(), |b| format!(" {}", ident(b)));
    let partition = clause("PARTITION BY", &w.partition_by, expr);
    format!("{{{base}{partition}{}{frame} }}", clause("ORDER BY", &w.order_by, order))
}

fn call(c: &FunctionCall) -> String {
    let args = list(&c.args, |a| match a {
        FunctionArg::Expr(e) => expr(e),
        FunctionArg::Named(n, e) => format!("{} => {}", ident(n), expr(e)),
        FunctionArg::Star(_) => "*".into(),
    });
    let args = if c.parenthesized || !c.args.is_empty() {
        format!("({}{args}{})", flag(c.distinct, "DISTINCT "), clause("ORDER BY", &c.order_by, order))
    } else {
        String::new()
    };
    format!(
        "{}{args}{}{}{}{}",
        name(&c.name),
        clause("WITHIN GROUP", &c.within_group, order),
        c.filter.as_ref().map_or(String::new(), |e| format!(" FILTER {}", expr(e))),
        c.ignore_nulls.map_or("", |i| if i { " IGNORE NULLS" } else { " RESPECT NULLS" }),
        c.over.as_ref().map_or(String::new(), |w| format!(" OVER {}", window(w)))
    )
}

fn literal(l: &Literal) -> String {
    match l {
        Literal::Null => "NULL".into(),
        Literal::Boolean(b) => b.to_string(),
        Literal::Number(n) => n.clone(),
        Literal::String(s) => format!("'{s}'"),
        Literal::Binary(s) => format!("X'{s}'"),
        Literal::Date(s) => format!("DATE '{s}'"),
        Literal::Time(s) => format!("TIME '{s}'"),
        Literal::Timestamp(s) => format!("TIMESTAMP '{s}'"),
        Literal::Symbol(s) => format!("#{s}"),
        Literal::Interval(i) => {
            let number = |n: Option<u32>| n.map_or(String::new(), |n| format!("({n})"));
            let to = i.to.as_ref().map_or(String::new(), |t| format!(" TO {t}"));
            let sign = flag(i.negative, "-");
            format!("INTERVAL {sign}'{}' {}{}{to}{}", i.value, i.unit, number(i.precision), number(i.fraction))
        }
    }
}

/// An expression.
pub fn expr(e: &Expr) -> String {
    let not = |n: bool| flag(n, " NOT").to_owned();
    match &e.kind {
        ExprKind::Column(parts) => parts.iter().map(ident).collect::<Vec<_>>().join("."),
        ExprKind::Literal(l) => literal(l),
        ExprKind::Unary(op, e) => format!("({op:?} {})", expr(e)),
        ExprKind::Binary(l, op, r) => {
            let op = match op {
                BinaryOp::Or => "OR",
                BinaryOp::And => "AND",
                BinaryOp::Eq => "=",
                BinaryOp::NotEq => "<>",
                BinaryOp::Lt => "<",
                BinaryOp::LtEq => "<=",
                BinaryOp::Gt => ">",
                BinaryOp::GtEq => ">=",
                BinaryOp::Plus => "+",
                BinaryOp::Minus => "-",
                BinaryOp::Multiply => "*",
                BinaryOp::Divide => "/",
                BinaryOp::Modulo => "%",
                BinaryOp::Concat => "||",
            };
            format!("({} {op} {})", expr(l), expr(r))
        }
        ExprKind::Is { expr: e, test, negated } => format!("({} IS{} {test:?})", expr(e), not(*negated)),
        ExprKind::IsDistinctFrom { left, right, negated } => {
            format!("({} IS{} DISTINCT FROM {})", expr(left), not(*negated), expr(right))
        }
        ExprKind::Between { expr: e, negated, symmetric, low, high } => {
            let symmetric = flag(*symmetric, " SYMMETRIC");
            format!("({}{} BETWEEN{symmetric} {} AND {})", expr(e), not(*negated), expr(low), expr(high))
        }
        ExprKind::InList { expr: e, list: items, negated } => {
            format!("({}{} IN ({}))", expr(e), not(*negated), list(items, expr))
        }
        ExprKind::InSubquery { expr: e, query: q, negated } => {
            format!("({}{} IN ({}))", expr(e), not(*negated), query(q))
        }
        ExprKind::Exists { query: q, negated } => format!("({} EXISTS ({}))", not(*negated), query(q)),
        ExprKind::Subquery(q) => format!("({})", query(q)),
        ExprKind::Like { expr: e, pattern, escape, negated, similar } => {
            let op = if *similar { "SIMILAR TO" } else { "LIKE" };
            let escape = escape.as_ref().map_or(String::new(), |e| format!(" ESCAPE '{e}'"));
            format!("({}{} {op} {}{escape})", expr(e), not(*negated), expr(pattern))
        }
        ExprKind::Case { operand, branches, otherwise } => format!(
            "CASE {}{}{} END",
            operand.as_ref().map_or(String::new(), |e| format!("{} ", expr(e))),
            list(branches, |(c, r)| format!("WHEN {} THEN {}", expr(c), expr(r))),
            otherwise.as_ref().map_or(String::new(), |e| format!(" ELSE {}", expr(e)))
        ),
        ExprKind::Cast { expr: e, ty: t, is_try } => format!("{}CAST({} AS {})", flag(*is_try, "TRY_"), expr(e), ty(t)),
        ExprKind::Function(c) => call(c),
        ExprKind::Row(items) => format!("ROW({})", list(items, expr)),
        ExprKind::Array(items) => format!("ARRAY[{}]", list(items, expr)),
        ExprKind::Map(items) => format!("MAP[{}]", list(items, expr)),
        ExprKind::Index(e, i) => format!("{}[{}]", expr(e), expr(i)),
        ExprKind::Field(e, f) => format!("{}→{}", expr(e), ident(f)),
        ExprKind::TableArgument(t) => {
            let source = match &t.source {
                TableArgumentSource::Name(n) => name(n),
                TableArgumentSource::Query(q) => format!("({})", query(q)),
            };
            let partition = clause("PARTITION BY", &t.partition_by, expr);
            format!("TABLE {source}{partition}{}", clause("ORDER BY", &t.order_by, order))
        }
        ExprKind::Descriptor(columns) => format!("DESCRIPTOR({})", list(columns, ident)),
        ExprKind::AtTimeZone(e, z) => format!("({} AT TIME ZONE {})", expr(e), expr(z)),
        ExprKind::Default => "DEFAULT".into(),
        ExprKind::Placeholder(name) => format!("${{{name}}}"),
    }
}
