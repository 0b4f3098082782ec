//! Jobs as text. Every decision of [`Choices`] picks another text of the same meaning.

mod windows;

use super::choices::Choices;
use super::job::*;

/// The text of a job; the plain one if there are no decisions.
pub fn sql(job: &Job, c: &mut Choices<'_>) -> String {
    let names = job.columns.iter().map(|c| c.name.clone()).collect();
    let quoted = c.one_in(3);
    let rename = c.one_in(2);
    let mut p = Printer { job, c, names, views: Vec::new(), ctes: Vec::new(), fresh: 0, quoted, rename, alias: None };
    let mut inserts: Vec<String> = job.inserts.iter().map(|i| p.insert(i)).collect();
    let mut tables: Vec<String> = job.tables.iter().map(|t| p.table(t)).collect();
    tables.extend(job.inserts.iter().map(|i| p.sink(i)));
    if p.c.one_in(2) {
        tables.reverse();
    }
    if inserts.len() > 1 && p.c.one_in(2) {
        inserts.reverse();
    }
    let inserts = match inserts.as_slice() {
        [one] => format!("{one} ;"),
        many if p.c.one_in(2) => format!("BEGIN STATEMENT SET ; {} ; END ;", many.join(" ; ")),
        many => format!("EXECUTE STATEMENT SET BEGIN {} ; END ;", many.join(" ; ")),
    };
    let statements: Vec<String> = tables.into_iter().chain(std::mem::take(&mut p.views)).collect();
    let text = format!("{} ; {inserts}", statements.join(" ; "));
    layout(&text, p.c)
}

/// Changes blanks and the case of keywords, which are the words in capitals.
fn layout(text: &str, c: &mut Choices<'_>) -> String {
    let filler = *c.pick(&[" ", "\n", " /* c ' */ ", " -- x ` ;\n", "\t\r\n  "]);
    let case = c.below(3);
    let mut out = String::with_capacity(text.len() * 2);
    let mut quote = None;
    for (i, ch) in text.char_indices() {
        match (quote, ch) {
            (Some(q), _) => {
                if ch == q {
                    quote = None;
                }
                out.push(ch);
            }
            (None, '\'' | '`') => {
                quote = Some(ch);
                out.push(ch);
            }
            (None, ' ') => out.push_str(filler),
            (None, 'A'..='Z') if case == 1 || (case == 2 && i % 2 == 0) => out.push(ch.to_ascii_lowercase()),
            _ => out.push(ch),
        }
    }
    if filler == " " && c.below(2) == 0 {
        // Readable when a test fails.
        return out.replace(" ; ", ";\n");
    }
    out
}

struct Printer<'a, 'c> {
    job: &'a Job,
    c: &'a mut Choices<'c>,
    /// The names of all columns as they are now.
    names: Vec<String>,
    views: Vec<String>,
    /// WITH clauses, innermost last.
    ctes: Vec<Vec<String>>,
    fresh: usize,
    quoted: bool,
    rename: bool,
    /// The alias of the current FROM.
    alias: Option<String>,
}

/// How a FROM was written.
struct Written {
    text: String,
    columns: Vec<Col>,
    /// It has more columns than those.
    extras: bool,
}

impl Printer<'_, '_> {
    fn fresh(&mut self, what: &str) -> String {
        self.fresh += 1;
        let salt = self.c.below(3);
        format!("{what}{}{}", ["", "_x", "_y"][salt], self.fresh)
    }

    fn ident(&self, name: &str) -> String {
        if self.quoted { format!("`{name}`") } else { name.to_owned() }
    }

    fn column(&mut self, column: Col) -> String {
        let name = self.ident(&self.names[column]);
        match self.alias.clone() {
            Some(alias) if self.c.one_in(2) => format!("{}.{name}", self.ident(&alias)),
            _ => name,
        }
    }

    fn columns(&mut self, columns: &[Col]) -> String {
        columns.iter().map(|c| self.column(*c)).collect::<Vec<_>>().join(" , ")
    }

