//! Where the operators of two plans stand when they are drawn side by side: readers above what they read, matched operators in one
//! row, shared sub-plans once.
//!
//! A layered drawing in three steps. Rows are longest paths through both plans at once, laid over each other at the matched operators.
//! The order within a row is the one with the fewest crossings that sweeps over the barycenters find, again in both plans at once, so
//! that what stands left in one stands left in the other. The places in it are, for each plan by itself, a least squares fit to the
//! neighbours that keeps order and distance, after which chains are made straight where there is room. Nothing is random, so a plan is
//! drawn alike every time.

mod places;

use std::collections::HashMap;

use places::places;

/// A plan as far as the drawing needs it.
#[derive(Debug, Clone, Default)]
pub(super) struct Graph {
    /// For each operator those that it reads; the same one twice is two edges.
    pub inputs: Vec<Vec<usize>>,
}

/// Distances, in pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spacing {
    /// How wide an operator is.
    pub node: i32,
    /// How wide an edge is that passes through a row.
    pub lane: i32,
    /// What is left between them.
    pub gap: i32,
}

/// Both plans, drawn.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Drawing {
    /// How many rows there are, of both sides together.
    pub rows: usize,
    pub old: Placed,
    pub new: Placed,
}

/// One plan, drawn.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Placed {
    /// For each operator its place.
    pub spots: Vec<Spot>,
    pub edges: Vec<Edge>,
    /// The width of the whole.
    pub width: i32,
}

/// A place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Spot {
    /// The row, counted from the top.
    pub row: usize,
    /// The middle.
    pub x: i32,
}

/// An edge from an operator down to one of its inputs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub reader: usize,
    pub input: usize,
    /// The places in the rows between the two.
    pub bends: Vec<Spot>,
}

/// Sweeps over the rows for the order.
const ORDER_SWEEPS: usize = 12;
/// Above this number of operators and bends the first order has to do: that of the plan's tree.
const MANY: usize = 4_000;

/// Draws two plans. `matched` are operators of both that should stand in one row; where the plans turn them around, the first ones do.
pub(super) fn draw(old: &Graph, new: &Graph, matched: &[(usize, usize)], spacing: Spacing) -> Drawing {
    let both = Both::of(old, new, matched);
    let rows = both.rows.iter().map(|row| row + 1).max().unwrap_or(0);
    let mut layers = layers(&both.graph, &both.rows, rows);
    order(&mut layers);
    let order = Order::of(&layers);
    let side = |graph: &Graph, own: &[usize]| place(graph, own, &both.rows, rows, &order, spacing);
    Drawing { rows, old: side(old, &both.old), new: side(new, &both.new) }
}

/// Both plans as one, where matched operators are one, so long as that makes no circle.
struct Both {
    graph: Graph,
    /// For each of its operators the row.
    rows: Vec<usize>,
    /// For each operator of a plan the one that it is here.
    old: Vec<usize>,
    new: Vec<usize>,
}

impl Both {
    fn of(old: &Graph, new: &Graph, matched: &[(usize, usize)]) -> Both {
        let shift = old.inputs.len();
        let count = shift + new.inputs.len();
        let edges: Vec<(usize, usize)> = edges_of(old, 0).chain(edges_of(new, shift)).collect();
        let mut pairs: Vec<(usize, usize)> = Vec::new();
        let (mut old_taken, mut new_taken) = (vec![false; shift], vec![false; count - shift]);
        for (o, n) in matched.iter().copied().filter(|(o, n)| *o < shift && *n < count - shift) {
            if !old_taken[o] && !new_taken[n] {
                (old_taken[o], new_taken[n]) = (true, true);
                pairs.push((o, shift + n));
            }
        }
        let mut group: Vec<usize> = (0..count).collect();
        pairs.iter().for_each(|(o, n)| group[*n] = *o);
        let rows = longest_paths(&group, &edges).unwrap_or_else(|| {
            group = (0..count).collect();
            // Plans by themselves have no circles.
            let mut rows = longest_paths(&group, &edges).unwrap_or_else(|| vec![0; count]);
            for (o, n) in pairs {
                group[n] = o;
                match longest_paths(&group, &edges) {
                    Some(found) => rows = found,
                    None => group[n] = n,
                }
            }
            rows
        });
        let mut inputs: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (reader, input) in edges_of(old, 0) {
            inputs[reader].push(input);
        }
        for (n, own) in new.inputs.iter().enumerate() {
            // What both read is one edge; what only the new one reads comes after it.
            let mut left = inputs[group[shift + n]].clone();
            for input in own.iter().map(|input| group[shift + input]) {
                match left.iter().position(|other| *other == input) {
                    Some(at) => drop(left.swap_remove(at)),
                    None => inputs[group[shift + n]].push(input),
                }
            }
        }
        Both { graph: Graph { inputs }, rows, new: group.split_off(shift), old: group }
    }
}

