//! Expressions as Flink's planner leaves them: constants folded, conditions merged.
//!
//! [`simplify`] does what `RexSimplify`, `ReduceExpressionsRule` and `FlinkRexUtil` do as far as plans show it, so that what
//! is printed is Flink's own text. [`canonical`] goes on to the form in which texts that mean the same are equal: it is for
//! comparing, not for printing.

mod boolean;
mod canonical;
mod cast;
mod compare;
mod conjuncts;
mod fold;
mod rank;
mod sarg;
mod time_attribute;

use super::rex::{Function, Origins, OverCall, Rex, RexKind, SortExpr, Value};
use crate::catalog::functions::{FunctionDef, operators as op};
use crate::catalog::types::{DataType, TypeKind};

pub use self::canonical::canonical;
pub use self::conjuncts::{
    and_all, as_i64_constant, conjuncts, constant_millis, is_always_false, is_always_true, or_all,
};
pub use self::rank::{RankRange, rank_end_column, rank_range};
pub use self::time_attribute::materialize;

/// Simplifies a value: unknown stays unknown.
pub fn simplify(rex: Rex) -> Rex {
    Simplifier { unknown_is_false: false, filters_rows: false }.rex(rex)
}

/// Simplifies a select item: a constant stays nullable if the item was (`RexSimplify.simplifyPreservingType`).
pub fn simplify_item(rex: Rex) -> Rex {
    let ty = rex.ty.clone();
    let simple = simplify(rex);
    if !ty.nullable || simple.ty.nullable || simple.as_literal().is_none() || ty.kind != simple.ty.kind {
        return simple;
    }
    Rex::cast(simple, ty)
}

/// Simplifies the condition of a FILTER: unknown counts as false.
pub fn simplify_condition(rex: Rex) -> Rex {
    Simplifier { unknown_is_false: true, filters_rows: false }.rex(rex)
}

/// Simplifies a condition of WHERE, HAVING or ON, as `SimplifyFilterConditionRule` does it.
pub fn simplify_filter(rex: Rex) -> Rex {
    Simplifier { unknown_is_false: true, filters_rows: true }.rex(rex)
}

/// How unknown counts where the walk stands.
#[derive(Debug, Clone, Copy)]
struct Simplifier {
    unknown_is_false: bool,
    /// Somewhere in a condition that filters rows: there a column equals itself even if it is NULL (`FlinkRexUtil`).
    filters_rows: bool,
}

impl Simplifier {
    /// Inside anything but AND and OR, unknown is a value of its own.
    fn value(self) -> Simplifier {
        Simplifier { unknown_is_false: false, ..self }
    }

    fn rex(self, rex: Rex) -> Rex {
        let Rex { kind, ty, origins } = rex;
        match kind {
            RexKind::Call(Function::Builtin(def), args) => self.call(def, args, ty, origins),
            RexKind::Call(function, args) => {
                let args = self.value().list(args);
                Rex { kind: RexKind::Call(function, args), ty, origins }
            }
            RexKind::Cast { operand, is_try } => {
                let operand = self.value().rex(*operand);
                cast::simplify_cast(operand, ty, is_try, origins)
            }
            RexKind::Field(operand, index) => {
                let operand = self.value().rex(*operand);
                Rex { kind: RexKind::Field(Box::new(operand), index), ty, origins }
            }
            RexKind::Over(over) => Rex { kind: RexKind::Over(Box::new(self.over(*over))), ty, origins },
            RexKind::Literal(Value::Null) if self.unknown_is_false => Rex { origins, ..Rex::boolean(false) },
            kind => Rex { kind, ty, origins },
        }
    }

    fn list(self, args: Vec<Rex>) -> Vec<Rex> {
        args.into_iter().map(|a| self.rex(a)).collect()
    }

    fn over(self, over: OverCall) -> OverCall {
        let s = self.value();
        OverCall {
            args: s.list(over.args),
            filter: over.filter.map(simplify_condition),
            partition_by: s.list(over.partition_by),
            order_by: over.order_by.into_iter().map(|o| SortExpr { expr: s.rex(o.expr), ..o }).collect(),
            ..over
        }
    }

