//! The words a judgement is made of, and their order.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What becomes of a job's state. The order is from best to worst, so the verdict of several findings is their maximum.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Results after the restore equal those of the new query over the full history.
    #[default]
    Compatible,
    /// The unchanged columns do, the others start from nothing.
    PartiallyCompatible,
    /// Nothing written or measured decides it.
    Unknown,
    /// The job most likely does not start from this state, or gives wrong results.
    Incompatible,
}

impl Verdict {
    /// All verdicts, from best to worst.
    pub const ALL: [Verdict; 4] =
        [Verdict::Compatible, Verdict::PartiallyCompatible, Verdict::Unknown, Verdict::Incompatible];

    /// The name used in rules and reports.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Compatible => "compatible",
            Verdict::PartiallyCompatible => "partially-compatible",
            Verdict::Unknown => "unknown",
            Verdict::Incompatible => "incompatible",
        }
    }

    /// The worst of several verdicts; of none, `compatible`.
    pub fn worst(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
        verdicts.into_iter().max().unwrap_or_default()
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why a finding is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Both sides have the same plan.
    SamePlan,
    /// The words of a public document cover the change.
    Documented,
    /// It was seen on a real engine.
    Measured,
    /// Only the class of the change is documented or measured.
    Inferred,
    /// Nothing was found about it.
    Undocumented,
}

impl Basis {
    /// The name used in rules and reports.
    pub fn name(self) -> &'static str {
        match self {
            Basis::SamePlan => "same-plan",
            Basis::Documented => "documented",
            Basis::Measured => "measured",
            Basis::Inferred => "inferred",
            Basis::Undocumented => "undocumented",
        }
    }
}

/// What happens at the restore.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Consequence {
    /// Nothing.
    None,
    /// A part starts from nothing.
    StartsEmpty,
    /// The job does not start.
    FailsToRestore,
    /// The job starts and its results are wrong.
    WrongResults,
    /// One of these, and nothing tells which.
    Undetermined,
}

impl Consequence {
    /// One sentence about the state, without a full stop, for people.
    pub fn sentence(self) -> &'static str {
        match self {
            Consequence::None => "is carried over",
            Consequence::StartsEmpty => "is carried over in part: what is new starts empty at the restore",
            Consequence::FailsToRestore => "cannot be restored: the job does not start",
            Consequence::WrongResults => {
                "is restored as if it fitted, so the job runs and SILENTLY GIVES WRONG RESULTS"
            }
            Consequence::Undetermined => "does not fit: the job fails to start, or starts and gives wrong results",
        }
    }
}

/// From which verdict on a run fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FailOn {
    /// Anything but compatible.
    PartiallyCompatible,
    /// Unknown and incompatible.
    #[default]
    Unknown,
    /// Only incompatible.
    Incompatible,
    /// Nothing.
    Never,
}

impl FailOn {
    /// True if a verdict makes the run fail.
    pub fn fails(self, verdict: Verdict) -> bool {
        match self {
            FailOn::PartiallyCompatible => verdict >= Verdict::PartiallyCompatible,
            FailOn::Unknown => verdict >= Verdict::Unknown,
            FailOn::Incompatible => verdict >= Verdict::Incompatible,
            FailOn::Never => false,
        }
    }

    /// All of them, the strictest first.
    pub const ALL: [FailOn; 4] = [FailOn::PartiallyCompatible, FailOn::Unknown, FailOn::Incompatible, FailOn::Never];

    /// The name used on the command line and in configurations.
    pub fn name(self) -> &'static str {
        match self {
            FailOn::PartiallyCompatible => "partially-compatible",
            FailOn::Unknown => "unknown",
            FailOn::Incompatible => "incompatible",
            FailOn::Never => "never",
        }
    }

    /// That of a name.
    pub fn named(name: &str) -> Option<FailOn> {
        FailOn::ALL.into_iter().find(|f| f.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_order_from_best_to_worst() {
        assert_eq!(Verdict::worst([]), Verdict::Compatible);
        assert_eq!(Verdict::worst([Verdict::Unknown, Verdict::PartiallyCompatible]), Verdict::Unknown);
        assert_eq!(Verdict::worst(Verdict::ALL), Verdict::Incompatible);
    }

    #[test]
    fn names_are_those_of_serde() {
        for verdict in Verdict::ALL {
            assert_eq!(serde_json::to_value(verdict).unwrap(), verdict.name());
        }
    }
}
