//! The types of keys, namespaces and values in state, as the serializers in savepoints tell them apart.

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::catalog::types::{DataType, Field, MAX_LENGTH, TimeAttribute, TypeKind};

/// A row in Flink's binary form (`RowDataSerializer`): typed by position. Names are for people and do not take part in
/// comparisons.
#[derive(Debug, Clone, Default)]
pub struct RowType {
    /// The fields in order.
    pub fields: Vec<Field>,
}

impl RowType {
    /// A row of named fields.
    pub fn new<N: Into<String>>(fields: impl IntoIterator<Item = (N, DataType)>) -> RowType {
        RowType { fields: fields.into_iter().map(|(name, ty)| Field { name: name.into(), ty }).collect() }
    }

    /// The types in order.
    pub fn types(&self) -> impl Iterator<Item = &DataType> {
        self.fields.iter().map(|f| &f.ty)
    }
}

impl PartialEq for RowType {
    fn eq(&self, other: &RowType) -> bool {
        self.types().eq(other.types())
    }
}

impl Eq for RowType {}

impl Hash for RowType {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.fields.len());
        self.types().for_each(|ty| ty.hash(state));
    }
}

/// `ROW<STRING, BIGINT NOT NULL>`; with `{:#}` the names are in it: ``ROW<`a` STRING, `b` BIGINT NOT NULL>``.
impl fmt::Display for RowType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ROW<")?;
        for (i, field) in self.fields.iter().enumerate() {
            f.write_str(if i > 0 { ", " } else { "" })?;
            if f.alternate() {
                write!(f, "`{}` ", field.name.replace('`', "``"))?;
            }
            write!(f, "{}", Summary(&field.ty))?;
        }
        f.write_str(">")
    }
}

/// What an entry holds, or the namespace it is kept under.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum StateType {
    /// No namespace (`VoidNamespaceSerializer`).
    Void,
    /// A window with its start and end (`TimeWindow.Serializer`).
    Window,
    /// One value of a logical type (`LongSerializer`, ...; in data views `ExternalSerializer`).
    Value(DataType),
    /// A row.
    Row(RowType),
    /// A list (`ListSerializer`).
    List(Box<StateType>),
    /// A map (`MapSerializer`).
    Map(Box<StateType>, Box<StateType>),
    /// A map in key order (`SortedMapSerializer`).
    SortedMap(Box<StateType>, Box<StateType>),
    /// Flink's `Tuple2` and the like (`TupleSerializer`).
    Tuple(Vec<StateType>),
    /// A class of Flink's own, by its name, with the types that its serializer is made of (`NodeIdSerializer`, ...).
    Class(&'static str, Vec<StateType>),
}

impl StateType {
    /// A long.
    pub fn bigint() -> StateType {
        StateType::Value(TypeKind::BigInt.nullable())
    }

    /// A boolean.
    pub fn boolean() -> StateType {
        StateType::Value(TypeKind::Boolean.nullable())
    }

    /// An int.
    pub fn int() -> StateType {
        StateType::Value(TypeKind::Int.nullable())
    }

    /// A list of this.
    pub fn list(self) -> StateType {
        StateType::List(Box::new(self))
    }
}

impl From<RowType> for StateType {
    fn from(row: RowType) -> StateType {
        StateType::Row(row)
    }
}

/// `MAP<BIGINT, LIST<ROW<...>>>`; `{:#}` names the fields of rows.
impl fmt::Display for StateType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StateType::Void => f.write_str("VOID"),
            StateType::Window => f.write_str("WINDOW"),
            StateType::Value(ty) => Summary(ty).fmt(f),
            StateType::Row(row) => row.fmt(f),
            StateType::List(of) => wrap(f, "LIST", &[of.as_ref()]),
            StateType::Map(key, value) => wrap(f, "MAP", &[key.as_ref(), value.as_ref()]),
            StateType::SortedMap(key, value) => wrap(f, "SORTED_MAP", &[key.as_ref(), value.as_ref()]),
            StateType::Tuple(parts) => wrap(f, "TUPLE", &parts.iter().collect::<Vec<_>>()),
            StateType::Class(name, parts) if parts.is_empty() => f.write_str(name),
            StateType::Class(name, parts) => wrap(f, name, &parts.iter().collect::<Vec<_>>()),
        }
    }
}

fn wrap(f: &mut fmt::Formatter<'_>, name: &str, parts: &[&StateType]) -> fmt::Result {
    write!(f, "{name}<")?;
    for (i, part) in parts.iter().enumerate() {
        f.write_str(if i > 0 { ", " } else { "" })?;
        fmt::Display::fmt(*part, f)?;
    }
    f.write_str(">")
}

/// A type as Flink's `LogicalType.asSummaryString` prints it: `STRING` and `BYTES` by their short names, and the mark of a time
/// attribute after `NOT NULL`.
pub struct Summary<'a>(pub &'a DataType);

impl fmt::Display for Summary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let not_null = if self.0.nullable { "" } else { " NOT NULL" };
        match &self.0.kind {
            TypeKind::VarChar(MAX_LENGTH) => write!(f, "STRING{not_null}"),
            TypeKind::VarBinary(MAX_LENGTH) => write!(f, "BYTES{not_null}"),
            TypeKind::Timestamp(p, a) => write!(f, "TIMESTAMP({p}){not_null}{}", mark(*a)),
            TypeKind::TimestampLtz(p, a) => write!(f, "TIMESTAMP_LTZ({p}){not_null}{}", mark(*a)),
            TypeKind::Array(of) => write!(f, "ARRAY<{}>{not_null}", Summary(of)),
            TypeKind::Multiset(of) => write!(f, "MULTISET<{}>{not_null}", Summary(of)),
            TypeKind::Map(key, value) => write!(f, "MAP<{}, {}>{not_null}", Summary(key), Summary(value)),
            TypeKind::Row(fields) => {
                f.write_str("ROW<")?;
                for (i, field) in fields.iter().enumerate() {
                    let comma = if i > 0 { ", " } else { "" };
                    write!(f, "{comma}`{}` {}", field.name.replace('`', "``"), Summary(&field.ty))?;
                }
                write!(f, ">{not_null}")
            }
            _ => write!(f, "{}", self.0),
        }
    }
}

fn mark(a: TimeAttribute) -> &'static str {
    match a {
        TimeAttribute::None => "",
        TimeAttribute::Rowtime => " *ROWTIME*",
        TimeAttribute::Proctime => " *PROCTIME*",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str) -> RowType {
        RowType::new([(name, TypeKind::string().nullable()), ("n", TypeKind::BigInt.not_null())])
    }

    #[test]
    fn rows_are_compared_by_position() {
        assert_eq!(row("a"), row("b"));
        assert_ne!(row("a"), RowType::new([("a", TypeKind::string().nullable())]));
    }

    #[test]
    fn types_print_as_flink_sums_them_up() {
        let list = StateType::Row(row("a")).list();
        assert_eq!(list.to_string(), "LIST<ROW<STRING, BIGINT NOT NULL>>");
        assert_eq!(format!("{list:#}"), "LIST<ROW<`a` STRING, `n` BIGINT NOT NULL>>");
        let proctime = TypeKind::TimestampLtz(3, TimeAttribute::Proctime).not_null();
        assert_eq!(Summary(&proctime).to_string(), "TIMESTAMP_LTZ(3) NOT NULL *PROCTIME*");
    }
}
