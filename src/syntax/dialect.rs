//! Flink's dialect for sqlparser's expression grammar.
//!
//! sqlparser reads the operators: precedence, BETWEEN, LIKE, IS and so on. The operands are ours: the dialect's prefix
//! hook parses each with our grammar (calls, casts, literals, subqueries), which knows Flink, gives exact spans and
//! never backtracks; sqlparser's tree holds only a stub with the operand's number.

use std::fmt;

use sqlparser::ast::{Expr as SqlExpr, Value};
use sqlparser::dialect::{Dialect, Precedence};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser as SqlParser, ParserError};
use sqlparser::tokenizer::{Location, Span as SqlSpan, Token as SqlToken, TokenWithSpan, Word};

use super::ast::SyntaxError;
use super::context::{Context, Operand};
use super::parser::{Parsed, Parser};
use super::tokens::{Kind, Token};

/// Nesting of expressions beyond this is an error. The debug build's stack of 2 MB holds it several times.
const MAX_NESTING: usize = 250;
/// Operators in one expression beyond this are an error: sqlparser's tree of them is one branch as deep as their number.
const MAX_OPERATORS: u32 = 5_000;
/// The precedence of BETWEEN, IN and LIKE.
pub(super) const TIGHT: u8 = 22;

/// The dialect, and through it the shared state of the script's parsers.
pub(super) struct FlinkDialect {
    pub(super) cx: Context,
}

impl fmt::Debug for FlinkDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FlinkDialect")
    }
}

impl Dialect for FlinkDialect {
    fn is_identifier_start(&self, ch: char) -> bool {
        super::tokens::starts_name(ch)
    }

    fn is_identifier_part(&self, ch: char) -> bool {
        super::tokens::starts_name(ch) || ch.is_numeric()
    }

    /// Calcite's order: unlike in sqlparser's default, LIKE, IN and BETWEEN bind closer than comparisons.
    fn prec_value(&self, prec: Precedence) -> u8 {
        match prec {
            Precedence::Or => 5,
            Precedence::And => 10,
            Precedence::UnaryNot => 15,
            Precedence::Is => 17,
            Precedence::Eq => 20,
            Precedence::Between | Precedence::Like => TIGHT,
            Precedence::PlusMinus => 30,
            Precedence::MulDivModOp => 40,
            Precedence::AtTz => 41,
            _ => 50,
        }
    }

    fn parse_prefix(&self, parser: &mut SqlParser) -> Option<Result<SqlExpr, ParserError>> {
        let operand = Parser { sql: parser, cx: &self.cx }.operand();
        Some(self.stub(operand))
    }

    fn parse_infix(
        &self,
        parser: &mut SqlParser,
        expr: &SqlExpr,
        _precedence: u8,
    ) -> Option<Result<SqlExpr, ParserError>> {
        let mut parser = Parser { sql: parser, cx: &self.cx };
        let operators = self.cx.operators.get() + 1;
        self.cx.operators.set(operators);
        if operators > MAX_OPERATORS {
            return Some(self.stub(Err(parser.too_long())));
        }
        // sqlparser would try a query of its own in `IN (...)`. The left side is small: IN binds closely.
        let negated = parser.at_word("NOT");
        if parser.word_at(usize::from(negated), "IN") {
            let left = self.cx.convert(expr.clone());
            return Some(self.stub(left.and_then(|left| parser.in_predicate(left, negated))));
        }
        let negated = parser.word_at(1, "NOT");
        if parser.at_word("IS") && parser.word_at(1 + usize::from(negated), "JSON") {
            let left = self.cx.convert(expr.clone());
            return Some(self.stub(left.and_then(|left| parser.is_json(left, negated))));
        }
        None
    }
}

impl FlinkDialect {
    /// Stores an operand and gives its stub, or stores the error.
    fn stub(&self, operand: Parsed<Operand>) -> Result<SqlExpr, ParserError> {
        match operand {
            Ok(operand) => {
                let mut operands = self.cx.operands.borrow_mut();
                operands.push(Some(operand));
                let number = Location::new(operands.len() as u64 - 1, 0);
                Ok(SqlExpr::Value(Value::Null.with_span(SqlSpan::new(number, number))))
            }
            Err(error) => {
                self.cx.pending_error.set(Some(error));
                Err(ParserError::ParserError(String::new()))
            }
        }
    }