fn edges_of(graph: &Graph, shift: usize) -> impl Iterator<Item = (usize, usize)> {
    let edges = graph.inputs.iter().enumerate();
    edges.flat_map(move |(n, inputs)| inputs.iter().map(move |input| (n + shift, input + shift)))
}

/// For each operator the longest way down to it, where those of one group are one; none if there is a circle.
fn longest_paths(group: &[usize], edges: &[(usize, usize)]) -> Option<Vec<usize>> {
    let mut waiting = vec![0usize; group.len()];
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); group.len()];
    for (reader, input) in edges {
        waiting[group[*input]] += 1;
        below[group[*reader]].push(group[*input]);
    }
    let mut rows = vec![0usize; group.len()];
    let mut ready: Vec<usize> = (0..group.len()).filter(|n| group[*n] == *n && waiting[*n] == 0).collect();
    let mut done = 0;
    while let Some(reader) = ready.pop() {
        done += 1;
        for input in &below[reader] {
            rows[*input] = rows[*input].max(rows[reader] + 1);
            waiting[*input] -= 1;
            if waiting[*input] == 0 {
                ready.push(*input);
            }
        }
    }
    let groups = (0..group.len()).filter(|n| group[*n] == *n).count();
    (done == groups).then(|| group.iter().map(|g| rows[*g]).collect())
}

/// Operators and bends of edges, row by row.
struct Layers {
    /// In each row those that stand there, from the left.
    rows: Vec<Vec<usize>>,
    /// For each one the neighbours in the row above and in the row below.
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
    /// The first ones are operators, the rest bends.
    operators: usize,
    /// For each edge its bends.
    edges: Vec<(usize, usize, Vec<usize>)>,
}

/// Where in its row something stands in the drawing of both plans.
struct Order {
    operators: Vec<usize>,
    /// The bends of the edges between two operators, edge by edge.
    bends: HashMap<(usize, usize), Vec<Vec<usize>>>,
}

impl Order {
    fn of(layers: &Layers) -> Order {
        let mut at = vec![0; layers.above.len()];
        for row in &layers.rows {
            row.iter().enumerate().for_each(|(i, n)| at[*n] = i);
        }
        let mut bends: HashMap<(usize, usize), Vec<Vec<usize>>> = HashMap::new();
        for (reader, input, own) in &layers.edges {
            bends.entry((*reader, *input)).or_default().push(own.iter().map(|n| at[*n]).collect());
        }
        Order { operators: at[..layers.operators].to_vec(), bends }
    }
}

