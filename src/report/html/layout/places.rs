//! Where in its row everything stands: near its neighbours in the rows above and below, in the order of the row, and chains straight.

use super::{Layers, Spacing};

/// How often, in all, something is placed anew. Sweeps have long come to rest then, unless there is very much to place.
const PLACINGS: usize = 20_000;
/// How much more chains pull than branches do.
const STRAIGHT: f64 = 6.0;

/// The places in the rows: each as near to the middle of its neighbours as order and distances let it.
pub(super) fn places(layers: &Layers, spacing: Spacing) -> Vec<i32> {
    let is_bend = |n: usize| n >= layers.operators;
    let width = |n: usize| f64::from(if is_bend(n) { spacing.lane } else { spacing.node });
    // Where each stands in a packed row; what is added to these never shrinks from left to right.
    let mut offset = vec![0.0; layers.above.len()];
    for row in &layers.rows {
        for pair in row.windows(2) {
            let distance = f64::midpoint(width(pair[0]), width(pair[1])).ceil() + f64::from(spacing.gap);
            offset[pair[1]] = offset[pair[0]] + distance;
        }
    }
    let mut x = offset.clone();
    for sweep in 0..(PLACINGS / x.len().max(1)).clamp(20, 150) {
        let (up, down) = match sweep {
            // At first either side pulls, so that all find their part of the page, then both.
            0..6 => (sweep % 2 == 1, sweep % 2 == 0),
            _ => (true, true),
        };
        let count = layers.rows.len();
        for step in 0..count {
            let row = &layers.rows[if sweep % 2 == 0 { step } else { count - 1 - step }];
            let wish = |n: usize| {
                let above = layers.above[n].iter().filter(|_| down);
                let below = layers.below[n].iter().filter(|_| up);
                let (mut sum, mut weight) = (0.0, 0.0);
                for m in above.chain(below) {
                    // Chains and long edges had better be straight.
                    let only = |near: &[usize], far: &[usize]| near.len() == 1 && far.len() == 1;
                    let chain = only(&layers.above[n], &layers.below[*m]) || only(&layers.below[n], &layers.above[*m]);
                    let pull = if chain { STRAIGHT } else { 1.0 };
                    (sum, weight) = (sum + pull * x[*m], weight + pull);
                }
                if weight == 0.0 { (x[n] - offset[n], 0.1) } else { (sum / weight - offset[n], weight) }
            };
            let fitted = fit(&row.iter().map(|n| wish(*n)).collect::<Vec<_>>());
            for (n, shift) in row.iter().zip(fitted) {
                x[*n] = shift + offset[*n];
            }
        }
    }
    // Offsets are whole, so rounding what is added to them keeps the distances.
    let mut whole: Vec<i32> = x.iter().zip(&offset).map(|(x, offset)| ((x - offset).round() + offset) as i32).collect();
    straighten(layers, &offset, &mut whole);
    whole
}

/// Squares spread a distance over all of a chain; a reader's eye would rather have one bend. Each chain is made one straight line where
/// those beside it leave room, as near as can be to what it joins.
fn straighten(layers: &Layers, offset: &[f64], x: &mut [i32]) {
    let mut beside: Vec<(Option<usize>, Option<usize>)> = vec![(None, None); x.len()];
    for pair in layers.rows.iter().flat_map(|row| row.windows(2)) {
        beside[pair[0]].1 = Some(pair[1]);
        beside[pair[1]].0 = Some(pair[0]);
    }
    let next = |n: usize| match layers.below[n].as_slice() {
        [only] if layers.above[*only].len() == 1 => Some(*only),
        _ => None,
    };
    let begins = |n: usize| !matches!(layers.above[n].as_slice(), [only] if next(*only) == Some(n));
    let chains: Vec<Vec<usize>> = (0..x.len())
        .filter(|n| begins(*n))
        .map(|n| std::iter::successors(Some(n), |n| next(*n)).collect())
        .filter(|chain: &Vec<usize>| chain.len() > 1)
        .collect();
    // What one chain gives way may be what another one waits for.
    for _ in 0..3 {
        for chain in &chains {
            let ends = [&layers.above[chain[0]], &layers.below[chain[chain.len() - 1]]];
            let ends: Vec<i32> = ends.into_iter().flatten().map(|n| x[*n]).collect();
            let fits = |at: i32| {
                chain.iter().all(|n| {
                    let left = beside[*n].0.is_none_or(|m| f64::from(at - x[m]) >= offset[*n] - offset[m]);
                    left && beside[*n].1.is_none_or(|m| f64::from(x[m] - at) >= offset[m] - offset[*n])
                })
            };
            let middle = x[chain[chain.len() / 2]];
            let wishes = chain.iter().map(|n| x[*n]).chain(ends.iter().copied());
            let cost = |at: i32| (ends.iter().map(|end| (end - at).abs()).sum::<i32>(), (at - middle).abs(), at);
            if let Some(best) = wishes.filter(|at| fits(*at)).min_by_key(|at| cost(*at)) {
                chain.iter().for_each(|n| x[*n] = best);
            }
        }
    }
}

/// The numbers that never shrink and are nearest to the wished ones, by weighted squares (pool adjacent violators).
fn fit(wishes: &[(f64, f64)]) -> Vec<f64> {
    let mut blocks: Vec<(f64, f64, usize)> = Vec::new();
    for (wish, weight) in wishes {
        let mut block = (*wish, *weight, 1);
        while let Some(last) = blocks.last().filter(|last| last.0 > block.0) {
            let weight = last.1 + block.1;
            block = ((last.0 * last.1 + block.0 * block.1) / weight, weight, last.2 + block.2);
            blocks.pop();
        }
        blocks.push(block);
    }
    blocks.iter().flat_map(|(value, _, count)| std::iter::repeat_n(*value, *count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fits_never_shrink() {
        assert_eq!(fit(&[(3.0, 1.0), (1.0, 1.0), (5.0, 1.0)]), [2.0, 2.0, 5.0]);
        assert_eq!(fit(&[(3.0, 1.0), (1.0, 3.0)]), [1.5, 1.5]);
        assert!(fit(&[]).is_empty());
    }
}
