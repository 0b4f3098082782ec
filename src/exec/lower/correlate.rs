//! Table functions per row, and what Flink refuses of them (`StreamPhysicalCorrelateRule`, `LogicalUnnestRule`).

use super::{Lowering, Tree, exec_columns, pass_through};
use crate::catalog::types::TypeKind;
use crate::exec::correlate::Correlate;
use crate::exec::{Operator, Target};
use crate::logical::correlate::{Correlate as Call, TableFunction};
use crate::logical::join::JoinType;
use crate::logical::rel::{Rel, RelColumn};
use crate::logical::rex::Origins;
use crate::plan_error::{PlanError, PlanResult};

impl Lowering<'_> {
    pub(super) fn correlate(
        &self,
        call: Call,
        input: Rel,
        columns: Vec<RelColumn>,
        origins: Origins,
    ) -> PlanResult<Tree> {
        let at = call.call_origins.first().or(origins.first()).unwrap_or_default();
        let before_ordinality = self.target != Target::Flink22;
        if before_ordinality && call.function == (TableFunction::Unnest { with_ordinality: true }) {
            return Err(PlanError::rejected(at, "UNNEST WITH ORDINALITY is not supported before Flink 2.0")
                .label("Flink 1.20 has no plan for this")
                .help("leave WITH ORDINALITY out")
                .into());
        }
        if call.join_type == JoinType::Left && self.breaks_on_not_null(&call) {
            return Err(PlanError::rejected(
                at,
                "Type mismatch: a column of UNNEST is NOT NULL, but may be NULL behind LEFT JOIN",
            )
            .label("Flink has no plan for this")
            .help("cast the collection to one whose elements may be NULL, or use CROSS JOIN")
            .into());
        }
        let input = self.lower(input)?;
        let mut tree = pass_through(Operator::Correlate(Correlate { call }), input, exec_columns(columns), origins);
        // A row becomes several.
        tree.upsert_keys.clear();
        tree.monotonic.fill(None);
        Ok(tree)
    }

    /// Measured: a field of a row that is NOT NULL is refused by both versions, another column by 1.20 if anything reads it.
    fn breaks_on_not_null(&self, call: &Call) -> bool {
        let of_rows = call.args.iter().any(|arg| match &arg.ty.kind {
            TypeKind::Array(of) | TypeKind::Multiset(of) => matches!(of.kind, TypeKind::Row(_)),
            _ => false,
        });
        let number = usize::from(call.function == TableFunction::Unnest { with_ordinality: true });
        let fields = &call.columns[..call.columns.len() - number];
        if of_rows {
            fields.iter().any(|c| !c.ty.nullable)
        } else {
            self.target != Target::Flink22 && call.reads_not_null
        }
    }
}
