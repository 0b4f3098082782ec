//! Flink's logical types, as far as plans, state and verdicts depend on them.

use std::fmt;
use std::sync::Arc;

/// Whether a timestamp is a time attribute (Flink's `TimestampKind`). It is part of the type, so it flows through
/// projections by itself and is lost by any function or cast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum TimeAttribute {
    /// An ordinary timestamp.
    #[default]
    None,
    /// Event time, with watermarks.
    Rowtime,
    /// Processing time.
    Proctime,
}

/// A type with its nullability.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataType {
    /// What it is.
    pub kind: TypeKind,
    /// False for `NOT NULL`.
    pub nullable: bool,
}

/// A field of a row type.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: DataType,
}

/// Flink's logical type roots with their parameters. `STRING` is `VarChar(MAX)`, `BYTES` is `VarBinary(MAX)`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TypeKind {
    /// `NULL`, the type of the bare literal.
    Null,
    /// `BOOLEAN`
    Boolean,
    /// `TINYINT`
    TinyInt,
    /// `SMALLINT`
    SmallInt,
    /// `INT`
    Int,
    /// `BIGINT`
    BigInt,
    /// `FLOAT`
    Float,
    /// `DOUBLE`
    Double,
    /// `DECIMAL(precision, scale)`
    Decimal(u8, u8),
    /// `CHAR(n)`
    Char(u32),
    /// `VARCHAR(n)`
    VarChar(u32),
    /// `BINARY(n)`
    Binary(u32),
    /// `VARBINARY(n)`
    VarBinary(u32),
    /// `DATE`
    Date,
    /// `TIME(p)`
    Time(u8),
    /// `TIMESTAMP(p)`
    Timestamp(u8, TimeAttribute),
    /// `TIMESTAMP_LTZ(p)`
    TimestampLtz(u8, TimeAttribute),
    /// An interval of months (`YEAR`, `MONTH`, `YEAR TO MONTH`); the word as Flink prints it.
    IntervalYearMonth(IntervalUnits),
    /// An interval of milliseconds (`DAY` .. `SECOND`); the word as Flink prints it.
    IntervalDayTime(IntervalUnits),
    /// `ARRAY<T>`
    Array(Arc<DataType>),
    /// `MULTISET<T>`
    Multiset(Arc<DataType>),
    /// `MAP<K, V>`
    Map(Arc<DataType>, Arc<DataType>),
    /// `ROW<...>`
    Row(Arc<[Field]>),
    /// `RAW(...)` and structured types, by their text.
    Other(Arc<str>),
    /// Not known: results of user functions, columns of inferred tables. Compatible with everything.
    Unknown,
}

/// The units of an interval type; plans print them, values do not depend on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IntervalUnits {
    /// `YEAR`
    Year,
    /// `MONTH`
    Month,
    /// `YEAR TO MONTH`
    YearToMonth,
    /// `DAY`
    Day,
    /// `HOUR`
    Hour,
    /// `MINUTE`
    Minute,
    /// `SECOND`
    Second,
    /// `DAY TO HOUR`
    DayToHour,
    /// `DAY TO MINUTE`
    DayToMinute,
    /// `DAY TO SECOND`
    DayToSecond,
    /// `HOUR TO MINUTE`
    HourToMinute,
    /// `HOUR TO SECOND`
    HourToSecond,
    /// `MINUTE TO SECOND`
    MinuteToSecond,
}

impl IntervalUnits {
    /// The words as Calcite prints them.
    pub fn name(self) -> &'static str {
        match self {
            IntervalUnits::Year => "YEAR",
            IntervalUnits::Month => "MONTH",
            IntervalUnits::YearToMonth => "YEAR TO MONTH",
            IntervalUnits::Day => "DAY",
            IntervalUnits::Hour => "HOUR",
            IntervalUnits::Minute => "MINUTE",
            IntervalUnits::Second => "SECOND",
            IntervalUnits::DayToHour => "DAY TO HOUR",
            IntervalUnits::DayToMinute => "DAY TO MINUTE",
            IntervalUnits::DayToSecond => "DAY TO SECOND",
            IntervalUnits::HourToMinute => "HOUR TO MINUTE",
            IntervalUnits::HourToSecond => "HOUR TO SECOND",
            IntervalUnits::MinuteToSecond => "MINUTE TO SECOND",
        }
    }
}

impl IntervalUnits {
    const ALL: [IntervalUnits; 13] = [
        IntervalUnits::Year,
        IntervalUnits::Month,
        IntervalUnits::YearToMonth,
        IntervalUnits::Day,
        IntervalUnits::Hour,
        IntervalUnits::Minute,
        IntervalUnits::Second,
        IntervalUnits::DayToHour,
        IntervalUnits::DayToMinute,
        IntervalUnits::DayToSecond,
        IntervalUnits::HourToMinute,
        IntervalUnits::HourToSecond,
        IntervalUnits::MinuteToSecond,
    ];

