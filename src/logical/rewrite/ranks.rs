//! Recognizes a ranking with a bounded range: a filter on the number of ROW_NUMBER, RANK or DENSE_RANK right above its OVER
//! (Flink's `FlinkLogicalRankRule`), then narrows what the rank keeps.

use super::prune::narrow_below_ranks;
use crate::catalog::types::TypeKind;
use crate::logical::rel::{Over, Rank, RankEnd, RankType, Rel, RelColumn, RelOp};
use crate::logical::rex::{Origins, Rex, Value};
use crate::logical::simplify::{self, RankRange};
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;

/// Recognizes every rank of the tree, and drops the columns that a rank need not keep.
pub fn recognize_ranks(rel: Rel) -> PlanResult<Rel> {
    let rel = recognize(rel)?;
    let all: Vec<usize> = (0..rel.columns.len()).collect();
    let (rel, map) = narrow_below_ranks(rel, &all);
    let exprs = all.iter().map(|i| rel.column(map[*i].expect("wanted columns are kept"))).collect();
    let names = all.iter().map(|i| rel.columns[map[*i].expect("wanted columns are kept")].name.clone()).collect();
    Ok(rel.project(exprs, names, Origins::none()))
}

fn recognize(rel: Rel) -> PlanResult<Rel> {
    let Rel { op, inputs, columns, origins } = rel;
    let mut inputs = inputs.into_iter().map(recognize).collect::<PlanResult<Vec<_>>>()?;
    match op {
        RelOp::Filter(conditions) => {
            let input = inputs.remove(0);
            match rank_type(&input) {
                Some(rank_type) => to_rank(input, rank_type, conditions, origins),
                None => Ok(input.filter(conditions, origins)),
            }
        }
        RelOp::Project(exprs) => {
            let names = columns.into_iter().map(|c| c.name).collect();
            Ok(inputs.remove(0).project(exprs, names, origins))
        }
        op => Ok(Rel { op, inputs, columns, origins }),
    }
}

fn rank_type(rel: &Rel) -> Option<RankType> {
    let RelOp::Over(over) = &rel.op else { return None };
    let [call] = over.calls.as_slice() else { return None };
    match &*call.function {
        "ROW_NUMBER" => Some(RankType::RowNumber),
        "RANK" => Some(RankType::Rank),
        "DENSE_RANK" => Some(RankType::DenseRank),
        _ => None,
    }
}

fn to_rank(input: Rel, rank_type: RankType, conditions: Vec<Rex>, origins: Origins) -> PlanResult<Rel> {
    let number = input.columns.len() - 1;
    let RankRange { start, end, rest, bounds, inexact } = simplify::rank_range(conditions.clone(), number);
    let reads_rank = |e: &Rex| {
        let mut reads = false;
        e.visit(&mut |r| reads |= r.as_input() == Some(number));
        reads
    };
    if let Some(bound) = inexact {
        let at = bound.origins.first().or(origins.first()).unwrap_or_default();
        return Err(PlanError::rejected(at, "the rank is compared with a DOUBLE, on which Flink fails: class java.math.BigDecimal cannot be cast to class java.lang.Long")
            .label("not a whole number")
            .help("write the bound as a whole number")
            .into());
    }
    let mut reading = conditions.iter().filter(|c| reads_rank(c));
    if let (Some(only), None) = (reading.next(), reading.next())
        && let Some(column) = simplify::rank_end_column(only, number)
    {
        let at = only.origins.first().or(origins.first()).unwrap_or_default();
        return Ok(ranked(input, rank_type, (1, RankEnd::Column(column)), at)
            .filter(rest_of(conditions, &reads_rank), origins));
    }
    // What else is asked of the rank would have to be asked of every row: then it is no Top-N.
    if rest.iter().any(reads_rank) {
        return Ok(input.filter(conditions, origins));
    }
    if bounds.is_empty() {
        return Ok(input.filter(rest, origins));
    }
    let at = bounds.iter().find_map(|b| b.origins.first()).or(origins.first()).unwrap_or_default();
    let Some(end) = end else {
        return Err(PlanError::rejected(
            at,
            "the last rank is not given: a Top-N needs an upper bound on the rank number",
        )
        .label("only a lower bound")
        .help("add an upper bound, such as `rn <= 10`")
        .into());
    };
    if end < 1 || start > end {
        return Err(PlanError::rejected(
            at,
            format!("no rank is kept: the last rank should be at least 1, but is {end}"),
        )
        .label("this keeps no row")
        .into());
    }
    let start = start.max(1);
    let rel = ranked(input, rank_type, (start, RankEnd::At(end)), at);
    let rel = if start == end { constant_number(rel, number, end) } else { rel };
    Ok(rel.filter(rest, origins))
}

fn rest_of(conditions: Vec<Rex>, reads_rank: &dyn Fn(&Rex) -> bool) -> Vec<Rex> {
    conditions.into_iter().filter(|c| !reads_rank(c)).collect()
}

/// An OVER as the ranks `start..=end` of its order.
fn ranked(input: Rel, rank_type: RankType, (start, end): (i64, RankEnd), at: Span) -> Rel {
    let Rel { op: RelOp::Over(over), inputs, columns, origins } = input else { unreachable!("the caller saw an OVER") };
    let Over { partition, partition_origins, order, .. } = over;
    let range_origins = Origins::at(at);
    let rank = Rank { rank_type, partition, partition_origins, order, start, end, range_origins, output_number: true };
    Rel { op: RelOp::Rank(rank), inputs, columns, origins }
}

/// With one rank only, its number is a constant above (Flink's `ConstantRankNumberColumnRemoveRule`).
fn constant_number(rel: Rel, number: usize, value: i64) -> Rel {
    let mut exprs = rel.all_columns();
    exprs[number] = Rex::literal(Value::Int(value), TypeKind::BigInt.not_null());
    let names = rel.columns.iter().map(|c: &RelColumn| c.name.clone()).collect();
    rel.project(exprs, names, Origins::none())
}
