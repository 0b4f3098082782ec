//! Which type two types have in common, and the types of arithmetic.
//!
//! The rules are those of Flink's `FlinkTypeFactory.leastRestrictive` and `FlinkTypeSystem` (DECIMAL precision follows
//! "Decimal Type" of Flink's data type documentation).

use super::types::{DataType, TypeKind};

/// The most digits a DECIMAL has.
pub const MAX_PRECISION: u8 = 38;

/// Precision and scale of a number when it meets a DECIMAL: integers count with all their digits.
pub fn decimal_shape(kind: &TypeKind) -> Option<(u8, u8)> {
    Some(match kind {
        TypeKind::TinyInt => (3, 0),
        TypeKind::SmallInt => (5, 0),
        TypeKind::Int => (10, 0),
        TypeKind::BigInt => (19, 0),
        TypeKind::Decimal(p, s) => (*p, *s),
        _ => return None,
    })
}

/// A DECIMAL of `precision` and `scale`, with the scale cut where the precision does not fit (to 6 at the least).
pub fn adjusted_decimal(precision: i32, scale: i32) -> TypeKind {
    let max = i32::from(MAX_PRECISION);
    if precision <= max {
        return TypeKind::Decimal(precision as u8, scale as u8);
    }
    let scale = (max - (precision - scale)).max(scale.min(6));
    TypeKind::Decimal(MAX_PRECISION, scale as u8)
}

/// The arithmetic operators whose types differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    /// `+` and `-`
    Add,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Modulo,
}

/// The type of `a op b` for two numbers; nullability is the caller's.
pub fn arithmetic(op: Arithmetic, a: &TypeKind, b: &TypeKind) -> Option<TypeKind> {
    if let (Some((p1, s1)), Some((p2, s2))) = (decimal_shape(a), decimal_shape(b)) {
        let has_decimal = matches!(a, TypeKind::Decimal(..)) || matches!(b, TypeKind::Decimal(..));
        let (p1, s1, p2, s2) = (i32::from(p1), i32::from(s1), i32::from(p2), i32::from(s2));
        if op == Arithmetic::Modulo && s1 == 0 && s2 == 0 {
            return Some(b.clone());
        }
        if has_decimal {
            let (precision, scale) = match op {
                Arithmetic::Add => ((p1 - s1).max(p2 - s2) + s1.max(s2) + 1, s1.max(s2)),
                Arithmetic::Multiply => (p1 + p2 + 1, s1 + s2),
                Arithmetic::Divide => {
                    let scale = (s1 + p2 + 1).max(6);
                    (p1 - s1 + s2 + scale, scale)
                }
                Arithmetic::Modulo => ((p1 - s1).min(p2 - s2) + s1.max(s2), s1.max(s2)),
            };
            return Some(adjusted_decimal(precision, scale));
        }
    }
    common_number(a, b)
}

/// The common type of two numbers. FLOAT and DOUBLE count as equally wide in Calcite, so the left one wins.
fn common_number(a: &TypeKind, b: &TypeKind) -> Option<TypeKind> {
    use TypeKind::{Decimal, Double, Float};
    let approximate = |k: &TypeKind| matches!(k, Float | Double);
    if approximate(a) || approximate(b) {
        return match (a, b) {
            (Decimal(..), x) | (x, Decimal(..)) if approximate(x) => Some(Double),
            (x, _) if approximate(x) => (approximate(b) || decimal_shape(b).is_some()).then(|| x.clone()),
            (_, x) => decimal_shape(a).map(|_| x.clone()),
        };
    }
    let ((p1, s1), (p2, s2)) = (decimal_shape(a)?, decimal_shape(b)?);
    if matches!(a, Decimal(..)) || matches!(b, Decimal(..)) {
        let scale = s1.max(s2);
        let digits = (p1 - s1).max(p2 - s2);
        return Some(Decimal((digits + scale).min(MAX_PRECISION), scale));
    }
    Some(if p1 >= p2 { a.clone() } else { b.clone() })
}

/// The type that both have in common, or `None`. The result is nullable if one of them is.
pub fn least_restrictive(a: &DataType, b: &DataType) -> Option<DataType> {
    let nullable = a.nullable || b.nullable;
    if a.kind == TypeKind::Null {
        return Some(b.clone().with_nullable(true));
    }
    if b.kind == TypeKind::Null {
        return Some(a.clone().with_nullable(true));
    }
    common_kind(&a.kind, &b.kind).map(|kind| DataType { kind, nullable })
}

/// [`least_restrictive`] of many types; `None` for none.
pub fn least_restrictive_of<'a>(types: impl IntoIterator<Item = &'a DataType>) -> Option<DataType> {
    let mut types = types.into_iter();
    let first = types.next()?.clone();
    types.try_fold(first, |acc, ty| least_restrictive(&acc, ty))
}

