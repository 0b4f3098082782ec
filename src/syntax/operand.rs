//! Operands of expressions: literals, columns, parentheses, CASE, CAST, constructors, fields and elements.

use super::ast::{
    BinaryOp, Expr, ExprKind, FunctionArg, FunctionCall, Ident, IntervalLiteral, Literal, ObjectName, TypeName,
    TypeNameKind, UnaryOp,
};
use super::context::Operand;
use super::convert::operand;
use super::parser::{Parsed, Parser};
use super::reserved::{is_niladic, is_reserved, is_structural};
use super::tokens::Kind;

/// Binds closer than every binary operator: the operand of a sign.
const SIGN: u8 = 45;
/// The precedence of NOT.
const NOT: u8 = 15;

impl Parser<'_, '_> {
    /// An operand with what is attached to it (`[i]`, `.field`), for the dialect's prefix hook.
    pub(super) fn operand(&mut self) -> Parsed<Operand> {
        let start = self.index();
        if self.at_word("SYMMETRIC") || self.at_word("ASYMMETRIC") {
            let symmetric = self.at_word("SYMMETRIC");
            self.advance();
            let mut bound = self.subexpr(super::dialect::TIGHT)?;
            bound.symmetric = symmetric;
            return Ok(bound);
        }
        let outer = self.cx.height.replace(0);
        let kind = self.primary().and_then(|kind| self.attached(start, kind));
        let height = self.cx.height.replace(outer) + 1;
        operand(kind?, self.span_from(start), self.index(), height)
    }

    fn attached(&mut self, start: usize, mut kind: ExprKind) -> Parsed<ExprKind> {
        let mut links = 0;
        loop {
            let span = self.span_from(start);
            kind = if self.at(Kind::LBracket) {
                self.advance();
                let index = self.expr()?;
                self.expect(Kind::RBracket, "`]`", "after the index")?;
                ExprKind::Index(Box::new(Expr { kind, span }), Box::new(index))
            } else if self.at(Kind::Dot) {
                self.advance();
                let field = self.ident("a field name after `.`")?;
                ExprKind::Field(Box::new(Expr { kind, span }), field)
            } else {
                return Ok(kind);
            };
            links += 1;
            if links > 100 {
                return Err(self.too_deep());
            }
            self.cx.height.set(self.cx.height.get() + 1);
        }
    }

    fn primary(&mut self) -> Parsed<ExprKind> {
        let token = self.token(0);
        match token.kind {
            Kind::Number => {
                let text = self.text(token).to_owned();
                self.advance();
                Ok(ExprKind::Literal(Literal::Number(text)))
            }
            Kind::String | Kind::UnicodeString => self.string_literal(),
            Kind::HexString => {
                let digits = self.cx.string_value(token);
                self.advance();
                Ok(ExprKind::Literal(Literal::Binary(digits)))
            }
            Kind::Plus | Kind::Minus => {
                self.advance();
                let op = if token.kind == Kind::Minus { UnaryOp::Minus } else { UnaryOp::Plus };
                self.unary(op, SIGN)
            }
            Kind::LParen => self.parentheses(),
            Kind::Placeholder if !matches!(self.token(1).kind, Kind::Dot | Kind::LParen) => {
                let text = self.text(token);
                let name = super::text::placeholder_at(text, 0).map_or(text, |(_, name)| name).to_owned();
                self.advance();
                Ok(ExprKind::Placeholder(name))
            }
            // The character set of a string, which is Flink's own in any case.
            Kind::Word if self.text(token).eq_ignore_ascii_case("_UTF16") && self.token(1).kind == Kind::String => {
                self.advance();
                self.string_literal()
            }
            Kind::Word => self.word(),
            Kind::Quoted | Kind::Placeholder => self.name_or_call(),
            _ => Err(self.expected("an expression")),
        }
    }

    fn unary(&mut self, op: UnaryOp, precedence: u8) -> Parsed<ExprKind> {
        Ok(ExprKind::Unary(op, Box::new(self.expr_above(precedence)?)))
    }

