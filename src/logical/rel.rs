//! Relational operators, before Flink's physical choices: a tree whose expressions refer to input columns by index.

use std::sync::Arc;

use super::correlate::Correlate;
use super::join::Join;
use super::pattern::Match;
use super::rex::{Origins, OverFrame, Rex, SortExpr};
use super::state_ttl::StateTtl;
use crate::catalog::Table;
use crate::catalog::types::{DataType, TimeAttribute, TypeKind};
use crate::source::Span;

/// An output column.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RelColumn {
    /// Its name. Names are for people; identity is the index.
    pub name: Arc<str>,
    /// Its type.
    pub ty: DataType,
}

impl RelColumn {
    /// A column.
    pub fn new(name: impl Into<Arc<str>>, ty: DataType) -> Self {
        RelColumn { name: name.into(), ty }
    }
}

/// A relational operator with its inputs and output columns.
#[derive(Debug, Clone)]
pub struct Rel {
    /// What it does.
    pub op: RelOp,
    /// Its inputs.
    pub inputs: Vec<Rel>,
    /// Its output row.
    pub columns: Vec<RelColumn>,
    /// The clause it comes from.
    pub origins: Origins,
}

/// Relational operators.
#[derive(Debug, Clone)]
pub enum RelOp {
    /// A table scan: physical and metadata columns in the order the source delivers them.
    Scan(Scan),
    /// Watermarks for a rowtime column (Flink's LogicalWatermarkAssigner).
    Watermark(Watermark),
    /// Computes columns.
    Project(Vec<Rex>),
    /// Keeps the rows for which all conditions hold.
    Filter(Vec<Rex>),
    /// GROUP BY, windows of window functions included (they are recognized by their columns).
    Aggregate(Aggregate),
    /// GROUPING SETS written out: each row once per set (Flink's LogicalExpand).
    Expand(Expand),
    /// A legacy group window (Flink's LogicalWindowAggregate).
    GroupWindow(GroupWindow),
    /// A window table function: appends window_start, window_end, window_time.
    WindowTvf(WindowTvf),
    /// An aggregate over the windows of a window function. Output: keys, calls, window_start, window_end, window_time if grouped by it.
    WindowAggregate(Box<WindowAggregate>),
    /// Aggregates over an OVER window: appends one column per call (Flink's LogicalWindow).
    Over(Over),
    /// A ranking with a bounded range (Flink's LogicalRank): appends the rank number if asked.
    Rank(Rank),
    /// A join of two inputs.
    Join(Join),
    /// A table function called for each row of its input.
    Correlate(Correlate),
    /// UNION ALL.
    Union,
    /// INTERSECT or EXCEPT, until it is written out (`rewrite/set_joins.rs`, `rewrite/replicate_rows.rs`).
    Set(SetOperation),
    /// Literal rows.
    Values(Vec<Vec<Rex>>),
    /// ORDER BY, LIMIT and OFFSET of a query.
    Sort(Sort),
    /// MATCH_RECOGNIZE. Output: the partition keys, then the measures.
    Match(Box<Match>),
}

/// INTERSECT or EXCEPT (Flink's LogicalIntersect and LogicalMinus).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetOperation {
    /// Which of them.
    pub kind: SetKind,
    /// How often a row comes out.
    pub times: Times,
}

/// What two sets of rows are compared for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetKind {
    /// The rows that both have.
    Intersect,
    /// The rows that only the first one has.
    Except,
}

/// How often a row of a set operation comes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Times {
    /// Once.
    Once,
    /// ALL: as often as both sides have it, or as the first one has it more often.
    Counted {
        /// What becomes of a reader that wants no column.
        unread: Unread,
    },
}

/// What a counted set operation compares where no column of it is read, as below `COUNT(*)` alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unread {
    /// The rows as they are (Flink 2.2).
    Rows,
    /// How many rows there are: all become one constant (Flink 1.20).
    Constant,
}

/// A table scan.
#[derive(Debug, Clone)]
pub struct Scan {
    /// The table.
    pub table: Arc<Table>,
    /// Indices into `table.columns` of what the source delivers, in that order.
    pub fields: Vec<usize>,
    /// The source was asked for these fields only.
    pub projected: bool,
    /// Watermarks are made in the source.
    pub watermark: Option<Rex>,
    /// Conditions that the source applies.
    pub filters: Vec<Rex>,
    /// OPTIONS hints override the table's own options.
    pub hints: Vec<(String, String)>,
}