    fn call(self, def: &'static FunctionDef, args: Vec<Rex>, ty: DataType, origins: Origins) -> Rex {
        let result = match def.name {
            "AND" => boolean::and(self, self.list(args), ty),
            "OR" => boolean::or(self, self.list(args), ty),
            "NOT" => match <[Rex; 1]>::try_from(args) {
                Ok([operand]) => boolean::not(self, self.value().rex(operand)),
                Err(args) => Rex::call(def, args, ty),
            },
            "CASE" => self.case(self.value().list(args), ty),
            _ => self.other(def, self.value().list(args), ty),
        };
        result.or_at(&origins)
    }

    fn other(self, def: &'static FunctionDef, args: Vec<Rex>, ty: DataType) -> Rex {
        match def.name {
            "=" | "<>" | "<" | "<=" | ">" | ">=" => compare::comparison(self, def, args, ty),
            "IS NULL" | "IS NOT NULL" | "IS TRUE" | "IS NOT TRUE" | "IS FALSE" | "IS NOT FALSE" => {
                boolean::test(self, def, args, ty)
            }
            "COALESCE" | "IFNULL" => coalesce(def, args, ty),
            "LIKE" if is_any_text(&args) => {
                let operand = args.into_iter().next().unwrap_or_else(|| Rex::boolean(true));
                if operand.ty.nullable && self.unknown_is_false {
                    Rex::call(&op::IS_NOT_NULL, vec![operand], TypeKind::Boolean.not_null())
                } else if operand.ty.nullable {
                    let pattern = Rex::literal(Value::String("%".into()), TypeKind::Char(1).not_null());
                    Rex::call(def, vec![operand, pattern], ty)
                } else {
                    Rex::boolean(true)
                }
            }
            _ => fold::call(def, args, ty),
        }
    }

    /// CASE with constant conditions, with equal results, and CASEs that are conditions.
    fn case(self, args: Vec<Rex>, ty: DataType) -> Rex {
        let mut kept: Vec<Rex> = Vec::with_capacity(args.len());
        let mut rest = args.into_iter();
        let mut otherwise = None;
        while let Some(condition) = rest.next() {
            let Some(result) = rest.next() else {
                otherwise = Some(condition);
                break;
            };
            match condition.as_literal() {
                Some(Value::Boolean(false) | Value::Null) => {}
                Some(Value::Boolean(true)) => {
                    otherwise = Some(result);
                    break;
                }
                _ => kept.extend([condition, result]),
            }
        }
        let otherwise = otherwise.unwrap_or_else(|| Rex::null(ty.clone()));
        if kept.chunks(2).all(|pair| pair[1] == otherwise && pair[1].ty.kind == otherwise.ty.kind) {
            return cast::to_kind(otherwise, &ty);
        }
        if let [condition, result] = kept.as_slice()
            && ty.kind == TypeKind::Boolean
            && let Some(rex) = self.boolean_case(condition, result, &otherwise)
        {
            return rex;
        }
        kept.push(otherwise);
        Rex::call(&op::CASE, kept, ty)
    }

    fn boolean_case(self, condition: &Rex, result: &Rex, otherwise: &Rex) -> Option<Rex> {
        let test = |def| Rex::call(def, vec![condition.clone()], TypeKind::Boolean.not_null());
        match (result.as_literal(), otherwise.as_literal()) {
            (Some(Value::Boolean(true)), Some(Value::Boolean(false))) => {
                Some(self.rex(if condition.ty.nullable { test(&op::IS_TRUE) } else { condition.clone() }))
            }
            (Some(Value::Boolean(false)), Some(Value::Boolean(true))) => Some(self.rex(test(&op::IS_NOT_TRUE))),
            (None, Some(Value::Boolean(false))) if self.unknown_is_false => {
                let ty = DataType { kind: TypeKind::Boolean, nullable: true };
                Some(boolean::and(self, vec![condition.clone(), result.clone()], ty))
            }
            _ => None,
        }
    }
}

fn is_any_text(args: &[Rex]) -> bool {
    args.len() == 2 && matches!(args[1].as_literal(), Some(Value::String(p)) if &**p == "%")
}

/// COALESCE up to its first argument that is never NULL.
fn coalesce(def: &'static FunctionDef, mut args: Vec<Rex>, ty: DataType) -> Rex {
    if let Some(i) = args.iter().position(|a| !a.ty.nullable) {
        args.truncate(i + 1);
    }
    if args.len() == 1 && !args[0].ty.nullable {
        return cast::to_kind(args.remove(0), &ty);
    }
    Rex::call(def, args, ty)
}

#[cfg(test)]
mod tests;