    fn table(&mut self, table: &Table) -> String {
        let mut elements: Vec<String> = Vec::new();
        for column in &table.columns {
            let info = &self.job.columns[*column];
            let name = self.ident(&info.name);
            elements.push(match info.ty {
                Ty::Proctime => format!("{name} AS PROCTIME()"),
                ty => format!("{name} {}", type_text(ty)),
            });
        }
        let ts = self.ident("ts");
        let delay = self.interval(table.delay);
        let delay = if table.delay == 0 { ts.clone() } else { format!("{ts} - {delay}") };
        elements.push(format!("WATERMARK FOR {ts} AS {delay}"));
        let name = self.ident(&table.name);
        format!("CREATE TABLE {name} ( {} ) WITH ( 'connector' = 'stub' )", elements.join(" , "))
    }

    fn sink(&mut self, insert: &Insert) -> String {
        let columns: Vec<String> = insert
            .query
            .outputs()
            .iter()
            .map(|c| {
                let info = &self.job.columns[*c];
                format!("{} {}", self.ident(&info.name), type_text(info.ty))
            })
            .collect();
        let name = self.ident(&insert.sink);
        format!("CREATE TABLE {name} ( {} ) WITH ( 'connector' = 'print' )", columns.join(" , "))
    }

    fn insert(&mut self, insert: &Insert) -> String {
        self.ctes.push(Vec::new());
        let (query, _) = self.query(&insert.query, true);
        let with = self.with();
        let sink = self.ident(&insert.sink);
        format!("INSERT INTO {sink} {with}{query}")
    }

    fn with(&mut self) -> String {
        match self.ctes.pop() {
            Some(ctes) if !ctes.is_empty() => format!("WITH {} ", ctes.join(" , ")),
            _ => String::new(),
        }
    }

    /// The text of a query, and whether it has columns that nobody asked for.
    fn query(&mut self, query: &Query, outermost: bool) -> (String, bool) {
        match query {
            Query::Select(select) => self.select(select, !outermost),
            Query::Union(branches) => {
                let texts: Vec<String> = branches
                    .iter()
                    .map(|b| match b {
                        Query::Select(select) => self.select(select, false).0,
                        union => self.query(union, false).0,
                    })
                    .collect();
                (texts.join(" UNION ALL "), false)
            }
        }
    }

    fn from(&mut self, from: &From) -> Written {
        match from {
            From::Table(t) => {
                let table = &self.job.tables[*t];
                Written { text: self.ident(&table.name), columns: table.columns.clone(), extras: false }
            }
            From::Query(query) => {
                let way = self.c.below(3);
                self.wrapped(query, way)
            }
            From::Tvf(tvf) => self.tvf(tvf),
        }
    }

    /// A query as subquery (0), view (1) or CTE (2).
    fn wrapped(&mut self, query: &Query, way: usize) -> Written {
        if way == 1 {
            self.ctes.push(Vec::new());
        }
        let (mut body, extras) = self.query(query, false);
        let columns = query.outputs();
        let listed = way != 0 && !extras && self.rename && self.c.one_in(4);
        let mut list = String::new();
        if listed {
            let names: Vec<String> = columns.iter().map(|_| self.fresh("l")).collect();
            list = format!(" ( {} )", names.iter().map(|n| self.ident(n)).collect::<Vec<_>>().join(" , "));
            for (column, name) in columns.iter().zip(names) {
                self.names[*column] = name;
            }
        }
        let text = match way {
            0 => format!("( {body} )"),
            1 => {
                body = format!("{}{body}", self.with());
                let name = self.fresh("v");
                let name = self.ident(&name);
                let temporary = if self.c.one_in(2) { "TEMPORARY " } else { "" };
                self.views.push(format!("CREATE {temporary}VIEW {name}{list} AS {body}"));
                name
            }
            _ => {
                let name = self.fresh("c");
                let name = self.ident(&name);
                let cte = format!("{name}{list} AS ( {body} )");
                self.ctes.last_mut().expect("inside a statement").push(cte);
                name
            }
        };
        Written { text, columns, extras }
    }

