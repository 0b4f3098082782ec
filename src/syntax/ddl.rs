//! CREATE TABLE and its parts, CREATE VIEW, CREATE FUNCTION and kin.

use super::ast::{
    ColumnDef, ColumnKind, CreateFunction, CreateTable, CreateView, LikeClause, ObjectName, StatementKind,
    TableElement, TableOption, WatermarkDef,
};
use super::parser::{Parsed, Parser};
use super::tokens::Kind;

impl Parser<'_, '_> {
    /// CREATE, at its first word.
    pub(super) fn create(&mut self) -> Parsed<StatementKind> {
        self.advance();
        let or_replace = self.eat_words(&["OR", "REPLACE"]);
        let or_alter = !or_replace && self.eat_words(&["OR", "ALTER"]);
        let temporary = self.eat_word("TEMPORARY");
        if self.at_word("MATERIALIZED") {
            self.advance();
            self.expect_word("TABLE", "after MATERIALIZED")?;
            let table = self.create_table(temporary, or_replace || or_alter, true)?;
            return Ok(StatementKind::CreateTable(Box::new(table)));
        }
        if self.eat_word("TABLE") {
            let table = self.create_table(temporary, or_replace, false)?;
            return Ok(StatementKind::CreateTable(Box::new(table)));
        }
        if self.eat_word("VIEW") {
            return self.create_view(temporary, or_replace).map(StatementKind::CreateView);
        }
        if self.at_word("FUNCTION") || self.at_words(&["SYSTEM", "FUNCTION"]) {
            self.eat_word("SYSTEM");
            self.advance();
            return self.create_function().map(StatementKind::CreateFunction);
        }
        if self.eat_word("CATALOG") {
            self.if_not_exists();
            let name = self.ident("a name for the catalog")?;
            self.optional_comment()?;
            let options = self.with_options()?;
            return Ok(StatementKind::CreateCatalog { name, options });
        }
        if self.eat_word("DATABASE") {
            self.if_not_exists();
            let name = self.object_name("a name for the database")?;
            self.optional_comment()?;
            self.with_options()?;
            return Ok(StatementKind::CreateDatabase(name));
        }
        if self.at_any(&["MODEL", "CONNECTION"]) || self.at_words(&["SYSTEM", "CONNECTION"]) {
            let verb = format!("CREATE {}", self.text(self.token(0)).to_ascii_uppercase());
            self.skip_rest();
            return Ok(StatementKind::Other(verb));
        }
        let mut error = self.expected("TABLE, VIEW, FUNCTION, CATALOG or DATABASE after CREATE");
        if self.at_word("STREAM") || self.at_word("SINK") || self.at_word("SOURCE") {
            error.help = Some("in Flink SQL a stream, source or sink is a TABLE".to_owned());
        }
        Err(error)
    }

    /// The columns between the parentheses of CREATE TABLE.
    fn table_elements(&mut self) -> Parsed<Vec<TableElement>> {
        let open = self.open("")?;
        if self.eat(Kind::RParen) {
            return Ok(Vec::new());
        }
        let elements = self.comma_separated(Self::table_element)?;
        self.close(open)?;
        Ok(elements)
    }

    fn create_table(&mut self, temporary: bool, or_replace: bool, materialized: bool) -> Parsed<CreateTable> {
        let if_not_exists = self.if_not_exists();
        let name = self.object_name("a name for the table")?;
        let mut table = CreateTable {
            name,
            temporary,
            or_replace,
            if_not_exists,
            materialized,
            elements: Vec::new(),
            comment: None,
            partitioned_by: Vec::new(),
            options: Vec::new(),
            like: None,
            as_query: None,
        };
        if self.at(Kind::LParen) {
            table.elements = self.table_elements()?;
        }
        self.table_clauses(&mut table)?;
        let bare = table.elements.is_empty() && table.options.is_empty() && table.like.is_none();
        if bare && table.as_query.is_none() {
            return Err(self.expected("the columns of the table, WITH, LIKE or AS"));
        }
        Ok(table)
    }

    fn table_clauses(&mut self, table: &mut CreateTable) -> Parsed<()> {
        loop {
            if self.at_word("COMMENT") {
                table.comment = self.optional_comment()?;
            } else if self.eat_word("PARTITIONED") {
                self.expect_word("BY", "after PARTITIONED")?;
                table.partitioned_by = self.names("after PARTITIONED BY")?;
            } else if self.eat_word("DISTRIBUTED") {
                self.distribution()?;
            } else if self.at_word("WITH") {
                table.options = self.with_options()?;
            } else if self.eat_word("LIKE") {
                table.like = Some(self.like_clause()?);
            } else if self.eat_word("FRESHNESS") {
                self.expect(Kind::Eq, "`=`", "after FRESHNESS")?;
                if !self.at_word("INTERVAL") {
                    return Err(self.expected("an INTERVAL"));
                }
                self.interval()?;
            } else if self.eat_word("REFRESH_MODE") {
                self.expect(Kind::Eq, "`=`", "after REFRESH_MODE")?;
                if !self.eat_word("FULL") && !self.eat_word("CONTINUOUS") {
                    return Err(self.expected("FULL or CONTINUOUS"));
                }
            } else if self.eat_word("AS") {
                table.as_query = Some(Box::new(self.query()?));
                return Ok(());
            } else {
                return Ok(());
            }
        }
    }

