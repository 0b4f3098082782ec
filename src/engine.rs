//! Versions of the engine that a job runs on, as the platform names them.

use std::fmt;
use std::str::FromStr;

/// A version of Realtime Compute's engine: `vvr-8.0.11-flink-1.17`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    /// The engine's own version, such as `[8, 0, 11]`.
    pub version: Vec<u32>,
    /// The version of Apache Flink that it is built on, such as `[1, 17]`.
    pub flink: Vec<u32>,
    name: String,
}

/// How two versions of the engine relate, from the one that wrote the state to the one that is to read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A later version of the same major line.
    Minor,
    /// A later major line.
    Major,
    /// An earlier version.
    Downgrade,
    /// The same version of the engine, built on another Flink or for another Java.
    Build,
}

impl Step {
    /// Its name in facts.
    pub fn name(self) -> &'static str {
        match self {
            Step::Minor => "minor",
            Step::Major => "major",
            Step::Downgrade => "downgrade",
            Step::Build => "build",
        }
    }
}

impl Engine {
    /// The step from this version to another; none if it is the same.
    pub fn step_to(&self, new: &Engine) -> Option<Step> {
        use std::cmp::Ordering;
        if self.name == new.name {
            return None;
        }
        Some(match (new.version.cmp(&self.version), new.flink.cmp(&self.flink)) {
            (Ordering::Less, _) | (Ordering::Equal, Ordering::Less) => Step::Downgrade,
            (Ordering::Equal, _) => Step::Build,
            (Ordering::Greater, _) if new.version.first() == self.version.first() => Step::Minor,
            (Ordering::Greater, _) => Step::Major,
        })
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl<'de> serde::Deserialize<'de> for Engine {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Engine, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl FromStr for Engine {
    type Err = String;

    fn from_str(text: &str) -> Result<Engine, String> {
        let name = text.trim().to_ascii_lowercase();
        let wrong = || format!("`{text}` is no engine version; write it as the console does: vvr-8.0.11-flink-1.17");
        let numbers = |text: &str| -> Option<Vec<u32>> {
            let parts: Option<Vec<u32>> = text.split('.').map(|p| p.parse().ok()).collect();
            parts.filter(|p| p.len() > 1)
        };
        let parts: Vec<&str> = name.split('-').collect();
        let (version, flink) = match parts.as_slice() {
            ["vvr", version, "flink", flink] => (version, flink),
            // Builds for a newer Java say so: vvr-11.1-jdk11-flink-1.20.
            ["vvr", version, java, "flink", flink] if java.starts_with("jdk") => (version, flink),
            _ => return Err(wrong()),
        };
        let (version, flink) = numbers(version).zip(numbers(flink)).ok_or_else(wrong)?;
        Ok(Engine { version, flink, name })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(old: &str, new: &str) -> Option<Step> {
        let engine = |name: &str| name.parse::<Engine>().unwrap();
        engine(old).step_to(&engine(new))
    }

    #[test]
    fn versions_are_told_apart() {
        assert_eq!(step("vvr-4.0.11-flink-1.13", "vvr-4.0.15-flink-1.13"), Some(Step::Minor));
        assert_eq!(step("vvr-4.0.15-flink-1.13", "vvr-6.0.4-flink-1.15"), Some(Step::Major));
        assert_eq!(step("vvr-8.0.9-flink-1.17", "vvr-8.0.11-flink-1.17"), Some(Step::Minor));
        assert_eq!(step("vvr-11.1-jdk11-flink-1.20", "vvr-8.0.11-flink-1.17"), Some(Step::Downgrade));
        assert_eq!(step("vvr-11.1-jdk11-flink-1.20", "vvr-11.1-flink-1.20"), Some(Step::Build));
        assert_eq!(step("VVR-8.0.11-flink-1.17", "vvr-8.0.11-flink-1.17"), None);
    }

    #[test]
    fn what_is_no_version_is_refused() {
        for text in ["", "vvr", "8.0.11", "vvr-8-flink-1.17", "vvr-8.0.x-flink-1.17", "flink-1.20", "vvr-8.0.11"] {
            assert!(text.parse::<Engine>().unwrap_err().contains("vvr-8.0.11-flink-1.17"), "{text}");
        }
    }
}