/// One plan, in the order of both. `own` says which operator of both each one is.
fn place(graph: &Graph, own: &[usize], rows: &[usize], count: usize, order: &Order, spacing: Spacing) -> Placed {
    let own_rows: Vec<usize> = own.iter().map(|n| rows[*n]).collect();
    let mut layers = layers(graph, &own_rows, count);
    let mut at: Vec<usize> = own.iter().map(|n| order.operators[*n]).collect();
    at.resize(layers.above.len(), 0);
    let mut used: HashMap<(usize, usize), usize> = HashMap::new();
    for (reader, input, bends) in &layers.edges {
        let edge = (own[*reader], own[*input]);
        let turn = used.entry(edge).or_default();
        let there = order.bends.get(&edge).and_then(|all| all.get(*turn));
        *turn += 1;
        for (bend, position) in bends.iter().zip(there.into_iter().flatten()) {
            at[*bend] = *position;
        }
    }
    layers.rows.iter_mut().for_each(|row| row.sort_by_key(|n| at[*n]));
    let x = places(&layers, spacing);
    let edge = |n: usize| if n < layers.operators { spacing.node } else { spacing.lane };
    let left = (0..x.len()).map(|n| x[n] - edge(n) / 2).min().unwrap_or(0);
    let width = (0..x.len()).map(|n| x[n] + edge(n) / 2 - left).max().unwrap_or(0);
    let mut row_of = vec![0; x.len()];
    for (row, members) in layers.rows.iter().enumerate() {
        members.iter().for_each(|n| row_of[*n] = row);
    }
    let spot = |n: usize| Spot { row: row_of[n], x: x[n] - left };
    let edges = layers.edges.iter();
    let edges = edges.map(|(reader, input, bends)| Edge {
        reader: *reader,
        input: *input,
        bends: bends.iter().map(|n| spot(*n)).collect(),
    });
    Placed { spots: (0..layers.operators).map(spot).collect(), edges: edges.collect(), width }
}

/// Puts operators and bends into their rows, in the order of the plan's tree.
fn layers(graph: &Graph, rows: &[usize], count: usize) -> Layers {
    let operators = graph.inputs.len();
    let mut layers = Layers {
        rows: vec![Vec::new(); count],
        above: vec![Vec::new(); operators],
        below: vec![Vec::new(); operators],
        operators,
        edges: Vec::new(),
    };
    let mut read = vec![false; operators];
    graph.inputs.iter().flatten().for_each(|input| read[*input] = true);
    let mut seen = vec![false; operators];
    let mut stack: Vec<(Option<usize>, usize)> =
        (0..operators).rev().filter(|n| !read[*n]).map(|n| (None, n)).collect();
    while let Some((reader, node)) = stack.pop() {
        if let Some(reader) = reader {
            let (mut from, mut bends) = (reader, Vec::new());
            for row in rows[reader] + 1..rows[node] {
                let bend = layers.above.len();
                layers.above.push(vec![from]);
                layers.below.push(Vec::new());
                layers.below[from].push(bend);
                layers.rows[row].push(bend);
                bends.push(bend);
                from = bend;
            }
            layers.below[from].push(node);
            layers.above[node].push(from);
            layers.edges.push((reader, node, bends));
        }
        if !std::mem::replace(&mut seen[node], true) {
            layers.rows[rows[node]].push(node);
            stack.extend(graph.inputs[node].iter().rev().map(|input| (Some(node), *input)));
        }
    }
    layers
}

/// Orders each row so that few edges cross.
fn order(layers: &mut Layers) {
    if layers.above.len() > MANY {
        return;
    }
    let mut best = (crossings(layers), layers.rows.clone());
    for sweep in 0..ORDER_SWEEPS {
        if best.0 == 0 {
            break;
        }
        let down = sweep % 2 == 0;
        let count = layers.rows.len();
        for step in 1..count {
            let (row, beside) = if down { (step, step - 1) } else { (count - 1 - step, count - step) };
            let at = positions(&layers.rows[beside], layers.above.len());
            let neighbours = if down { &layers.above } else { &layers.below };
            let own = positions(&layers.rows[row], layers.above.len());
            let middle = |n: &usize| match neighbours[*n].as_slice() {
                [] => own[*n] as f64,
                some => some.iter().map(|m| at[*m] as f64).sum::<f64>() / some.len() as f64,
            };
            layers.rows[row].sort_by(|a, b| middle(a).total_cmp(&middle(b)));
        }
        let now = crossings(layers);
        if now < best.0 {
            best = (now, layers.rows.clone());
        }
    }
    layers.rows = best.1;
}

