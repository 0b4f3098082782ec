//! Flink's built-in functions and operators: names, shapes and result types.
//!
//! The list is that of "System (Built-in) Functions" of Flink 1.20; result types are those that Flink's validator gives
//! (`FlinkSqlOperatorTable`, `BuiltInFunctionDefinitions`). One file per family of that page.

mod collection;
mod conditional;
mod json;
mod math;
pub mod operators;
pub mod pattern;
mod results;
mod string;
mod temporal;

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use super::types::{DataType, TypeKind};
use crate::catalog::value::Value;

/// How a call is printed in plans, after Calcite's operator syntax.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallSyntax {
    /// `F(a, b)`
    Function,
    /// `(a + b)`
    Infix,
    /// `-(a)`, `NOT(a)`
    Prefix,
    /// `a IS NULL`
    Postfix,
}

/// One argument, as far as result types depend on it.
#[derive(Debug, Clone, Copy)]
pub struct ArgumentType<'a> {
    /// Its type.
    pub ty: &'a DataType,
    /// Its value, if it is a constant.
    pub literal: Option<&'a Value>,
}

/// What an operand must be. The words are Calcite's families, as its messages print them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// Anything.
    Any,
    /// BOOLEAN.
    Boolean,
    /// CHAR, VARCHAR.
    Character,
    /// BINARY, VARBINARY.
    Binary,
    /// CHAR, VARCHAR, BINARY, VARBINARY.
    String,
    /// Any number.
    Numeric,
    /// TINYINT to BIGINT.
    Integer,
    /// A number or an interval.
    NumericOrInterval,
    /// A number or text.
    NumericOrCharacter,
    /// DATE, TIME, TIMESTAMP, TIMESTAMP_LTZ.
    Datetime,
    /// A datetime or an interval.
    DatetimeOrInterval,
    /// A number or a datetime.
    NumericOrDatetime,
    /// TIMESTAMP, TIMESTAMP_LTZ.
    Timestamp,
    /// A timestamp or text.
    TimestampOrCharacter,
    /// ARRAY.
    Array,
    /// MAP.
    Map,
    /// ARRAY, MAP.
    ArrayOrMap,
    /// ARRAY, MAP, MULTISET.
    Collection,
    /// A keyword.
    Symbol,
}

impl Operand {
    /// True if `ty` fits.
    pub fn accepts(self, ty: &DataType) -> bool {
        use TypeKind::*;
        if matches!(ty.kind, Unknown | Null) {
            return true;
        }
        match self {
            Operand::Any | Operand::Symbol => true,
            Operand::Boolean => ty.kind == Boolean,
            Operand::Character => ty.is_character(),
            Operand::Binary => ty.is_binary(),
            Operand::String => ty.is_character() || ty.is_binary(),
            Operand::Numeric => ty.is_numeric(),
            Operand::Integer => ty.is_integer(),
            Operand::NumericOrInterval => ty.is_numeric() || ty.is_interval(),
            Operand::NumericOrCharacter => ty.is_numeric() || ty.is_character(),
            Operand::Datetime => ty.is_datetime(),
            Operand::DatetimeOrInterval => ty.is_datetime() || ty.is_interval(),
            Operand::NumericOrDatetime => ty.is_numeric() || ty.is_datetime(),
            Operand::Timestamp => ty.is_timestamp(),
            Operand::TimestampOrCharacter => ty.is_timestamp() || ty.is_character(),
            Operand::Array => matches!(ty.kind, Array(_)),
            Operand::Map => matches!(ty.kind, Map(..)),
            Operand::ArrayOrMap => matches!(ty.kind, Array(_) | Map(..)),
            Operand::Collection => matches!(ty.kind, Array(_) | Map(..) | Multiset(_)),
        }
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Operand::Any => "ANY_TYPE",
            Operand::Boolean => "BOOLEAN",
            Operand::Character => "CHARACTER",
            Operand::Binary => "BINARY",
            Operand::String => "STRING",
            Operand::Numeric => "NUMERIC",
            Operand::Integer => "INTEGER",
            Operand::NumericOrInterval => "NUMERIC|DATETIME_INTERVAL",
            Operand::NumericOrCharacter => "NUMERIC|CHARACTER",
            Operand::Datetime => "DATETIME",
            Operand::DatetimeOrInterval => "DATETIME|DATETIME_INTERVAL",
            Operand::NumericOrDatetime => "NUMERIC|DATETIME",
            Operand::Timestamp => "TIMESTAMP",
            Operand::TimestampOrCharacter => "TIMESTAMP|CHARACTER",
            Operand::Array => "ARRAY",
            Operand::Map => "MAP",
            Operand::ArrayOrMap => "ARRAY|MAP",
            Operand::Collection => "COLLECTION",
            Operand::Symbol => "SYMBOL",
        }
    }
}