    /// A string; strings on following lines continue it, as in the SQL standard.
    fn string_literal(&mut self) -> Parsed<ExprKind> {
        let unicode = self.at(Kind::UnicodeString);
        let mut value = self.string("a string")?;
        while self.at(Kind::String) {
            if !self.cx.on_new_line(self.index()) {
                return Err(self.error(
                    "a string cannot follow a string on the same line",
                    "a second string",
                    Some("join them with `||`; a quote inside a string is written twice: 'it''s'"),
                ));
            }
            value.push_str(&self.string("a string")?);
        }
        if unicode && self.eat_word("UESCAPE") {
            let escape = self.string("the escape character")?;
            // `\` was decoded already; another escape character leaves it alone.
            value = super::context::decode_unicode(&value, escape.chars().next().unwrap_or('\\'));
        }
        Ok(ExprKind::Literal(Literal::String(value)))
    }

    /// True if a query starts here.
    pub(super) fn at_query(&self) -> bool {
        self.at_any(&["SELECT", "WITH", "VALUES"])
            || self.at_word("TABLE") && self.name_at(1)
            || self.at(Kind::LParen) && self.query_after_parentheses()
    }

    /// True if after some `(` a SELECT, WITH or VALUES comes, and the inner query goes on after its `)`.
    fn query_after_parentheses(&self) -> bool {
        let mut ahead = 0;
        while self.token(ahead).kind == Kind::LParen {
            ahead += 1;
        }
        ["SELECT", "WITH", "VALUES"].iter().any(|w| self.word_at(ahead, w)) && self.matching_is_set_operator(ahead - 1)
    }

    /// True if the parenthesis `ahead` is followed, after it closes, by something only a query can be followed by.
    fn matching_is_set_operator(&self, ahead: usize) -> bool {
        let mut depth = 0usize;
        let mut i = ahead;
        loop {
            match self.token(i).kind {
                Kind::LParen => depth += 1,
                Kind::RParen if depth == 1 => break,
                Kind::RParen => depth -= 1,
                Kind::End => return false,
                _ => {}
            }
            i += 1;
        }
        ["UNION", "EXCEPT", "INTERSECT", "MINUS", "ORDER", "LIMIT"].iter().any(|w| self.word_at(i + 1, w))
    }

    fn parentheses(&mut self) -> Parsed<ExprKind> {
        let open = self.open("")?;
        if self.at_query() {
            let query = self.query()?;
            self.close(open)?;
            return Ok(ExprKind::Subquery(Box::new(query)));
        }
        let mut items = self.comma_separated(Self::expr)?;
        self.close(open)?;
        if items.len() == 2 && self.at_word("OVERLAPS") {
            return self.overlaps(items);
        }
        Ok(match items.pop() {
            Some(Expr { kind: ExprKind::Binary(a, BinaryOp::Minus, b), .. })
                if items.is_empty() && self.at_any(INTERVAL_UNITS) =>
            {
                self.datetime_difference(*a, *b)?
            }
            Some(only) if items.is_empty() => only.kind,
            Some(last) => {
                items.push(last);
                ExprKind::Row(items)
            }
            None => ExprKind::Row(items),
        })
    }

    /// `(a, b) OVERLAPS (c, d)` as a call with four arguments.
    fn overlaps(&mut self, mut periods: Vec<Expr>) -> Parsed<ExprKind> {
        let name = self.loose_ident("OVERLAPS")?;
        let span = name.span;
        let open = self.open("after OVERLAPS")?;
        periods.extend(self.comma_separated(Self::expr)?);
        self.close(open)?;
        Ok(ExprKind::Function(bare_call(name, span, true, periods.into_iter().map(FunctionArg::Expr).collect())))
    }

    /// `(a - b) DAY`: Calcite's MINUS_DATE, a call with the unit first.
    fn datetime_difference(&mut self, a: Expr, b: Expr) -> Parsed<ExprKind> {
        let span = self.span();
        let unit = Expr { kind: ExprKind::Literal(Literal::Symbol(self.interval_unit()?)), span };
        let name = Ident { value: "MINUS_DATE".to_owned(), quoted: false, span };
        let args = [unit, a, b].map(FunctionArg::Expr).into();
        Ok(ExprKind::Function(bare_call(name, span, true, args)))
    }