/// A watermark strategy.
#[derive(Debug, Clone)]
pub struct Watermark {
    /// The rowtime column.
    pub rowtime: usize,
    /// The strategy, over the input's columns.
    pub expr: Rex,
}

/// An aggregate call after planning: over columns of its input.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct AggCall {
    /// Upper-case name: `SUM`, `$SUM0`, `COUNT`, or a user function's name.
    pub function: Arc<str>,
    /// Its arguments: input columns, or constants (LAG's offset, LISTAGG's separator).
    pub args: Vec<AggArg>,
    /// `DISTINCT`.
    pub distinct: bool,
    /// The column of the FILTER condition.
    pub filter: Option<usize>,
    /// Updates only bring its argument closer to what it looks for, as those of a COUNT do for MAX: it never has to take a row
    /// back (Flink's `AggregateUtil.deriveAggCallNeedRetractions`).
    pub monotonic: bool,
    /// Its result type.
    pub ty: DataType,
    /// The name of its output column.
    pub name: Arc<str>,
    /// Where it is written.
    pub origins: Origins,
}

impl AggCall {
    /// True if both compute the same: everything but names and places.
    pub fn same_computation(&self, other: &AggCall) -> bool {
        self.function == other.function
            && self.args == other.args
            && self.distinct == other.distinct
            && self.filter == other.filter
    }

    /// True if it must be able to take rows back, in an aggregate whose input takes rows back or does not.
    pub fn takes_back(&self, retracts: bool) -> bool {
        retracts && !self.monotonic
    }

    /// The input columns it reads.
    pub fn inputs(&self) -> impl Iterator<Item = usize> + '_ {
        self.args.iter().filter_map(AggArg::column).chain(self.filter)
    }
}

/// An argument of an aggregate call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AggArg {
    /// An input column.
    Column(usize),
    /// A constant.
    Constant(Rex),
}

impl AggArg {
    /// The input column, if it is one.
    pub fn column(&self) -> Option<usize> {
        match self {
            AggArg::Column(i) => Some(*i),
            AggArg::Constant(_) => None,
        }
    }
}

/// An aggregate as the user wrote it, beside the calls it became: `AVG(x) OVER w` became COUNT and `$SUM0`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WrittenCall {
    /// The call over the same input columns.
    pub call: AggCall,
    /// The indices of the planned calls that compute it.
    pub planned: Vec<usize>,
}

/// A GROUP BY item in the order written, for what the documents judge by order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WrittenKey {
    /// Group key `i` of the operator.
    Key(usize),
    /// The window function of a legacy group window.
    Window,
    /// window_start of a window function.
    WindowStart,
    /// window_end of a window function.
    WindowEnd,
    /// window_time of a window function.
    WindowTime,
}

/// GROUP BY.
#[derive(Debug, Clone)]
pub struct Aggregate {
    /// Group keys: input columns.
    pub keys: Vec<usize>,
    /// Where each key is written.
    pub key_origins: Vec<Origins>,
    /// The calls.
    pub calls: Vec<AggCall>,
    /// The calls as written.
    pub written: Vec<WrittenCall>,
    /// Made from SELECT DISTINCT or UNION rather than GROUP BY.
    pub distinct: bool,
    /// GROUPING SETS, CUBE or ROLLUP are written out below.
    pub grouping_sets: Option<Span>,
    /// How long its state lives, by a hint.
    pub ttl: Option<StateTtl>,
    /// Which half of a split aggregate it is.
    pub split: Split,
}

/// Which half of an aggregate that `table.optimizer.distinct-agg.split.enabled` split an operator is (Flink's `PartialFinalType`).
/// What the documents judge (the calls and keys as written) stays with the half that reads the rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Split {
    /// It is not split.
    #[default]
    None,
    /// It aggregates each bucket of values.
    Partial(Unsplit),
    /// It combines the buckets.
    Final,
}

/// The aggregate that was split, over the columns of the partial aggregate's input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsplit {
    /// How many group keys it has; buckets follow.
    pub keys: usize,
    /// Its calls, one for each of the partial aggregate: with the FILTER that was written instead of the one that also chooses a bucket.
    pub calls: Vec<AggCall>,
    /// Each row comes once per kind of bucket: an Expand stands below.
    pub expanded: bool,
}

impl Split {
    /// The keys and calls of the whole aggregate, given those of the operator.
    pub fn whole<'a>(&'a self, keys: &'a [usize], calls: &'a [AggCall]) -> (&'a [usize], &'a [AggCall]) {
        match self {
            Split::Partial(unsplit) => (&keys[..unsplit.keys.min(keys.len())], &unsplit.calls),
            Split::None | Split::Final => (keys, calls),
        }
    }
}