    /// A parser of the tokens from `first` to `last`, `last` excluded.
    pub(super) fn parser(&self, first: usize, last: usize) -> SqlParser<'_> {
        self.cx.first.set(first);
        self.cx.last.set(last);
        self.cx.operands.borrow_mut().clear();
        self.cx.query_depth.set(0);
        let tokens = (first..last).map(|i| sql_token(&self.cx, self.cx.tokens[i])).collect();
        SqlParser::new(self).with_recursion_limit(MAX_NESTING).with_tokens_with_locations(tokens)
    }
}

/// A token for sqlparser. It sees only what its operators are made of; operands are parsed from our own tokens, so their
/// texts are not copied.
fn sql_token(cx: &Context, token: Token) -> TokenWithSpan {
    let sql = match token.kind {
        Kind::Eq => SqlToken::Eq,
        Kind::NotEq => SqlToken::Neq,
        Kind::Lt => SqlToken::Lt,
        Kind::LtEq => SqlToken::LtEq,
        Kind::Gt => SqlToken::Gt,
        Kind::GtEq => SqlToken::GtEq,
        Kind::Plus => SqlToken::Plus,
        Kind::Minus => SqlToken::Minus,
        Kind::Star => SqlToken::Mul,
        Kind::Slash => SqlToken::Div,
        Kind::Percent => SqlToken::Mod,
        Kind::Concat => SqlToken::StringConcat,
        Kind::Word => SqlToken::Word(Word {
            value: String::new(),
            quote_style: None,
            keyword: operator_keyword(cx.token_text(token)),
        }),
        // A token that ends every expression.
        _ => SqlToken::Backslash,
    };
    TokenWithSpan { token: sql, span: SqlSpan::empty() }
}

/// The keywords of operators. All others stay plain words, so that sqlparser never takes one for its own.
fn operator_keyword(word: &str) -> Keyword {
    const KEYWORDS: &[(&str, Keyword)] = &[
        ("OR", Keyword::OR),
        ("AND", Keyword::AND),
        ("NOT", Keyword::NOT),
        ("IN", Keyword::IN),
        ("IS", Keyword::IS),
        ("NULL", Keyword::NULL),
        ("TRUE", Keyword::TRUE),
        ("FALSE", Keyword::FALSE),
        ("UNKNOWN", Keyword::UNKNOWN),
        ("DISTINCT", Keyword::DISTINCT),
        ("FROM", Keyword::FROM),
        ("BETWEEN", Keyword::BETWEEN),
        ("LIKE", Keyword::LIKE),
        ("ESCAPE", Keyword::ESCAPE),
        ("SIMILAR", Keyword::SIMILAR),
        ("TO", Keyword::TO),
        ("AT", Keyword::AT),
        ("TIME", Keyword::TIME),
        ("ZONE", Keyword::ZONE),
    ];
    KEYWORDS.iter().find(|(w, _)| word.eq_ignore_ascii_case(w)).map_or(Keyword::NoKeyword, |(_, k)| *k)
}

impl Parser<'_, '_> {
    /// Operators that bind closer than `precedence`, and their operands.
    pub(super) fn subexpr(&mut self, precedence: u8) -> Parsed<Operand> {
        let outer = self.cx.operators.replace(0);
        let first = self.cx.operands.borrow().len();
        let parsed = self.sql.parse_subexpr(precedence);
        self.cx.operators.set(outer);
        let operand = match parsed {
            Ok(expr) => self.cx.convert(expr),
            Err(error) => Err(self.translate(error)),
        };
        // All operands of this expression are taken: a list of a million literals needs no million places.
        self.cx.operands.borrow_mut().truncate(first);
        operand
    }

    fn too_long(&self) -> Box<SyntaxError> {
        self.error(
            "this expression has too many operators",
            "beyond the limit of operators",
            Some("split it into several columns of a subquery or view"),
        )
    }
}
