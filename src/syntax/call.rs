//! Calls: arguments in all their forms, FILTER, WITHIN GROUP, OVER and its window.

use super::ast::{
    Expr, ExprKind, Frame, FrameBound, FrameUnits, FunctionArg, FunctionCall, Ident, Literal, OrderItem, TableArgument,
    TableArgumentSource, WindowSpec,
};
use super::operand::bare_call;
use super::parser::{NOT_CLOSED, Parsed, Parser};
use super::tokens::Kind;
use crate::source::Span;

/// Calls whose first argument is a keyword.
const SYMBOL_FIRST: &[&str] = &["TIMESTAMPDIFF", "TIMESTAMPADD"];

impl Parser<'_, '_> {
    /// A call, at its name.
    pub(super) fn call(&mut self) -> Parsed<FunctionCall> {
        let start = self.index();
        let first = self.loose_ident("the name of a function")?;
        let mut call = bare_call(first, Span::default(), true, Vec::new());
        while self.eat(Kind::Dot) {
            call.name.parts.push(self.ident("a name after `.`")?);
        }
        call.name.span = self.span_from(start);
        let open = self.open("after the name of the function")?;
        self.arguments(&mut call)?;
        self.close(open)?;
        self.decorations(&mut call)?;
        call.span = self.span_from(start);
        Ok(call)
    }

    fn arguments(&mut self, call: &mut FunctionCall) -> Parsed<()> {
        let name = if call.name.parts.len() == 1 { call.name.last().to_ascii_uppercase() } else { String::new() };
        match name.as_str() {
            "EXTRACT" => return self.extract(call),
            "TRIM" => return self.trim(call),
            "POSITION" | "SUBSTRING" | "OVERLAY" | "CEIL" | "CEILING" | "FLOOR" => return self.keyword_separated(call),
            _ if name.starts_with("JSON_") => return self.json_arguments(call),
            _ => {}
        }
        if self.at(Kind::RParen) {
            return Ok(());
        }
        if self.at(Kind::Star) && self.token(1).kind == Kind::RParen {
            call.args.push(FunctionArg::Star(self.span()));
            self.advance();
            return Ok(());
        }
        if self.eat_word("DISTINCT") {
            call.distinct = true;
        } else {
            self.eat_word("ALL");
        }
        if SYMBOL_FIRST.contains(&name.as_str()) && self.at(Kind::Word) && self.token(1).kind == Kind::Comma {
            call.args.push(FunctionArg::Expr(self.symbol()));
            self.advance();
        }
        call.args.extend(self.comma_separated(Self::argument)?);
        if self.at_word("ORDER") {
            call.order_by = self.order_by()?;
        }
        Ok(())
    }

    /// The current word as a keyword argument.
    fn symbol(&mut self) -> Expr {
        let (span, text) = (self.span(), self.text(self.token(0)).to_ascii_uppercase());
        self.advance();
        Expr { kind: ExprKind::Literal(Literal::Symbol(text)), span }
    }

    fn argument(&mut self) -> Parsed<FunctionArg> {
        if self.token(1).kind == Kind::Arrow {
            let name = self.loose_ident("the name of an argument")?;
            self.advance();
            return Ok(FunctionArg::Named(name, self.argument_value()?));
        }
        Ok(FunctionArg::Expr(self.argument_value()?))
    }

    fn argument_value(&mut self) -> Parsed<Expr> {
        let start = self.index();
        if self.at_word("TABLE") {
            self.advance();
            let source = if self.at(Kind::LParen) {
                let open = self.open("")?;
                // `TABLE (t)` is a table in parentheses, `TABLE (SELECT ...)` a query.
                let source = if self.at_query() || self.at(Kind::LParen) {
                    TableArgumentSource::Query(Box::new(self.query()?))
                } else {
                    TableArgumentSource::Name(self.object_name("a table name or a query")?)
                };
                self.close(open)?;
                source
            } else {
                TableArgumentSource::Name(self.object_name("a table name after TABLE")?)
            };
            return self.table_argument(start, source);
        }
        if self.at_word("MODEL") && self.name_at(1) {
            let keyword = self.loose_ident("MODEL")?;
            let name = self.object_name("the name of a model")?;
            let column = Expr { span: name.span, kind: ExprKind::Column(name.parts) };
            let span = self.span_from(start);
            let call = bare_call(keyword, span, false, vec![FunctionArg::Expr(column)]);
            return Ok(Expr { kind: ExprKind::Function(call), span });
        }
        if self.at_any(&["SELECT", "WITH"]) {
            let query = Box::new(self.query()?);
            return Ok(Expr { span: query.span, kind: ExprKind::Subquery(query) });
        }
        let expr = self.expr()?;
        match expr.kind {
            ExprKind::Subquery(query) if self.at_words(&["PARTITION", "BY"]) => {
                self.table_argument(start, TableArgumentSource::Query(query))
            }
            _ => Ok(expr),
        }
    }