    /// The units that these words name, such as `DAY TO SECOND`.
    pub fn from_words(words: &str) -> Option<IntervalUnits> {
        Self::ALL.into_iter().find(|u| u.name() == words)
    }

    /// True for units of months.
    pub fn is_year_month(self) -> bool {
        matches!(self, IntervalUnits::Year | IntervalUnits::Month | IntervalUnits::YearToMonth)
    }

    /// The interval type of these units.
    pub fn interval(self) -> TypeKind {
        if self.is_year_month() { TypeKind::IntervalYearMonth(self) } else { TypeKind::IntervalDayTime(self) }
    }

    /// The units of a sum: from the larger first unit to the smaller last one.
    pub fn joined(self, other: IntervalUnits) -> IntervalUnits {
        if self.is_year_month() != other.is_year_month() {
            return self;
        }
        let ((a, b), (c, d)) = (self.extent(), other.extent());
        let (first, last) = (a.min(c), b.max(d));
        Self::ALL.into_iter().find(|u| u.extent() == (first, last)).unwrap_or(self)
    }

    /// Position of the first and the last unit, YEAR being 0 and SECOND 5.
    fn extent(self) -> (u8, u8) {
        match self {
            IntervalUnits::Year => (0, 0),
            IntervalUnits::Month => (1, 1),
            IntervalUnits::YearToMonth => (0, 1),
            IntervalUnits::Day => (2, 2),
            IntervalUnits::Hour => (3, 3),
            IntervalUnits::Minute => (4, 4),
            IntervalUnits::Second => (5, 5),
            IntervalUnits::DayToHour => (2, 3),
            IntervalUnits::DayToMinute => (2, 4),
            IntervalUnits::DayToSecond => (2, 5),
            IntervalUnits::HourToMinute => (3, 4),
            IntervalUnits::HourToSecond => (3, 5),
            IntervalUnits::MinuteToSecond => (4, 5),
        }
    }
}

/// The length that `STRING` and `BYTES` stand for.
pub const MAX_LENGTH: u32 = i32::MAX as u32;

impl TypeKind {
    /// The type, nullable.
    pub fn nullable(self) -> DataType {
        DataType { kind: self, nullable: true }
    }

    /// The type, `NOT NULL`.
    pub fn not_null(self) -> DataType {
        DataType { kind: self, nullable: false }
    }

    /// `STRING`.
    pub fn string() -> TypeKind {
        TypeKind::VarChar(MAX_LENGTH)
    }
}

impl DataType {
    /// The nullable unknown type.
    pub fn unknown() -> DataType {
        TypeKind::Unknown.nullable()
    }

    /// The same type with the given nullability.
    pub fn with_nullable(mut self, nullable: bool) -> DataType {
        self.nullable = nullable;
        self
    }

    /// Which time attribute it is.
    pub fn time_attribute(&self) -> TimeAttribute {
        match self.kind {
            TypeKind::Timestamp(_, a) | TypeKind::TimestampLtz(_, a) => a,
            _ => TimeAttribute::None,
        }
    }

    /// True for event-time attributes.
    pub fn is_rowtime(&self) -> bool {
        self.time_attribute() == TimeAttribute::Rowtime
    }

    /// True for processing-time attributes.
    pub fn is_proctime(&self) -> bool {
        self.time_attribute() == TimeAttribute::Proctime
    }

    /// The same type as time attribute `a`; other types than timestamps stay as they are.
    pub fn with_time_attribute(mut self, a: TimeAttribute) -> DataType {
        match &mut self.kind {
            TypeKind::Timestamp(_, x) | TypeKind::TimestampLtz(_, x) => *x = a,
            _ => {}
        }
        self
    }

    /// The type that is left when a time attribute becomes an ordinary value.
    pub fn materialized(self) -> DataType {
        self.with_time_attribute(TimeAttribute::None)
    }

    /// The same type where everything may be NULL, nested values included: types that differ in that alone become equal.
    pub fn all_nullable(&self) -> DataType {
        let nested = |ty: &Arc<DataType>| Arc::new(ty.all_nullable());
        let kind = match &self.kind {
            TypeKind::Array(element) => TypeKind::Array(nested(element)),
            TypeKind::Multiset(element) => TypeKind::Multiset(nested(element)),
            TypeKind::Map(key, value) => TypeKind::Map(nested(key), nested(value)),
            TypeKind::Row(fields) => {
                TypeKind::Row(fields.iter().map(|f| Field { ty: f.ty.all_nullable(), ..f.clone() }).collect())
            }
            kind => kind.clone(),
        };
        DataType { kind, nullable: true }
    }