    fn tvf(&mut self, tvf: &Tvf) -> Written {
        let mut input = match &tvf.input {
            From::Query(query) => {
                let way = [2, 1][self.c.below(2)];
                self.wrapped(query, way)
            }
            other => self.from(other),
        };
        let named = self.c.one_in(2);
        let arg = |name: &str, text: String| if named { format!("{name} => {text}") } else { text };
        let mut table = format!("TABLE {}", input.text);
        if !tvf.partition.is_empty() {
            self.alias = None;
            table = format!("{table} PARTITION BY ( {} )", self.columns(&tvf.partition));
        }
        let time = self.ident(&self.names[tvf.time]);
        let mut args = vec![arg("DATA", table), arg("TIMECOL", format!("DESCRIPTOR( {time} )"))];
        let function = match tvf.window {
            Window::Tumble(size) => {
                args.push(arg("SIZE", self.interval(size)));
                "TUMBLE"
            }
            Window::Hop(slide, size) => {
                args.push(arg("SLIDE", self.interval(slide)));
                args.push(arg("SIZE", self.interval(size)));
                "HOP"
            }
            Window::Cumulate(step, size) => {
                args.push(arg("STEP", self.interval(step)));
                args.push(arg("SIZE", self.interval(size)));
                "CUMULATE"
            }
            Window::Session(gap) => {
                args.push(arg("GAP", self.interval(gap)));
                "SESSION"
            }
        };
        if let Some(offset) = tvf.offset {
            args.push(arg("OFFSET", self.interval(offset)));
        }
        let call = format!("{function}( {} )", args.join(" , "));
        input.text = if self.c.one_in(4) { call } else { format!("TABLE( {call} )") };
        input.columns.extend(tvf.bounds);
        input
    }

    fn select(&mut self, select: &Select, may_change: bool) -> (String, bool) {
        let outer = self.alias.take();
        let from = self.from(&select.from);
        let mut from_text = from.text.clone();
        self.alias = None;
        if self.c.one_in(3) {
            let alias = self.fresh("q");
            let word = if self.c.one_in(2) { "AS " } else { "" };
            from_text = format!("{from_text} {word}{}", self.ident(&alias));
            self.alias = Some(alias);
        }
        let legacy = select.group.iter().find_map(|k| match k {
            Key::Window(window, time) => Some(self.legacy(*window, *time)),
            Key::Column(_) => None,
        });
        let over = select.over.as_ref().map(|o| self.over(o));
        let ranks = select.items.iter().any(|(e, _)| matches!(e, Expr::RowNumber(..)));
        let named = (over.is_some() || ranks) && self.c.one_in(2);
        let mut definition = over.clone();

        let mut items = Vec::new();
        let mut used: Vec<String> = Vec::new();
        let scope = Scope { legacy: legacy.as_ref(), over: if named { Some("w".to_owned()) } else { over } };
        let starts = select.items.iter().map(|(e, _)| e).zip(&from.columns);
        let mut star = !from.extras && select.items.len() == from.columns.len();
        for (e, column) in starts {
            star &= matches!(e, Expr::Column(c) if c == column);
        }
        // What stands before a computed last item may be a star too.
        let prefix = select.items.len() == from.columns.len() + 1
            && !from.extras
            && select.items.iter().zip(&from.columns).all(|((e, _), c)| matches!(e, Expr::Column(x) if x == c));
        let renames = select.items.iter().any(|(e, out)| match e {
            Expr::Column(c) => self.job.columns[*out].fixed && self.names[*c] != self.job.columns[*out].name,
            _ => false,
        });
        let as_star = (star || prefix) && !renames && self.c.one_in(2);
        for (i, (e, out)) in select.items.iter().enumerate() {
            let starred = as_star && i < from.columns.len();
            let text = match e {
                _ if starred => String::new(),
                Expr::RowNumber(partition, order) => {
                    let window = self.rank_window(partition, order);
                    let over = if named { "w".to_owned() } else { format!("( {window} )") };
                    if named {
                        definition = Some(window);
                    }
                    format!("ROW_NUMBER( ) OVER {over}")
                }
                e => self.expr(e, &scope),
            };
            let info = &self.job.columns[*out];
            let from_name = match e {
                Expr::Column(c) => Some(self.names[*c].clone()),
                _ => None,
            };
            let own = match (info.fixed, &from_name) {
                (true, _) => info.name.clone(),
                (_, Some(name)) if starred => name.clone(),
                _ if self.rename && may_change => self.fresh("n"),
                (_, Some(name)) if !used.contains(name) && !name.starts_with("window_") => name.clone(),
                _ => format!("{}_{out}", info.name),
            };
            if starred {
                if i == 0 {
                    items.push("*".to_owned());
                }
            } else if from_name.as_ref() == Some(&own) {
                items.push(text);
            } else {
                let word = if self.c.one_in(3) { "" } else { "AS " };
                items.push(format!("{text} {word}{}", self.ident(&own)));
            }
            used.push(own.clone());
            self.names[*out] = own;
        }
        let names: Vec<String> = used;
        let mut extras = false;
        if may_change && !select.distinct && select.group.is_empty() && self.c.one_in(4) {
            let column = *self.c.pick(&from.columns);
            if self.job.columns[column].ty != Ty::Proctime && !is_aggregate(select) {
                let text = self.column_in_scope(column, &select.items, &names);
                if let Some(text) = text {
                    items.push(text);
                    extras = true;
                }
            }
        }
        let distinct = if select.distinct { "DISTINCT " } else { "" };
        let mut text = format!("SELECT {distinct}{} FROM {from_text}", items.join(" , "));
        // Conditions see the input's names; a rename of the outputs has its own entries.
        if !select.filters.is_empty() {
            text.push_str(&format!(" WHERE {}", self.conjunction(&select.filters, &scope)));
        }
        if !select.group.is_empty() {
            let keys: Vec<String> = select
                .group
                .iter()
                .map(|k| match k {
                    Key::Column(c) => self.column(*c),
                    Key::Window(..) => legacy.as_ref().map_or_else(String::new, |l| l.group.clone()),
                })
                .collect();
            text.push_str(&format!(" GROUP BY {}", keys.join(" , ")));
        }
        if !select.having.is_empty() {
            text.push_str(&format!(" HAVING {}", self.conjunction(&select.having, &scope)));
        }
        if let (true, Some(definition)) = (named, definition) {
            text.push_str(&format!(" WINDOW w AS ( {definition} )"));
        }
        self.alias = outer;
        (text, extras)
    }