    /// What may follow a table in an argument: `PARTITION BY k` or `PARTITION BY (k, l)`, `ORDER BY`.
    fn table_argument(&mut self, start: usize, source: TableArgumentSource) -> Parsed<Expr> {
        let mut partition_by = Vec::new();
        if self.eat_words(&["PARTITION", "BY"]) {
            if self.at(Kind::LParen) {
                partition_by = self.parenthesized("", Self::expr)?;
            } else {
                // Without parentheses it is one column: the next comma starts the next argument.
                partition_by.push(self.expr()?);
            }
        }
        let mut order_by = Vec::new();
        if self.eat_words(&["ORDER", "BY"]) {
            order_by = if self.at(Kind::LParen) {
                self.parenthesized("", Self::order_item)?
            } else {
                vec![self.order_item()?]
            };
        }
        let argument = TableArgument { source, partition_by, order_by };
        Ok(Expr { kind: ExprKind::TableArgument(Box::new(argument)), span: self.span_from(start) })
    }

    // Calls with a syntax of their own.

    /// `EXTRACT(HOUR FROM ts)`.
    fn extract(&mut self, call: &mut FunctionCall) -> Parsed<()> {
        if !self.at(Kind::Word) {
            return Err(self.expected("the unit to extract, such as HOUR"));
        }
        let unit = self.symbol();
        self.expect_word("FROM", "after the unit in EXTRACT")?;
        call.args = vec![FunctionArg::Expr(unit), FunctionArg::Expr(self.expr()?)];
        Ok(())
    }

    /// `TRIM([BOTH|LEADING|TRAILING] [what] [FROM] text)`.
    fn trim(&mut self, call: &mut FunctionCall) -> Parsed<()> {
        if self.at_any(&["BOTH", "LEADING", "TRAILING"]) {
            call.args.push(FunctionArg::Expr(self.symbol()));
        }
        if !self.at_word("FROM") {
            call.args.push(FunctionArg::Expr(self.expr()?));
        }
        if self.eat_word("FROM") {
            call.args.push(FunctionArg::Expr(self.expr()?));
        }
        while self.eat(Kind::Comma) {
            call.args.push(FunctionArg::Expr(self.expr()?));
        }
        Ok(())
    }

    /// `POSITION(a IN b)`, `SUBSTRING(a FROM b FOR c)`, `OVERLAY(a PLACING b FROM c FOR d)`, `CEIL(a TO DAY)`: arguments
    /// separated by keywords or commas.
    fn keyword_separated(&mut self, call: &mut FunctionCall) -> Parsed<()> {
        // IN would be read as a predicate.
        let first = if call.name.last().eq_ignore_ascii_case("POSITION") { self.tight_expr()? } else { self.expr()? };
        call.args.push(FunctionArg::Expr(first));
        loop {
            if self.eat_word("TO") {
                if !self.at(Kind::Word) {
                    return Err(self.expected("a unit such as DAY"));
                }
                call.args.push(FunctionArg::Expr(self.symbol()));
            } else if self.at(Kind::Comma) || self.at_any(&["IN", "FROM", "FOR", "PLACING"]) {
                self.advance();
                call.args.push(FunctionArg::Expr(self.expr()?));
            } else {
                return Ok(());
            }
        }
    }

