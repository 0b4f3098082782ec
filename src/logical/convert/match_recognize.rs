//! MATCH_RECOGNIZE: its clauses, and what Flink refuses in them (Calcite's `SqlValidatorImpl.validateMatchRecognize`, Flink's
//! `StreamPhysicalMatchRule` and `CommonExecMatch`).

use std::fmt::Write as _;
use std::sync::Arc;

use super::Builder;
use super::from::FromItem;
use super::match_expr::MatchExprs;
use crate::catalog::types::{DataType, TimeAttribute};
use crate::logical::pattern::{AfterMatch, Definition, Match, Measure, PatternStep, Variables};
use crate::logical::rel::{Rel, RelColumn, RelOp, SortKey};
use crate::logical::rex::{Origins, Rex, Value};
use crate::logical::scope::Scope;
use crate::logical::translate::Translator;
use crate::plan_error::{PlanError, PlanResult};
use crate::syntax::ast::{
    Expr, ExprKind, Ident, MatchRecognize, OrderItem, Pattern, PatternKind, Quantifier, Select, Skip,
};

impl<'a> Builder<'a> {
    /// `t MATCH_RECOGNIZE (...)`.
    pub(super) fn match_recognize(&mut self, m: &'a MatchRecognize, select: &'a Select) -> PlanResult<Rel> {
        let FromItem { rel, scope } = self.table_ref(&m.input, select)?;
        if matches!(&rel.op, RelOp::Scan(scan) if scan.table.inferred) {
            return Err(PlanError::unsupported(m.input.span, "MATCH_RECOGNIZE over a table without DDL").into());
        }
        if let Some(at) = m.all_rows {
            return Err(PlanError::rejected(at, "All rows per match mode is not supported yet")
                .label("not supported")
                .help("write ONE ROW PER MATCH, which is the default")
                .into());
        }
        let variables = variables(m, rel.columns.len())?;
        let (written_partition, partition_origins) = self.partition(m, &scope, &rel)?;
        let mut partition = written_partition.clone();
        partition.sort_unstable();
        let (order, order_origins) = order(m, &scope, &rel)?;
        let steps = steps(&m.pattern, &variables)?;
        let (after, after_origins) = after(m, &variables, &steps)?;
        let within = match &m.within {
            Some(e) => Some(self.within(e)?),
            None => None,
        };
        let exprs = MatchExprs::new(self.catalog, &scope, &variables, m);
        let mut measures: Vec<Measure> = Vec::new();
        for (e, name) in &m.measures {
            if let Some(first) = measures.iter().find(|o| *o.name == *name.value) {
                return Err(PlanError::rejected(name.span, format!("two measures are called `{}`", first.name))
                    .label("this name is taken")
                    .help("give each measure a name of its own")
                    .into());
            }
            let expr = exprs.measure(e)?;
            measures.push(Measure {
                name: name.value.as_str().into(),
                expr,
                origins: Origins::at(e.span.to(name.span)),
            });
        }
        let mut definitions: Vec<Definition> = Vec::new();
        for (name, e) in &m.define {
            let variable = variables.find(&name.value).unwrap_or_default();
            if definitions.iter().any(|d| d.variable == variable) {
                let message = format!("Pattern variable '{}' has already been defined", name.value);
                return Err(PlanError::rejected(name.span.to(e.span), message)
                    .label("a second condition")
                    .help("put both conditions into one, with AND")
                    .into());
            }
            let condition = exprs.definition(variable, e)?;
            definitions.push(Definition { variable, condition, origins: Origins::at(name.span.to(e.span)) });
        }
        let columns = columns(m, &rel, &partition, &written_partition, &measures)?;
        let op = Match {
            partition,
            written_partition,
            partition_origins,
            order,
            order_origins,
            pattern_text: pattern_text(&m.pattern).into(),
            subset_text: subset_text(m),
            variables,
            measures,
            steps,
            pattern_origins: Origins::at(m.pattern.span),
            after,
            after_origins,
            within,
            within_origins: m.within.as_ref().map_or_else(Origins::none, |e| Origins::at(e.span)),
            definitions,
        };
        Ok(Rel { op: RelOp::Match(Box::new(op)), inputs: vec![rel], columns, origins: Origins::at(m.span) })
    }