    fn word(&mut self) -> Parsed<ExprKind> {
        let token = self.token(0);
        let text = self.text(token);
        if !is_reserved(text) && !text.eq_ignore_ascii_case("TRY_CAST") && !text.eq_ignore_ascii_case("MAP") {
            return self.name_or_call();
        }
        let word = text.to_ascii_uppercase();
        let next = self.token(1).kind;
        match (word.as_str(), next) {
            ("NULL", _) => self.literal(Literal::Null),
            ("TRUE", _) => self.literal(Literal::Boolean(true)),
            ("FALSE", _) => self.literal(Literal::Boolean(false)),
            // An unknown truth value is a NULL that has a type.
            ("UNKNOWN", _) => {
                let span = self.span();
                let null = Box::new(Expr { kind: self.literal(Literal::Null)?, span });
                let kind = TypeNameKind::Simple("BOOLEAN".to_owned(), Vec::new());
                Ok(ExprKind::Cast { expr: null, ty: TypeName { kind, not_null: false, span }, is_try: false })
            }
            ("DATE" | "TIME" | "TIMESTAMP", Kind::String | Kind::UnicodeString) => {
                self.advance();
                let text = self.string("a string")?;
                Ok(ExprKind::Literal(match word.as_str() {
                    "DATE" => Literal::Date(text),
                    "TIME" => Literal::Time(text),
                    _ => Literal::Timestamp(text),
                }))
            }
            ("INTERVAL", _) => self.interval().map(|interval| ExprKind::Literal(Literal::Interval(interval))),
            ("NOT", _) => {
                self.advance();
                if self.at_word("EXISTS") {
                    return self.exists(true);
                }
                self.unary(UnaryOp::Not, NOT)
            }
            ("EXISTS", _) => self.exists(false),
            ("CASE", _) => self.case(),
            ("CAST" | "TRY_CAST", Kind::LParen) => self.cast(word == "TRY_CAST"),
            ("ROW", Kind::LParen) => {
                self.advance();
                Ok(ExprKind::Row(self.maybe_empty(Kind::LParen, Kind::RParen)?))
            }
            ("ARRAY", Kind::LBracket) => {
                self.advance();
                Ok(ExprKind::Array(self.maybe_empty(Kind::LBracket, Kind::RBracket)?))
            }
            ("MAP", Kind::LBracket) => {
                self.advance();
                Ok(ExprKind::Map(self.maybe_empty(Kind::LBracket, Kind::RBracket)?))
            }
            ("DEFAULT", _) => {
                self.advance();
                Ok(ExprKind::Default)
            }
            ("DESCRIPTOR", Kind::LParen) => self.descriptor(),
            ("RUNNING", Kind::Word) => self.prefixed_call(),
            (w, next) if is_niladic(w) && next != Kind::LParen => {
                let name = self.loose_ident("a name")?;
                let span = name.span;
                Ok(ExprKind::Function(bare_call(name, span, false, Vec::new())))
            }
            (w, Kind::LParen) if !is_structural(w) => self.call().map(ExprKind::Function),
            ("MAP", Kind::LParen) => self.call().map(ExprKind::Function),
            ("TRY_CAST" | "MAP", _) => self.name_or_call(),
            _ => Err(self.expected("an expression")),
        }
    }

    fn literal(&mut self, literal: Literal) -> Parsed<ExprKind> {
        self.advance();
        Ok(ExprKind::Literal(literal))
    }

    /// A column path, or a call if a parenthesis follows.
    fn name_or_call(&mut self) -> Parsed<ExprKind> {
        let mut ahead = 0;
        while self.token(ahead + 1).kind == Kind::Dot
            && matches!(self.token(ahead + 2).kind, Kind::Word | Kind::Quoted | Kind::Placeholder)
        {
            ahead += 2;
        }
        if self.token(ahead + 1).kind == Kind::LParen {
            if ahead == 0 && self.at_word("DESCRIPTOR") {
                return self.descriptor();
            }
            return self.call().map(ExprKind::Function);
        }
        if self.at_any(&["FINAL", "RUNNING"]) && self.token(1).kind == Kind::Word && self.token(2).kind == Kind::LParen
        {
            return self.prefixed_call();
        }
        let mut parts = vec![self.ident("an expression")?];
        while self.at(Kind::Dot) && self.token(1).kind != Kind::Star {
            self.advance();
            parts.push(self.ident("a name after `.`")?);
        }
        Ok(ExprKind::Column(parts))
    }

