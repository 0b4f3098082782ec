//! What connectors can do: abilities of sources, what sinks accept.
//!
//! The facts are data (`connectors.toml`, in the binary). An unknown connector can push nothing down, sends inserts and
//! accepts everything, so that a plan never promises more than the connector may do.

use std::fmt;
use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;
use serde::Deserialize;

use super::connector_operators::{ConnectorOperator, ConnectorOperators};
use super::table::Table;

/// The kinds of changes that a source sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum SourceChangelog {
    /// Inserts.
    #[default]
    Insert,
    /// Inserts, update-afters and deletes, by primary key.
    Upsert,
    /// All kinds, update-before included.
    All,
}

/// What a source can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SourceAbilities {
    /// The watermark is generated in the scan.
    pub watermark: bool,
    /// Unused columns are not read.
    pub projection: bool,
    /// Conditions go into the scan.
    pub filter: bool,
    /// Metadata columns are read.
    pub metadata: bool,
    /// Rows are looked up by key.
    pub lookup: bool,
    /// Answers to lookups may come later.
    pub lookup_async: bool,
    /// What it sends.
    pub changelog: SourceChangelog,
    /// Its rows come to an end.
    pub bounded: bool,
}

/// What a sink accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SinkAccepts {
    /// Whatever the query sends, update-before included if the query has it.
    All {
        /// It asks for update-before rows.
        update_before: bool,
    },
    /// Inserts, update-afters and deletes, by primary key.
    Upsert,
    /// Inserts only.
    Append,
}

/// A table's connector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connector {
    /// Its identifier; empty if the table has none.
    pub name: String,
    /// True if something is known about it.
    pub known: bool,
    /// As a source.
    pub source: SourceAbilities,
    /// As a sink.
    pub sink: SinkAccepts,
}

/// The data file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConnectorFile {
    #[serde(default)]
    formats: FxHashMap<String, String>,
    #[serde(default)]
    connector: FxHashMap<String, Entry>,
}

/// The part of a configuration that speaks of connectors.
#[derive(Deserialize)]
struct Extension {
    #[serde(default)]
    formats: FxHashMap<String, String>,
    #[serde(default)]
    connector: FxHashMap<String, Entry>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(default)]
    source: SourceEntry,
    #[serde(default)]
    sink: SinkEntry,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SourceEntry {
    watermark: bool,
    projection: bool,
    filter: bool,
    metadata: bool,
    lookup: bool,
    /// An option that makes lookups asynchronous.
    #[serde(rename = "async")]
    asynchronous: Option<String>,
    changelog: ChangelogEntry,
    bounded: BoundedEntry,
    /// Options that name the column by which the source cuts its table into pieces.
    sharding: Vec<String>,
    /// Options that decide what is sent; the first whose values are all set holds.
    when: Vec<WhenEntry>,
    /// What it consists of.
    operators: ConnectorOperators,
    /// Options under which it consists of something else.
    #[serde(rename = "operators-unless")]
    operators_unless: Vec<String>,
}

/// What a source sends under these options. Keys and values are compared without regard to case.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WhenEntry {
    options: FxHashMap<String, String>,
    changelog: ChangelogEntry,
}