    fn partition(&self, m: &MatchRecognize, scope: &Scope, rel: &Rel) -> PlanResult<(Vec<usize>, Vec<Origins>)> {
        let mut columns: Vec<usize> = Vec::new();
        for e in &m.partition_by {
            let column = plain_column(e, scope, "PARTITION BY")?;
            if columns.contains(&column) {
                let name = &rel.columns[column].name;
                return Err(PlanError::rejected(e.span, format!("Column '{name}' is ambiguous"))
                    .label("twice in PARTITION BY")
                    .help("name each column once")
                    .into());
            }
            columns.push(column);
        }
        Ok((columns, m.partition_by.iter().map(|e| Origins::at(e.span)).collect()))
    }

    /// WITHIN: a constant length.
    fn within(&self, e: &Expr) -> PlanResult<i64> {
        let rex = Translator::new(self.catalog).expr(e, &mut Scope::new())?;
        match rex.as_literal() {
            Some(Value::Millis(ms)) => Ok(*ms),
            Some(Value::Placeholder(name)) => Ok(super::window_tvf::opaque_length(name)),
            _ => {
                let message = "Only constant intervals with millisecond resolution are supported as time constraints of \
                               patterns";
                Err(PlanError::rejected(e.span, message)
                    .label("months and years have no fixed length")
                    .help("use days")
                    .into())
            }
        }
    }
}

/// All names that stand for rows of a match.
fn variables(m: &MatchRecognize, width: usize) -> PlanResult<Variables> {
    let mut names: Vec<Arc<str>> = vec!["*".into()];
    for name in crate::syntax::pattern_variables(&m.pattern) {
        if names.iter().any(|n| **n == *name.value) {
            let message = "Pattern variables must be unique. That might change in the future";
            return Err(PlanError::rejected(name.span, message)
                .label(format!("`{}` occurs before", name.value))
                .help("give it another name, with the same condition in DEFINE")
                .into());
        }
        names.push(name.value.as_str().into());
    }
    let in_pattern = names.clone();
    for (name, members) in &m.subsets {
        if in_pattern.contains(&name.value.as_str().into()) {
            let message = format!("Pattern variable '{}' has already been defined", name.value);
            return Err(PlanError::rejected(name.span, message).label("a variable of PATTERN").into());
        }
        known(members.iter(), &in_pattern)?;
        names.push(name.value.as_str().into());
    }
    for (name, _) in &m.define {
        if !names.iter().any(|n| **n == *name.value) {
            names.push(name.value.as_str().into());
        }
    }
    if let Some(table) = m.table_name().filter(|t| !names.iter().any(|n| **n == **t)) {
        names.push(table.into());
    }
    Ok(Variables { names, width })
}

/// Every name is a variable of PATTERN.
fn known<'i>(names: impl Iterator<Item = &'i Ident>, pattern: &[Arc<str>]) -> PlanResult<()> {
    for name in names {
        if !pattern.iter().skip(1).any(|p| **p == *name.value) {
            let near = crate::nearest::nearest(&name.value, pattern.iter().skip(1).map(|p| &**p));
            let error = PlanError::rejected(name.span, format!("Unknown pattern '{}'", name.value))
                .label("no variable of PATTERN");
            return Err(match near {
                Some(near) => error.help(format!("did you mean `{near}`?")),
                None => error.help("name a variable of PATTERN; letter case counts"),
            }
            .into());
        }
    }
    Ok(())
}

/// A bare column: Flink takes nothing else in PARTITION BY and ORDER BY.
fn plain_column(e: &Expr, scope: &Scope, clause: &str) -> PlanResult<usize> {
    let column = match &e.kind {
        ExprKind::Column(path) => scope.resolve(path)?.as_input(),
        _ => None,
    };
    column.ok_or_else(|| {
        PlanError::rejected(e.span, format!("{clause} of MATCH_RECOGNIZE takes columns only"))
            .label("not a column")
            .help("compute it in a subquery below MATCH_RECOGNIZE")
            .into()
    })
}

