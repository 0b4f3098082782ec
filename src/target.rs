//! The engines whose behaviour keepstate predicts.

use std::fmt;
use std::str::FromStr;

/// The engine whose behaviour is predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Target {
    /// Alibaba Realtime Compute for Apache Flink, by its documented rules.
    #[default]
    Vvr,
    /// Apache Flink 1.20, as measured.
    Flink120,
    /// Apache Flink 2.2, as measured.
    Flink22,
}

impl Target {
    /// All targets, the default first.
    pub const ALL: [Target; 3] = [Target::Vvr, Target::Flink120, Target::Flink22];

    /// The name used on the command line, in rules and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Target::Vvr => "vvr",
            Target::Flink120 => "flink-1.20",
            Target::Flink22 => "flink-2.2",
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        Target::ALL.into_iter().find(|t| t.name() == s).ok_or_else(|| {
            let names: Vec<_> = Target::ALL.iter().map(|t| t.name()).collect();
            format!("there is no target `{s}`; the targets are {}", names.join(", "))
        })
    }
}

impl schemars::JsonSchema for Target {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Target".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let names = Target::ALL.map(Target::name);
        schemars::json_schema!({ "type": "string", "enum": names, "description": "The engine whose behaviour is predicted." })
    }
}

impl serde::Serialize for Target {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> serde::Deserialize<'de> for Target {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}
