//! Flink's aggregate and window functions: result types and abilities.
//!
//! Sources: `SqlAggFunction`s of Calcite with `FlinkTypeSystem`'s result types, and which implementation classes
//! (`AggFunctionFactory`) have `merge` and `retract`.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;

use super::functions::{ArgumentType, Operand, sql_name};
use super::types::{DataType, TypeKind};
use crate::catalog::value::Value;

/// Where a function may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AggregateKind {
    /// GROUP BY and OVER.
    Aggregate,
    /// OVER only.
    OverOnly,
}

/// An aggregate function.
#[derive(Debug)]
pub struct AggregateDef {
    /// Its name, upper case.
    pub name: &'static str,
    /// Where it may stand.
    pub kind: AggregateKind,
    /// The least and the most arguments.
    pub arity: (usize, usize),
    /// What the arguments must be; the last entry holds for all further ones.
    pub operands: &'static [Operand],
    /// `DISTINCT` changes the result and is allowed. `MAX(DISTINCT x)` is allowed and means `MAX(x)`.
    pub distinct: Distinct,
    /// Partial results can be merged: without it there is no local/global split and no HOP, CUMULATE or SESSION window.
    pub mergeable: bool,
    /// Rows can be taken back.
    pub retractable: bool,
    /// It needs an order of rows.
    pub ordered: bool,
    /// The result type, nullable as it is where groups are never empty.
    result: fn(&[ArgumentType<'_>]) -> DataType,
    /// An empty group gives NULL.
    pub null_if_empty: bool,
}

/// What DISTINCT does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distinct {
    /// It counts.
    Matters,
    /// It makes no difference, and Flink drops it.
    Ignored,
    /// Flink refuses it.
    Refused,
}

fn first(args: &[ArgumentType<'_>]) -> DataType {
    args.first().map_or_else(DataType::unknown, |a| a.ty.clone().materialized())
}

fn nullable(args: &[ArgumentType<'_>]) -> bool {
    args.iter().any(|a| a.ty.nullable)
}

fn count(_: &[ArgumentType<'_>]) -> DataType {
    TypeKind::BigInt.not_null()
}

/// SUM keeps the type of integers and floats; DECIMAL(p, s) becomes DECIMAL(38, s).
fn sum(args: &[ArgumentType<'_>]) -> DataType {
    let ty = first(args);
    match ty.kind {
        TypeKind::Decimal(_, s) => DataType { kind: TypeKind::Decimal(38, s), nullable: ty.nullable },
        _ => ty,
    }
}

/// `$SUM0` is SUM, and never NULL.
fn sum0(args: &[ArgumentType<'_>]) -> DataType {
    sum(args).with_nullable(false)
}

/// AVG keeps the type of integers and floats; DECIMAL(p, s) becomes DECIMAL(38, max(6, s)).
fn avg(args: &[ArgumentType<'_>]) -> DataType {
    let ty = first(args);
    match ty.kind {
        TypeKind::Decimal(_, s) => DataType { kind: TypeKind::Decimal(38, s.max(6)), nullable: ty.nullable },
        _ => ty,
    }
}

/// As AVG; the sample forms are NULL for one row.
fn avg_nullable(args: &[ArgumentType<'_>]) -> DataType {
    avg(args).with_nullable(true)
}

fn first_nullable(args: &[ArgumentType<'_>]) -> DataType {
    first(args).with_nullable(true)
}

fn string_of_args(args: &[ArgumentType<'_>]) -> DataType {
    DataType { kind: TypeKind::string(), nullable: nullable(args) }
}

fn string_not_null(_: &[ArgumentType<'_>]) -> DataType {
    TypeKind::string().not_null()
}

fn collect(args: &[ArgumentType<'_>]) -> DataType {
    TypeKind::Multiset(Arc::new(first(args))).not_null()
}

fn array(args: &[ArgumentType<'_>]) -> DataType {
    TypeKind::Array(Arc::new(first(args))).nullable()
}

fn bigint(_: &[ArgumentType<'_>]) -> DataType {
    TypeKind::BigInt.not_null()
}

fn double(_: &[ArgumentType<'_>]) -> DataType {
    TypeKind::Double.not_null()
}

/// LAG and LEAD: NOT NULL only if a NOT NULL default is given for a NOT NULL column.
fn lag(args: &[ArgumentType<'_>]) -> DataType {
    let ty = first(args);
    let nullable = ty.nullable || args.get(2).is_none_or(|d| d.ty.nullable);
    ty.with_nullable(nullable)
}

const MANY: usize = usize::MAX;

const fn aggregate(
    name: &'static str,
    operands: &'static [Operand],
    distinct: Distinct,
    (mergeable, retractable): (bool, bool),
    result: fn(&[ArgumentType<'_>]) -> DataType,
) -> AggregateDef {
    AggregateDef {
        name,
        kind: AggregateKind::Aggregate,
        arity: (1, 1),
        operands,
        distinct,
        mergeable,
        retractable,
        ordered: false,
        result,
        null_if_empty: true,
    }
}

const fn over(
    name: &'static str,
    arity: (usize, usize),
    operands: &'static [Operand],
    result: fn(&[ArgumentType<'_>]) -> DataType,
) -> AggregateDef {
    AggregateDef {
        name,
        kind: AggregateKind::OverOnly,
        arity,
        operands,
        distinct: Distinct::Refused,
        mergeable: false,
        retractable: false,
        ordered: true,
        result,
        null_if_empty: false,
    }
}

use Distinct::{Ignored, Matters, Refused};
use Operand::{Any, Character, Integer, Numeric};

static AGGREGATES: &[AggregateDef] = &[
    AggregateDef { arity: (0, MANY), null_if_empty: false, ..aggregate("COUNT", &[Any], Matters, (true, true), count) },
    aggregate("SUM", &[Numeric], Matters, (true, true), sum),
    AggregateDef { null_if_empty: false, ..aggregate("$SUM0", &[Numeric], Matters, (true, true), sum0) },
    aggregate("AVG", &[Numeric], Matters, (true, true), avg),
    aggregate("MIN", &[Any], Ignored, (true, true), first),
    aggregate("MAX", &[Any], Ignored, (true, true), first),
    aggregate("STDDEV_POP", &[Numeric], Matters, (true, true), avg),
    aggregate("STDDEV_SAMP", &[Numeric], Matters, (true, true), avg_nullable),
    aggregate("VAR_POP", &[Numeric], Matters, (true, true), avg),
    aggregate("VAR_SAMP", &[Numeric], Matters, (true, true), avg_nullable),
    AggregateDef { arity: (1, 2), ..aggregate("LISTAGG", &[Character], Matters, (true, true), string_of_args) },
    aggregate("COLLECT", &[Any], Matters, (true, true), collect),
    aggregate("ARRAY_AGG", &[Any], Matters, (true, true), array),
    aggregate("SINGLE_VALUE", &[Any], Refused, (false, true), first_nullable),
    aggregate("APPROX_COUNT_DISTINCT", &[Any], Refused, (true, false), count),
    AggregateDef { ordered: true, ..aggregate("FIRST_VALUE", &[Any], Matters, (false, true), first) },
    AggregateDef { ordered: true, ..aggregate("LAST_VALUE", &[Any], Matters, (false, true), first) },
    AggregateDef {
        arity: (2, 3),
        ..aggregate("JSON_OBJECTAGG", &[Character, Any], Refused, (true, true), string_not_null)
    },
    AggregateDef { arity: (1, 2), ..aggregate("JSON_ARRAYAGG", &[Any], Refused, (false, true), string_not_null) },
    AggregateDef {
        arity: (2, 3),
        ..aggregate("PERCENTILE", &[Numeric, Any, Integer], Refused, (true, true), |_| TypeKind::Double.nullable())
    },
    over("ROW_NUMBER", (0, 0), &[], bigint),
    over("RANK", (0, 0), &[], bigint),
    over("DENSE_RANK", (0, 0), &[], bigint),
    over("PERCENT_RANK", (0, 0), &[], double),
    over("CUME_DIST", (0, 0), &[], double),
    over("NTILE", (1, 1), &[Integer], |args| TypeKind::BigInt.not_null().with_nullable(nullable(args))),
    over("LAG", (1, 3), &[Any, Integer, Any], lag),
    over("LEAD", (1, 3), &[Any, Integer, Any], lag),
    over("NTH_VALUE", (2, 2), &[Any, Integer], first_nullable),
];

/// Other names of the same aggregate.
static ALIASES: &[(&str, &str)] = &[("STDDEV", "STDDEV_SAMP"), ("VARIANCE", "VAR_SAMP"), ("SUM0", "$SUM0")];

type Index = FxHashMap<&'static str, &'static AggregateDef>;

fn index() -> &'static Index {
    static INDEX: OnceLock<Index> = OnceLock::new();
    INDEX.get_or_init(|| {
        let mut index: Index = AGGREGATES.iter().map(|def| (def.name, def)).collect();
        for (alias, name) in ALIASES {
            if let Some(def) = index.get(name).copied() {
                index.insert(alias, def);
            }
        }
        index
    })
}

/// Flink's aggregate of this name, in any letter case.
pub fn lookup(name: &str) -> Option<&'static AggregateDef> {
    index().get(name.to_ascii_uppercase().as_str()).copied()
}

/// All aggregates, each once.
pub fn all() -> impl Iterator<Item = &'static AggregateDef> {
    AGGREGATES.iter()
}

/// All names that [`lookup`] knows, in no order.
pub fn names() -> impl Iterator<Item = &'static str> {
    index().keys().copied()
}

impl AggregateDef {
    /// The result type, or Flink's reason against these arguments. `may_be_empty`: there are no group keys, or a FILTER or
    /// an OVER window with nothing in it, so that the aggregate may see no row.
    pub fn check(&self, args: &[ArgumentType<'_>], may_be_empty: bool) -> Result<DataType, String> {
        let (least, most) = self.arity;
        if args.len() < least || args.len() > most {
            let expected = if least == most { least.to_string() } else { format!("{least} to {most}") };
            return Err(format!(
                "Invalid number of arguments to function '{}'. Was expecting {expected} arguments",
                self.name
            ));
        }
        let operand = |i: usize| self.operands.get(i).or(self.operands.last()).copied().unwrap_or(Operand::Any);
        if args.iter().enumerate().any(|(i, a)| !operand(i).accepts(a.ty)) {
            let given: Vec<String> = args.iter().map(|a| format!("<{}>", sql_name(a.ty))).collect();
            let wanted: Vec<String> = (0..args.len()).map(|i| format!("<{}>", operand(i).name())).collect();
            return Err(format!(
                "Cannot apply '{0}' to arguments of type '{0}({1})'. Supported form(s): '{0}({2})'",
                self.name,
                given.join(", "),
                wanted.join(", ")
            ));
        }
        let literal_null = |a: &ArgumentType<'_>| matches!(a.literal, Some(Value::Null)) && a.ty.kind == TypeKind::Null;
        if args.iter().any(literal_null) {
            return Err("Illegal use of 'NULL'".to_owned());
        }
        let ty = (self.result)(args);
        Ok(if may_be_empty && self.null_if_empty && self.kind == AggregateKind::Aggregate {
            ty.with_nullable(true)
        } else {
            ty
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(name: &str, ty: TypeKind, may_be_empty: bool) -> String {
        let ty = ty.not_null();
        let args = [ArgumentType { ty: &ty, literal: None }];
        lookup(name).map_or_else(String::new, |def| match def.check(&args, may_be_empty) {
            Ok(ty) => ty.to_string(),
            Err(e) => e,
        })
    }

    #[test]
    fn result_types_are_flinks() {
        assert_eq!(result("SUM", TypeKind::Decimal(10, 2), true), "DECIMAL(38, 2)");
        assert_eq!(result("sum", TypeKind::TinyInt, false), "TINYINT NOT NULL");
        assert_eq!(result("AVG", TypeKind::Decimal(10, 2), false), "DECIMAL(38, 6) NOT NULL");
        assert_eq!(result("AVG", TypeKind::Int, false), "INT NOT NULL");
        assert_eq!(result("COUNT", TypeKind::Int, true), "BIGINT NOT NULL");
        assert_eq!(result("STDDEV", TypeKind::Int, false), "INT");
        assert_eq!(result("LAG", TypeKind::Int, false), "INT");
        assert!(result("SUM", TypeKind::string(), false).starts_with("Cannot apply 'SUM'"));
    }
}