fn order(m: &MatchRecognize, scope: &Scope, rel: &Rel) -> PlanResult<(Vec<SortKey>, Origins)> {
    let [first, rest @ ..] = m.order_by.as_slice() else {
        return Err(PlanError::rejected(m.span, "You must specify either rowtime or proctime for order by")
            .label("no ORDER BY")
            .help("write ORDER BY with the time attribute of the input, before MEASURES")
            .into());
    };
    let mut keys: Vec<SortKey> = Vec::new();
    for item in &m.order_by {
        if item.nulls_first.is_some() {
            return Err(PlanError::rejected(
                item.span,
                "ORDER BY of MATCH_RECOGNIZE takes no NULLS FIRST or NULLS LAST",
            )
            .label("not possible here")
            .help("leave it out")
            .into());
        }
        let column = plain_column(&item.expr, scope, "ORDER BY")?;
        // Calcite keeps the first of two keys over one column.
        if keys.iter().all(|k| k.column != column) {
            let (descending, origins) = (item.descending, Origins::at(item.span));
            keys.push(SortKey { column, descending, nulls_first: !descending, origins });
        }
    }
    check_time(first, &rel.columns[keys[0].column].ty)?;
    let last = rest.last().unwrap_or(first);
    Ok((keys, Origins::at(first.span.to(last.span))))
}

fn check_time(item: &OrderItem, ty: &DataType) -> PlanResult<()> {
    if ty.time_attribute() == TimeAttribute::None && !ty.is_unknown() {
        let message = "You must specify either rowtime or proctime for order by as the first one";
        return Err(PlanError::rejected(item.span, message)
            .label(format!("this is {ty}, not a time attribute"))
            .help("order by a column with a WATERMARK, or by PROCTIME()")
            .into());
    }
    if item.descending {
        let message = "Primary sort order of a streaming table must be ascending on time";
        return Err(PlanError::rejected(item.span, message).label("descending").help("order ascending").into());
    }
    Ok(())
}

fn after(m: &MatchRecognize, variables: &Variables, steps: &[PatternStep]) -> PlanResult<(AfterMatch, Origins)> {
    let Some(after) = &m.after_match else { return Ok((AfterMatch::ToNextRow, Origins::none())) };
    let variable = |name: &Ident| -> PlanResult<usize> {
        let pattern: Vec<Arc<str>> =
            std::iter::once("*".into()).chain(steps.iter().map(|s| variables.names[s.variable].clone())).collect();
        known(std::iter::once(name), &pattern)?;
        Ok(variables.find(&name.value).unwrap_or_default())
    };
    let skip = match &after.skip {
        Skip::PastLastRow => AfterMatch::PastLastRow,
        Skip::ToNextRow => AfterMatch::ToNextRow,
        Skip::ToFirst(name) => AfterMatch::ToFirst(variable(name)?),
        Skip::ToLast(name) => AfterMatch::ToLast(variable(name)?),
    };
    Ok((skip, Origins::at(after.span)))
}

/// The steps of a pattern, with Flink's restrictions (its `PatternVisitor` and CEP's `Pattern`).
fn steps(pattern: &Pattern, variables: &Variables) -> PlanResult<Vec<PatternStep>> {
    let mut steps = Vec::new();
    collect_steps(pattern, variables, &mut steps)?;
    let refuse = |message: &str, label: &str, help: &str| -> PlanResult<Vec<PatternStep>> {
        Err(PlanError::rejected(pattern.span, message).label(label).help(help).into())
    };
    if steps.iter().all(PatternStep::optional) {
        return refuse(
            "Patterns that can produce empty matches are not supported. There must be at least one non-optional state",
            "no row need match",
            "ask for one row at least, such as A+",
        );
    }
    if steps.last().is_some_and(asks_greedily) {
        return refuse(
            "Greedy quantifiers are not allowed as the last element of a Pattern yet. Finish your pattern with either a \
             simple variable or reluctant quantifier",
            "it could always grow by another row",
            "make the last quantifier reluctant (A+?), or end with a variable",
        );
    }
    Ok(steps)
}

/// Flink makes a quantifier greedy only where it can take more or less rows and is no mere `?`.
fn asks_greedily(step: &PatternStep) -> bool {
    step.greedy && step.to != Some(step.from) && !(step.from == 0 && step.to == Some(1))
}

