//! CREATE TABLE and CREATE VIEW.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::table::{PrimaryKey, Table, TableColumn, TableColumnKind, TableOptions, View, Watermark};
use super::types::{DataType, TypeKind};
use super::{Catalog, Entry, Note};
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::{
    ColumnDef, ColumnKind, CreateTable, CreateView, Ident, TableElement, TypeName, TypeNameKind, WatermarkDef,
};

impl Catalog {
    pub(super) fn create_table(&mut self, create: &CreateTable, span: Span) -> PlanResult<Vec<Note>> {
        let path = self.path(&create.name)?;
        if create.if_not_exists && self.get(&path).is_some() {
            return Ok(Vec::new());
        }
        let table = self.build_table(create, span)?;
        if create.as_query.is_some() {
            // The planner knows the columns of the query and declares the table (`add_table`).
            return Ok(Vec::new());
        }
        self.insert(path, Entry::Table(Arc::new(table)), create.or_replace, Some(create.name.span))?;
        Ok(Vec::new())
    }

    /// The table that a CREATE TABLE describes, LIKE merged in. For CTAS it has only the columns that are written; those
    /// with a name alone have an unknown type.
    pub fn build_table(&self, create: &CreateTable, span: Span) -> PlanResult<Table> {
        let path = self.path(&create.name)?;
        let (mut table, overwritten) = match &create.like {
            Some(like) => self.like(like, create)?,
            None => (
                Table {
                    path: path.clone(),
                    columns: Vec::new(),
                    primary_key: None,
                    watermark: None,
                    options: create.options.iter().cloned().collect(),
                    connectors: self.connectors.clone(),
                    partition_keys: Vec::new(),
                    temporary: create.temporary,
                    inferred: false,
                    span,
                    name_span: create.name.span,
                },
                Vec::new(),
            ),
        };
        table.path = path;
        table.temporary = create.temporary;
        table.span = span;
        table.name_span = create.name.span;
        let mut builder = TableBuilder::new(table);
        builder.overwritten = overwritten;
        builder.add(&create.elements)?;
        builder.partitioned_by(&create.partitioned_by)?;
        builder.finish()
    }

    pub(super) fn create_view(&mut self, create: &CreateView, span: Span) -> PlanResult<()> {
        let path = self.path(&create.name)?;
        if create.if_not_exists && self.get(&path).is_some() {
            return Ok(());
        }
        let mut seen = FxHashMap::default();
        for column in &create.columns {
            if seen.insert(column.value.as_str(), ()).is_some() {
                return Err(duplicate_column(&column.value, column.span));
            }
        }
        if let (true, Some(name)) = (create.columns.is_empty(), create.query.repeated_name()) {
            return Err(PlanError::rejected(
                name.span,
                format!("A column with the same name `{}` has been defined", name.value),
            )
            .label("the second column of this name")
            .help("give one of them another name with AS")
            .into());
        }
        let view = View {
            path: path.clone(),
            columns: create.columns.clone(),
            query: Arc::new((*create.query).clone()),
            context: self.current.clone(),
            temporary: create.temporary,
            span,
        };
        self.insert(path, Entry::View(Arc::new(view)), create.or_replace, Some(create.name.span))
    }
}

pub(super) fn duplicate_column(name: &str, span: Span) -> Box<PlanError> {
    PlanError::rejected(span, format!("A column named '{name}' already exists in the table"))
        .label("declared a second time")
        .help("rename or remove one of the two columns")
        .into()
}

/// Puts a table together from elements, in Flink's order: columns, then constraints and watermarks, which see all columns.
pub(super) struct TableBuilder {
    table: Table,
    index: FxHashMap<String, usize>,
    /// Columns whose definitions are already in their places.
    overwritten: Vec<String>,
}

impl TableBuilder {
    pub(super) fn new(table: Table) -> Self {
        let index = table.columns.iter().enumerate().map(|(i, c)| (c.name.clone(), i)).collect();
        TableBuilder { table, index, overwritten: Vec::new() }
    }

    pub(super) fn add(&mut self, elements: &[TableElement]) -> PlanResult<()> {
        for element in elements {
            if let TableElement::Column(column) = element
                && !self.overwritten.contains(&column.name.value)
            {
                self.column(column)?;
            }
        }
        for element in elements {
            match element {
                TableElement::Column(column) if column.primary_key => {
                    self.primary_key(std::slice::from_ref(&column.name), column.span)?;
                }
                TableElement::Column(_) => {}
                TableElement::PrimaryKey { columns, span } => self.primary_key(columns, *span)?,
                TableElement::Watermark(watermark) => self.watermark(watermark)?,
            }
        }
        Ok(())
    }

    fn column(&mut self, def: &ColumnDef) -> PlanResult<()> {
        let column = table_column(def)?;
        if self.index.insert(column.name.clone(), self.table.columns.len()).is_some() {
            return Err(duplicate_column(&column.name, def.name.span));
        }
        self.table.columns.push(column);
        Ok(())
    }

