//! The operators of a job as the page shows them: both sides of each in one place, with attributes and state.

use std::fmt::Write as _;

use similar::{ChangeTag, TextDiff};

use super::text::{clipped, code, counted, escaped, line};
use crate::diff::change::MatchStatus;
use crate::exec::{NodeId, Operator, Plan, TextContext};
use crate::report::format::JobPlans;
use crate::report::model::{Carried, Job, OperatorEntry};
use crate::report::secrets::Redactor;
use crate::state;

/// Attributes that tell most of an operator, the most telling first.
const TELLING: [&str; 8] =
    ["groupBy", "partitionBy", "where", "condition", "joinType", "uniqueKey", "distribution", "window"];

/// An operator of either plan, or of both.
#[derive(Debug)]
pub(super) struct Shown<'a> {
    /// The name that links lead to.
    pub anchor: String,
    pub entry: &'a OperatorEntry,
    /// What is known of it in each plan, if the plan is.
    pub old: Option<OneSide>,
    pub new: Option<OneSide>,
    /// Findings about it, as the names that links lead to.
    pub findings: Vec<String>,
}

/// An operator in one plan.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OneSide {
    /// Its number in the plan.
    pub id: u32,
    /// A few words that tell it from others of its kind.
    pub summary: String,
    attributes: Vec<(&'static str, String)>,
    state: Vec<StateRow>,
}

impl OneSide {
    fn of(plan: &Plan, shown_id: u32, secrets: &Redactor) -> Option<OneSide> {
        let id = NodeId(shown_id.checked_sub(1)?);
        let node = plan.nodes.get(id.index())?;
        let context = TextContext { plan, node, input: plan.input_columns(id, 0) };
        let mut attributes = node.op.node().attributes(&context);
        attributes.iter_mut().for_each(|(_, value)| secrets.clean(value));
        let mut summary = match &node.op {
            Operator::TableSourceScan(scan) => scan.table.path.name.to_string(),
            Operator::Sink(sink) => sink.table.as_ref().map_or(sink.name.clone(), |t| t.path.name.to_string()),
            _ => summary(&attributes),
        };
        secrets.clean(&mut summary);
        let state = state::entries(plan, id);
        Some(OneSide { id: shown_id, summary, attributes, state: state.iter().map(StateRow::of).collect() })
    }

    /// How many entries of state it keeps.
    pub fn entries(&self) -> usize {
        self.state.len()
    }
}