    /// `BY [HASH|RANGE] (a, b) [INTO n BUCKETS]` or `INTO n BUCKETS`, after DISTRIBUTED. It bears on no plan.
    fn distribution(&mut self) -> Parsed<()> {
        if self.eat_word("BY") {
            if !self.eat_word("HASH") {
                self.eat_word("RANGE");
            }
            self.names("after DISTRIBUTED BY")?;
        }
        if self.eat_word("INTO") {
            self.unsigned("the number of buckets")?;
            self.expect_word("BUCKETS", "after their number")?;
        }
        Ok(())
    }

    fn like_clause(&mut self) -> Parsed<LikeClause> {
        const FEATURES: &[&str] =
            &["ALL", "CONSTRAINTS", "DISTRIBUTION", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS", "WATERMARKS"];
        let source = self.object_name("the table that is copied")?;
        let mut options = Vec::new();
        if self.at(Kind::LParen) {
            let open = self.open("")?;
            while !self.at(Kind::RParen) {
                if !self.at_any(&["INCLUDING", "EXCLUDING", "OVERWRITING"]) {
                    return Err(self.expected("INCLUDING, EXCLUDING or OVERWRITING"));
                }
                let strategy = self.text(self.token(0)).to_ascii_uppercase();
                self.advance();
                if !self.at_any(FEATURES) {
                    return Err(self.expected("what to merge, such as ALL or OPTIONS"));
                }
                options.push((strategy, self.text(self.token(0)).to_ascii_uppercase()));
                self.advance();
            }
            self.close(open)?;
        }
        Ok(LikeClause { source, options })
    }

    /// A column, watermark or constraint.
    pub(super) fn table_element(&mut self) -> Parsed<TableElement> {
        let start = self.index();
        if self.at_words(&["WATERMARK", "FOR"]) {
            return self.watermark().map(TableElement::Watermark);
        }
        if self.at_word("CONSTRAINT") || self.at_words(&["PRIMARY", "KEY"]) {
            if self.eat_word("CONSTRAINT") {
                self.ident("the name of the constraint")?;
            }
            if self.at_word("UNIQUE") {
                return Err(self.error(
                    "Flink has no UNIQUE constraints",
                    "not supported",
                    Some("use PRIMARY KEY ... NOT ENFORCED"),
                ));
            }
            self.expect_word("PRIMARY", "after the name of the constraint")?;
            self.expect_word("KEY", "after PRIMARY")?;
            let columns = self.names("after PRIMARY KEY")?;
            self.not_enforced(start)?;
            return Ok(TableElement::PrimaryKey { columns, span: self.span_from(start) });
        }
        self.column().map(TableElement::Column)
    }

    /// `NOT ENFORCED`, without which Flink refuses the key that starts at token `start`.
    fn not_enforced(&mut self, start: usize) -> Parsed<()> {
        if self.eat_word("NOT") {
            return self.expect_word("ENFORCED", "after NOT");
        }
        self.eat_word("ENFORCED");
        Err(self.error_at(
            self.span_from(start),
            "Flink doesn't support ENFORCED mode for PRIMARY KEY constraint: it does not own the data",
            "enforced unless it says NOT ENFORCED",
            Some("write PRIMARY KEY ... NOT ENFORCED"),
        ))
    }

    fn watermark(&mut self) -> Parsed<WatermarkDef> {
        let start = self.index();
        self.advance();
        self.advance();
        let mut column = vec![self.ident("the column of the watermark")?];
        while self.eat(Kind::Dot) {
            column.push(self.ident("a field name")?);
        }
        self.expect_word("AS", "and the watermark's expression")?;
        let expr = self.expr()?;
        Ok(WatermarkDef { column, expr, span: self.span_from(start) })
    }

    fn column(&mut self) -> Parsed<ColumnDef> {
        let start = self.index();
        let name = self.ident("a column name")?;
        let mut primary_key = false;
        let mut comment = None;
        let ends = |p: &Self| matches!(p.kind(), Kind::Comma | Kind::RParen | Kind::End);
        let kind = if self.eat_word("AS") {
            ColumnKind::Computed(self.expr()?)
        } else if ends(self) || self.at_any(&["FIRST", "AFTER"]) {
            ColumnKind::NameOnly
        } else {
            let ty = self.type_name()?;
            if self.at_word("CONSTRAINT") || self.at_words(&["PRIMARY", "KEY"]) {
                if self.eat_word("CONSTRAINT") {
                    self.ident("the name of the constraint")?;
                    self.expect_word("PRIMARY", "after the name of the constraint")?;
                } else {
                    self.advance();
                }
                self.expect_word("KEY", "after PRIMARY")?;
                primary_key = true;
                self.not_enforced(start)?;
            }
            if self.eat_word("METADATA") {
                let from =
                    if self.eat_word("FROM") { Some(self.string("the metadata key in single quotes")?) } else { None };
                ColumnKind::Metadata { ty, from, is_virtual: self.eat_word("VIRTUAL") }
            } else {
                ColumnKind::Physical(ty)
            }
        };
        if self.at_word("COMMENT") {
            comment = self.optional_comment()?;
        }
        if !ends(self) && !self.at_any(&["FIRST", "AFTER"]) {
            return Err(self.after_column());
        }
        Ok(ColumnDef { name, kind, primary_key, comment, span: self.span_from(start) })
    }

    /// What stands after a complete column where a comma should.
    fn after_column(&self) -> Box<super::ast::SyntaxError> {
        if self.at_word("DEFAULT") {
            return self.error("Flink's columns have no DEFAULT", "not supported", None);
        }
        if self.at_name() || self.at_any(&["WATERMARK", "PRIMARY"]) {
            let text = self.text(self.token(0));
            let message = format!("expected `,` or `)` after the column, found `{text}`");
            return self.error(&message, "expected `,`", Some("columns are separated by commas"));
        }
        self.expected("`,` or `)` after the column")
    }

    /// `COMMENT 'text'` if it is here.
    pub(super) fn optional_comment(&mut self) -> Parsed<Option<String>> {
        if !self.eat_word("COMMENT") {
            return Ok(None);
        }
        self.string("the comment in single quotes").map(Some)
    }

    /// `WITH ('k' = 'v', ...)` if it is here.
    pub(super) fn with_options(&mut self) -> Parsed<Vec<TableOption>> {
        if !self.eat_word("WITH") {
            return Ok(Vec::new());
        }
        self.options("after WITH")
    }

    /// `('k' = 'v', ...)`.
    pub(super) fn options(&mut self, context: &str) -> Parsed<Vec<TableOption>> {
        let open = self.open(context)?;
        let options = if self.at(Kind::RParen) { Vec::new() } else { self.comma_separated(Self::option)? };
        self.close(open)?;
        Ok(options)
    }

    fn option(&mut self) -> Parsed<TableOption> {
        let start = self.index();
        let key = self.option_string("the key of an option in single quotes")?;
        self.expect(Kind::Eq, "`=`", "after the key of the option")?;
        let value = self.option_string("the value of the option in single quotes")?;
        if self.at(Kind::String) {
            return Err(self.error(
                "expected `,` or `)` after the option, found a string",
                "expected `,`",
                Some("options are separated by commas"),
            ));
        }
        Ok(TableOption { key, value, span: self.span_from(start) })
    }

    fn option_string(&mut self, what: &str) -> Parsed<String> {
        if matches!(self.kind(), Kind::Word | Kind::Number | Kind::Quoted) {
            let text = self.text(self.token(0));
            let help = format!("write it in single quotes: '{}'", text.trim_matches('`'));
            return Err(self.error(&format!("expected {what}, found `{text}`"), "not in single quotes", Some(&help)));
        }
        self.string(what)
    }

    fn create_view(&mut self, temporary: bool, or_replace: bool) -> Parsed<CreateView> {
        let if_not_exists = self.if_not_exists();
        let name = self.object_name("a name for the view")?;
        let columns = if self.at(Kind::LParen) {
            self.parenthesized("", |p| {
                let column = p.ident("a column name")?;
                p.optional_comment()?;
                Ok(column)
            })?
        } else {
            Vec::new()
        };
        self.optional_comment()?;
        self.expect_word("AS", "and the query of the view")?;
        let query = Box::new(self.query()?);
        Ok(CreateView { name, temporary, or_replace, if_not_exists, columns, query })
    }

    fn create_function(&mut self) -> Parsed<CreateFunction> {
        self.if_not_exists();
        let name: ObjectName = self.object_name("a name for the function")?;
        self.expect_word("AS", "and the class of the function")?;
        let class = self.string("the class in single quotes")?;
        if self.eat_word("LANGUAGE") && !self.at_end() {
            self.advance();
        }
        if self.eat_word("USING") {
            self.comma_separated(|p| {
                if !p.at_any(&["JAR", "FILE", "ARTIFACT"]) {
                    return Err(p.expected("JAR after USING"));
                }
                p.advance();
                p.string("the path in single quotes")
            })?;
        }
        self.with_options()?;
        Ok(CreateFunction { name, class })
    }
}