fn collect_steps(pattern: &Pattern, variables: &Variables, out: &mut Vec<PatternStep>) -> PlanResult<()> {
    let refuse = |message: String, label: &str| -> PlanResult<()> {
        Err(PlanError::rejected(pattern.span, message)
            .label(label)
            .help("Flink takes variables one after the other, each with a quantifier of its own")
            .into())
    };
    let text = || printed(pattern);
    match &pattern.kind {
        PatternKind::Variable(name) => {
            push_step(name, None, pattern, variables, out)?;
        }
        PatternKind::Concat(parts) => {
            for part in parts {
                collect_steps(part, variables, out)?;
            }
        }
        PatternKind::Quantified { of, quantifier } => match &of.kind {
            PatternKind::Variable(name) => push_step(name, Some(*quantifier), pattern, variables, out)?,
            _ => {
                let message = format!("Expression not supported: {} Group patterns are not supported yet", printed(of));
                return refuse(message, "a quantifier over a group");
            }
        },
        PatternKind::Alternation(_) => {
            let message =
                format!("Expression not supported: {}. Currently, CEP doesn't support branching patterns", text());
            return refuse(message, "alternatives");
        }
        PatternKind::Permute(_) => {
            let message =
                format!("Expression not supported: {}. Currently, CEP doesn't support PERMUTE patterns", text());
            return refuse(message, "PERMUTE");
        }
        PatternKind::Exclude(_) => {
            let message =
                format!("Expression not supported: {}. Currently, CEP doesn't support '{{-' '-}}' patterns", text());
            return refuse(message, "an exclusion");
        }
    }
    Ok(())
}

fn push_step(
    name: &Ident,
    quantifier: Option<Quantifier>,
    pattern: &Pattern,
    variables: &Variables,
    out: &mut Vec<PatternStep>,
) -> PlanResult<()> {
    let refuse = |message: String, label: &str, help: &str| -> PlanResult<()> {
        Err(PlanError::rejected(pattern.span, message).label(label).help(help).into())
    };
    let (from, to) = match quantifier {
        None => (1, Some(1)),
        Some(Quantifier { from: Some(from), to, .. }) => (from, to),
        Some(Quantifier { from: None, to, .. }) => {
            let help = format!("write {{0,{}}}", to.unwrap_or(1));
            return refuse("The from should be a positive number greater than 0".to_owned(), "no lower bound", &help);
        }
    };
    if [Some(from), to].into_iter().flatten().any(|n| i32::try_from(n).is_err()) {
        let n = from.max(to.unwrap_or(0));
        return refuse(format!("Numeric literal '{n}' out of range"), "too large", "use a smaller number");
    }
    let least = from.max(1);
    if to.is_some_and(|to| to < least) {
        let message = format!("The to should be a number greater than or equal to from: {least}");
        return refuse(message, "an empty range", "write the smaller number first, or leave the variable out");
    }
    let reluctant = quantifier.is_some_and(|q| q.reluctant);
    if reluctant && (from, to) == (0, Some(1)) {
        let message = "Reluctant optional variables are not supported yet".to_owned();
        return refuse(message, "`?` behind `?`", "leave the second `?` out");
    }
    // `*` and `?` ask CEP for an optional pattern, `{0,n}` gets one without being asked whether it may.
    let asks_optional = from == 0 && (to.is_none() || to == Some(1));
    if asks_optional && out.last().is_some_and(asks_greedily) {
        let message = "Optional pattern cannot be preceded by greedy pattern".to_owned();
        return refuse(
            message,
            "optional",
            "make the quantifier before it reluctant (A+?), or ask for one row at least",
        );
    }
    let variable = variables.find(&name.value).unwrap_or_default();
    out.push(PatternStep {
        variable,
        from,
        to,
        greedy: !reluctant,
        quantified: quantifier.is_some(),
        origins: Origins::at(pattern.span),
    });
    Ok(())
}

/// A pattern as plans print it, in parentheses if it is more than a variable.
fn pattern_text(pattern: &Pattern) -> String {
    printed(pattern)
}

