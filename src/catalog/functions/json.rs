//! JSON functions.

use super::results::*;
use super::{FunctionDef, MANY, Operand::*, function};

pub(super) static FUNCTIONS: &[FunctionDef] = &[
    function("IS JSON VALUE", (1, 1), &[Character], boolean_not_null),
    function("IS NOT JSON VALUE", (1, 1), &[Character], boolean_not_null),
    function("IS JSON OBJECT", (1, 1), &[Character], boolean_not_null),
    function("IS NOT JSON OBJECT", (1, 1), &[Character], boolean_not_null),
    function("IS JSON ARRAY", (1, 1), &[Character], boolean_not_null),
    function("IS NOT JSON ARRAY", (1, 1), &[Character], boolean_not_null),
    function("IS JSON SCALAR", (1, 1), &[Character], boolean_not_null),
    function("IS NOT JSON SCALAR", (1, 1), &[Character], boolean_not_null),
    function("JSON_EXISTS", (2, 3), &[Character, Character, Any], boolean_nullable),
    function("JSON_STRING", (1, 1), &[Any], string),
    function("JSON_VALUE", (2, MANY), &[Character, Character, Any], string_nullable),
    function("JSON_QUERY", (2, MANY), &[Character, Character, Any], string_nullable),
    function("JSON_OBJECT", (0, MANY), &[Any], string_not_null),
    function("JSON_ARRAY", (0, MANY), &[Any], string_not_null),
];
