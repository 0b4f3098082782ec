//! What the user of an editor may set: `initializationOptions`, and `workspace/didChangeConfiguration` under `keepstate`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::project::settings::Asked;
use crate::target::Target;

/// The options.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// The revision to compare with.
    pub base: String,
    /// True if somebody named the revision.
    pub base_is_asked: bool,
    /// The lock to compare with, instead of a revision.
    pub lock: Option<PathBuf>,
    target: Option<Target>,
    config: Option<PathBuf>,
    schema: Vec<PathBuf>,
    defines: BTreeMap<String, String>,
    /// Whether to say what will hurt later.
    pub lint: bool,
    /// How long the text has to stand still before it is looked at.
    pub debounce: Duration,
    /// Whether texts that are no files can be shown.
    pub virtual_documents: bool,
}

/// The same as it is written.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
struct Written {
    base: Option<String>,
    lock: Option<String>,
    target: Option<String>,
    config: Option<String>,
    schema: Vec<String>,
    defines: BTreeMap<String, String>,
    lint: Option<bool>,
    debounce: Option<u64>,
    virtual_documents: bool,
}

impl Options {
    /// Reads options; files are taken from the directory of the workspace. What is empty is not set.
    pub fn read(value: &Value, workspace: &Path) -> Result<Options, String> {
        let written: Written = match value {
            Value::Null => Written::default(),
            value => serde_json::from_value(value.clone()).map_err(|e| format!("the options cannot be read: {e}"))?,
        };
        let set = |text: Option<String>| text.filter(|t| !t.trim().is_empty());
        let target = set(written.target).map(|t| t.parse::<Target>()).transpose()?;
        let base = set(written.base);
        Ok(Options {
            base_is_asked: base.is_some(),
            base: base.unwrap_or_else(|| "HEAD".to_owned()),
            lock: set(written.lock).map(|file| workspace.join(file)),
            target,
            config: set(written.config).map(|file| workspace.join(file)),
            schema: written.schema.iter().map(|file| workspace.join(file)).collect(),
            defines: written.defines,
            lint: written.lint.unwrap_or(true),
            debounce: Duration::from_millis(written.debounce.unwrap_or(200).min(10_000)),
            virtual_documents: written.virtual_documents,
        })
    }

    /// The files with more DDL.
    pub fn schema(&self) -> Vec<String> {
        self.schema.iter().map(|file| file.to_string_lossy().into_owned()).collect()
    }

    /// What is asked for over every configuration.
    pub fn asked(&self) -> Asked {
        Asked { target: self.target, schema: self.schema(), defines: self.defines.clone(), config: self.config.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn options_are_read_or_refused() {
        let read = |value: Value| Options::read(&value, Path::new("/w"));
        let options = read(json!({"lock": "a.lock", "base": " ", "target": "", "lint": false, "debounce": 5})).unwrap();
        assert_eq!((options.base.as_str(), options.base_is_asked, options.lint), ("HEAD", false, false));
        assert_eq!(options.lock.as_deref(), Some(Path::new("/w/a.lock")));
        assert_eq!(read(Value::Null).unwrap().debounce, Duration::from_millis(200));
        assert!(read(json!({"bse": "main"})).unwrap_err().contains("bse"));
        assert!(read(json!({"target": "flonk"})).is_err());
    }
}