/// The result type for some arguments, or why they do not fit, in words.
pub type ResultType = fn(&[ArgumentType<'_>]) -> Result<DataType, String>;

/// A scalar function or operator that Flink knows.
#[derive(Debug)]
pub struct FunctionDef {
    /// Its name, upper case; operators by their sign.
    pub name: &'static str,
    /// How plans print it.
    pub syntax: CallSyntax,
    /// False for `RAND()`, `UUID()`, `NOW()` ...: such calls are never folded or shared.
    pub deterministic: bool,
    /// The least and the most arguments.
    pub arity: (usize, usize),
    /// What the arguments must be; the last entry holds for all further ones.
    pub operands: &'static [Operand],
    /// The result type for these arguments, or why they do not fit, in words.
    pub result: ResultType,
}

/// As many arguments as one likes.
const MANY: usize = usize::MAX;

/// A deterministic function in function syntax.
const fn function(
    name: &'static str,
    arity: (usize, usize),
    operands: &'static [Operand],
    result: ResultType,
) -> FunctionDef {
    FunctionDef { name, syntax: CallSyntax::Function, deterministic: true, arity, operands, result }
}

/// A function without arguments whose value changes from call to call or from query to query.
const fn volatile(
    name: &'static str,
    arity: (usize, usize),
    operands: &'static [Operand],
    result: ResultType,
) -> FunctionDef {
    FunctionDef { name, syntax: CallSyntax::Function, deterministic: false, arity, operands, result }
}

impl FunctionDef {
    /// The operand class of argument `i`.
    fn operand(&self, i: usize) -> Operand {
        self.operands.get(i).or(self.operands.last()).copied().unwrap_or(Operand::Any)
    }

    /// Checks number and kinds of arguments and gives the result type, or Flink's message.
    pub fn check(&self, args: &[ArgumentType<'_>]) -> Result<DataType, String> {
        let (least, most) = self.arity;
        if args.len() < least || args.len() > most {
            let expected = match (least, most) {
                (a, MANY) => format!("at least {a}"),
                (a, b) if a == b => a.to_string(),
                (a, b) => format!("{a} to {b}"),
            };
            return Err(format!(
                "Invalid number of arguments to function '{}'. Was expecting {expected} arguments",
                self.name
            ));
        }
        if args.iter().enumerate().any(|(i, a)| !self.operand(i).accepts(a.ty)) {
            return Err(self.mismatch(args));
        }
        (self.result)(args)
    }

    /// `Cannot apply 'UPPER' to arguments of type 'UPPER(<INTEGER>)'. Supported form(s): ...`.
    pub fn mismatch(&self, args: &[ArgumentType<'_>]) -> String {
        let given: Vec<String> = args.iter().map(|a| format!("<{}>", sql_name(a.ty))).collect();
        let count = args.len().clamp(self.arity.0, self.arity.1);
        let wanted: Vec<String> = (0..count).map(|i| format!("<{}>", self.operand(i).name())).collect();
        let shape = |list: &[String]| match self.syntax {
            CallSyntax::Infix => list.join(&format!(" {} ", self.name)),
            CallSyntax::Prefix => format!("{}{}", self.name, list.join(", ")),
            _ => format!("{}({})", self.name, list.join(", ")),
        };
        format!(
            "Cannot apply '{}' to arguments of type '{}'. Supported form(s): '{}'",
            self.name,
            shape(&given),
            shape(&wanted)
        )
    }
}

/// A type as Calcite's messages print it: INTEGER for INT.
pub fn sql_name(ty: &DataType) -> String {
    match &ty.kind {
        TypeKind::Int => "INTEGER".to_owned(),
        TypeKind::Array(t) => format!("{} ARRAY", sql_name(t)),
        kind => kind.to_string(),
    }
}

/// The families, in the order of Flink's page.
static FAMILIES: &[&[FunctionDef]] = &[
    math::FUNCTIONS,
    string::FUNCTIONS,
    temporal::FUNCTIONS,
    conditional::FUNCTIONS,
    collection::FUNCTIONS,
    json::FUNCTIONS,
];

/// Other names of the same function.
static ALIASES: &[(&str, &str)] = &[
    ("CHARACTER_LENGTH", "CHAR_LENGTH"),
    ("CEILING", "CEIL"),
    ("POW", "POWER"),
    ("CURRENT_ROW_TIMESTAMP", "CURRENT_ROW_TIMESTAMP"),
];

type Index = FxHashMap<&'static str, &'static FunctionDef>;

fn index() -> &'static Index {
    static INDEX: OnceLock<Index> = OnceLock::new();
    INDEX.get_or_init(|| {
        let mut index: Index = FAMILIES.iter().copied().flatten().map(|def| (def.name, def)).collect();
        for (alias, name) in ALIASES {
            if let Some(def) = index.get(name).copied() {
                index.insert(alias, def);
            }
        }
        index
    })
}

/// Flink's function of this name, in any letter case. Operators are in [`operators`].
pub fn lookup(name: &str) -> Option<&'static FunctionDef> {
    if name.bytes().any(|b| b.is_ascii_lowercase()) {
        index().get(name.to_ascii_uppercase().as_str()).copied()
    } else {
        index().get(name).copied()
    }
}

/// All names that [`lookup`] knows, in no order.
pub fn names() -> impl Iterator<Item = &'static str> {
    index().keys().copied()
}
