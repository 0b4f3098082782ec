//! Two plans as drawings: boxes that lead to what is known of an operator, and the rows that flow between them.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::layout::{self, Drawing, Graph, Placed, Spacing, Spot};
use super::operators::{OneSide, Shown, spoken, status};
use super::text::{clipped, counted, line};
use crate::diff::change::MatchStatus;
use crate::exec::Plan;
use crate::report::format::JobPlans;

/// The size of a box, what is left between rows, and around the whole.
const WIDTH: i32 = 232;
const HEIGHT: i32 = 46;
const ROW: i32 = 76;
const MARGIN: i32 = 14;
/// What of an operator stands around its box: the status.
const AROUND: i32 = 12;
const SPACING: Spacing = Spacing { node: WIDTH, lane: 16, gap: 22 };
/// Where the edges of an operator with several inputs end: so far apart, and on so much of its lower side.
const PORT: i32 = 36;
const PORTS: i32 = WIDTH - 40;
/// Longer names do not fit into a box.
const TITLE: usize = 26;
const SUMMARY: usize = 32;
const SUMMARY_BESIDE_STATE: usize = 25;

/// Both plans side by side; a plan that is not there has no drawing.
pub(super) fn graphs(operators: &[Shown<'_>], plans: &JobPlans<'_>, anchor: &str, out: &mut String) {
    let matched: Vec<(usize, usize)> =
        operators.iter().filter_map(|o| Some((index(&o.old)?, index(&o.new)?))).collect();
    let Drawing { rows, old, new } = layout::draw(&graph(plans.old), &graph(plans.new), &matched, SPACING);
    // One size for both, so that rows stay rows when both are made to fit.
    let size = (old.width.max(new.width) + 2 * MARGIN, rows as i32 * ROW - (ROW - HEIGHT) + 2 * MARGIN);
    out.push_str("<div class=\"graphs\">\n");
    let sides: [(&str, Option<&Plan>, &Placed, Pick); 2] =
        [("old", plans.old, &old, |o| o.old.as_ref()), ("new", plans.new, &new, |o| o.new.as_ref())];
    for (which, plan, placed, pick) in sides {
        let Some(plan) = plan else { continue };
        let own: HashMap<usize, (&Shown<'_>, &OneSide)> = operators
            .iter()
            .rev()
            .filter_map(|shown| pick(shown).map(|side| (side.id as usize - 1, (shown, side))))
            .collect();
        let count = counted(plan.nodes.len(), "operator", "operators");
        let _ = write!(
            out,
            "<figure class=\"graph\"><figcaption>{which} plan <span class=\"quiet\">{count}</span></figcaption>\n\
             <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{which} plan\">\
             <svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" role=\"group\" \
             aria-label=\"{which} plan of {anchor}: {count}, sinks at the top\">\n",
            w = size.0,
            h = size.1,
        );
        edges(placed, out);
        for (n, spot) in placed.spots.iter().enumerate() {
            if let Some((shown, side)) = own.get(&n) {
                operator(shown, side, which, *spot, out);
            }
        }
        out.push_str("</svg></div></figure>\n");
    }
    out.push_str("</div>\n");
}

/// The side of an operator that a drawing shows.
type Pick = for<'a, 'b> fn(&'a Shown<'b>) -> Option<&'a OneSide>;

fn index(side: &Option<OneSide>) -> Option<usize> {
    side.as_ref().map(|side| side.id as usize - 1)
}

fn graph(plan: Option<&Plan>) -> Graph {
    let nodes = plan.map(|plan| plan.nodes.as_slice()).unwrap_or_default();
    Graph { inputs: nodes.iter().map(|node| node.inputs.iter().map(|input| input.index()).collect()).collect() }
}

fn top(row: usize) -> i32 {
    MARGIN + row as i32 * ROW
}

fn edges(placed: &Placed, out: &mut String) {
    let middle = |spot: Spot| MARGIN + spot.x;
    let mut readers: HashMap<usize, Vec<usize>> = HashMap::new();
    let mut inputs: HashMap<usize, Vec<usize>> = HashMap::new();
    for (n, edge) in placed.edges.iter().enumerate() {
        readers.entry(edge.reader).or_default().push(n);
        inputs.entry(edge.input).or_default().push(n);
    }
    // From left to right, so that edges do not cross at their ends.
    let next = |n: usize, down: bool| {
        let edge = &placed.edges[n];
        let bend = if down { edge.bends.first() } else { edge.bends.last() };
        bend.map_or(placed.spots[if down { edge.input } else { edge.reader }].x, |spot| spot.x)
    };
    readers.values_mut().for_each(|edges| edges.sort_by_key(|n| next(*n, true)));
    inputs.values_mut().for_each(|edges| edges.sort_by_key(|n| next(*n, false)));
    let port = |edges: &[usize], n: usize| {
        let at = edges.iter().position(|e| *e == n).unwrap_or(0) as i32;
        let between = PORT.min(PORTS / (edges.len() as i32).max(1));
        (2 * at - (edges.len() as i32 - 1)) * between / 2
    };
    out.push_str("<g class=\"edges\" aria-hidden=\"true\">");
    for (n, edge) in placed.edges.iter().enumerate() {
        let (reader, input) = (placed.spots[edge.reader], placed.spots[edge.input]);
        let end = (middle(reader) + port(&readers[&edge.reader], n), top(reader.row) + HEIGHT);
        let start = (middle(input) + port(&inputs[&edge.input], n), top(input.row));
        let mut path = format!("M{} {}", start.0, start.1);
        let mut at = start;
        let mut curve = |to: (i32, i32), path: &mut String| {
            let half = (at.1 - to.1) / 2;
            let _ = write!(path, "C{} {} {} {} {} {}", at.0, at.1 - half, to.0, to.1 + half, to.0, to.1);
            at = to;
        };
        for bend in edge.bends.iter().rev() {
            let x = middle(*bend);
            curve((x, top(bend.row) + HEIGHT), &mut path);
            curve((x, top(bend.row)), &mut path);
        }
        curve((end.0, end.1 + 6), &mut path);
        let _ =
            write!(out, "<path class=\"edge\" d=\"{path}\"/><path class=\"tip\" d=\"M{} {}l-4 7h8z\"/>", end.0, end.1);
    }
    out.push_str("</g>\n");
}

fn operator(shown: &Shown<'_>, side: &OneSide, which: &str, spot: Spot, out: &mut String) {
    let (sign, word) = status(shown.entry.status);
    let (x, y) = (MARGIN + spot.x - WIDTH / 2, top(spot.row));
    let spoken = line(&spoken(shown, side, which));
    let kind = line(&clipped(&shown.entry.kind, TITLE));
    let room = if side.entries() > 0 { SUMMARY_BESIDE_STATE } else { SUMMARY };
    let summary = line(&clipped(&side.summary, room));
    let _ = write!(
        out,
        "<a class=\"node {word}\" href=\"#{}\" aria-label=\"{spoken}\"><title>{spoken}</title><svg x=\"{}\" y=\"{}\" width=\"{w}\" \
         height=\"{h}\" viewBox=\"-{AROUND} -{AROUND} {w} {h}\">",
        shown.anchor,
        x - AROUND,
        y - AROUND,
        w = WIDTH + 2 * AROUND,
        h = HEIGHT + 2 * AROUND,
    );
    let _ = write!(
        out,
        "<rect class=\"box\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"7\"/><text class=\"kind\" x=\"11\" y=\"19\">{kind} <tspan \
         class=\"id\">#{}</tspan></text><text class=\"summary\" x=\"11\" y=\"36\">{summary}</text>",
        side.id,
    );
    match side.entries() {
        0 => {}
        n => {
            let x = WIDTH - 40;
            let _ = write!(
                out,
                "<g class=\"state\"><rect x=\"{x}\" y=\"24\" width=\"34\" height=\"17\" rx=\"8\"/><path d=\"M{0} 29v7c0 3 9 3 9 0v-7c0-3-9-3-9 \
                 0c0 3 9 3 9 0\"/><text x=\"{1}\" y=\"37\">{n}</text></g>",
                x + 6,
                x + 19,
            );
        }
    }
    if shown.entry.status != MatchStatus::Same {
        let width = 26 + 7 * word.len() as i32;
        let _ = write!(
            out,
            "<g class=\"tag\"><rect x=\"{0}\" y=\"-11\" width=\"{width}\" height=\"16\" rx=\"8\"/><text x=\"{1}\" y=\"1\" \
             text-anchor=\"middle\">{sign} {word}</text></g>",
            WIDTH - width - 8,
            WIDTH - width / 2 - 8,
        );
    }
    out.push_str("</svg></a>\n");
}