fn positions(row: &[usize], count: usize) -> Vec<usize> {
    let mut at = vec![0; count];
    row.iter().enumerate().for_each(|(i, n)| at[*n] = i);
    at
}

/// How many pairs of edges cross between neighbouring rows.
fn crossings(layers: &Layers) -> usize {
    let mut count = 0;
    for rows in layers.rows.windows(2) {
        let at = positions(&rows[1], layers.above.len());
        let mut ends: Vec<usize> = Vec::new();
        for node in &rows[0] {
            let mut own: Vec<usize> = layers.below[*node].iter().map(|n| at[*n]).collect();
            own.sort_unstable();
            // Edges of one operator do not cross each other, so all are compared with those before.
            let before = ends.clone();
            for end in own {
                count += before.len() - before.partition_point(|e| *e <= end);
                ends.insert(ends.partition_point(|e| *e <= end), end);
            }
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPACING: Spacing = Spacing { node: 200, lane: 20, gap: 24 };

    fn graph(inputs: &[&[usize]]) -> Graph {
        Graph { inputs: inputs.iter().map(|i| i.to_vec()).collect() }
    }

    /// A plan of some operators, each read by up to three of those before it: no two seeds alike, shared inputs among them.
    fn tangled(count: usize, seed: u64) -> Graph {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = move |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % below.max(1) as u64) as usize
        };
        let mut inputs = vec![Vec::new(); count];
        for n in 1..count {
            for _ in 0..=next(6) / 3 {
                inputs[n - 1 - next(n.min(5))].push(n);
            }
        }
        Graph { inputs }
    }

    fn spans(placed: &Placed) -> Vec<(usize, i32, i32)> {
        let operators = placed.spots.iter().map(|s| (s.row, s.x - SPACING.node / 2, s.x + SPACING.node / 2));
        let bends = placed.edges.iter().flat_map(|e| &e.bends);
        let bends = bends.map(|s| (s.row, s.x - SPACING.lane / 2, s.x + SPACING.lane / 2));
        let mut all: Vec<_> = operators.chain(bends).collect();
        all.sort_unstable();
        all
    }

    fn assert_sound(graph: &Graph, placed: &Placed, rows: usize) {
        assert_eq!(placed.spots.len(), graph.inputs.len());
        assert_eq!(placed.edges.len(), graph.inputs.iter().map(Vec::len).sum::<usize>());
        for pair in spans(placed).windows(2) {
            let apart = pair[0].0 != pair[1].0 || pair[0].2 + SPACING.gap <= pair[1].1;
            assert!(apart, "{pair:?} overlap in {graph:?}");
        }
        for (row, left, right) in spans(placed) {
            assert!(row < rows && left >= 0 && right <= placed.width);
        }
        for edge in &placed.edges {
            assert!(graph.inputs[edge.reader].contains(&edge.input));
            let (top, bottom) = (placed.spots[edge.reader].row, placed.spots[edge.input].row);
            let between: Vec<usize> = edge.bends.iter().map(|s| s.row).collect();
            assert_eq!(between, (top + 1..bottom).collect::<Vec<_>>(), "{edge:?}");
        }
    }

    #[test]
    fn nothing_overlaps_and_it_is_the_same_every_time() {
        for seed in 1..60 {
            let (old, new) = (tangled(2 + seed as usize, seed), tangled(1 + seed as usize * 2, seed + 100));
            let matched: Vec<_> = (0..old.inputs.len()).map(|n| (n, n)).collect();
            let drawing = draw(&old, &new, &matched, SPACING);
            assert_sound(&old, &drawing.old, drawing.rows);
            assert_sound(&new, &drawing.new, drawing.rows);
            assert_eq!(drawing, draw(&old, &new, &matched, SPACING));
        }
    }

    #[test]
    fn matched_operators_stand_in_one_row() {
        // Sink, calc, scan; the new plan has two more between.
        let (old, new) = (graph(&[&[1], &[2], &[]]), graph(&[&[1], &[2], &[3], &[4], &[]]));
        let drawing = draw(&old, &new, &[(0, 0), (1, 3), (2, 4)], SPACING);
        let rows = |placed: &Placed| placed.spots.iter().map(|s| s.row).collect::<Vec<_>>();
        assert_eq!((rows(&drawing.old), rows(&drawing.new)), (vec![0, 3, 4], vec![0, 1, 2, 3, 4]));
        assert_eq!(drawing.old.edges[0].bends.len(), 2);
        // All of one chain is one straight line.
        assert!(drawing.old.spots.iter().all(|s| s.x == 100) && drawing.old.width == 200);
    }

    #[test]
    fn what_was_turned_around_does_not_stand_in_one_row() {
        let chain = graph(&[&[1], &[2], &[3], &[]]);
        let drawing = draw(&chain, &chain, &[(0, 0), (1, 2), (2, 1), (3, 3)], SPACING);
        assert_sound(&chain, &drawing.old, drawing.rows);
        assert_sound(&chain, &drawing.new, drawing.rows);
        let row = |side: &Placed, n: usize| side.spots[n].row;
        assert_eq!(row(&drawing.old, 0), row(&drawing.new, 0));
        assert_eq!(row(&drawing.old, 1), row(&drawing.new, 2));
        assert_ne!(row(&drawing.old, 2), row(&drawing.new, 1));
        assert_eq!(row(&drawing.old, 3), row(&drawing.new, 3));
    }

    /// Two sinks over one aggregate; the new plan lacks what the first one reads beside it, and lists the second one first.
    #[test]
    fn what_stands_left_stays_left() {
        let (old, new) = (graph(&[&[2, 3], &[3], &[], &[]]), graph(&[&[2], &[2], &[]]));
        let drawing = draw(&old, &new, &[(1, 0), (0, 1), (3, 2)], SPACING);
        assert!(drawing.old.spots[0].x < drawing.old.spots[1].x);
        assert!(drawing.new.spots[1].x < drawing.new.spots[0].x);
    }

    #[test]
    fn a_shared_sub_plan_stands_once_below_all_that_read_it() {
        // Two sinks over one aggregate, one of them over a filter; a join of it with itself.
        let plan = graph(&[&[1], &[2], &[], &[2], &[2, 2]]);
        let drawing = draw(&plan, &Graph::default(), &[], SPACING);
        assert_sound(&plan, &drawing.old, drawing.rows);
        assert_eq!(drawing.old.edges.iter().filter(|e| e.input == 2).count(), 4);
        assert_eq!(drawing.old.spots[2].row, 2);
        assert_eq!(drawing.new, Placed::default());
    }

    #[test]
    fn trees_have_no_crossings_and_readers_stand_over_their_inputs() {
        let tree = graph(&[&[1], &[2, 3], &[4, 5], &[6], &[], &[], &[]]);
        let rows = Both::of(&tree, &Graph::default(), &[]).rows;
        let mut layers = layers(&tree, &rows, 4);
        order(&mut layers);
        assert_eq!(crossings(&layers), 0);
        let drawing = draw(&tree, &Graph::default(), &[], SPACING);
        let spots = &drawing.old.spots;
        assert!(spots[2].x < spots[1].x && spots[1].x < spots[3].x);
        assert!(spots[4].x < spots[2].x && spots[2].x < spots[5].x);
        // Chains are straight.
        assert_eq!((spots[0].x, spots[3].x), (spots[1].x, spots[6].x));
    }

    #[test]
    fn sweeps_take_out_crossings() {
        // 0 reads 3 and 1 reads 2, but the tree's order has them the other way round.
        let crossed = graph(&[&[2, 3], &[4, 3], &[5], &[5], &[5], &[]]);
        let rows = Both::of(&crossed, &Graph::default(), &[]).rows;
        let mut layers = layers(&crossed, &rows, 3);
        layers.rows[1] = vec![4, 3, 2];
        let before = crossings(&layers);
        order(&mut layers);
        assert!(before > 0);
        assert_eq!(crossings(&layers), 0);
    }
}
