//! One statement: which it is, and all but CREATE.

use super::ast::{
    Alter, AlterAction, Drop, Ident, Insert, SetOption, Statement, StatementKind, SyntaxError, TableElement,
};
use super::parser::{Parsed, Parser};
use super::tokens::Kind;
use crate::nearest::nearest;

/// Words that start statements: used to find where one ends whose semicolon is missing.
const STARTS: &[&str] = &[
    "CREATE", "INSERT", "SELECT", "SET", "DROP", "ALTER", "USE", "EXECUTE", "BEGIN", "WITH", "SHOW", "DESCRIBE",
    "RESET", "EXPLAIN", "ADD", "END", "COMPILE", "LOAD", "UNLOAD",
];

/// Statements of Flink or its SQL client that bear on no plan.
const OTHERS: &[&str] = &[
    "ADD", "REMOVE", "SHOW", "DESCRIBE", "DESC", "LOAD", "UNLOAD", "ANALYZE", "TRUNCATE", "CALL", "DELETE", "UPDATE",
    "STOP", "QUIT", "EXIT", "CLEAR", "HELP", "SOURCE", "REFRESH",
];

impl Parser<'_, '_> {
    /// The statement at the cursor.
    pub(super) fn statement(&mut self) -> Parsed<Statement> {
        let start = self.index();
        let kind = self.statement_kind()?;
        Ok(Statement { kind, span: self.span_from(start) })
    }

    /// Nothing may follow a statement but its semicolon.
    pub(super) fn expect_end(&self) -> Parsed<()> {
        if self.at_end() {
            return Ok(());
        }
        if self.at_statement_start() {
            let last = self.cx.token(self.index() - 1);
            let text = self.text(self.token(0)).to_ascii_uppercase();
            return Err(self.error_at(
                self.cx.span_of(last, last),
                &format!("expected `;` between this statement and {text}"),
                "the `;` is missing after this",
                None,
            ));
        }
        if self.at(Kind::Colon) && self.token(1).kind == Kind::Colon {
            return Err(self.error("Flink SQL has no `::`", "not an operator", Some("write CAST(value AS type)")));
        }
        if self.at(Kind::RParen) {
            return Err(self.error(
                "this `)` closes nothing",
                "no `(` is open here",
                Some("remove it, or add the `(`"),
            ));
        }
        Err(self.expected("`;`"))
    }

    /// True at the first word of a statement.
    pub(super) fn at_statement_start(&self) -> bool {
        self.at_any(STARTS)
    }

    fn statement_kind(&mut self) -> Parsed<StatementKind> {
        if self.at_query() || self.at(Kind::LParen) {
            return Ok(StatementKind::Query(Box::new(self.query()?)));
        }
        let token = self.token(0);
        if token.kind != Kind::Word {
            return Err(self.unknown_statement());
        }
        let word = self.text(token).to_ascii_uppercase();
        match word.as_str() {
            "CREATE" => self.create(),
            "INSERT" => self.insert().map(|insert| StatementKind::Insert(Box::new(insert))),
            "SET" => self.set(),
            "RESET" => self.reset(),
            "DROP" => self.drop_statement(),
            "ALTER" => self.alter(),
            "USE" => self.use_statement(),
            "EXPLAIN" => self.explain(),
            "COMPILE" => self.compile_plan(),
            "EXECUTE" => self.execute(),
            "BEGIN" => Err(self.expected("a statement: BEGIN is followed by STATEMENT SET")),
            "END" => Err(self.error("this END closes no statement set", "nothing is open here", None)),
            w if OTHERS.contains(&w) => self.other(),
            _ => Err(self.unknown_statement()),
        }
    }

    fn unknown_statement(&self) -> Box<SyntaxError> {
        let token = self.token(0);
        let text = self.text(token);
        match token.kind {
            Kind::Placeholder => self.error(
                &format!("nothing is known about the statement `{text}`"),
                "a placeholder without a definition",
                Some("define it with --define"),
            ),
            Kind::Word => {
                let near = nearest(text, STARTS.iter().copied().filter(|w| w.len() > 3));
                let help = near.map(|near| format!("did you mean {near}?"));
                self.error(
                    &format!("Flink SQL has no statement that starts with `{text}`"),
                    "not a statement",
                    help.as_deref(),
                )
            }
            _ => self.expected("a statement"),
        }
    }