    /// Arguments of the JSON functions with their clauses, each clause a symbol: `NULL ON EMPTY`.
    fn json_arguments(&mut self, call: &mut FunctionCall) -> Parsed<()> {
        const CLAUSES: &[&str] = &[
            "NULL",
            "ERROR",
            "EMPTY",
            "ABSENT",
            "TRUE",
            "FALSE",
            "UNKNOWN",
            "WITH",
            "WITHOUT",
            "ON",
            "ARRAY",
            "OBJECT",
            "WRAPPER",
            "CONDITIONAL",
            "UNCONDITIONAL",
            "KEYS",
            "UNIQUE",
        ];
        let starts_clause = |p: &Self| {
            p.at_any(&["WITH", "WITHOUT"])
                || p.at_any(&["NULL", "ERROR", "EMPTY", "ABSENT", "TRUE", "FALSE", "UNKNOWN"]) && {
                    p.word_at(1, "ON") || p.word_at(1, "ARRAY") || p.word_at(1, "OBJECT")
                }
        };
        while !self.at(Kind::RParen) {
            if starts_clause(self) {
                let start = self.index();
                let mut words = Vec::new();
                while self.at_any(CLAUSES) {
                    // The clause ends with what it is about: `... ON EMPTY` and the next one follows without a comma.
                    let ends = self.index() > start && self.cx.is_word(self.index() - 1, "ON");
                    words.push(self.text(self.token(0)).to_ascii_uppercase());
                    self.advance();
                    if ends || words.last().is_some_and(|w| w == "WRAPPER") {
                        break;
                    }
                }
                let kind = ExprKind::Literal(Literal::Symbol(words.join(" ")));
                call.args.push(FunctionArg::Expr(Expr { kind, span: self.span_from(start) }));
            } else if self.at_word("DEFAULT") {
                call.args.push(FunctionArg::Expr(self.symbol()));
                call.args.push(FunctionArg::Expr(self.expr()?));
                let start = self.index();
                self.expect_word("ON", "after the default")?;
                if !self.at_any(&["EMPTY", "ERROR"]) {
                    return Err(self.expected("EMPTY or ERROR"));
                }
                let text = format!("ON {}", self.text(self.token(0)).to_ascii_uppercase());
                self.advance();
                let kind = ExprKind::Literal(Literal::Symbol(text));
                call.args.push(FunctionArg::Expr(Expr { kind, span: self.span_from(start) }));
            } else if self.at_word("RETURNING") {
                let start = self.index();
                self.advance();
                self.type_name()?;
                let text = self.cx.words(start, self.index()).to_ascii_uppercase();
                let kind = ExprKind::Literal(Literal::Symbol(text));
                call.args.push(FunctionArg::Expr(Expr { kind, span: self.span_from(start) }));
            } else if self.at(Kind::Comma) || self.at(Kind::Colon) || self.at_word("VALUE") {
                if call.args.is_empty() {
                    return Err(self.expected("an expression"));
                }
                self.advance();
                if self.at(Kind::RParen) {
                    return Err(self.expected("an expression"));
                }
            } else {
                if self.at_word("KEY") && !matches!(self.token(1).kind, Kind::Comma | Kind::RParen | Kind::Dot) {
                    self.advance();
                }
                let before = self.index();
                call.args.push(FunctionArg::Expr(self.expr()?));
                let separated = self.at(Kind::Comma)
                    || self.at(Kind::Colon)
                    || self.at(Kind::RParen)
                    || self.at_any(&["VALUE", "RETURNING", "DEFAULT"])
                    || starts_clause(self);
                if !separated || before == self.index() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    // What follows the arguments.

    fn null_treatment(&mut self, call: &mut FunctionCall) {
        if self.eat_words(&["IGNORE", "NULLS"]) {
            call.ignore_nulls = Some(true);
        } else if self.eat_words(&["RESPECT", "NULLS"]) {
            call.ignore_nulls = Some(false);
        }
    }

    fn decorations(&mut self, call: &mut FunctionCall) -> Parsed<()> {
        self.null_treatment(call);
        if self.at_words(&["WITHIN", "GROUP"]) {
            self.advance();
            self.advance();
            let open = self.open("after WITHIN GROUP")?;
            call.within_group = self.order_by()?;
            self.close(open)?;
        }
        if self.at_word("FILTER") {
            self.advance();
            let open = self.open("after FILTER")?;
            self.expect_word("WHERE", "in FILTER")?;
            call.filter = Some(Box::new(self.expr()?));
            self.close(open)?;
        }
        self.null_treatment(call);
        if self.eat_word("OVER") {
            call.over = Some(Box::new(self.over()?));
        }
        Ok(())
    }

    fn over(&mut self) -> Parsed<WindowSpec> {
        if self.at(Kind::LParen) {
            return self.window_spec();
        }
        if !self.at_name() {
            let mut error = self.expected("`(` after OVER");
            if self.at_any(&["PARTITION", "ORDER", "ROWS", "RANGE"]) {
                error.help = Some("put the window in parentheses: OVER (PARTITION BY ... ORDER BY ...)".to_owned());
            }
            return Err(error);
        }
        let name = self.ident("the name of a window")?;
        let span = name.span;
        Ok(WindowSpec { base: Some(name), partition_by: Vec::new(), order_by: Vec::new(), frame: None, span })
    }

    /// `( [base] [PARTITION BY ...] [ORDER BY ...] [frame] )`.
    pub(super) fn window_spec(&mut self) -> Parsed<WindowSpec> {
        let start = self.index();
        let open = self.open("before the window")?;
        let base = if self.at_name() { Some(self.ident("the name of a window")?) } else { None };
        let mut partition_by = Vec::new();
        if self.eat_word("PARTITION") {
            self.expect_word("BY", "after PARTITION")?;
            partition_by = self.comma_separated(Self::expr)?;
        }
        let order_by = if self.at_word("ORDER") { self.order_by()? } else { Vec::new() };
        let frame = if self.at_any(&["ROWS", "RANGE"]) { Some(self.frame()?) } else { None };
        if !self.at(Kind::RParen) && frame.is_none() {
            let what = match (order_by.is_empty(), partition_by.is_empty()) {
                (true, true) => "PARTITION BY, ORDER BY or `)` in the window",
                (true, false) => "ORDER BY or `)` in the window",
                _ => "ROWS, RANGE or `)` in the window",
            };
            let mut error = self.expected(what);
            error.help.get_or_insert_with(|| format!("{NOT_CLOSED} at {} is not closed", self.cx.place(open)));
            return Err(error);
        }
        self.close(open)?;
        Ok(WindowSpec { base, partition_by, order_by, frame, span: self.span_from(start) })
    }

    fn frame(&mut self) -> Parsed<Frame> {
        let start = self.index();
        let units = if self.at_word("ROWS") { FrameUnits::Rows } else { FrameUnits::Range };
        self.advance();
        let (lower, upper) = if self.eat_word("BETWEEN") {
            let lower = self.frame_bound()?;
            self.expect_word("AND", "between the bounds of the frame")?;
            (lower, Some(self.frame_bound()?))
        } else {
            (self.frame_bound()?, None)
        };
        Ok(Frame { units, start: lower, end: upper, span: self.span_from(start) })
    }

    fn frame_bound(&mut self) -> Parsed<FrameBound> {
        if self.eat_words(&["CURRENT", "ROW"]) {
            return Ok(FrameBound::CurrentRow);
        }
        let distance = if self.eat_word("UNBOUNDED") {
            None
        } else {
            // The bound of BETWEEN must not swallow its AND.
            Some(Box::new(self.tight_expr()?))
        };
        if self.eat_word("PRECEDING") {
            Ok(FrameBound::Preceding(distance))
        } else if self.eat_word("FOLLOWING") {
            Ok(FrameBound::Following(distance))
        } else {
            Err(self.expected("PRECEDING or FOLLOWING"))
        }
    }

    /// `ORDER BY a, b`, at ORDER.
    pub(super) fn order_by(&mut self) -> Parsed<Vec<OrderItem>> {
        self.expect_word("ORDER", "")?;
        self.expect_word("BY", "after ORDER")?;
        self.comma_separated(Self::order_item)
    }

    pub(super) fn order_item(&mut self) -> Parsed<OrderItem> {
        let start = self.index();
        let expr = self.expr()?;
        let descending = self.eat_word("DESC");
        if !descending {
            self.eat_word("ASC");
        }
        let nulls_first = if self.eat_words(&["NULLS", "FIRST"]) {
            Some(true)
        } else if self.eat_words(&["NULLS", "LAST"]) {
            Some(false)
        } else {
            None
        };
        Ok(OrderItem { expr, descending, nulls_first, span: self.span_from(start) })
    }

    /// The names of a list such as `(a, b)`.
    pub(super) fn names(&mut self, context: &str) -> Parsed<Vec<Ident>> {
        self.parenthesized(context, |p| p.ident("a column name"))
    }
}