impl WhenEntry {
    fn holds(&self, table: &Table) -> bool {
        self.options.iter().all(|(key, value)| {
            table.options.iter().any(|o| o.key.eq_ignore_ascii_case(key) && o.value.eq_ignore_ascii_case(value))
        })
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
enum ChangelogEntry {
    #[default]
    I,
    #[serde(rename = "upsert")]
    Upsert,
    #[serde(rename = "all")]
    All,
    /// As the format says.
    #[serde(rename = "format")]
    Format,
    /// Everything with a primary key, inserts without.
    #[serde(rename = "key")]
    Key,
}

/// Whether the rows of a source come to an end.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
enum BoundedEntry {
    /// If one of these options is set.
    If(Vec<String>),
    /// Unless one of these options is set.
    Unless(Vec<String>),
    /// Always, or never.
    #[serde(untagged)]
    Is(bool),
}

impl Default for BoundedEntry {
    fn default() -> Self {
        BoundedEntry::Is(false)
    }
}

impl BoundedEntry {
    fn holds(&self, set: &dyn Fn(&str) -> bool) -> bool {
        match self {
            BoundedEntry::Is(bounded) => *bounded,
            BoundedEntry::If(keys) => keys.iter().any(|key| set(key)),
            BoundedEntry::Unless(keys) => !keys.iter().any(|key| set(key)),
        }
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct SinkEntry {
    accepts: AcceptsEntry,
    update_before: bool,
    /// What it consists of.
    operators: ConnectorOperators,
    /// Options under which it consists of something else.
    operators_unless: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum AcceptsEntry {
    #[default]
    All,
    Upsert,
    Append,
    /// Upsert with a primary key, append without.
    Key,
    /// Everything if the format writes changes, append otherwise.
    Format,
}

/// Facts about connectors: those in the binary, and those that a configuration adds. A copy costs nothing.
#[derive(Clone)]
pub struct Connectors(Arc<ConnectorFile>);

impl Default for Connectors {
    fn default() -> Self {
        Connectors::builtin().clone()
    }
}

impl fmt::Debug for Connectors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Connectors({})", self.0.connector.len())
    }
}

impl Connectors {
    /// The facts in the binary.
    pub fn builtin() -> &'static Connectors {
        static BUILTIN: OnceLock<Connectors> = OnceLock::new();
        BUILTIN.get_or_init(|| {
            // The file is part of the binary, and a test parses it.
            Connectors(Arc::new(toml::from_str(include_str!("connectors.toml")).unwrap_or_default()))
        })
    }

    /// These facts, with those of `text` added: TOML with the tables `formats` and `connector`, and maybe others, which are passed over.
    /// What both know is taken from `text`.
    pub fn extended(&self, text: &str) -> Result<Connectors, toml::de::Error> {
        let more: Extension = toml::from_str(text)?;
        let mut all = (*self.0).clone();
        all.formats.extend(more.formats);
        all.connector.extend(more.connector);
        Ok(Connectors(Arc::new(all)))
    }

    /// What the connector of `table` can do.
    pub fn of(&self, table: &Table) -> Connector {
        let name = table.options.get("connector").unwrap_or_default();
        if name == "stub" {
            return stub(table);
        }
        let entry = self.0.connector.get(name);
        let known = entry.is_some();
        let default = Entry { sink: SinkEntry { update_before: true, ..SinkEntry::default() }, ..Entry::default() };
        let Entry { source, sink } = entry.unwrap_or(&default);
        let format = self.format_changelog(table);
        let has_key = table.primary_key.is_some();
        let sends = source.when.iter().find(|w| w.holds(table)).map_or(source.changelog, |w| w.changelog);
        let changelog = match sends {
            ChangelogEntry::I => SourceChangelog::Insert,
            ChangelogEntry::Upsert => SourceChangelog::Upsert,
            ChangelogEntry::All => SourceChangelog::All,
            ChangelogEntry::Format => format,
            ChangelogEntry::Key if has_key => SourceChangelog::All,
            ChangelogEntry::Key => SourceChangelog::Insert,
        };
        let everything = SinkAccepts::All { update_before: sink.update_before };
        let accepts = match sink.accepts {
            AcceptsEntry::All => everything,
            AcceptsEntry::Upsert => SinkAccepts::Upsert,
            AcceptsEntry::Key if has_key => SinkAccepts::Upsert,
            AcceptsEntry::Format if format != SourceChangelog::Insert => SinkAccepts::All { update_before: true },
            AcceptsEntry::Append | AcceptsEntry::Key | AcceptsEntry::Format => SinkAccepts::Append,
        };
        Connector {
            name: name.to_owned(),
            known,
            source: SourceAbilities {
                watermark: source.watermark,
                projection: source.projection,
                filter: source.filter,
                metadata: source.metadata,
                lookup: source.lookup,
                lookup_async: source
                    .asynchronous
                    .as_deref()
                    .is_some_and(|key| table.options.get(key).and_then(super::options::parse_bool).unwrap_or_default()),
                changelog,
                bounded: source.bounded.holds(&|key| table.options.get(key).is_some()),
            },
            sink: accepts,
        }
    }

    /// True for an option that names the column by which the source of `table` cuts it into pieces.
    pub fn is_sharding(&self, table: &Table, key: &str) -> bool {
        self.entry(table).is_some_and(|e| e.source.sharding.iter().any(|k| k == key))
    }

    /// What the source of `table` consists of, in the order in which rows go through; none if it is not known.
    pub fn source_operators(&self, table: &Table) -> Option<Vec<ConnectorOperator>> {
        let source = &self.entry(table)?.source;
        known_operators(&source.operators, &source.operators_unless, table)
    }

    /// As [`Connectors::source_operators`], of the sink.
    pub fn sink_operators(&self, table: &Table) -> Option<Vec<ConnectorOperator>> {
        let sink = &self.entry(table)?.sink;
        known_operators(&sink.operators, &sink.operators_unless, table)
    }

    fn entry(&self, table: &Table) -> Option<&Entry> {
        table.options.get("connector").and_then(|name| self.0.connector.get(name))
    }

    /// What the format of a table sends: `format`, or `value.format`.
    fn format_changelog(&self, table: &Table) -> SourceChangelog {
        let format = table.options.get("format").or_else(|| table.options.get("value.format"));
        match format.and_then(|f| self.0.formats.get(f)).map(String::as_str) {
            Some("all") => SourceChangelog::All,
            Some("upsert") => SourceChangelog::Upsert,
            _ => SourceChangelog::Insert,
        }
    }
}

fn known_operators(operators: &ConnectorOperators, unless: &[String], table: &Table) -> Option<Vec<ConnectorOperator>> {
    if unless.iter().any(|key| table.options.get(key).is_some()) { None } else { operators.of(table) }
}

impl Connector {
    /// What the connector of `table` can do, by the facts that it was declared under.
    pub fn of(table: &Table) -> Connector {
        table.connectors.of(table)
    }
}

/// A connector for tests that can what its options say: `abilities` none | log | pruning | dim, `lookup` sync | async, `changelog` I | upsert | all,
/// `accepts` all | upsert | append.
fn stub(table: &Table) -> Connector {
    let option = |key| table.options.get(key).unwrap_or_default();
    let mut source = SourceAbilities {
        changelog: match option("changelog") {
            "all" => SourceChangelog::All,
            "upsert" => SourceChangelog::Upsert,
            _ => SourceChangelog::Insert,
        },
        ..SourceAbilities::default()
    };
    match option("abilities") {
        "log" => (source.metadata, source.watermark) = (true, true),
        "pruning" => (source.projection, source.filter, source.watermark) = (true, true, true),
        "dim" => source.lookup = true,
        _ => {}
    }
    match option("lookup") {
        "sync" => source.lookup = true,
        "async" => (source.lookup, source.lookup_async) = (true, true),
        _ => {}
    }
    let sink = match option("accepts") {
        "upsert" => SinkAccepts::Upsert,
        "append" => SinkAccepts::Append,
        _ => SinkAccepts::All { update_before: true },
    };
    Connector { name: "stub".to_owned(), known: true, source, sink }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::table::{InferredTable, PrimaryKey, TablePath};
    use crate::source::Span;
    use crate::syntax::ast::TableOption;

    fn table(options: &[(&str, &str)], key: bool) -> Table {
        let path = TablePath { catalog: "c".into(), database: "d".into(), name: "t".into() };
        let mut table = InferredTable::new(path, Span::default()).finish();
        let option =
            |(k, v): &(&str, &str)| TableOption { key: (*k).into(), value: (*v).into(), span: Span::default() };
        table.options = options.iter().map(option).collect();
        table.primary_key = key.then(|| PrimaryKey { columns: vec![0], span: Span::default() });
        table
    }

    #[test]
    fn the_data_file_parses() {
        let file: Result<ConnectorFile, _> = toml::from_str(include_str!("connectors.toml"));
        assert!(file.is_ok_and(|f| f.connector.contains_key("kafka")));
    }

    #[test]
    fn formats_and_keys_decide() {
        let kafka = Connector::of(&table(&[("connector", "kafka"), ("format", "json")], false));
        assert!(kafka.source.watermark && !kafka.source.projection);
        assert_eq!((kafka.source.changelog, kafka.sink), (SourceChangelog::Insert, SinkAccepts::Append));
        let cdc = Connector::of(&table(&[("connector", "kafka"), ("value.format", "debezium-json")], false));
        assert_eq!(cdc.source.changelog, SourceChangelog::All);
        let jdbc = |key| Connector::of(&table(&[("connector", "jdbc")], key)).sink;
        assert_eq!((jdbc(true), jdbc(false)), (SinkAccepts::Upsert, SinkAccepts::Append));
    }

    #[test]
    fn unknown_connectors_promise_nothing() {
        let unknown = Connector::of(&table(&[("connector", "acme")], false));
        assert!(!unknown.known);
        assert_eq!(unknown.source, SourceAbilities::default());
        assert_eq!(unknown.sink, SinkAccepts::All { update_before: true });
    }

    #[test]
    fn a_configuration_adds_connectors() {
        let more = "[connector.acme]\nsource = { watermark = true }\nsink = { accepts = \"upsert\" }\n";
        let all = Connectors::builtin().extended(more);
        let acme = all.map(|c| c.of(&table(&[("connector", "acme")], false)));
        assert!(acme.is_ok_and(|a| a.known && a.source.watermark && a.sink == SinkAccepts::Upsert));
        assert!(Connectors::builtin().extended("[connector.x]\nsink = { takes = 1 }").is_err());
    }
}