/// Grouping sets written out.
#[derive(Debug, Clone)]
pub struct Expand {
    /// One list of expressions per set.
    pub projects: Vec<Vec<Rex>>,
    /// The output column that tells the sets apart.
    pub expand_id: usize,
}

/// Kinds of windows with their lengths in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WindowKind {
    /// Tumbling.
    Tumble {
        /// Length.
        size: i64,
    },
    /// Hopping.
    Hop {
        /// Length.
        size: i64,
        /// Distance of starts.
        slide: i64,
    },
    /// Cumulating.
    Cumulate {
        /// Greatest length.
        max_size: i64,
        /// Growth.
        step: i64,
    },
    /// Session.
    Session {
        /// Gap that ends it.
        gap: i64,
    },
}

impl WindowKind {
    /// Flink's word for it.
    pub fn name(&self) -> &'static str {
        match self {
            WindowKind::Tumble { .. } => "TUMBLE",
            WindowKind::Hop { .. } => "HOP",
            WindowKind::Cumulate { .. } => "CUMULATE",
            WindowKind::Session { .. } => "SESSION",
        }
    }
}

/// Where the parts of a window are written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WindowOrigins {
    /// The whole call.
    pub call: Origins,
    /// The time column.
    pub time: Origins,
    /// The size, maximum size or gap.
    pub size: Origins,
    /// The slide or step.
    pub slide: Origins,
    /// The offset.
    pub offset: Origins,
}

/// A window table function.
#[derive(Debug, Clone)]
pub struct WindowTvf {
    /// Its kind and lengths.
    pub kind: WindowKind,
    /// The optional offset, in milliseconds.
    pub offset: Option<i64>,
    /// The time attribute: an input column.
    pub time: usize,
    /// PARTITION BY of SESSION: input columns.
    pub partition: Vec<usize>,
    /// Where its parts are written.
    pub written: WindowOrigins,
}

/// How a window aggregate learns the window of a row (Flink's windowing strategies).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Windowing {
    /// From a time attribute: the window function was pulled into the aggregate.
    TimeColumn(usize),
    /// From columns that hold the bounds.
    Bounds {
        /// The column of window_start.
        start: usize,
        /// The column of window_end.
        end: usize,
    },
}

/// An aggregate over the windows of a window function.
#[derive(Debug, Clone)]
pub struct WindowAggregate {
    /// The window; its `partition` counts input columns, its `time` is unused (see `windowing`).
    pub tvf: WindowTvf,
    /// Where the window of a row comes from.
    pub windowing: Windowing,
    /// Processing time.
    pub proctime: bool,
    /// The group keys that are not window columns.
    pub keys: Vec<usize>,
    /// Where each of them is written.
    pub key_origins: Vec<Origins>,
    /// GROUP BY as written.
    pub written_keys: Vec<WrittenKey>,
    /// The calls.
    pub calls: Vec<AggCall>,
    /// The calls as written.
    pub written: Vec<WrittenCall>,
    /// window_time is grouped by, and put out.
    pub window_time: bool,
    /// GROUPING SETS, CUBE or ROLLUP are written out below.
    pub grouping_sets: Option<Span>,
    /// A step that computes aggregated fields stands between the window function and this aggregate (row WTVF-18).
    pub step: Option<Origins>,
    /// The step computes more than conditions of FILTER clauses.
    pub step_computes_fields: bool,
    /// Which half of a split aggregate it is.
    pub split: Split,
}

/// A legacy group window with its aggregate. Output: keys, calls, then the properties if any auxiliary function is used.
#[derive(Debug, Clone)]
pub struct GroupWindow {
    /// Its kind and lengths (never CUMULATE).
    pub kind: WindowKind,
    /// The time attribute: an input column.
    pub time: usize,
    /// The other group keys: input columns.
    pub keys: Vec<usize>,
    /// Where each key is written.
    pub key_origins: Vec<Origins>,
    /// GROUP BY as written.
    pub written_keys: Vec<WrittenKey>,
    /// The calls.
    pub calls: Vec<AggCall>,
    /// The calls as written.
    pub written: Vec<WrittenCall>,
    /// The time is `PROCTIME()` itself, not a column of FROM.
    pub clock: bool,
    /// start, end, rowtime (event time only) and proctime are put out.
    pub properties: bool,
    /// Where the window's parts are written.
    pub window: WindowOrigins,
}