    /// Everything up to the end of the statement.
    pub(super) fn skip_rest(&mut self) {
        while !self.at_end() {
            self.advance();
        }
    }

    fn other(&mut self) -> Parsed<StatementKind> {
        let mut words = vec![self.text(self.token(0)).to_ascii_uppercase()];
        self.advance();
        if self.at(Kind::Word) {
            words.push(self.text(self.token(0)).to_ascii_uppercase());
        }
        self.skip_rest();
        Ok(StatementKind::Other(words.join(" ")))
    }

    // SET and RESET.

    fn set(&mut self) -> Parsed<StatementKind> {
        self.advance();
        if self.at_end() {
            return Ok(StatementKind::Set(None));
        }
        let start = self.index();
        let key = self.option_name("the name of an option")?;
        self.expect(Kind::Eq, "`=`", "after the name of the option")?;
        let value = if self.at(Kind::String) && self.token(1).kind == Kind::End {
            self.string("a value")?
        } else {
            // Without quotes the value is all up to the semicolon.
            let from = self.index();
            self.skip_rest();
            self.cx.text_of(from, self.index()).to_owned()
        };
        let span = self.span_from(start);
        Ok(StatementKind::Set(Some(SetOption { key, value, span })))
    }

    fn reset(&mut self) -> Parsed<StatementKind> {
        self.advance();
        if self.at_end() {
            return Ok(StatementKind::Reset(None));
        }
        let start = self.index();
        let quoted = self.at(Kind::String);
        let value = self.option_name("the name of an option")?;
        Ok(StatementKind::Reset(Some(Ident { value, quoted, span: self.span_from(start) })))
    }

    /// `'a.b-c'` or `a.b-c`.
    fn option_name(&mut self, what: &str) -> Parsed<String> {
        if self.at(Kind::String) {
            return self.string(what);
        }
        if !matches!(self.kind(), Kind::Word | Kind::Placeholder) {
            return Err(self.expected(what));
        }
        let start = self.index();
        while !self.at_end() && !self.at(Kind::Eq) {
            self.advance();
        }
        Ok(self.cx.text_of(start, self.index()).to_owned())
    }

    // USE, DROP, ALTER.

    fn use_statement(&mut self) -> Parsed<StatementKind> {
        self.advance();
        if self.eat_word("CATALOG") {
            return Ok(StatementKind::UseCatalog(self.ident("the name of a catalog")?));
        }
        if self.at_word("MODULES") {
            self.skip_rest();
            return Ok(StatementKind::Other("USE MODULES".to_owned()));
        }
        Ok(StatementKind::UseDatabase(self.object_name("the name of a database")?))
    }

    fn drop_statement(&mut self) -> Parsed<StatementKind> {
        self.advance();
        self.eat_word("TEMPORARY");
        self.eat_word("SYSTEM");
        self.eat_word("MATERIALIZED");
        if !self.at_any(&["TABLE", "VIEW", "FUNCTION", "CATALOG", "DATABASE", "MODEL", "CONNECTION"]) {
            return Err(self.expected("TABLE, VIEW, FUNCTION, CATALOG or DATABASE after DROP"));
        }
        let what = self.text(self.token(0)).to_ascii_uppercase();
        self.advance();
        let if_exists = self.if_exists();
        let name = self.object_name("the name of what is dropped")?;
        let _ = self.eat_word("RESTRICT") || self.eat_word("CASCADE");
        Ok(StatementKind::Drop(Drop { what, name, if_exists }))
    }

    fn alter(&mut self) -> Parsed<StatementKind> {
        self.advance();
        if self.at_words(&["MATERIALIZED", "TABLE"]) {
            self.advance();
        }
        if !self.at_any(&["TABLE", "VIEW"]) {
            if self.at_any(&["DATABASE", "FUNCTION", "CATALOG", "MODEL", "CONNECTION", "TEMPORARY"]) {
                let verb = format!("ALTER {}", self.text(self.token(0)).to_ascii_uppercase());
                self.skip_rest();
                return Ok(StatementKind::Other(verb));
            }
            return Err(self.expected("TABLE or VIEW after ALTER"));
        }
        let what = self.text(self.token(0)).to_ascii_uppercase();
        self.advance();
        self.if_exists();
        let name = self.object_name("the name of what is altered")?;
        let action = self.alter_action()?;
        Ok(StatementKind::Alter(Alter { what, name, action }))
    }