    /// Declares a key: its columns exist, are stored, are named once, and become NOT NULL.
    fn primary_key(&mut self, names: &[Ident], span: Span) -> PlanResult<()> {
        if self.table.primary_key.is_some() {
            return Err(PlanError::rejected(span, "Duplicate primary key definition")
                .label("the second PRIMARY KEY")
                .help("keep one PRIMARY KEY; it may name several columns")
                .into());
        }
        let mut columns = Vec::with_capacity(names.len());
        for name in names {
            let Some(&i) = self.index.get(&name.value) else {
                let message = format!("Primary key column '{}' is not defined in the schema", name.value);
                return Err(self.unknown(name, message));
            };
            if !matches!(self.table.columns[i].kind, TableColumnKind::Physical) {
                let message = format!(
                    "Could not create a PRIMARY KEY with column '{}'. A PRIMARY KEY constraint must be declared on physical columns",
                    name.value
                );
                return Err(PlanError::rejected(name.span, message)
                    .label("not a physical column")
                    .help("declare the column with a type instead of an expression or METADATA")
                    .into());
            }
            if columns.contains(&i) {
                let message = format!(
                    "Invalid primary key. A primary key must not contain duplicate columns. Found: [{}]",
                    name.value
                );
                return Err(PlanError::rejected(name.span, message)
                    .label("named a second time")
                    .help("name each column once")
                    .into());
            }
            self.table.columns[i].ty.nullable = false;
            columns.push(i);
        }
        self.table.primary_key = Some(PrimaryKey { columns, span });
        Ok(())
    }

    fn watermark(&mut self, def: &WatermarkDef) -> PlanResult<()> {
        if self.table.watermark.is_some() {
            return Err(PlanError::rejected(def.span, "Multiple WATERMARK statements is not supported yet")
                .label("the second WATERMARK")
                .help("keep one WATERMARK: a table has one event time")
                .into());
        }
        let Some(root) = def.column.first() else {
            return Err(PlanError::rejected(def.span, "WATERMARK FOR names no column").into());
        };
        let Some(&column) = self.index.get(&root.value) else {
            let message = format!("The rowtime attribute field '{}' is not defined in the table schema", root.value);
            return Err(self.unknown(root, message));
        };
        let ty = self.rowtime_type(column, &def.column)?;
        check_rowtime(&ty, def)?;
        let path = def.column.iter().map(|i| i.value.clone()).collect();
        self.table.watermark = Some(Watermark { column, path, expr: Arc::new(def.expr.clone()), span: def.span });
        Ok(())
    }

    /// The type of the (nested) field that the watermark is for.
    fn rowtime_type(&self, column: usize, path: &[Ident]) -> PlanResult<DataType> {
        let mut ty = self.table.columns[column].ty.clone();
        for name in path.iter().skip(1) {
            let TypeKind::Row(fields) = &ty.kind else {
                if ty.is_unknown() {
                    return Ok(ty);
                }
                let message = format!("Nested field '{}' does not exist: `{ty}` is no ROW", name.value);
                return Err(PlanError::rejected(name.span, message).label("no such field").into());
            };
            let Some(field) = fields.iter().find(|f| f.name == name.value) else {
                let near = crate::nearest::nearest(&name.value, fields.iter().map(|f| f.name.as_str()));
                let error = PlanError::rejected(name.span, format!("Nested field '{}' does not exist", name.value))
                    .label("no such field");
                return Err(with_suggestion(error, near, "name a field of the ROW"));
            };
            ty = field.ty.clone();
        }
        Ok(ty)
    }

    pub(super) fn partitioned_by(&mut self, names: &[Ident]) -> PlanResult<()> {
        for name in names {
            if !self.index.contains_key(&name.value) {
                let message = format!("Partition column '{}' not defined in the table schema", name.value);
                return Err(self.unknown(name, message));
            }
            self.table.partition_keys.push(name.value.clone());
        }
        Ok(())
    }

    pub(super) fn finish(self) -> PlanResult<Table> {
        Ok(self.table)
    }

    fn unknown(&self, name: &Ident, message: String) -> Box<PlanError> {
        let near = crate::nearest::nearest(&name.value, self.index.keys().map(String::as_str));
        let error = PlanError::rejected(name.span, message).label("no such column");
        with_suggestion(error, near, "declare the column first")
    }
}

fn with_suggestion(error: PlanError, near: Option<&str>, otherwise: &str) -> Box<PlanError> {
    Box::new(match near {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None => error.help(otherwise),
    })
}

