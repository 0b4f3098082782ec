//! Temporal functions.

use super::results::*;
use super::{ArgumentType, FunctionDef, Operand::*, function, volatile};
use crate::catalog::types::{DataType, TimeAttribute, TypeKind};
use crate::catalog::value::Value;

pub(super) static FUNCTIONS: &[FunctionDef] = &[
    volatile("LOCALTIME", (0, 0), &[], time_not_null),
    volatile("LOCALTIMESTAMP", (0, 0), &[], timestamp3_not_null),
    volatile("CURRENT_TIME", (0, 0), &[], time_not_null),
    volatile("CURRENT_DATE", (0, 0), &[], date_not_null),
    volatile("CURRENT_TIMESTAMP", (0, 0), &[], ltz3_not_null),
    volatile("NOW", (0, 0), &[], ltz3_not_null),
    volatile("CURRENT_ROW_TIMESTAMP", (0, 0), &[], ltz3_not_null),
    volatile("CURRENT_WATERMARK", (1, 1), &[Timestamp], arg0_nullable),
    volatile("PROCTIME", (0, 0), &[], |_| Ok(TypeKind::TimestampLtz(3, TimeAttribute::Proctime).not_null())),
    function("EXTRACT", (2, 2), &[Symbol, DatetimeOrInterval], |args| propagate(TypeKind::BigInt, &args[1..])),
    function("TIMESTAMPADD", (3, 3), &[Symbol, Integer, Datetime], timestamp_add),
    function("TIMESTAMPDIFF", (3, 3), &[Symbol, Datetime], |args| propagate(TypeKind::Int, &args[1..])),
    function("CONVERT_TZ", (3, 3), &[Character], string_nullable),
    function("FROM_UNIXTIME", (1, 2), &[Numeric, Character], string_nullable),
    volatile("UNIX_TIMESTAMP", (0, 2), &[Character], bigint),
    function("TO_DATE", (1, 2), &[Character], date_nullable),
    function("TO_TIMESTAMP_LTZ", (2, 2), &[Numeric, Integer], to_timestamp_ltz),
    function("TO_TIMESTAMP", (1, 2), &[Character], timestamp3_nullable),
    function("DATE_FORMAT", (2, 2), &[TimestampOrCharacter, Character], string_nullable),
    function("OVERLAPS", (4, 4), &[DatetimeOrInterval], boolean),
    function("SOURCE_WATERMARK", (0, 0), &[], timestamp3_nullable),
];

/// The precision is 3, whatever the constant says (0 for seconds, 3 for milliseconds).
fn to_timestamp_ltz(args: &[ArgumentType<'_>]) -> Typed {
    match args.get(1).and_then(|a| a.literal) {
        Some(Value::Int(n)) if !matches!(n, 0 | 3) => Err(format!(
            "The precision value '{n}' for function TO_TIMESTAMP_LTZ(numeric, precision) is unsupported, the supported value is '0' for second or '3' for millisecond"
        )),
        _ => ltz3_nullable(args),
    }
}

/// A DATE stays one when days, months and the like are added, else it becomes a TIMESTAMP(6).
fn timestamp_add(args: &[ArgumentType<'_>]) -> Typed {
    let ty: DataType = arg(args, 2);
    let kind = match (&ty.kind, args.first().and_then(|a| a.literal)) {
        (TypeKind::Date, Some(Value::Symbol(unit))) if matches!(&**unit, "HOUR" | "MINUTE" | "SECOND") => {
            TypeKind::Timestamp(6, TimeAttribute::None)
        }
        (kind, _) => kind.clone(),
    };
    propagate(kind, &args[1..])
}