    fn alter_action(&mut self) -> Parsed<AlterAction> {
        if self.at_word("SET") && self.token(1).kind == Kind::LParen {
            self.advance();
            return self.options("").map(AlterAction::SetOptions);
        }
        if self.at_word("RESET") && self.token(1).kind == Kind::LParen {
            self.advance();
            return self
                .parenthesized("", |p| p.string("the key of an option in single quotes"))
                .map(AlterAction::ResetOptions);
        }
        if self.eat_word("RENAME") {
            if self.eat_word("TO") {
                return self.object_name("the new name").map(AlterAction::RenameTo);
            }
            let from = self.ident("a column name")?;
            self.expect_word("TO", "after the column")?;
            return Ok(AlterAction::RenameColumn(from, self.ident("the new name")?));
        }
        if self.at_word("ADD") && !self.word_at(1, "PARTITION") && !self.word_at(1, "IF") {
            self.advance();
            return self.altered_elements().map(AlterAction::Add);
        }
        if self.eat_word("MODIFY") {
            return self.altered_elements().map(AlterAction::Modify);
        }
        if self.at_word("DROP") && !self.word_at(1, "PARTITION") && !self.word_at(1, "IF") {
            self.advance();
            return self.alter_drop();
        }
        if self.eat_word("AS") {
            return Ok(AlterAction::AsQuery(Box::new(self.query()?)));
        }
        if self.at_any(&["ADD", "DROP", "PARTITION", "SUSPEND", "RESUME", "REFRESH", "COMPACT", "SET"]) {
            let start = self.index();
            self.skip_rest();
            let words = self.cx.words(start, self.index());
            return Ok(AlterAction::Other(words));
        }
        Err(self.expected("what to alter: SET, RESET, ADD, MODIFY, DROP, RENAME or AS"))
    }

    /// `(a INT, WATERMARK FOR ...)` or one element without parentheses, with `FIRST` and `AFTER a`.
    fn altered_elements(&mut self) -> Parsed<Vec<TableElement>> {
        self.eat_word("COLUMN");
        let one = |p: &mut Self| {
            if p.eat_word("DISTRIBUTION") {
                p.skip_rest();
                return Ok(None);
            }
            let element = p.table_element()?;
            if !p.eat_word("FIRST") && p.eat_word("AFTER") {
                p.object_name("a column name")?;
            }
            Ok(Some(element))
        };
        let elements = if self.at(Kind::LParen) { self.parenthesized("", one)? } else { vec![one(self)?] };
        Ok(elements.into_iter().flatten().collect())
    }

    fn alter_drop(&mut self) -> Parsed<AlterAction> {
        if self.eat_word("WATERMARK") {
            return Ok(AlterAction::DropWatermark);
        }
        if self.eat_words(&["PRIMARY", "KEY"]) {
            return Ok(AlterAction::DropPrimaryKey);
        }
        if self.eat_word("CONSTRAINT") {
            self.ident("the name of the constraint")?;
            return Ok(AlterAction::DropPrimaryKey);
        }
        if self.eat_word("DISTRIBUTION") {
            return Ok(AlterAction::Other("DROP DISTRIBUTION".to_owned()));
        }
        self.eat_word("COLUMN");
        if self.at(Kind::LParen) {
            return self.names("").map(AlterAction::DropColumns);
        }
        Ok(AlterAction::DropColumns(vec![self.ident("a column name")?]))
    }

    // INSERT and what stands around statements.

