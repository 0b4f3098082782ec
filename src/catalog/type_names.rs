//! From written type names to types: Flink's defaults and limits ("Data Types" of Flink's documentation).

use std::sync::Arc;

use super::types::{DataType, Field, IntervalUnits, MAX_LENGTH, TypeKind};
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::{TypeName, TypeNameKind};

/// How deep types may nest.
const MAX_NESTING: usize = 100;

impl DataType {
    /// The type that a type name stands for: `TIMESTAMP` is TIMESTAMP(6), `DECIMAL` is DECIMAL(10, 0), `VARCHAR` is
    /// STRING, TIME has no fraction. Precisions beyond Flink's are cut as Flink cuts them.
    pub fn from_ast(name: &TypeName) -> PlanResult<DataType> {
        from_ast(name, 0)
    }
}

fn from_ast(name: &TypeName, depth: usize) -> PlanResult<DataType> {
    if depth > MAX_NESTING {
        return Err(PlanError::rejected(name.span, format!("types nest more than {MAX_NESTING} levels deep"))
            .label("too deep")
            .into());
    }
    let inner = |t: &TypeName| from_ast(t, depth + 1).map(Arc::new);
    let kind = match &name.kind {
        TypeNameKind::Simple(word, numbers) => simple(word, numbers, name.span)?,
        TypeNameKind::Array(t) => TypeKind::Array(inner(t)?),
        TypeNameKind::Multiset(t) => TypeKind::Multiset(inner(t)?),
        TypeNameKind::Map(k, v) => TypeKind::Map(inner(k)?, inner(v)?),
        TypeNameKind::Row(fields) => {
            let fields =
                fields.iter().map(|f| from_ast(&f.ty, depth + 1).map(|ty| Field { name: f.name.value.clone(), ty }));
            TypeKind::Row(fields.collect::<PlanResult<Vec<_>>>()?.into())
        }
        TypeNameKind::Other(text) => TypeKind::Other(text.as_str().into()),
    };
    Ok(DataType { kind, nullable: !name.not_null })
}

fn simple(word: &str, numbers: &[u32], span: Span) -> PlanResult<TypeKind> {
    let first = numbers.first().copied();
    let fraction = |default: u8| first.map_or(default, |n| n.min(9) as u8);
    Ok(match word {
        "BOOLEAN" => TypeKind::Boolean,
        "TINYINT" => TypeKind::TinyInt,
        "SMALLINT" => TypeKind::SmallInt,
        "INT" | "INTEGER" => TypeKind::Int,
        "BIGINT" => TypeKind::BigInt,
        "FLOAT" => TypeKind::Float,
        "DOUBLE" | "DOUBLE PRECISION" => TypeKind::Double,
        "DECIMAL" | "DEC" | "NUMERIC" => decimal(numbers, span)?,
        "CHAR" | "CHARACTER" => TypeKind::Char(first.unwrap_or(1)),
        "VARCHAR" | "CHAR VARYING" | "CHARACTER VARYING" => TypeKind::VarChar(first.unwrap_or(MAX_LENGTH)),
        "STRING" => TypeKind::string(),
        "BINARY" => TypeKind::Binary(first.unwrap_or(1)),
        "VARBINARY" | "BINARY VARYING" => TypeKind::VarBinary(first.unwrap_or(MAX_LENGTH)),
        "BYTES" => TypeKind::VarBinary(MAX_LENGTH),
        "DATE" => TypeKind::Date,
        // Flink plans keep no fraction of a second in TIME, whatever is written.
        "TIME" | "TIME WITHOUT TIME ZONE" => TypeKind::Time(0),
        "TIMESTAMP" | "TIMESTAMP WITHOUT TIME ZONE" => TypeKind::Timestamp(fraction(6), Default::default()),
        "TIMESTAMP_LTZ" | "TIMESTAMP WITH LOCAL TIME ZONE" => TypeKind::TimestampLtz(fraction(6), Default::default()),
        "NULL" => TypeKind::Null,
        _ => {
            if let Some(units) = word.strip_prefix("INTERVAL ").and_then(IntervalUnits::from_words) {
                return Ok(units.interval());
            }
            return Err(unknown_type(word, span));
        }
    })
}

fn decimal(numbers: &[u32], span: Span) -> PlanResult<TypeKind> {
    let precision = numbers.first().copied().unwrap_or(10).min(38);
    let scale = numbers.get(1).copied().unwrap_or(0);
    if precision == 0 {
        return Err(PlanError::rejected(span, "Decimal precision must be between 1 and 38 (both inclusive)")
            .label("precision 0")
            .help("write DECIMAL(p, s) with 1 to 38 digits")
            .into());
    }
    if scale > precision {
        return Err(PlanError::rejected(
            span,
            format!("Decimal scale must be between 0 and the precision {precision} (both inclusive)"),
        )
        .label(format!("scale {scale}"))
        .help("the first number counts all digits, the second those after the point")
        .into());
    }
    Ok(TypeKind::Decimal(precision as u8, scale as u8))
}

fn unknown_type(word: &str, span: Span) -> Box<PlanError> {
    let help = match word {
        "TEXT" | "CLOB" | "NVARCHAR" => Some("Flink's text type is STRING"),
        "DATETIME" => Some("use TIMESTAMP(3)"),
        "TIMESTAMP WITH TIME ZONE" => Some("use TIMESTAMP_LTZ(3): Flink has no type with a zone of its own"),
        "REAL" => Some("use FLOAT"),
        "BOOL" => Some("use BOOLEAN"),
        "LONG" | "INT8" => Some("use BIGINT"),
        "BLOB" => Some("use BYTES"),
        _ => None,
    };
    let error = PlanError::rejected(span, format!("Unknown identifier '{word}'")).label("not a type of Flink");
    Box::new(match help {
        Some(help) => error.help(help),
        None => error,
    })
}