    /// `FINAL LAST(a.b)` of MATCH_RECOGNIZE: a call of FINAL, without parentheses of its own, with the call as its argument.
    fn prefixed_call(&mut self) -> Parsed<ExprKind> {
        let start = self.index();
        let name = self.loose_ident("a name")?;
        let inner_start = self.index();
        let inner = self.call()?;
        let inner = Expr { kind: ExprKind::Function(inner), span: self.span_from(inner_start) };
        Ok(ExprKind::Function(bare_call(name, self.span_from(start), false, vec![FunctionArg::Expr(inner)])))
    }

    fn exists(&mut self, negated: bool) -> Parsed<ExprKind> {
        self.advance();
        let open = self.open("after EXISTS")?;
        let query = Box::new(self.query()?);
        self.close(open)?;
        Ok(ExprKind::Exists { query, negated })
    }

    /// `[NOT] IN (...)`, for the dialect's infix hook.
    pub(super) fn in_predicate(&mut self, left: Operand, negated: bool) -> Parsed<Operand> {
        if negated {
            self.advance();
        }
        self.advance();
        let outer = self.cx.height.replace(left.height);
        let span = left.expr.span;
        let expr = Box::new(left.expr);
        let kind = self.in_list(expr, negated);
        let height = self.cx.height.replace(outer) + 1;
        let span = span.to(self.span_from(self.index().saturating_sub(1)));
        operand(kind?, span, self.index(), height)
    }

    /// `IS [NOT] JSON [VALUE|SCALAR|ARRAY|OBJECT]`, for the dialect's infix hook: a call named by its words, such as
    /// `IS JSON OBJECT`, negated by NOT.
    pub(super) fn is_json(&mut self, left: Operand, negated: bool) -> Parsed<Operand> {
        let first = self.index();
        (0..2 + usize::from(negated)).for_each(|_| self.advance());
        let kind = ["VALUE", "SCALAR", "ARRAY", "OBJECT"].into_iter().find(|w| self.at_word(w));
        if kind.is_some() {
            self.advance();
        }
        let span = left.expr.span.to(self.span_from(first));
        let name = Ident { value: format!("IS JSON {}", kind.unwrap_or("VALUE")), quoted: false, span };
        let mut kind = ExprKind::Function(bare_call(name, span, true, vec![FunctionArg::Expr(left.expr)]));
        if negated {
            kind = ExprKind::Unary(UnaryOp::Not, Box::new(Expr { kind, span }));
        }
        operand(kind, span, self.index(), left.height + 2)
    }

    fn in_list(&mut self, expr: Box<Expr>, negated: bool) -> Parsed<ExprKind> {
        let open = self.open("after IN")?;
        let kind = if self.at_query() {
            ExprKind::InSubquery { expr, query: Box::new(self.query()?), negated }
        } else {
            ExprKind::InList { expr, list: self.comma_separated(Self::expr)?, negated }
        };
        self.close(open)?;
        Ok(kind)
    }

    fn case(&mut self) -> Parsed<ExprKind> {
        self.advance();
        let operand = if self.at_word("WHEN") { None } else { Some(Box::new(self.expr()?)) };
        let mut branches = Vec::new();
        while self.eat_word("WHEN") {
            let mut condition = self.expr()?;
            // `CASE a WHEN 1, 2 THEN` tests for either: a list, told apart by its kind.
            if operand.is_some() && self.at(Kind::Comma) {
                let mut items = vec![condition];
                while self.eat(Kind::Comma) {
                    items.push(self.expr()?);
                }
                let span = items.iter().map(|e| e.span).reduce(|a, b| a.to(b)).unwrap_or_default();
                condition = Expr { kind: ExprKind::Row(items), span };
            }
            self.expect_word("THEN", "after the condition of WHEN")?;
            branches.push((condition, self.expr()?));
        }
        if branches.is_empty() {
            return Err(self.expected("WHEN"));
        }
        let otherwise = if self.eat_word("ELSE") { Some(Box::new(self.expr()?)) } else { None };
        self.expect_word("END", "to close CASE")?;
        Ok(ExprKind::Case { operand, branches, otherwise })
    }

