//! String and hash functions.

use std::sync::Arc;

use super::results::*;
use super::{ArgumentType, FunctionDef, MANY, Operand::*, function};
use crate::catalog::types::{MAX_LENGTH, TypeKind};
use crate::catalog::value::Value;

pub(super) static FUNCTIONS: &[FunctionDef] = &[
    function("CHAR_LENGTH", (1, 1), &[Character], int),
    function("UPPER", (1, 1), &[Character], arg0),
    function("LOWER", (1, 1), &[Character], arg0),
    function("INITCAP", (1, 1), &[Character], arg0),
    function("POSITION", (2, 3), &[Character, Character, Integer], int),
    function("TRIM", (3, 3), &[Symbol, Character], |args| propagate(varying(arg(args, 2).kind), &args[1..])),
    function("LTRIM", (1, 2), &[Character], arg0_varying),
    function("RTRIM", (1, 2), &[Character], arg0_varying),
    function("REPEAT", (2, 2), &[Character, Integer], string),
    function("REGEXP_REPLACE", (3, 3), &[Character], string),
    function("OVERLAY", (3, 4), &[Character, Character, Integer], overlay),
    function("SUBSTRING", (2, 3), &[Character, Integer], arg0_varying_nullable),
    function("SUBSTR", (2, 3), &[Character, Integer], arg0_varying_nullable),
    function("REPLACE", (3, 3), &[Character], string),
    function("REGEXP_EXTRACT", (2, 3), &[Character, Character, Integer], string_nullable),
    function("CONCAT", (1, MANY), &[Character], string),
    function("CONCAT_WS", (2, MANY), &[Character], string),
    function("LPAD", (3, 3), &[Character, Integer, Character], string),
    function("RPAD", (3, 3), &[Character, Integer, Character], string),
    function("FROM_BASE64", (1, 1), &[Character], string),
    function("TO_BASE64", (1, 1), &[Character], string),
    function("ASCII", (1, 1), &[Character], int),
    function("CHR", (1, 1), &[Integer], string_nullable),
    function("DECODE", (2, 2), &[Binary, Character], string_nullable),
    function("ENCODE", (2, 2), &[Character], |_| Ok(TypeKind::Binary(1).nullable())),
    function("INSTR", (2, 4), &[Character, Character, Integer], int),
    function("LEFT", (2, 2), &[Character, Integer], arg0_varying_nullable),
    function("RIGHT", (2, 2), &[Character, Integer], arg0_varying_nullable),
    function("LOCATE", (2, 3), &[Character, Character, Integer], int),
    function("PARSE_URL", (2, 3), &[Character], string_nullable),
    function("REGEXP", (2, 2), &[Character], boolean),
    function("REVERSE", (1, 1), &[Character], string_nullable),
    function("SPLIT_INDEX", (3, 3), &[Character, NumericOrCharacter, Integer], string_nullable),
    function("SPLIT", (2, 2), &[Character], |args| {
        propagate(TypeKind::Array(Arc::new(TypeKind::string().nullable())), args)
    }),
    function("STR_TO_MAP", (1, 3), &[Character], |_| {
        let text = Arc::new(TypeKind::string().nullable());
        Ok(TypeKind::Map(text.clone(), text).nullable())
    }),
    function("IS_ALPHA", (1, 1), &[NumericOrCharacter], boolean_not_null),
    function("IS_DECIMAL", (1, 1), &[NumericOrCharacter], boolean_not_null),
    function("IS_DIGIT", (1, 1), &[NumericOrCharacter], boolean_not_null),
    function("HASH_CODE", (1, 1), &[Any], int),
    function("MD5", (1, 1), &[Character], |args| propagate(TypeKind::Char(32), args)),
    function("SHA1", (1, 1), &[Character], |args| propagate(TypeKind::Char(40), args)),
    function("SHA224", (1, 1), &[Character], |args| propagate(TypeKind::Char(56), args)),
    function("SHA256", (1, 1), &[Character], |args| propagate(TypeKind::Char(64), args)),
    function("SHA384", (1, 1), &[Character], |args| propagate(TypeKind::Char(96), args)),
    function("SHA512", (1, 1), &[Character], |args| propagate(TypeKind::Char(128), args)),
    function("SHA2", (2, 2), &[Character, Integer], sha2),
];

/// OVERLAY can grow by the placed text.
fn overlay(args: &[ArgumentType<'_>]) -> Typed {
    let length = |kind| match kind {
        TypeKind::Char(n) | TypeKind::VarChar(n) => n,
        _ => MAX_LENGTH,
    };
    let total = length(arg(args, 0).kind).saturating_add(length(arg(args, 1).kind)).min(MAX_LENGTH);
    propagate(TypeKind::VarChar(total), args)
}

/// A constant length has to be that of an algorithm (`HashCodeCallGen`).
fn sha2(args: &[ArgumentType<'_>]) -> Typed {
    match args.get(1).and_then(|a| a.literal) {
        Some(Value::Int(bits)) if !matches!(bits, 224 | 256 | 384 | 512) => Err("Unsupported algorithm.".to_owned()),
        _ => propagate(TypeKind::VarChar(128), args),
    }
}