fn summary(attributes: &[(&'static str, String)]) -> String {
    let telling = TELLING.iter().find_map(|name| attributes.iter().find(|(n, _)| n == name));
    match telling.or_else(|| attributes.first()) {
        Some(("" | "select" | "where", value)) => clipped(value, 80),
        Some((name, value)) => clipped(&format!("{name}: {value}"), 80),
        None => String::new(),
    }
}

/// A piece of state, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
struct StateRow {
    name: String,
    kind: String,
    key: String,
    namespace: String,
    value: String,
    ttl: Option<String>,
}

impl StateRow {
    fn of(entry: &state::StateEntry) -> StateRow {
        StateRow {
            name: entry.name.clone(),
            kind: entry.kind.name().to_owned(),
            key: entry.key.as_ref().map(ToString::to_string).unwrap_or_default(),
            namespace: entry.namespace.to_string(),
            value: entry.value.to_string(),
            ttl: Some(entry.ttl.map_or("none".to_owned(), duration)),
        }
    }

    fn reported(entry: &crate::report::model::StateEntry) -> StateRow {
        let crate::report::model::StateEntry { name, kind, key, namespace, value, carried: _ } = entry.clone();
        StateRow { name, kind, key, namespace, value, ttl: None }
    }
}

/// Milliseconds in the largest unit that takes a whole number of them.
fn duration(millis: i64) -> String {
    let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s")];
    match units.iter().find(|(unit, _)| millis != 0 && millis % unit == 0) {
        Some((unit, name)) => format!("{} {name}", millis / unit),
        None => format!("{millis} ms"),
    }
}

/// The operators of a job. `anchor` is what the names that links lead to begin with.
pub(super) fn operators<'a>(job: &'a Job, plans: Option<&JobPlans<'_>>, anchor: &str) -> Vec<Shown<'a>> {
    let side = |plan: Option<&Plan>, id: Option<u32>| OneSide::of(plan?, id?, plans?.secrets);
    let about = |entry: &OperatorEntry| {
        let findings = job.findings.iter().enumerate().filter(|(_, finding)| {
            let operator = finding.operator.as_ref();
            let same = |mine: Option<u32>, its: Option<u32>| mine.is_some() && mine == its;
            operator.is_some_and(|o| same(entry.old_id, o.old_id) || same(entry.new_id, o.new_id))
        });
        findings.map(|(n, _)| format!("{anchor}-finding-{}", n + 1)).collect()
    };
    let operators = job.operators.iter().enumerate().map(|(n, entry)| Shown {
        anchor: format!("{anchor}-operator-{}", n + 1),
        entry,
        old: side(plans.and_then(|p| p.old), entry.old_id),
        new: side(plans.and_then(|p| p.new), entry.new_id),
        findings: about(entry),
    });
    operators.collect()
}

/// The sign and word of a status. What it means is never left to colours.
pub(super) fn status(status: MatchStatus) -> (&'static str, &'static str) {
    match status {
        MatchStatus::Same => ("=", "same"),
        MatchStatus::Changed => ("≠", "changed"),
        MatchStatus::Added => ("+", "added"),
        MatchStatus::Removed => ("−", "removed"),
    }
}

impl Shown<'_> {
    /// True if it keeps state on either side.
    pub fn has_state(&self) -> bool {
        let kept = [&self.old, &self.new].into_iter().flatten().any(|side| !side.state.is_empty());
        kept || !self.entry.state.is_empty()
    }

    /// What it keeps and what it does, before and after.
    pub fn panel(&self, out: &mut String) {
        let (sign, word) = status(self.entry.status);
        let ids = [("old", self.entry.old_id), ("new", self.entry.new_id)];
        let ids: Vec<String> = ids.iter().filter_map(|(side, id)| Some(format!("{side} #{}", (*id)?))).collect();
        let _ = write!(
            out,
            "<article class=\"operator {word}\" id=\"{anchor}\" tabindex=\"-1\" aria-labelledby=\"{anchor}-name\">\n\
             <h4 id=\"{anchor}-name\"><span class=\"name\">{}</span> <span class=\"ids\">{}</span> <span class=\"tag\">{sign} \
             {word}</span></h4>\n",
            line(&self.entry.kind),
            ids.join(", "),
            anchor = self.anchor,
        );
        if !self.findings.is_empty() {
            let link = |(n, name): (usize, &String)| format!("<a href=\"#{name}\">finding {}</a>", n + 1);
            let links: Vec<String> = self.findings.iter().map(|f| (number(f), f)).map(link).collect();
            let _ = writeln!(out, "<p>See {}.</p>", links.join(", "));
        }
        self.state(out);
        self.attributes(out);
        out.push_str("</article>\n");
    }

    fn state(&self, out: &mut String) {
        let rows = self.state_rows();
        if rows.is_empty() {
            out.push_str("<p class=\"quiet\">Keeps no state.</p>\n");
            return;
        }
        out.push_str(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"State\"><table>\n<caption>State</caption>\n<thead><tr>\
             <th scope=\"col\">entry</th><th scope=\"col\">plan</th><th scope=\"col\">kind</th><th scope=\"col\">key</th>\
             <th scope=\"col\">namespace</th><th scope=\"col\">value</th><th scope=\"col\">time to live</th>\
             <th scope=\"col\">carried over</th></tr></thead>\n<tbody>\n",
        );
        let carried = match self.entry.state.first().map(|s| s.carried) {
            Some(Carried::All) => "all",
            Some(Carried::Part) => "part",
            Some(Carried::None) | None => "none",
        };
        for (plan, row) in rows {
            // What is new has nothing to take over, and what is gone is taken over by nothing.
            let carried = match plan {
                "old" if self.entry.new_id.is_none() => "none",
                _ => carried,
            };
            let ttl = row.ttl.as_deref().unwrap_or("not known");
            let _ = writeln!(
                out,
                "<tr><th scope=\"row\">{}</th><td>{plan}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>\
                 <td class=\"carried-{carried}\">{carried}</td></tr>",
                code(&row.name),
                line(&row.kind),
                code(&row.key),
                code(&row.namespace),
                code(&row.value),
                line(ttl),
            );
        }
        out.push_str("</tbody>\n</table></div>\n");
    }

    /// The entries of both sides, each with the plan that it is in; what is the same in both stands there once.
    fn state_rows(&self) -> Vec<(&'static str, StateRow)> {
        if self.old.is_none() && self.new.is_none() {
            let plan = if self.entry.new_id.is_some() { "new" } else { "old" };
            return self.entry.state.iter().map(|entry| (plan, StateRow::reported(entry))).collect();
        }
        let mut old: Vec<&StateRow> = self.old.iter().flat_map(|side| &side.state).collect();
        let mut rows = Vec::new();
        for new in self.new.iter().flat_map(|side| &side.state) {
            let before = old.iter().position(|row| row.name == new.name).map(|at| old.remove(at));
            match before {
                Some(before) if before == new => rows.push(("both", new.clone())),
                Some(before) => rows.extend([("old", before.clone()), ("new", new.clone())]),
                None => rows.push(("new", new.clone())),
            }
        }
        rows.extend(old.into_iter().map(|row| ("old", row.clone())));
        rows
    }

    fn attributes(&self, out: &mut String) {
        let side = |side: &Option<OneSide>| side.as_ref().map(|s| s.attributes.clone()).unwrap_or_default();
        let (mut old, new) = (side(&self.old), side(&self.new));
        if old.is_empty() && new.is_empty() {
            return;
        }
        let both = self.old.is_some() && self.new.is_some();
        let head = match (both, self.new.is_some()) {
            (true, _) => "<th scope=\"col\">old</th><th scope=\"col\">new</th>",
            (false, true) => "<th scope=\"col\">new</th>",
            (false, false) => "<th scope=\"col\">old</th>",
        };
        let _ = write!(
            out,
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Attributes\"><table class=\"attributes\">\n\
             <caption>Attributes</caption>\n<thead><tr><th scope=\"col\">name</th>{head}</tr></thead>\n<tbody>\n",
        );
        let mut row = |name: &str, before: Option<&str>, after: Option<&str>| {
            let name = if name.is_empty() { "(unnamed)" } else { name };
            let cells = match (before, after) {
                (Some(before), Some(after)) if before == after => {
                    format!("<td colspan=\"2\">{}</td>", code(after))
                }
                (Some(before), Some(after)) => {
                    let (before, after) = marked(before, after);
                    format!("<td>{before}</td><td>{after}</td>")
                }
                (Some(only), None) if both => format!("<td><del>{}</del></td><td></td>", code(only)),
                (None, Some(only)) if both => format!("<td></td><td><ins>{}</ins></td>", code(only)),
                (Some(only), None) | (None, Some(only)) => format!("<td>{}</td>", code(only)),
                (None, None) => String::new(),
            };
            let _ = writeln!(out, "<tr><th scope=\"row\">{}</th>{cells}</tr>", line(name));
        };
        for (name, value) in &new {
            let before = old.iter().position(|(n, _)| n == name).map(|at| old.remove(at).1);
            row(name, before.as_deref(), Some(value));
        }
        for (name, value) in &old {
            row(name, Some(value), None);
        }
        out.push_str("</tbody>\n</table></div>\n");
    }
}

/// The number of a finding in the name that links lead to, counted from 0.
fn number(anchor: &str) -> usize {
    anchor.rsplit('-').next().and_then(|n| n.parse::<usize>().ok()).map_or(0, |n| n.saturating_sub(1))
}

/// Two values with what differs marked, word by word.
fn marked(old: &str, new: &str) -> (String, String) {
    let diff = TextDiff::from_words(old, new);
    let (mut before, mut after) = (String::from("<code>"), String::from("<code>"));
    for change in diff.iter_all_changes() {
        let text = escaped(change.value());
        match change.tag() {
            ChangeTag::Equal => {
                before.push_str(&text);
                after.push_str(&text);
            }
            ChangeTag::Delete => before.push_str(&format!("<del>{text}</del>")),
            ChangeTag::Insert => after.push_str(&format!("<ins>{text}</ins>")),
        }
    }
    (before + "</code>", after + "</code>")
}

/// What a graph says of an operator to those who do not see it.
pub(super) fn spoken(shown: &Shown<'_>, side: &OneSide, which: &str) -> String {
    let (_, word) = status(shown.entry.status);
    let state = match side.entries() {
        0 => "no state".to_owned(),
        n => counted(n, "state entry", "state entries"),
    };
    format!("{}, operator {} of the {which} plan, {word}, {state}", shown.entry.kind, side.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_readable() {
        let cases = [
            (86_400_000, "1 d"),
            (129_600_000, "36 h"),
            (90_000, "90 s"),
            (120_000, "2 min"),
            (1_500, "1500 ms"),
            (0, "0 ms"),
        ];
        for (millis, words) in cases {
            assert_eq!(duration(millis), words);
        }
    }

    #[test]
    fn what_differs_is_marked() {
        let (old, new) = marked("SUM(a) AS x, <b>", "MAX(a) AS x, <b>");
        assert_eq!(old, "<code><del>SUM(a)</del> AS x, &lt;b&gt;</code>");
        assert_eq!(new, "<code><ins>MAX(a)</ins> AS x, &lt;b&gt;</code>");
    }
}
