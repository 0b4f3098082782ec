//! The rows of the documents that carry a verdict, as data: which there are, and why no rule cites some of them.

use std::sync::OnceLock;

use serde::Deserialize;

/// All rows, page by page.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rows {
    /// The pages.
    #[serde(rename = "page")]
    pub pages: Vec<RowPage>,
}

/// The rows of one page.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowPage {
    /// What the page is about.
    pub name: String,
    /// Its rows.
    #[serde(rename = "row")]
    pub rows: Vec<Row>,
}

/// A row of the documents.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The name by which rules cite it: `WTN-09`.
    pub id: String,
    /// What changes.
    pub change: String,
    /// What the row says of it.
    pub verdict: String,
    /// Why no rule cites it.
    #[serde(default)]
    pub undecided: Option<String>,
    /// What has to be planned before a rule can cite it.
    #[serde(default)]
    pub pending: Option<String>,
}

impl Rows {
    /// The rows that come with keepstate: `rules/rows.toml`.
    pub fn embedded() -> &'static Rows {
        static ROWS: OnceLock<Rows> = OnceLock::new();
        ROWS.get_or_init(|| {
            // A test reads the same file.
            toml::from_str(include_str!("../../rules/rows.toml")).unwrap_or_else(|e| panic!("rules/rows.toml: {e}"))
        })
    }

    /// All rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Row> {
        self.pages.iter().flat_map(|p| &p.rows)
    }
}