fn common_kind(a: &TypeKind, b: &TypeKind) -> Option<TypeKind> {
    use TypeKind::*;
    if a == b {
        return Some(a.clone());
    }
    if matches!(a, Unknown) || matches!(b, Unknown) {
        return Some(Unknown);
    }
    match (a, b) {
        (Char(m) | VarChar(m), Char(n) | VarChar(n)) => Some(VarChar(*m.max(n))),
        (Binary(m) | VarBinary(m), Binary(n) | VarBinary(n)) => Some(VarBinary(*m.max(n))),
        (Time(m), Time(n)) => Some(Time(*m.max(n))),
        (Timestamp(m, _), Timestamp(n, _) | TimestampLtz(n, _)) => Some(Timestamp(*m.max(n), Default::default())),
        (TimestampLtz(m, _), TimestampLtz(n, _) | Timestamp(n, _)) => Some(TimestampLtz(*m.max(n), Default::default())),
        (IntervalDayTime(x), IntervalDayTime(y)) => Some(IntervalDayTime(x.joined(*y))),
        (IntervalYearMonth(x), IntervalYearMonth(y)) => Some(IntervalYearMonth(x.joined(*y))),
        (Array(x), Array(y)) => least_restrictive(x, y).map(|t| Array(t.into())),
        (Multiset(x), Multiset(y)) => least_restrictive(x, y).map(|t| Multiset(t.into())),
        (Map(k1, v1), Map(k2, v2)) => Some(Map(least_restrictive(k1, k2)?.into(), least_restrictive(v1, v2)?.into())),
        (Row(x), Row(y)) if x.len() == y.len() => {
            let fields = x.iter().zip(y.iter()).map(|(f, g)| {
                least_restrictive(&f.ty, &g.ty).map(|ty| super::types::Field { name: f.name.clone(), ty })
            });
            fields.collect::<Option<Vec<_>>>().map(|f| Row(f.into()))
        }
        _ => common_number(a, b),
    }
}

/// True if a value may become one of another type without a cast being written (`LogicalTypeCasts.supportsImplicitCast`).
pub fn implicit_cast(from: &TypeKind, to: &TypeKind) -> bool {
    use TypeKind::*;
    let width = |kind: &TypeKind| match kind {
        TinyInt => Some(1),
        SmallInt => Some(2),
        Int => Some(4),
        BigInt => Some(8),
        _ => None,
    };
    let each = |a: &DataType, b: &DataType| implicit_cast(&a.kind, &b.kind);
    match (from, to) {
        (Null | Unknown | Other(_), _) | (_, Unknown | Other(_)) => true,
        (Char(_) | VarChar(_), Char(_) | VarChar(_)) => true,
        (Binary(_) | VarBinary(_), Binary(_) | VarBinary(_)) => true,
        (Float | Double, Double) | (Float, Float) => true,
        (Float | Double, Decimal(..)) => true,
        (Date | Timestamp(..), Date) | (Time(_) | Timestamp(..), Time(_)) => true,
        (Timestamp(..) | TimestampLtz(..), Timestamp(..) | TimestampLtz(..)) => true,
        (IntervalDayTime(_), IntervalDayTime(_)) | (IntervalYearMonth(_), IntervalYearMonth(_)) => true,
        (Array(a), Array(b)) | (Multiset(a), Multiset(b)) => each(a, b),
        (Map(k, v), Map(l, w)) => each(k, l) && each(v, w),
        (Row(a), Row(b)) => a.len() == b.len() && a.iter().zip(b.iter()).all(|(f, g)| each(&f.ty, &g.ty)),
        (Decimal(..), Decimal(..) | Float | Double) => true,
        _ => match (width(from), width(to)) {
            (Some(a), Some(b)) => a <= b,
            (Some(_), None) => matches!(to, Float | Double | Decimal(..)),
            _ => from == to,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use TypeKind::{BigInt, Char, Decimal, Double, Float, Int, TinyInt, VarChar};

    #[test]
    fn decimal_arithmetic_follows_flink() {
        // Measured on Flink 1.20.
        let cases = [
            (Arithmetic::Add, Decimal(10, 2), Int, Decimal(13, 2)),
            (Arithmetic::Add, Decimal(10, 2), Decimal(5, 3), Decimal(12, 3)),
            (Arithmetic::Add, Decimal(38, 18), Decimal(38, 0), Decimal(38, 6)),
            (Arithmetic::Add, Decimal(38, 38), Decimal(38, 38), Decimal(38, 37)),
            (Arithmetic::Multiply, Decimal(10, 2), Decimal(5, 3), Decimal(16, 5)),
            (Arithmetic::Multiply, Decimal(10, 2), Decimal(38, 18), Decimal(38, 9)),
            (Arithmetic::Multiply, BigInt, Decimal(2, 1), Decimal(22, 1)),
            (Arithmetic::Divide, Decimal(10, 2), Decimal(5, 3), Decimal(19, 8)),
            (Arithmetic::Divide, Decimal(10, 2), Int, Decimal(21, 13)),
            (Arithmetic::Divide, Decimal(20, 5), Decimal(20, 5), Decimal(38, 18)),
            (Arithmetic::Modulo, Decimal(10, 2), Int, Decimal(10, 2)),
            (Arithmetic::Modulo, BigInt, TinyInt, TinyInt),
            (Arithmetic::Add, TinyInt, TinyInt, TinyInt),
            (Arithmetic::Add, Float, Double, Float),
            (Arithmetic::Add, Double, Float, Double),
            (Arithmetic::Add, Float, Decimal(10, 2), Double),
            (Arithmetic::Multiply, Float, Int, Float),
        ];
        for (op, a, b, expected) in cases {
            assert_eq!(arithmetic(op, &a, &b), Some(expected), "{a} {op:?} {b}");
        }
    }

    #[test]
    fn common_types() {
        let common = |a: TypeKind, b: TypeKind| least_restrictive(&a.not_null(), &b.nullable()).map(|t| t.to_string());
        assert_eq!(common(Char(3), Char(1)).as_deref(), Some("VARCHAR(3)"));
        assert_eq!(common(Char(3), TypeKind::string()), Some(VarChar(super::super::types::MAX_LENGTH).to_string()));
        assert_eq!(common(Int, Decimal(10, 2)).as_deref(), Some("DECIMAL(12, 2)"));
        assert_eq!(common(BigInt, Decimal(10, 2)).as_deref(), Some("DECIMAL(21, 2)"));
        assert_eq!(common(Int, Char(1)), None);
    }
}
