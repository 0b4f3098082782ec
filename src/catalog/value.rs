//! Constants of Flink SQL.

use std::sync::Arc;

/// A constant. Its SQL type is the type of the expression it stands in.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// `NULL`
    Null,
    /// `TRUE`, `FALSE`
    Boolean(bool),
    /// Integers of all widths.
    Int(i64),
    /// `unscaled / 10^scale`.
    Decimal {
        /// All digits.
        unscaled: i128,
        /// Digits after the point.
        scale: u8,
    },
    /// FLOAT and DOUBLE, by their bits so that constants can be compared and hashed.
    Double(u64),
    /// CHAR and VARCHAR.
    String(Arc<str>),
    /// BINARY and VARBINARY.
    Bytes(Arc<[u8]>),
    /// DATE: days since the epoch.
    Date(i32),
    /// TIME: milliseconds of the day.
    Time(i32),
    /// TIMESTAMP and TIMESTAMP_LTZ: milliseconds since the epoch and nanoseconds of the millisecond.
    Timestamp(i64, u32),
    /// Interval of months.
    Months(i64),
    /// Interval of milliseconds.
    Millis(i64),
    /// A keyword argument such as `HOUR`.
    Symbol(Arc<str>),
    /// An undefined `${name}`: equal only to itself.
    Placeholder(Arc<str>),
    /// The set of values that `SEARCH` looks in.
    Sarg(Arc<Sarg>),
}

/// A set of values as sorted, disjoint ranges (Calcite's search argument): the second operand of `SEARCH`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sarg {
    /// Sorted, disjoint, not adjacent.
    pub ranges: Vec<SargRange>,
    /// What NULL gives: `None` for UNKNOWN (the usual case), else the constant.
    pub null_as: Option<bool>,
}

/// One range of a [`Sarg`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SargRange {
    /// The lower end; `None` is unbounded.
    pub lower: Option<SargBound>,
    /// The upper end; `None` is unbounded.
    pub upper: Option<SargBound>,
}

/// An end of a [`SargRange`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SargBound {
    /// The value.
    pub value: Value,
    /// The value itself is in the range.
    pub inclusive: bool,
}