    /// A column nobody reads, under a name of its own.
    fn column_in_scope(&mut self, column: Col, items: &[(Expr, Col)], names: &[String]) -> Option<String> {
        let text = self.column(column);
        let name = self.fresh("unused");
        // A rank number must stay the last item, as the printer's star forms rely on it.
        let ranks = items.iter().any(|(e, _)| matches!(e, Expr::RowNumber(..)));
        (!ranks && !names.contains(&name)).then(|| format!("{text} AS {}", self.ident(&name)))
    }

    fn conjunction(&mut self, conditions: &[Expr], scope: &Scope<'_>) -> String {
        let mut texts: Vec<String> = conditions.iter().map(|e| self.expr(e, scope)).collect();
        let by = self.c.below(texts.len());
        texts.rotate_left(by);
        texts.join(" AND ")
    }

    fn expr(&mut self, e: &Expr, scope: &Scope<'_>) -> String {
        match e {
            Expr::Column(c) => self.column(*c),
            Expr::Int(n) => n.to_string(),
            Expr::Text(s) => format!("'{s}'"),
            Expr::Interval(ms) => self.interval(*ms),
            Expr::Arithmetic(op, a, b) => {
                let (mut a_text, mut b_text) = (self.expr(a, scope), self.expr(b, scope));
                if matches!(op, '+' | '*') && !matches!(**b, Expr::Interval(_)) && self.c.one_in(2) {
                    std::mem::swap(&mut a_text, &mut b_text);
                }
                format!("( {a_text} {op} {b_text} )")
            }
            Expr::Compare(op, a, b) => {
                let (a, b) = (self.expr(a, scope), self.expr(b, scope));
                let (text, flipped) = match op {
                    Cmp::Less => ("<", ">"),
                    Cmp::LessOrEqual => ("<=", ">="),
                    Cmp::Greater => (">", "<"),
                    Cmp::GreaterOrEqual => (">=", "<="),
                    Cmp::Equal => ("=", "="),
                    Cmp::NotEqual => ("<>", "<>"),
                };
                if self.c.one_in(2) { format!("{b} {flipped} {a}") } else { format!("{a} {text} {b}") }
            }
            Expr::Or(list) => {
                let mut texts: Vec<String> = list.iter().map(|e| self.expr(e, scope)).collect();
                let by = self.c.below(texts.len());
                texts.rotate_left(by);
                format!("( {} )", texts.join(" OR "))
            }
            Expr::Not(inner) => match &**inner {
                Expr::IsNull(inner) if !self.c.one_in(2) => format!("{} IS NOT NULL", self.expr(inner, scope)),
                inner => format!("NOT ( {} )", self.expr(inner, scope)),
            },
            Expr::IsNull(inner) => format!("{} IS NULL", self.expr(inner, scope)),
            Expr::In(value, list) => {
                let value = self.expr(value, scope);
                let mut list: Vec<String> = list.iter().map(ToString::to_string).collect();
                let by = self.c.below(list.len());
                list.rotate_left(by);
                if self.c.one_in(4) {
                    let terms: Vec<String> = list.iter().map(|n| format!("{value} = {n}")).collect();
                    return format!("( {} )", terms.join(" OR "));
                }
                format!("{value} IN ( {} )", list.join(" , "))
            }
            Expr::Between(value, from, to) => {
                let value = self.expr(value, scope);
                match self.c.below(3) {
                    0 => format!("{value} BETWEEN {from} AND {to}"),
                    1 => format!("( {value} >= {from} AND {value} <= {to} )"),
                    _ => format!("( {to} >= {value} AND {from} <= {value} )"),
                }
            }
            Expr::RankRange(column, from, to) => self.rank_range(*column, *from, *to),
            Expr::Function("LIKE", args) => {
                format!("{} LIKE {}", self.expr(&args[0], scope), self.expr(&args[1], scope))
            }
            Expr::Function(name, args) => {
                let args: Vec<String> = args.iter().map(|a| self.expr(a, scope)).collect();
                format!("{name}( {} )", args.join(" , "))
            }
            Expr::Case(condition, then, otherwise) => {
                let condition = self.expr(condition, scope);
                let (then, otherwise) = (self.expr(then, scope), self.expr(otherwise, scope));
                format!("CASE WHEN {condition} THEN {then} ELSE {otherwise} END")
            }
            Expr::Call(call) => self.call(call, scope),
            Expr::RowNumber(..) => unreachable!("printed with its item"),
            Expr::LegacyBound(bound) => {
                let legacy = scope.legacy.expect("a legacy window");
                format!("{}_{bound}{}", legacy.name, legacy.args)
            }
        }
    }