    /// True for TINYINT to BIGINT.
    pub fn is_integer(&self) -> bool {
        matches!(self.kind, TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::Int | TypeKind::BigInt)
    }

    /// True for all numbers.
    pub fn is_numeric(&self) -> bool {
        self.is_integer() || matches!(self.kind, TypeKind::Float | TypeKind::Double | TypeKind::Decimal(..))
    }

    /// True for CHAR and VARCHAR.
    pub fn is_character(&self) -> bool {
        matches!(self.kind, TypeKind::Char(_) | TypeKind::VarChar(_))
    }

    /// True for TIMESTAMP and TIMESTAMP_LTZ.
    pub fn is_timestamp(&self) -> bool {
        matches!(self.kind, TypeKind::Timestamp(..) | TypeKind::TimestampLtz(..))
    }

    /// True for intervals.
    pub fn is_interval(&self) -> bool {
        matches!(self.kind, TypeKind::IntervalYearMonth(_) | TypeKind::IntervalDayTime(_))
    }

    /// True for DATE, TIME and timestamps.
    pub fn is_datetime(&self) -> bool {
        matches!(self.kind, TypeKind::Date | TypeKind::Time(_)) || self.is_timestamp()
    }

    /// True for BINARY and VARBINARY.
    pub fn is_binary(&self) -> bool {
        matches!(self.kind, TypeKind::Binary(_) | TypeKind::VarBinary(_))
    }

    /// True if the types differ in nothing but nullability.
    pub fn same_kind(&self, other: &DataType) -> bool {
        self.kind == other.kind
    }

    /// True if the type is not known.
    pub fn is_unknown(&self) -> bool {
        self.kind == TypeKind::Unknown
    }
}

/// Prints Flink's summary string without nullability: `DECIMAL(10, 2)`, `VARCHAR(2147483647)`, ``ROW<`a` INT NOT NULL>``.
impl fmt::Display for TypeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TypeKind::Null => f.write_str("NULL"),
            TypeKind::Boolean => f.write_str("BOOLEAN"),
            TypeKind::TinyInt => f.write_str("TINYINT"),
            TypeKind::SmallInt => f.write_str("SMALLINT"),
            TypeKind::Int => f.write_str("INT"),
            TypeKind::BigInt => f.write_str("BIGINT"),
            TypeKind::Float => f.write_str("FLOAT"),
            TypeKind::Double => f.write_str("DOUBLE"),
            TypeKind::Decimal(p, s) => write!(f, "DECIMAL({p}, {s})"),
            TypeKind::Char(n) => write!(f, "CHAR({n})"),
            TypeKind::VarChar(n) => write!(f, "VARCHAR({n})"),
            TypeKind::Binary(n) => write!(f, "BINARY({n})"),
            TypeKind::VarBinary(n) => write!(f, "VARBINARY({n})"),
            TypeKind::Date => f.write_str("DATE"),
            TypeKind::Time(p) => write!(f, "TIME({p})"),
            TypeKind::Timestamp(p, a) => write!(f, "TIMESTAMP({p}){}", suffix(*a)),
            TypeKind::TimestampLtz(p, a) => write!(f, "TIMESTAMP_LTZ({p}){}", suffix(*a)),
            TypeKind::IntervalYearMonth(u) | TypeKind::IntervalDayTime(u) => write!(f, "INTERVAL {}", u.name()),
            TypeKind::Array(t) => write!(f, "ARRAY<{t}>"),
            TypeKind::Multiset(t) => write!(f, "MULTISET<{t}>"),
            TypeKind::Map(k, v) => write!(f, "MAP<{k}, {v}>"),
            TypeKind::Row(fields) => {
                f.write_str("ROW<")?;
                for (i, field) in fields.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    write!(f, "{comma}`{}` {}", field.name.replace('`', "``"), field.ty)?;
                }
                f.write_str(">")
            }
            TypeKind::Other(text) => f.write_str(text),
            TypeKind::Unknown => f.write_str("?"),
        }
    }
}

fn suffix(a: TimeAttribute) -> &'static str {
    match a {
        TimeAttribute::None => "",
        TimeAttribute::Rowtime => " *ROWTIME*",
        TimeAttribute::Proctime => " *PROCTIME*",
    }
}

/// Prints Flink's summary string: `BIGINT NOT NULL`.
impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.kind, if self.nullable { "" } else { " NOT NULL" })
    }
}
