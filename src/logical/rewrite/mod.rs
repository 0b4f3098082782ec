//! Brings a query into the shape that Flink's optimizer gives it, step by step and always in the same order.
//!
//! Each file is one of Flink's steps, reduced to what decides the operators and the columns they carry:
//! OVER is split off ([`split_over`]), group keys that are the same become one ([`merge_group_keys`]), filters sink
//! ([`push_filters`]) and pass joins ([`join_filters`]), the keys of joins become columns ([`join_keys`]), unused columns go ([`prune`]), INTERSECT ALL and EXCEPT ALL are counted ([`replicate_rows`]),
//! sources take over what they can ([`sources`]), aggregates with DISTINCT are split if an option says so ([`split_distinct`]), ranks
//! are recognized ([`ranks`]), window functions are pulled into their aggregates ([`window_aggregates`]), and time attributes end
//! where a join does not keep them ([`join_times`]). The order matters: what happens before OVER is split off prunes through it, what happens after does not.

pub mod columns;
mod join_filters;
mod join_keys;
mod join_times;
mod merge_group_keys;
mod project_unions;
mod prune;
mod prune_empty;
mod push_filters;
mod ranks;
mod reduce_constants;
mod remove_aggregates;
mod replicate_rows;
mod set_joins;
mod sort_projects;
mod sources;
mod split_distinct;
mod split_over;
mod strong;
pub mod unique_keys;
mod window_aggregates;
pub mod window_columns;

use super::rel::{Rel, RelColumn, RelOp};
use crate::catalog::SessionOptions;
use crate::plan_error::PlanResult;

/// All steps.
pub fn optimize(rel: Rel, options: &SessionOptions) -> PlanResult<Rel> {
    let rel = drop_renames(rel);
    let rel = push_filters::push_filters(rel);
    let rel = set_joins::join_sets(rel);
    let rel = merge_group_keys::merge_group_keys(rel);
    let rel = reduce_constants::reduce_constants(rel);
    let rel = split_over::split_over(rel)?;
    let rel = push_filters::push_filters(rel);
    let rel = prune_empty::prune_empty(rel);
    let rel = join_keys::compute_join_keys(rel);
    let rel = project_unions::project_unions(rel);
    let rel = prune::prune_root(rel);
    let rel = replicate_rows::replicate_rows(rel);
    let rel = sort_projects::sort_below_projects(rel);
    let rel = sources::push_into_sources(rel);
    let rel = remove_aggregates::remove_aggregates(rel);
    let rel = match options.split_distinct() {
        true => split_distinct::split_distinct(rel, options.split_distinct_buckets())?,
        false => rel,
    };
    let rel = ranks::recognize_ranks(rel)?;
    let rel = window_aggregates::plan_window_aggregates(rel)?;
    Ok(join_times::materialize_join_times(rel))
}

/// Projections that only rename go, and their names with them.
fn drop_renames(rel: Rel) -> Rel {
    let Rel { op, inputs, columns, origins } = rel;
    let mut inputs: Vec<Rel> = inputs.into_iter().map(drop_renames).collect();
    match op {
        RelOp::Project(exprs) => {
            inputs.remove(0).project(exprs, columns.into_iter().map(|c| c.name).collect(), origins)
        }
        RelOp::Filter(conditions) => inputs.remove(0).filter(conditions, origins),
        // The first branch names the columns.
        RelOp::Union | RelOp::Set(_) => {
            let columns = columns
                .into_iter()
                .zip(&inputs[0].columns)
                .map(|(c, first)| RelColumn { name: first.name.clone(), ..c });
            Rel { op, columns: columns.collect(), inputs, origins }
        }
        RelOp::Correlate(correlate) => Rel::correlate(inputs.remove(0), correlate, origins),
        RelOp::Join(join) => match <[Rel; 2]>::try_from(inputs) {
            Ok([left, right]) => Rel::join(left, right, join, origins),
            Err(inputs) => Rel { op: RelOp::Join(join), inputs, columns, origins },
        },
        op => Rel { op, inputs, columns, origins },
    }
}