/// Calcite's notation: `((_UTF-16LE'A', PATTERN_QUANTIFIER(_UTF-16LE'B', 1, -1, false)), _UTF-16LE'C')`.
fn printed(pattern: &Pattern) -> String {
    let pairs = |parts: &[Pattern], sign: &str| -> String {
        let mut parts = parts.iter().map(printed);
        let first = parts.next().unwrap_or_default();
        parts.fold(first, |left, right| format!("{sign}({left}, {right})"))
    };
    match &pattern.kind {
        PatternKind::Variable(name) => format!("_UTF-16LE'{}'", name.value.replace('\'', "''")),
        PatternKind::Concat(parts) => pairs(parts, ""),
        PatternKind::Alternation(parts) => pairs(parts, "|"),
        PatternKind::Quantified { of, quantifier: q } => {
            let number = |n: Option<u32>| n.map_or(-1, i64::from);
            let reluctant = q.reluctant && q.from != q.to;
            format!("PATTERN_QUANTIFIER({}, {}, {}, {reluctant})", printed(of), number(q.from), number(q.to))
        }
        PatternKind::Permute(parts) => {
            let parts: Vec<String> = parts.iter().map(printed).collect();
            format!("PATTERN_PERMUTE({})", parts.join(", "))
        }
        PatternKind::Exclude(of) => format!("PATTERN_EXCLUDE({})", printed(of)),
    }
}

fn subset_text(m: &MatchRecognize) -> Option<Arc<str>> {
    let mut out = String::new();
    for (i, (name, members)) in m.subsets.iter().enumerate() {
        let members: Vec<&str> = members.iter().map(|v| v.value.as_str()).collect();
        let _ = write!(out, "{}{} = ({})", if i > 0 { ", " } else { "" }, name.value, members.join(", "));
    }
    (!out.is_empty()).then(|| out.into())
}

/// The columns of the result: the partition keys, then the measures.
///
/// Flink names the keys in the order written, but fills them in the order of the input; where types then differ, it fails.
fn columns(
    m: &MatchRecognize,
    rel: &Rel,
    partition: &[usize],
    written: &[usize],
    measures: &[Measure],
) -> PlanResult<Vec<RelColumn>> {
    if measures.is_empty() {
        return Err(PlanError::rejected(m.span, "MATCH_RECOGNIZE needs MEASURES")
            .label("no result of a match is named")
            .help("write MEASURES with one column at least, behind ORDER BY")
            .into());
    }
    let mut out: Vec<RelColumn> = Vec::new();
    for (i, (named, filled)) in written.iter().zip(partition).enumerate() {
        let (named, filled) = (&rel.columns[*named], &rel.columns[*filled]);
        if std::mem::discriminant(&named.ty.kind) != std::mem::discriminant(&filled.ty.kind) {
            let message = "PARTITION BY of MATCH_RECOGNIZE must name columns in the order of the input, or Flink takes one \
                           for the other";
            return Err(PlanError::rejected(m.partition_by[i].span, message)
                .label(format!("`{}` comes first in the input", filled.name))
                .help("write the columns in the order in which the table has them")
                .into());
        }
        out.push(RelColumn::new(named.name.clone(), named.ty.clone()));
    }
    for ((_, name), measure) in m.measures.iter().zip(measures) {
        if out.iter().any(|c| *c.name == *name.value) {
            return Err(PlanError::rejected(name.span, format!("Columns ambiguously defined: {{{}}}", name.value))
                .label("a partition key has this name")
                .help("give the measure another name")
                .into());
        }
        let ty = measure.expr.ty.clone();
        out.push(RelColumn::new(measure.name.clone(), ty));
    }
    Ok(out)
}

/// A measure or condition that may stand alone, not a `NULL` without a type.
pub(super) fn typed(rex: Rex) -> PlanResult<Rex> {
    if rex.is_null_literal() && rex.ty.kind == crate::catalog::types::TypeKind::Null {
        return Err(PlanError::rejected(rex.origins.first().unwrap_or_default(), "Illegal use of 'NULL'")
            .label("a NULL without a type")
            .help("give it a type: CAST(NULL AS INT)")
            .into());
    }
    Ok(rex)
}