/// What Flink refuses as the type of a table's column, though expressions may have it.
fn storable(ty: &TypeName) -> PlanResult<()> {
    match &ty.kind {
        TypeNameKind::Simple(word, _) if word.starts_with("INTERVAL ") => {
            Err(PlanError::rejected(ty.span, "Incorrect syntax near the keyword 'INTERVAL'")
                .label("no column is an interval")
                .help("use BIGINT, and say in its name what it counts")
                .into())
        }
        TypeNameKind::Row(fields) => {
            let mut seen = FxHashMap::default();
            for field in fields {
                if seen.insert(field.name.value.as_str(), ()).is_some() {
                    let name = &field.name.value;
                    let message = format!("Field names must be unique. Found duplicates: [{name}]");
                    return Err(PlanError::rejected(field.name.span, message)
                        .label("this name is taken")
                        .help("give the field a name of its own")
                        .into());
                }
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// A column as its definition describes it.
pub(super) fn table_column(def: &ColumnDef) -> PlanResult<TableColumn> {
    if let ColumnKind::Physical(ty) | ColumnKind::Metadata { ty, .. } = &def.kind {
        storable(ty)?;
    }
    let (kind, ty) = match &def.kind {
        ColumnKind::Physical(ty) => (TableColumnKind::Physical, DataType::from_ast(ty)?),
        ColumnKind::Computed(expr) => (TableColumnKind::Computed(Arc::new(expr.clone())), DataType::unknown()),
        ColumnKind::Metadata { ty, from, is_virtual } => {
            let key = from.clone().unwrap_or_else(|| def.name.value.clone());
            (TableColumnKind::Metadata { key, is_virtual: *is_virtual }, DataType::from_ast(ty)?)
        }
        ColumnKind::NameOnly => (TableColumnKind::Physical, DataType::unknown()),
    };
    Ok(TableColumn { name: def.name.value.clone(), kind, ty, comment: def.comment.clone(), span: def.span })
}

/// Flink's check of the rowtime column. Computed columns are checked by the planner ([`check_rowtime_type`]).
fn check_rowtime(ty: &DataType, def: &WatermarkDef) -> PlanResult<()> {
    let span = def.column.first().map_or(def.span, |first| def.column.iter().fold(first.span, |s, i| s.to(i.span)));
    check_rowtime_type(ty, span)
}

/// Refuses types that cannot be event time: all but TIMESTAMP(p) and TIMESTAMP_LTZ(p) with p up to 3.
pub fn check_rowtime_type(ty: &DataType, span: Span) -> PlanResult<()> {
    match ty.kind {
        TypeKind::Timestamp(p, _) | TypeKind::TimestampLtz(p, _) if p <= 3 => return Ok(()),
        TypeKind::Unknown => return Ok(()),
        _ => {}
    }
    let message = format!(
        "Invalid data type of time field for watermark definition. The field must be of type TIMESTAMP(p) or \
         TIMESTAMP_LTZ(p), the supported precision 'p' is from 0 to 3, but the time field type is {}",
        ty.kind
    );
    let help = if ty.is_timestamp() {
        "declare it as TIMESTAMP(3) or TIMESTAMP_LTZ(3)"
    } else {
        "add a computed column, such as `ts AS TO_TIMESTAMP_LTZ(millis, 3)`, and declare the watermark for it"
    };
    Err(PlanError::rejected(span, message).label(format!("this is {}", ty.kind)).help(help).into())
}

/// Refuses watermark strategies that do not give the rowtime column's type. The planner calls it once it has typed the
/// expression.
pub fn check_watermark_type(expr: &DataType, column: &DataType, span: Span) -> PlanResult<()> {
    if expr.is_unknown() || column.is_unknown() {
        return Ok(());
    }
    let fits = matches!(expr.kind, TypeKind::Timestamp(p, _) | TypeKind::TimestampLtz(p, _) if p <= 3);
    if !fits {
        let message = format!(
            "Invalid data type of expression for watermark definition. The field must be of type TIMESTAMP(p) or \
             TIMESTAMP_LTZ(p), the supported precision 'p' is from 0 to 3, but the watermark expression type is {}",
            expr.kind
        );
        return Err(PlanError::rejected(span, message)
            .label(format!("this is {}", expr.kind))
            .help("subtract an interval from the rowtime column, such as `ts - INTERVAL '5' SECOND`")
            .into());
    }
    let zoned = |t: &DataType| matches!(t.kind, TypeKind::TimestampLtz(..));
    if zoned(expr) != zoned(column) {
        let message = format!(
            "The watermark declaration's output data type '{}' is different from the time field's data type '{}'",
            expr.kind, column.kind
        );
        return Err(PlanError::rejected(span, message)
            .label(format!("this is {}", expr.kind))
            .help(format!("cast it to {}", column.kind))
            .into());
    }
    Ok(())
}

/// Options written in this statement.
pub(super) fn written_options(create: &CreateTable) -> TableOptions {
    create.options.iter().cloned().collect()
}
