//! Jobs as trees: what is common to all the texts that mean the same.

/// A column, wherever it is made. Names are the printer's business.
pub type Col = usize;

/// Types that the generator knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ty {
    Int,
    BigInt,
    Double,
    Text,
    /// A plain timestamp, or one that is a time attribute.
    Time,
    /// Processing time.
    Proctime,
}

/// What is known of a column.
#[derive(Debug, Clone)]
pub struct ColumnInfo {
    pub name: String,
    pub ty: Ty,
    /// The name is given by a table, a window function or the last SELECT.
    pub fixed: bool,
}

/// A table of the catalog.
#[derive(Debug, Clone)]
pub struct Table {
    pub name: String,
    /// The columns, `ts` and `pt` included.
    pub columns: Vec<Col>,
    /// The watermark's delay.
    pub delay: i64,
}

/// A job.
#[derive(Debug, Clone, Default)]
pub struct Job {
    pub columns: Vec<ColumnInfo>,
    pub tables: Vec<Table>,
    pub inserts: Vec<Insert>,
}

/// An INSERT into a sink of its own.
#[derive(Debug, Clone)]
pub struct Insert {
    pub sink: String,
    pub query: Query,
}

/// A query.
#[derive(Debug, Clone)]
pub enum Query {
    Select(Box<Select>),
    /// The columns of the first branch name the result.
    Union(Vec<Query>),
}

/// A SELECT.
#[derive(Debug, Clone)]
pub struct Select {
    pub distinct: bool,
    pub items: Vec<(Expr, Col)>,
    pub from: From,
    /// Conditions that all hold.
    pub filters: Vec<Expr>,
    pub group: Vec<Key>,
    pub having: Vec<Expr>,
    /// The window of all OVER calls of this SELECT.
    pub over: Option<Over>,
}

/// What a SELECT reads.
#[derive(Debug, Clone)]
pub enum From {
    Table(usize),
    Query(Box<Query>),
    Tvf(Box<Tvf>),
}

/// Windows, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    Tumble(i64),
    /// Slide, size.
    Hop(i64, i64),
    /// Step, size.
    Cumulate(i64, i64),
    Session(i64),
}

/// A window table function.
#[derive(Debug, Clone)]
pub struct Tvf {
    pub window: Window,
    pub input: From,
    pub time: Col,
    pub offset: Option<i64>,
    /// PARTITION BY of SESSION.
    pub partition: Vec<Col>,
    /// window_start, window_end, window_time.
    pub bounds: [Col; 3],
}

/// A GROUP BY item.
#[derive(Debug, Clone)]
pub enum Key {
    Column(Col),
    /// A legacy window over a time attribute.
    Window(Window, Col),
}

/// A window of OVER.
#[derive(Debug, Clone)]
pub struct Over {
    pub partition: Vec<Col>,
    pub order: Col,
    pub frame: Frame,
}

/// A frame that ends at the current row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame {
    /// The default: RANGE UNBOUNDED PRECEDING.
    Default,
    Rows(i64),
    /// Milliseconds.
    Range(i64),
    RowsUnbounded,
}

/// Comparison operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cmp {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

/// An aggregate call.
#[derive(Debug, Clone)]
pub struct Call {
    pub function: &'static str,
    pub distinct: bool,
    /// `None`: COUNT(*).
    pub arg: Option<Expr>,
    pub filter: Option<Expr>,
    /// Over the SELECT's window.
    pub over: bool,
}

/// An expression.
#[derive(Debug, Clone)]
pub enum Expr {
    Column(Col),
    Int(i64),
    Text(&'static str),
    /// A day-time interval in milliseconds.
    Interval(i64),
    /// `+`, `-` or `*`.
    Arithmetic(char, Box<Expr>, Box<Expr>),
    Compare(Cmp, Box<Expr>, Box<Expr>),
    Or(Vec<Expr>),
    Not(Box<Expr>),
    IsNull(Box<Expr>),
    In(Box<Expr>, Vec<i64>),
    Between(Box<Expr>, i64, i64),
    Function(&'static str, Vec<Expr>),
    Case(Box<Expr>, Box<Expr>, Box<Expr>),
    Call(Box<Call>),
    /// ROW_NUMBER over partition and order.
    RowNumber(Vec<Col>, Vec<(Col, bool)>),
    /// A rank number from the first to the last bound.
    RankRange(Col, i64, i64),
    /// `TUMBLE_START` and the like of the SELECT's legacy window.
    LegacyBound(&'static str),
}

impl Select {
    /// A projection of `items` from `from`.
    pub fn new(from: From, items: Vec<(Expr, Col)>) -> Self {
        Select { distinct: false, items, from, filters: Vec::new(), group: Vec::new(), having: Vec::new(), over: None }
    }
}

impl Query {
    /// The output columns.
    pub fn outputs(&self) -> Vec<Col> {
        match self {
            Query::Select(select) => select.items.iter().map(|(_, out)| *out).collect(),
            Query::Union(branches) => branches[0].outputs(),
        }
    }
}