    fn call(&mut self, call: &Call, scope: &Scope<'_>) -> String {
        let arg = match &call.arg {
            Some(arg) => self.expr(arg, scope),
            None => (*self.c.pick(&["*", "1"])).to_owned(),
        };
        let distinct = if call.distinct { "DISTINCT " } else { "" };
        let mut text = format!("{}( {distinct}{arg} )", call.function);
        if let Some(filter) = &call.filter {
            text.push_str(&format!(" FILTER ( WHERE {} )", self.expr(filter, scope)));
        }
        if let (true, Some(over)) = (call.over, &scope.over) {
            let window = if over == "w" { over.clone() } else { format!("( {over} )") };
            text.push_str(&format!(" OVER {window}"));
        }
        text
    }
}

/// A legacy window as written once per SELECT: its helper calls must repeat it.
struct Legacy {
    name: &'static str,
    args: String,
    group: String,
}

struct Scope<'a> {
    legacy: Option<&'a Legacy>,
    /// The text of the window, or its name `w`.
    over: Option<String>,
}

fn is_aggregate(select: &Select) -> bool {
    select.items.iter().any(|(e, _)| matches!(e, Expr::Call(call) if !call.over))
}

fn type_text(ty: Ty) -> &'static str {
    match ty {
        Ty::Int => "INT",
        Ty::BigInt => "BIGINT",
        Ty::Double => "DOUBLE",
        Ty::Text => "STRING",
        Ty::Time => "TIMESTAMP(3)",
        Ty::Proctime => "TIMESTAMP_LTZ(3)",
    }
}