    fn cast(&mut self, is_try: bool) -> Parsed<ExprKind> {
        self.advance();
        let open = self.open("after CAST")?;
        let expr = Box::new(self.expr()?);
        self.expect_word("AS", "and a type in CAST")?;
        let ty = self.type_name()?;
        self.close(open)?;
        Ok(ExprKind::Cast { expr, ty, is_try })
    }

    fn maybe_empty(&mut self, open: Kind, close: Kind) -> Parsed<Vec<Expr>> {
        let at = self.index();
        self.expect(open, "an opening bracket", "")?;
        let items = if self.at(close) { Vec::new() } else { self.comma_separated(Self::expr)? };
        if close == Kind::RParen {
            self.close(at)?;
        } else {
            self.expect(close, "`]`", "")?;
        }
        Ok(items)
    }

    fn descriptor(&mut self) -> Parsed<ExprKind> {
        self.advance();
        let open = self.open("after DESCRIPTOR")?;
        let columns = self.comma_separated(|p| p.ident("a column name"))?;
        self.close(open)?;
        Ok(ExprKind::Descriptor(columns))
    }

    /// `INTERVAL [+-] 'text' UNIT [(p)] [TO UNIT [(p)]]`.
    pub(super) fn interval(&mut self) -> Parsed<IntervalLiteral> {
        self.advance();
        let negative = self.at(Kind::Minus);
        if negative || self.at(Kind::Plus) {
            self.advance();
        }
        // Flink takes `INTERVAL 5 MINUTE` too.
        let value = if self.at(Kind::Number) {
            let number = self.text(self.token(0)).to_owned();
            self.advance();
            number
        } else {
            self.string("the value of the INTERVAL in quotes")?
        };
        let unit = self.interval_unit()?;
        let (mut precision, mut fraction) = (None, None);
        if self.at(Kind::LParen) {
            let open = self.open("")?;
            precision = Some(self.unsigned("a number of digits")?);
            if self.eat(Kind::Comma) {
                fraction = Some(self.unsigned("a number of digits")?);
            }
            self.close(open)?;
        }
        let mut to = None;
        if self.eat_word("TO") {
            to = Some(self.interval_unit()?);
            if self.at(Kind::LParen) {
                let open = self.open("")?;
                fraction = Some(self.unsigned("a number of digits")?);
                self.close(open)?;
            }
        }
        Ok(IntervalLiteral { value, negative, unit, precision, to, fraction })
    }

    /// The unit of an interval, upper case singular.
    fn interval_unit(&mut self) -> Parsed<String> {
        let token = self.token(0);
        let text = self.text(token).to_ascii_uppercase();
        let singular = text.strip_suffix('S').unwrap_or(&text);
        match INTERVAL_UNITS.iter().find(|u| token.kind == Kind::Word && **u == singular) {
            Some(unit) => {
                self.advance();
                Ok((*unit).to_owned())
            }
            None => Err(self.expected("the unit of the INTERVAL, such as MINUTE")),
        }
    }
}

/// The units that intervals are made of.
const INTERVAL_UNITS: &[&str] = &["YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"];

/// A call without decorations.
pub(super) fn bare_call(
    name: Ident,
    span: crate::source::Span,
    parenthesized: bool,
    args: Vec<FunctionArg>,
) -> FunctionCall {
    FunctionCall {
        name: ObjectName { span: name.span, parts: vec![name] },
        args,
        distinct: false,
        order_by: Vec::new(),
        within_group: Vec::new(),
        filter: None,
        over: None,
        ignore_nulls: None,
        parenthesized,
        span,
    }
}
