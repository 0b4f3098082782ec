//! Result types that many functions share.

use super::ArgumentType;
use crate::catalog::coercion;
use crate::catalog::types::{DataType, MAX_LENGTH, TypeKind};

/// What result functions return.
pub(super) type Typed = Result<DataType, String>;

/// True if an argument may be NULL.
pub(super) fn any_nullable(args: &[ArgumentType<'_>]) -> bool {
    args.iter().any(|a| a.ty.nullable)
}

/// `kind`, nullable if an argument is.
pub(super) fn propagate(kind: TypeKind, args: &[ArgumentType<'_>]) -> Typed {
    Ok(DataType { kind, nullable: any_nullable(args) })
}

/// Declares result functions of a fixed type: nullable as the arguments, always, and never.
macro_rules! fixed {
    ($($plain:ident, $nullable:ident, $not_null:ident: $kind:expr;)*) => {$(
        #[allow(dead_code)]
        pub(super) fn $plain(args: &[ArgumentType<'_>]) -> Typed {
            propagate($kind, args)
        }
        #[allow(dead_code)]
        pub(super) fn $nullable(_: &[ArgumentType<'_>]) -> Typed {
            Ok($kind.nullable())
        }
        #[allow(dead_code)]
        pub(super) fn $not_null(_: &[ArgumentType<'_>]) -> Typed {
            Ok($kind.not_null())
        }
    )*};
}

fixed! {
    boolean, boolean_nullable, boolean_not_null: TypeKind::Boolean;
    int, int_nullable, int_not_null: TypeKind::Int;
    bigint, bigint_nullable, bigint_not_null: TypeKind::BigInt;
    double, double_nullable, double_not_null: TypeKind::Double;
    string, string_nullable, string_not_null: TypeKind::string();
    date, date_nullable, date_not_null: TypeKind::Date;
    time, time_nullable, time_not_null: TypeKind::Time(0);
    timestamp3, timestamp3_nullable, timestamp3_not_null: TypeKind::Timestamp(3, Default::default());
    ltz3, ltz3_nullable, ltz3_not_null: TypeKind::TimestampLtz(3, Default::default());
    bytes, bytes_nullable, bytes_not_null: TypeKind::VarBinary(MAX_LENGTH);
}

/// The type of argument `i`, as an ordinary value.
pub(super) fn arg(args: &[ArgumentType<'_>], i: usize) -> DataType {
    args.get(i).map_or_else(DataType::unknown, |a| a.ty.clone().materialized())
}

/// The type of the first argument, nullable if any is.
pub(super) fn arg0(args: &[ArgumentType<'_>]) -> Typed {
    propagate(arg(args, 0).kind, args)
}

/// The type of the first argument, with its own nullability.
pub(super) fn arg0_as_is(args: &[ArgumentType<'_>]) -> Typed {
    Ok(arg(args, 0))
}

/// The type of the first argument, nullable.
pub(super) fn arg0_nullable(args: &[ArgumentType<'_>]) -> Typed {
    Ok(arg(args, 0).with_nullable(true))
}

/// The common type of all arguments, nullable if any is. Unlike an operator's, it is DOUBLE for a FLOAT before a DOUBLE: the
/// functions that use it are typed by Flink's `LogicalTypeMerging`.
pub(super) fn common(args: &[ArgumentType<'_>]) -> Typed {
    let double = args.iter().any(|a| a.ty.kind == TypeKind::Double);
    coercion::least_restrictive_of(args.iter().map(|a| a.ty))
        .map(DataType::materialized)
        .map(|t| if double && t.kind == TypeKind::Float { DataType { kind: TypeKind::Double, ..t } } else { t })
        .ok_or_else(|| "Invalid input arguments: they have no common type".to_owned())
}

/// The first argument's text as VARCHAR of the same length, nullable if any argument is.
pub(super) fn arg0_varying(args: &[ArgumentType<'_>]) -> Typed {
    propagate(varying(arg(args, 0).kind), args)
}

/// As [`arg0_varying`], always nullable.
pub(super) fn arg0_varying_nullable(args: &[ArgumentType<'_>]) -> Typed {
    Ok(varying(arg(args, 0).kind).nullable())
}

/// CHAR as VARCHAR, BINARY as VARBINARY.
pub(super) fn varying(kind: TypeKind) -> TypeKind {
    match kind {
        TypeKind::Char(n) => TypeKind::VarChar(n),
        TypeKind::Binary(n) => TypeKind::VarBinary(n),
        TypeKind::Null => TypeKind::string(),
        other => other,
    }
}
