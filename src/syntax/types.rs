//! Data types as written.

use super::ast::{Ident, RowField, TypeName, TypeNameKind};
use super::parser::{Parsed, Parser};
use super::tokens::Kind;

impl Parser<'_, '_> {
    /// A type with what belongs to it: numbers, element types, `ARRAY` after it, `NOT NULL`.
    pub(super) fn type_name(&mut self) -> Parsed<TypeName> {
        self.enter()?;
        let start = self.index();
        let mut ty = TypeName { kind: self.type_kind()?, not_null: false, span: self.span_from(start) };
        loop {
            if self.eat_words(&["NOT", "NULL"]) {
                ty.not_null = true;
            } else if self.at_word("NULL") && !self.word_at(1, "ON") {
                // `INT NULL`, the default; `NULL ON EMPTY` after RETURNING belongs to JSON_VALUE.
                self.advance();
            } else {
                ty.span = self.span_from(start);
                let wrap = if self.at_word("ARRAY") {
                    TypeNameKind::Array
                } else if self.at_word("MULTISET") {
                    TypeNameKind::Multiset
                } else {
                    break;
                };
                self.advance();
                ty = TypeName { kind: wrap(Box::new(ty)), not_null: false, span: self.span_from(start) };
            }
        }
        ty.span = self.span_from(start);
        self.leave();
        Ok(ty)
    }

    fn type_kind(&mut self) -> Parsed<TypeNameKind> {
        if !matches!(self.kind(), Kind::Word | Kind::Quoted | Kind::Placeholder) {
            return Err(self.expected("a data type"));
        }
        let word = if self.at(Kind::Word) { self.text(self.token(0)).to_ascii_uppercase() } else { String::new() };
        let next = self.token(1).kind;
        match (word.as_str(), next) {
            ("ARRAY", Kind::Lt) => Ok(TypeNameKind::Array(Box::new(self.element_type()?))),
            ("MULTISET", Kind::Lt) => Ok(TypeNameKind::Multiset(Box::new(self.element_type()?))),
            ("MAP", Kind::Lt) => {
                self.advance();
                self.advance();
                let key = Box::new(self.type_name()?);
                self.expect(Kind::Comma, "`,`", "between the key and the value of MAP")?;
                let value = Box::new(self.type_name()?);
                self.close_angle("MAP")?;
                Ok(TypeNameKind::Map(key, value))
            }
            ("ROW", Kind::Lt | Kind::LParen | Kind::NotEq) => self.row_type(),
            ("RAW", Kind::LParen) => {
                let start = self.index();
                self.advance();
                self.parenthesized("", |p| p.string("a string"))?;
                Ok(TypeNameKind::Other(self.cx.words(start, self.index())))
            }
            ("INTERVAL", _) => self.interval_type(),
            ("TIMESTAMP" | "TIME", _) => {
                self.advance();
                let numbers = self.type_numbers()?;
                let mut name = word;
                for zone in
                    [&["WITH", "LOCAL", "TIME", "ZONE"][..], &["WITHOUT", "TIME", "ZONE"], &["WITH", "TIME", "ZONE"]]
                {
                    if self.eat_words(zone) {
                        name = format!("{name} {}", zone.join(" "));
                    }
                }
                Ok(TypeNameKind::Simple(name, numbers))
            }
            ("DOUBLE", _) => {
                self.advance();
                let precision = self.eat_word("PRECISION");
                let name = if precision { "DOUBLE PRECISION" } else { "DOUBLE" };
                Ok(TypeNameKind::Simple(name.to_owned(), Vec::new()))
            }
            ("CHAR" | "CHARACTER" | "BINARY", _) if self.word_at(1, "VARYING") => {
                self.advance();
                self.advance();
                let numbers = self.type_numbers()?;
                Ok(TypeNameKind::Simple(format!("{word} VARYING"), numbers))
            }
            _ if is_builtin(&word) => {
                self.advance();
                let numbers = if takes_numbers(&word) { self.type_numbers()? } else { Vec::new() };
                Ok(TypeNameKind::Simple(word, numbers))
            }
            _ => {
                let start = self.index();
                self.object_name("a data type")?;
                Ok(TypeNameKind::Other(self.cx.words(start, self.index())))
            }
        }
    }

