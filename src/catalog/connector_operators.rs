//! Which operators a connector puts into the stream graph: what ids of operators without uids depend on.

use serde::Deserialize;

use super::table::Table;

/// What a source or a sink consists of, in the order in which rows go through; none if it is not known.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(transparent)]
pub struct ConnectorOperators(Option<Vec<Entry>>);

/// An operator: its kind alone, or with more.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Entry {
    Kind(OperatorKind),
    Full(ConnectorOperator),
}

/// One operator of a connector.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConnectorOperator {
    /// What it is.
    pub kind: OperatorKind,
    /// Its name, if not that of its kind; `{table}` is the table's name.
    #[serde(default)]
    pub name: Option<String>,
    /// The uid that the connector gives it; `{table}` is the table's name.
    #[serde(default)]
    pub uid: Option<String>,
    /// Its parallelism, if it has one of its own.
    #[serde(default)]
    pub parallelism: Option<u32>,
}

/// The kinds of operators that connectors are made of, as far as chaining tells them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OperatorKind {
    /// A `Source` (FLIP-27).
    Source,
    /// A `SourceFunction` or an `InputFormat`.
    SourceFunction,
    /// A `SinkFunction`. It takes the time of a row from the row, where other sinks have it put on by an operator.
    SinkFunction,
    /// The writer of a `Sink` (version 2).
    Writer,
    /// The committer of a `Sink` (version 2).
    Committer,
    /// Any other, of `ChainingStrategy.ALWAYS`.
    Operator,
}

impl OperatorKind {
    /// It asks for its mailbox (`YieldingOperatorFactory`), so it is not chained to a legacy source.
    pub fn yields(self) -> bool {
        self == OperatorKind::Writer
    }
}

impl ConnectorOperators {
    /// The operators of `table`'s source or sink; none if they are not known.
    pub fn of(&self, table: &Table) -> Option<Vec<ConnectorOperator>> {
        let name = &table.path.name;
        let operator = |entry: &Entry| {
            let mut operator = match entry {
                Entry::Kind(kind) => ConnectorOperator { kind: *kind, name: None, uid: None, parallelism: None },
                Entry::Full(operator) => operator.clone(),
            };
            operator.uid = operator.uid.map(|uid| uid.replace("{table}", name));
            operator.name = operator.name.map(|given| given.replace("{table}", name));
            operator.name.get_or_insert_with(|| match operator.kind {
                OperatorKind::Source | OperatorKind::SourceFunction => format!("Source: {name}"),
                OperatorKind::SinkFunction => format!("Sink: {name}"),
                OperatorKind::Writer => format!("{name}: Writer"),
                OperatorKind::Committer => format!("{name}: Committer"),
                OperatorKind::Operator => "Operator".to_owned(),
            });
            operator
        };
        let entries = self.0.as_ref().filter(|entries| !entries.is_empty())?;
        Some(entries.iter().map(operator).collect())
    }
}
