//! The options that ids depend on.

use super::graph::{JobSettings, Naming, Parallelism};
use crate::catalog::options::parse_bool;
use crate::exec::Plan;

/// What the script sets.
pub struct Settings {
    /// What holds for all operators.
    pub job: JobSettings,
    /// What sources have, if they have no option of their own: `table.exec.resource.default-parallelism`, or the default.
    pub source_parallelism: Parallelism,
    /// Which uids the planner gives.
    pub uids: Uids,
    /// `table.optimizer.reuse-sink-enabled`
    pub reuse_sinks: bool,
    /// `table.optimizer.reuse-sub-plan-enabled`
    pub reuse_sub_plans: bool,
    /// `table.exec.async-lookup.key-ordered-enabled`
    pub key_ordered_lookups: bool,
    /// `table.exec.sink.keyed-shuffle`
    pub keyed_shuffle: KeyedShuffle,
    /// `table.exec.sink.type-length-enforcer` makes an operator.
    pub enforces_lengths: bool,
    /// `table.exec.sink.nested-constraint-enforcer` makes an operator.
    pub enforces_nested: bool,
    /// `table.exec.sink.upsert-materialize` is `FORCE`.
    pub forces_materializer: bool,
}

/// When rows are sent to a sink by their primary key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyedShuffle {
    /// Never.
    None,
    /// If the sink has other subtasks than what it reads.
    Auto,
    /// Unless there is one subtask.
    Force,
}

/// The place of a job's statement among all that its process has planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Process {
    /// It is the first: exec nodes are numbered from 1.
    Fresh,
    /// Others were planned before: the numbers are not known.
    Used,
}

/// `table.exec.uid.generation` and `table.exec.uid.format`, for a job that is no compiled plan.
pub enum Uids {
    /// None: `PLAN_ONLY`, the default, and `DISABLED`.
    Off,
    /// `ALWAYS`, in this form.
    Always { format: String, process: Process },
    /// `table.exec.legacy-transformation-uids`, which was not measured.
    Unknown,
}

impl Uids {
    /// The planner gives none.
    pub fn are_off(&self) -> bool {
        matches!(self, Uids::Off)
    }

    /// Where the id of an operator comes from (`ExecNodeMetadataUtil`, `ExecNodeBase.createTransformationUid`). `kind` is the exec
    /// node, `id` its number.
    pub fn naming(&self, id: Option<u32>, kind: &str, transformation: Option<&str>) -> Naming {
        match (self, transformation) {
            (Uids::Off, _) => Naming::Place,
            (Uids::Always { format, process }, Some(transformation)) => {
                let number = id.filter(|_| *process == Process::Fresh).map(|id| id.to_string());
                if format.contains("<id>") && number.is_none() {
                    return Naming::UnknownUid;
                }
                let ty = format!("stream-exec-{}", kebab(kind));
                let uid = format.replace("<id>", &number.unwrap_or_default()).replace("<type>", &ty);
                let uid = uid.replace("<version>", "1").replace("<transformation>", transformation);
                Naming::Uid(uid)
            }
            (Uids::Always { .. }, None) | (Uids::Unknown, _) => Naming::UnknownUid,
        }
    }
}

/// `GroupAggregate` as `group-aggregate`.
fn kebab(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('-');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

impl Settings {
    /// The options of a plan.
    pub fn of(plan: &Plan, process: Process) -> Settings {
        let option = |key: &str| plan.options.get(key).map(|v| v.trim());
        let flag = |key: &str, default: bool| option(key).and_then(parse_bool).unwrap_or(default);
        let number = |key: &str| option(key).and_then(|v| v.parse::<u32>().ok()).filter(|n| *n > 0);
        let is = |key: &str, value: &str| option(key).is_some_and(|v| v.eq_ignore_ascii_case(value));
        let enforces = |key: &str| option(key).is_some_and(|v| !v.eq_ignore_ascii_case("ignore"));
        let always = is("table.exec.uid.generation", "always");
        let uids = if flag("table.exec.legacy-transformation-uids", false) {
            Uids::Unknown
        } else if always {
            let format = option("table.exec.uid.format").unwrap_or("<id>_<transformation>").to_owned();
            Uids::Always { format, process }
        } else {
            Uids::Off
        };
        let chaining = option("pipeline.operator-chaining.enabled").or(option("pipeline.operator-chaining"));
        Settings {
            job: JobSettings {
                default_parallelism: number("parallelism.default"),
                chaining: chaining.and_then(parse_bool).unwrap_or(true),
                chain_across_max_parallelism: flag(
                    "pipeline.operator-chaining.chain-operators-with-different-max-parallelism",
                    true,
                ),
            },
            source_parallelism: number("table.exec.resource.default-parallelism")
                .map_or(Parallelism::Default, Parallelism::Fixed),
            uids,
            reuse_sinks: flag("table.optimizer.reuse-sink-enabled", true),
            reuse_sub_plans: flag("table.optimizer.reuse-sub-plan-enabled", true),
            key_ordered_lookups: flag("table.exec.async-lookup.key-ordered-enabled", false),
            keyed_shuffle: if is("table.exec.sink.keyed-shuffle", "none") {
                KeyedShuffle::None
            } else if is("table.exec.sink.keyed-shuffle", "force") {
                KeyedShuffle::Force
            } else {
                KeyedShuffle::Auto
            },
            enforces_lengths: enforces("table.exec.sink.type-length-enforcer"),
            enforces_nested: enforces("table.exec.sink.nested-constraint-enforcer"),
            forces_materializer: is("table.exec.sink.upsert-materialize", "force"),
        }
    }
}
