//! Flink's built-in functions and operators: names, shapes and result types.

use super::types::DataType;
use crate::logical::rex::Value;

/// How a call is printed in plans, after Calcite's operator syntax.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallSyntax {
    /// `F(a, b)`
    Function,
    /// `(a + b)`
    Infix,
    /// `-a`, `NOT(a)` is a function in plans
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

/// A scalar function or operator that Flink knows.
#[derive(Debug)]
pub struct FunctionDef {
    /// Its name, upper case; operators by their sign.
    pub name: &'static str,
    /// How plans print it.
    pub syntax: CallSyntax,
    /// False for `RAND()`, `UUID()`, `NOW()` ...: such calls are never folded or shared.
    pub deterministic: bool,
    /// The result type for these arguments, or why they do not fit, in words.
    pub result: fn(&[ArgumentType<'_>]) -> Result<DataType, String>,
}