    /// INSERT, at its first word.
    pub(super) fn insert(&mut self) -> Parsed<Insert> {
        let start = self.index();
        self.advance();
        let overwrite = self.eat_word("OVERWRITE");
        if !overwrite {
            self.expect_word("INTO", "or OVERWRITE after INSERT")?;
        }
        self.eat_word("TABLE");
        let table = self.object_name("a table name after INSERT INTO")?;
        let mut hints = self.hints()?;
        let mut partition = Vec::new();
        if self.eat_word("PARTITION") {
            partition = self.parenthesized("after PARTITION", |p| {
                let key = p.ident("a partition column")?;
                let value = if p.eat(Kind::Eq) { Some(p.expr()?) } else { None };
                Ok((key, value))
            })?;
        }
        let mut columns = Vec::new();
        if self.at(Kind::LParen) && !self.at_query() && !self.query_in_parentheses() {
            columns = self.parenthesized("", |p| {
                let column = p.ident("a column name")?;
                // A path into a ROW column; the planner refuses what Flink refuses.
                while p.eat(Kind::Dot) {
                    p.ident("a field name")?;
                }
                Ok(column)
            })?;
        }
        let head_span = self.span_from(start);
        if !columns.is_empty() || !partition.is_empty() {
            hints.extend(self.hints()?);
        }
        if !self.at_query() && !self.at(Kind::LParen) {
            return Err(self.expected("SELECT or VALUES after the sink"));
        }
        let query = Box::new(self.query()?);
        let mut on_conflict = None;
        let start = self.index();
        if self.eat_words(&["ON", "CONFLICT"]) {
            self.expect_word("DO", "after ON CONFLICT")?;
            if !self.at_any(&["NOTHING", "ERROR", "DEDUPLICATE"]) {
                return Err(self.expected("NOTHING, ERROR or DEDUPLICATE"));
            }
            self.advance();
            on_conflict = Some(self.span_from(start));
        }
        Ok(Insert { table, hints, overwrite, partition, columns, query, on_conflict, head_span })
    }

    /// True if `(` is followed, after more of them, by a query.
    fn query_in_parentheses(&self) -> bool {
        let mut ahead = 0;
        while self.token(ahead).kind == Kind::LParen {
            ahead += 1;
        }
        ["SELECT", "WITH", "VALUES"].iter().any(|w| self.word_at(ahead, w))
    }

    fn explain(&mut self) -> Parsed<StatementKind> {
        let start = self.index();
        self.advance();
        if self.eat_words(&["PLAN", "FOR"]) {
        } else {
            const DETAILS: &[&str] = &["ESTIMATED_COST", "CHANGELOG_MODE", "JSON_EXECUTION_PLAN", "PLAN_ADVICE"];
            while self.at_any(DETAILS) {
                self.advance();
                self.eat(Kind::Comma);
            }
        }
        self.wrapped(start)
    }

    fn compile_plan(&mut self) -> Parsed<StatementKind> {
        let start = self.index();
        self.advance();
        self.eat_words(&["AND", "EXECUTE"]);
        self.expect_word("PLAN", "after COMPILE")?;
        let verb_end = self.index();
        self.string("the path of the plan in single quotes")?;
        self.if_not_exists();
        self.expect_word("FOR", "before the statement")?;
        let verb = self.cx.words(start, verb_end).to_ascii_uppercase();
        self.wrap(verb)
    }

    fn execute(&mut self) -> Parsed<StatementKind> {
        let start = self.index();
        self.advance();
        if self.at_word("PLAN") {
            self.advance();
            self.string("the path of the plan in single quotes")?;
            return Ok(StatementKind::Other("EXECUTE PLAN".to_owned()));
        }
        if !self.at_any(&["INSERT", "SELECT", "WITH"]) {
            return Err(self.expected("STATEMENT SET, INSERT, SELECT or PLAN after EXECUTE"));
        }
        self.wrapped(start)
    }

    /// The words from token `start` wrap the statement that follows.
    fn wrapped(&mut self, start: usize) -> Parsed<StatementKind> {
        let verb = self.cx.words(start, self.index()).to_ascii_uppercase();
        self.wrap(verb)
    }

    fn wrap(&mut self, verb: String) -> Parsed<StatementKind> {
        if self.at_any(&["EXPLAIN", "COMPILE", "EXECUTE"]) {
            return Err(self.expected("a query or an INSERT"));
        }
        Ok(StatementKind::Wrapped { verb, inner: Box::new(self.statement()?) })
    }
}