    fn element_type(&mut self) -> Parsed<TypeName> {
        let word = self.text(self.token(0)).to_ascii_uppercase();
        self.advance();
        self.advance();
        let element = self.type_name()?;
        self.close_angle(&word)?;
        Ok(element)
    }

    fn close_angle(&mut self, what: &str) -> Parsed<()> {
        self.expect(Kind::Gt, "`>`", &format!("to close {what}<"))
    }

    fn type_numbers(&mut self) -> Parsed<Vec<u32>> {
        if !self.at(Kind::LParen) {
            return Ok(Vec::new());
        }
        self.parenthesized("", |p| {
            let at = p.index();
            let number = p.unsigned("a number")?;
            if i32::try_from(number).is_err() {
                let span = p.cx.span_of(p.cx.tokens[at], p.cx.tokens[at]);
                let message = format!("Literal '{number}' can not be parsed to type 'java.lang.Integer'");
                return Err(p.error_at(span, &message, "too large", Some("the largest number is 2147483647")));
            }
            Ok(number)
        })
    }

    fn row_type(&mut self) -> Parsed<TypeNameKind> {
        self.advance();
        if self.eat(Kind::NotEq) {
            return Ok(TypeNameKind::Row(Vec::new()));
        }
        let open = self.index();
        let angle = self.at(Kind::Lt);
        self.advance();
        let mut fields: Vec<RowField> = Vec::new();
        if !self.at(if angle { Kind::Gt } else { Kind::RParen }) {
            fields.push(self.row_field(0)?);
            while self.eat(Kind::Comma) {
                let number = fields.len();
                fields.push(self.row_field(number)?);
            }
        }
        if angle {
            self.close_angle("ROW")?;
        } else {
            self.close(open)?;
        }
        Ok(TypeNameKind::Row(fields))
    }

    fn row_field(&mut self, number: usize) -> Parsed<RowField> {
        // `ROW<INT, STRING>`: types alone. A name is followed by a type, a type alone by a comma or the end.
        let unnamed = self.at(Kind::Word)
            && (matches!(self.token(1).kind, Kind::Comma | Kind::Gt | Kind::Lt | Kind::RParen | Kind::LParen)
                || self.word_at(1, "NOT"));
        let name = if unnamed {
            let span = self.span();
            Ident { value: format!("f{number}"), quoted: false, span }
        } else {
            self.ident("a field name")?
        };
        let ty = self.type_name()?;
        if self.at(Kind::String) {
            self.advance();
        } else if self.eat_word("COMMENT") {
            self.string("the comment in single quotes")?;
        }
        Ok(RowField { name, ty })
    }

    /// `INTERVAL DAY(3) TO SECOND(3)`.
    fn interval_type(&mut self) -> Parsed<TypeNameKind> {
        let mut words = vec!["INTERVAL".to_owned()];
        let mut numbers = Vec::new();
        self.advance();
        loop {
            if !self.at_any(&["YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"]) {
                return Err(self.expected("a unit such as DAY"));
            }
            words.push(self.text(self.token(0)).to_ascii_uppercase());
            self.advance();
            numbers.extend(self.type_numbers()?);
            if !self.eat_word("TO") {
                return Ok(TypeNameKind::Simple(words.join(" "), numbers));
            }
            words.push("TO".to_owned());
        }
    }
}

fn is_builtin(word: &str) -> bool {
    const BUILTIN: &[&str] = &[
        "BIGINT",
        "BINARY",
        "BOOLEAN",
        "BYTES",
        "CHAR",
        "CHARACTER",
        "DATE",
        "DEC",
        "DECIMAL",
        "FLOAT",
        "INT",
        "INTEGER",
        "NULL",
        "NUMERIC",
        "REAL",
        "SMALLINT",
        "STRING",
        "TIMESTAMP_LTZ",
        "TINYINT",
        "VARBINARY",
        "VARCHAR",
        "VARIANT",
    ];
    BUILTIN.contains(&word)
}

/// Types that have a length or a precision.
fn takes_numbers(word: &str) -> bool {
    const SIZED: &[&str] =
        &["BINARY", "CHAR", "CHARACTER", "DEC", "DECIMAL", "NUMERIC", "TIMESTAMP_LTZ", "VARBINARY", "VARCHAR"];
    SIZED.contains(&word)
}