/// A sort key over input columns.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SortKey {
    /// The column.
    pub column: usize,
    /// `DESC`.
    pub descending: bool,
    /// Nulls first.
    pub nulls_first: bool,
    /// Where it is written.
    pub origins: Origins,
}

/// ORDER BY, LIMIT and OFFSET of a query.
#[derive(Debug, Clone)]
pub struct Sort {
    /// ORDER BY.
    pub keys: Vec<SortKey>,
    /// OFFSET.
    pub offset: i64,
    /// LIMIT or FETCH.
    pub fetch: Option<i64>,
    /// Where LIMIT is written, or else OFFSET.
    pub range_origins: Origins,
}

/// An OVER window with its calls.
#[derive(Debug, Clone)]
pub struct Over {
    /// PARTITION BY: input columns, in the order written.
    pub partition: Vec<usize>,
    /// Where each partition key is written.
    pub partition_origins: Vec<Origins>,
    /// ORDER BY.
    pub order: Vec<SortKey>,
    /// The frame.
    pub frame: OverFrame,
    /// The calls.
    pub calls: Vec<AggCall>,
    /// The calls as written.
    pub written: Vec<WrittenCall>,
    /// A column-computing step was needed below: its input has only the columns in use.
    pub narrowed: bool,
}

/// Ranking functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RankType {
    /// `ROW_NUMBER()`
    RowNumber,
    /// `RANK()`
    Rank,
    /// `DENSE_RANK()`
    DenseRank,
}

impl RankType {
    /// Flink's word for it.
    pub fn name(self) -> &'static str {
        match self {
            RankType::RowNumber => "ROW_NUMBER",
            RankType::Rank => "RANK",
            RankType::DenseRank => "DENSE_RANK",
        }
    }
}

/// The last rank that is kept (Flink's `RankRange`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RankEnd {
    /// The same for every partition.
    At(i64),
    /// What this input column holds in the first row of the partition.
    Column(usize),
}

impl RankEnd {
    /// The last rank, if it is the same for every partition.
    pub fn constant(self) -> Option<i64> {
        match self {
            RankEnd::At(n) => Some(n),
            RankEnd::Column(_) => None,
        }
    }
}

/// A ranking with a bounded range.
#[derive(Debug, Clone)]
pub struct Rank {
    /// Which ranking function.
    pub rank_type: RankType,
    /// PARTITION BY: input columns, in the order written.
    pub partition: Vec<usize>,
    /// Where each partition key is written.
    pub partition_origins: Vec<Origins>,
    /// ORDER BY.
    pub order: Vec<SortKey>,
    /// The first rank that is kept.
    pub start: i64,
    /// The last rank that is kept.
    pub end: RankEnd,
    /// Where the range is written.
    pub range_origins: Origins,
    /// The rank number is put out.
    pub output_number: bool,
}

impl Rank {
    /// True if only the first row of each partition is kept.
    pub fn is_first(&self) -> bool {
        (self.start, self.end) == (1, RankEnd::At(1))
    }
}

/// A resolved ORDER BY item is the same shape in OVER and in ranks.
impl SortKey {
    /// From an expression that is a bare column.
    pub fn from_sort(sort: &SortExpr) -> Option<SortKey> {
        sort.expr.as_input().map(|column| SortKey {
            column,
            descending: sort.descending,
            nulls_first: sort.nulls_first,
            origins: sort.origins.clone(),
        })
    }
}

impl Rel {
    /// Column `i` as an expression over this operator's output.
    pub fn column(&self, i: usize) -> Rex {
        Rex::input(i, self.columns[i].ty.clone())
    }

    /// All columns as expressions.
    pub fn all_columns(&self) -> Vec<Rex> {
        (0..self.columns.len()).map(|i| self.column(i)).collect()
    }

    /// Computes `exprs` named `names` above this operator. An identity is left out and its names are lost (Calcite's
    /// `ProjectRemoveRule`), and a projection right below is merged unless it computes OVER aggregates.
    pub fn project(self, exprs: Vec<Rex>, names: Vec<Arc<str>>, origins: Origins) -> Rel {
        self.project_over(exprs, names, origins, false)
    }

    /// The same for queries as they are written, where names still count: a projection that only renames is kept.
    pub fn project_as(self, exprs: Vec<Rex>, names: Vec<Arc<str>>, origins: Origins) -> Rel {
        self.project_over(exprs, names, origins, true)
    }

