//! MATCH_RECOGNIZE with its row pattern.

use super::ast::{AfterMatch, Expr, ExprKind, Ident, MatchRecognize, Pattern, PatternKind, Quantifier, Skip, TableRef};
use super::parser::{Parsed, Parser};
use super::tokens::Kind;

/// How deep parentheses may nest in a pattern: patterns are walked recursively.
const MAX_DEPTH: usize = 100;

impl Parser<'_, '_> {
    /// `MATCH_RECOGNIZE (...)` behind its input.
    pub(super) fn match_recognize(&mut self, input: TableRef) -> Parsed<MatchRecognize> {
        let start = self.index();
        self.advance();
        let open = self.open("after MATCH_RECOGNIZE")?;
        let mut partition_by = Vec::new();
        if self.eat_word("PARTITION") {
            self.expect_word("BY", "after PARTITION")?;
            partition_by = self.comma_separated(Self::expr)?;
        }
        let order_by = if self.at_word("ORDER") { self.order_by()? } else { Vec::new() };
        let mut measures = Vec::new();
        if self.eat_word("MEASURES") {
            measures = self.comma_separated(|p| {
                let expr = p.expr()?;
                p.expect_word("AS", "and a name after the measure")?;
                Ok((expr, p.ident("a name for the measure")?))
            })?;
        }
        let all_rows = self.rows_per_match()?;
        let after_match = if self.at_words(&["AFTER", "MATCH"]) { Some(self.after_match()?) } else { None };
        self.expect_word("PATTERN", "in MATCH_RECOGNIZE")?;
        let open_pattern = self.open("after PATTERN")?;
        let pattern = self.whole_pattern()?;
        self.close(open_pattern)?;
        let within = if self.eat_word("WITHIN") { Some(self.within()?) } else { None };
        let mut subsets = Vec::new();
        if self.eat_word("SUBSET") {
            subsets = self.comma_separated(|p| {
                let name = p.ident("a name for the subset")?;
                p.expect(Kind::Eq, "`=`", "after the name of the subset")?;
                Ok((name, p.parenthesized("after `=`", |p| p.ident("a pattern variable"))?))
            })?;
        }
        self.expect_word("DEFINE", "after PATTERN")?;
        let define = self.comma_separated(|p| {
            let name = p.ident("a pattern variable")?;
            p.expect_word("AS", "after the pattern variable")?;
            Ok((name, p.expr()?))
        })?;
        self.close(open)?;
        let span = self.span_from(start);
        Ok(MatchRecognize {
            input,
            partition_by,
            order_by,
            measures,
            all_rows,
            after_match,
            pattern,
            within,
            subsets,
            define,
            span,
        })
    }

    /// `ONE ROW PER MATCH`, or the place of `ALL ROWS PER MATCH`.
    fn rows_per_match(&mut self) -> Parsed<Option<crate::source::Span>> {
        let start = self.index();
        let all = if self.eat_word("ONE") {
            self.expect_word("ROW", "after ONE")?;
            false
        } else if self.eat_word("ALL") {
            self.expect_word("ROWS", "after ALL")?;
            true
        } else {
            return Ok(None);
        };
        self.expect_word("PER", "in MATCH_RECOGNIZE")?;
        self.expect_word("MATCH", "after PER")?;
        Ok(all.then(|| self.span_from(start)))
    }

    fn after_match(&mut self) -> Parsed<AfterMatch> {
        let start = self.index();
        self.advance();
        self.advance();
        self.expect_word("SKIP", "after AFTER MATCH")?;
        let skip = if self.eat_word("PAST") {
            self.expect_word("LAST", "after SKIP PAST")?;
            self.expect_word("ROW", "after SKIP PAST LAST")?;
            Skip::PastLastRow
        } else {
            self.expect_word("TO", "or PAST after SKIP")?;
            if self.eat_words(&["NEXT", "ROW"]) {
                Skip::ToNextRow
            } else if self.eat_word("FIRST") {
                Skip::ToFirst(self.ident("a pattern variable after SKIP TO FIRST")?)
            } else {
                self.eat_word("LAST");
                Skip::ToLast(self.ident("a pattern variable after SKIP TO")?)
            }
        };
        Ok(AfterMatch { skip, span: self.span_from(start) })
    }

    /// `INTERVAL '10' SECOND`: nothing but a literal.
    fn within(&mut self) -> Parsed<Expr> {
        if !self.at_word("INTERVAL") {
            return Err(self.expected("INTERVAL after WITHIN"));
        }
        let start = self.span();
        let interval = self.expr()?;
        match interval.kind {
            ExprKind::Literal(_) => Ok(interval),
            _ => Err(self.error_at(
                start.to(interval.span),
                "WITHIN takes an interval and nothing else",
                "not an interval literal",
                Some("write WITHIN INTERVAL '10' MINUTE"),
            )),
        }
    }

