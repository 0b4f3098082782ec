//! Kinds of changes that flow between operators.

use std::fmt;

/// Which kinds of changes a stream holds (Flink's `ChangelogMode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ChangelogMode {
    /// `+I`
    pub insert: bool,
    /// `-U`
    pub update_before: bool,
    /// `+U`
    pub update_after: bool,
    /// `-D`
    pub delete: bool,
}

impl ChangelogMode {
    /// Inserts only.
    pub const INSERT: ChangelogMode =
        ChangelogMode { insert: true, update_before: false, update_after: false, delete: false };
    /// Inserts, updates by key, deletes.
    pub const UPSERT: ChangelogMode =
        ChangelogMode { insert: true, update_before: false, update_after: true, delete: true };
    /// All kinds.
    pub const ALL: ChangelogMode =
        ChangelogMode { insert: true, update_before: true, update_after: true, delete: true };

    /// What either of both streams holds.
    pub fn union(self, other: ChangelogMode) -> ChangelogMode {
        ChangelogMode {
            insert: self.insert || other.insert,
            update_before: self.update_before || other.update_before,
            update_after: self.update_after || other.update_after,
            delete: self.delete || other.delete,
        }
    }

    /// True if there are no updates and deletes.
    pub fn is_insert_only(self) -> bool {
        !self.update_before && !self.update_after && !self.delete
    }

    /// True if there are updates.
    pub fn has_updates(self) -> bool {
        self.update_before || self.update_after
    }
}

/// `I`, `I,UA,D`, `I,UB,UA,D`.
impl fmt::Display for ChangelogMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = [(self.insert, "I"), (self.update_before, "UB"), (self.update_after, "UA"), (self.delete, "D")];
        let mut first = true;
        for (_, word) in kinds.iter().filter(|(there, _)| *there) {
            write!(f, "{}{word}", if first { "" } else { "," })?;
            first = false;
        }
        Ok(())
    }
}
