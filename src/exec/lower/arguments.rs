//! Types of arguments that Flink's aggregate functions do not take (`AggFunctionFactory`), which it notices only when it makes
//! exec nodes.

use super::Lowering;
use crate::catalog::types::{DataType, TypeKind};
use crate::exec::Target;
use crate::logical::rel::{AggArg, AggCall, RelColumn};
use crate::plan_error::{PlanError, PlanResult};

impl Lowering<'_> {
    /// Refuses calls over `input` whose functions do not take their arguments.
    pub(super) fn check_arguments(&self, calls: &[AggCall], input: &[RelColumn]) -> PlanResult<()> {
        for call in calls {
            let Some(ty) = argument(call, input) else { continue };
            let refused = match &*call.function {
                "FIRST_VALUE" | "LAST_VALUE" if self.target != Target::Flink22 => time_root(ty)
                    .map(|root| format!("{} aggregate function does not support type: ''{root}''", call.function)),
                "COUNT" if call.args.len() > 1 => Some("We now only support the count of one field.".to_owned()),
                "AVG" if matches!(ty.kind, TypeKind::Decimal(_, 38)) => {
                    Some("Cannot convert 0 to DECIMAL(38, 38) due to overflow".to_owned())
                }
                _ => None,
            };
            if let Some(message) = refused {
                let at = call.origins.first().unwrap_or_default();
                return Err(PlanError::rejected(at, message)
                    .label(format!("over {ty}"))
                    .help("cast the argument to a type that the function takes")
                    .into());
            }
        }
        Ok(())
    }
}

fn argument<'a>(call: &'a AggCall, input: &'a [RelColumn]) -> Option<&'a DataType> {
    match call.args.first()? {
        AggArg::Column(i) => input.get(*i).map(|c| &c.ty),
        AggArg::Constant(e) => Some(&e.ty),
    }
}

/// Flink's name (`LogicalTypeRoot`) of a type of times.
fn time_root(ty: &DataType) -> Option<&'static str> {
    match ty.kind {
        TypeKind::Date => Some("DATE"),
        TypeKind::Time(_) => Some("TIME_WITHOUT_TIME_ZONE"),
        TypeKind::Timestamp(..) => Some("TIMESTAMP_WITHOUT_TIME_ZONE"),
        TypeKind::TimestampLtz(..) => Some("TIMESTAMP_WITH_LOCAL_TIME_ZONE"),
        _ => None,
    }
}