    /// All of PATTERN, with the anchors `^` and `$`, which Flink takes and passes over.
    fn whole_pattern(&mut self) -> Parsed<Pattern> {
        if self.at_text("^") {
            self.advance();
        }
        let pattern = self.alternation(0)?;
        if self.at_text("$") {
            self.advance();
        }
        Ok(pattern)
    }

    fn at_text(&self, text: &str) -> bool {
        self.text(self.token(0)) == text
    }

    fn alternation(&mut self, depth: usize) -> Parsed<Pattern> {
        if depth >= MAX_DEPTH {
            return Err(self.too_deep());
        }
        let start = self.index();
        let mut branches = vec![self.concat(depth)?];
        while self.eat(Kind::Pipe) {
            branches.push(self.concat(depth)?);
        }
        Ok(self.one_or(branches, start, PatternKind::Alternation))
    }

    /// `make` of several parts, or the one part itself.
    fn one_or(&self, mut parts: Vec<Pattern>, start: usize, make: fn(Vec<Pattern>) -> PatternKind) -> Pattern {
        if parts.len() == 1 {
            return parts.remove(0);
        }
        Pattern { kind: make(parts), span: self.span_from(start) }
    }

    fn concat(&mut self, depth: usize) -> Parsed<Pattern> {
        let start = self.index();
        let mut parts = vec![self.factor(depth)?];
        while self.starts_factor() {
            parts.push(self.factor(depth)?);
        }
        Ok(self.one_or(parts, start, PatternKind::Concat))
    }

    fn starts_factor(&self) -> bool {
        match self.kind() {
            Kind::LParen | Kind::LBrace => true,
            Kind::Word | Kind::Quoted => !self.at_text("$"),
            _ => false,
        }
    }

    fn factor(&mut self, depth: usize) -> Parsed<Pattern> {
        let start = self.index();
        let of = self.pattern_primary(depth)?;
        let Some(quantifier) = self.quantifier()? else { return Ok(of) };
        let span = self.span_from(start);
        Ok(Pattern { kind: PatternKind::Quantified { of: Box::new(of), quantifier }, span })
    }

    fn pattern_primary(&mut self, depth: usize) -> Parsed<Pattern> {
        let start = self.index();
        let kind = if self.at(Kind::LParen) {
            let open = self.open("")?;
            let inner = self.alternation(depth + 1)?;
            self.close(open)?;
            return Ok(inner);
        } else if self.at(Kind::LBrace) && self.token(1).kind == Kind::Minus {
            self.advance();
            self.advance();
            let inner = self.alternation(depth + 1)?;
            self.expect(Kind::Minus, "`-}`", "after the excluded pattern")?;
            self.expect(Kind::RBrace, "`-}`", "after the excluded pattern")?;
            PatternKind::Exclude(Box::new(inner))
        } else if self.at_word("PERMUTE") && self.token(1).kind == Kind::LParen {
            self.advance();
            PatternKind::Permute(self.parenthesized("after PERMUTE", |p| p.alternation(depth + 1))?)
        } else {
            PatternKind::Variable(self.ident("a pattern variable")?)
        };
        Ok(Pattern { kind, span: self.span_from(start) })
    }

    fn quantifier(&mut self) -> Parsed<Option<Quantifier>> {
        let (from, to) = if self.eat(Kind::Star) {
            (Some(0), None)
        } else if self.eat(Kind::Plus) {
            (Some(1), None)
        } else if self.eat(Kind::Question) {
            (Some(0), Some(1))
        } else if self.at(Kind::LBrace) && self.token(1).kind != Kind::Minus {
            self.advance();
            let bounds = if self.eat(Kind::Comma) {
                (None, Some(self.unsigned("a number in the quantifier")?))
            } else {
                let from = self.unsigned("a number in the quantifier")?;
                match self.eat(Kind::Comma) {
                    false => (Some(from), Some(from)),
                    true if self.at(Kind::RBrace) => (Some(from), None),
                    true => (Some(from), Some(self.unsigned("a number in the quantifier")?)),
                }
            };
            self.expect(Kind::RBrace, "`}`", "after the quantifier")?;
            bounds
        } else {
            return Ok(None);
        };
        let reluctant = self.eat(Kind::Question);
        Ok(Some(Quantifier { from, to, reluctant }))
    }
}

/// The variables of a pattern in the order written.
pub fn pattern_variables(pattern: &Pattern) -> Vec<&Ident> {
    let mut out = Vec::new();
    let mut stack = vec![pattern];
    while let Some(pattern) = stack.pop() {
        match &pattern.kind {
            PatternKind::Variable(name) => out.push(name),
            PatternKind::Concat(parts) | PatternKind::Alternation(parts) | PatternKind::Permute(parts) => {
                stack.extend(parts.iter().rev());
            }
            PatternKind::Quantified { of, .. } | PatternKind::Exclude(of) => stack.push(of),
        }
    }
    out
}