    fn project_over(self, exprs: Vec<Rex>, names: Vec<Arc<str>>, origins: Origins, renames: bool) -> Rel {
        let columns: Vec<RelColumn> =
            exprs.iter().zip(names).map(|(e, name)| RelColumn { name, ty: e.ty.clone() }).collect();
        if let RelOp::Project(inner) = &self.op {
            let over_inside = inner.iter().any(Rex::contains_over);
            let over_on_top = exprs.iter().any(Rex::contains_over);
            let volatile = inner.iter().any(|e| !e.is_deterministic()) && !each_used_once(&exprs, inner.len());
            if !(volatile || over_inside && over_on_top) {
                let merged: Vec<Rex> = exprs.iter().map(|e| e.substitute(inner)).collect();
                let mut inputs = self.inputs;
                let input = inputs.remove(0);
                return input.project_raw(merged, columns, origins.or(&self.origins), renames);
            }
        }
        self.project_raw(exprs, columns, origins, renames)
    }

    fn project_raw(self, exprs: Vec<Rex>, columns: Vec<RelColumn>, origins: Origins, renames: bool) -> Rel {
        let identity =
            exprs.len() == self.columns.len() && exprs.iter().enumerate().all(|(i, e)| e.as_input() == Some(i));
        let renamed = renames && self.columns.iter().zip(&columns).any(|(a, b)| a.name != b.name);
        if identity && !renamed {
            return self;
        }
        Rel { op: RelOp::Project(exprs), inputs: vec![self], columns, origins }
    }

    /// Keeps the rows for which `conditions` hold. Adjacent filters become one.
    pub fn filter(self, conditions: Vec<Rex>, origins: Origins) -> Rel {
        if conditions.is_empty() {
            return self;
        }
        let columns = self.columns.clone();
        if let RelOp::Filter(_) = &self.op {
            let Rel { op, mut inputs, origins: below, .. } = self;
            let RelOp::Filter(mut all) = op else { unreachable!("matched above") };
            for c in conditions {
                if !all.contains(&c) {
                    all.push(c);
                }
            }
            let input = inputs.remove(0);
            return Rel { op: RelOp::Filter(all), inputs: vec![input], columns, origins: below.or(&origins) };
        }
        Rel { op: RelOp::Filter(conditions), inputs: vec![self], columns, origins }
    }

    /// The only input of an operator that has one.
    pub fn input(&self) -> &Rel {
        &self.inputs[0]
    }
}

fn each_used_once(exprs: &[Rex], width: usize) -> bool {
    let mut uses = vec![0usize; width];
    for e in exprs {
        e.visit(&mut |r| {
            if let Some(i) = r.as_input() {
                uses[i] += 1;
            }
        });
    }
    uses.iter().all(|n| *n <= 1)
}

impl Rex {
    /// The expression with every input column replaced by the expression that computes it. The place where the column
    /// is used stays with it as an outer origin.
    pub fn substitute(&self, exprs: &[Rex]) -> Rex {
        self.map_inputs(&mut |i, used| {
            let mut e = exprs[i].clone();
            match (e.origins.first(), used.origins.first()) {
                (None, _) => e.origins = used.origins.clone(),
                (Some(written), Some(at)) if written != at => e.origins = e.origins.used_at(at),
                _ => {}
            }
            e
        })
    }

    /// The expression with its columns renumbered.
    pub fn remap(&self, map: &[Option<usize>]) -> Rex {
        self.map_inputs(&mut |i, used| Rex {
            kind: super::rex::RexKind::Input(map[i].expect("a column that is read is kept")),
            ty: used.ty.clone(),
            origins: used.origins.clone(),
        })
    }
}

/// The type of window_start and window_end over a time column of type `time`.
/// Event time over TIMESTAMP_LTZ and processing time give wall-clock TIMESTAMP(3) (FLIP-145).
pub fn window_bound_type() -> DataType {
    TypeKind::Timestamp(3, TimeAttribute::None).not_null()
}

/// The type of window_time: the time attribute itself, not null.
pub fn window_time_type(time: &DataType) -> DataType {
    let kind = match &time.kind {
        TypeKind::TimestampLtz(_, a) => TypeKind::TimestampLtz(3, *a),
        TypeKind::Timestamp(_, a) => TypeKind::Timestamp(3, *a),
        _ => TypeKind::Timestamp(3, TimeAttribute::Rowtime),
    };
    kind.not_null()
}
