//! Time attributes inside expressions become ordinary values (Flink's `RelTimeIndicatorConverter`).

use crate::catalog::functions::operators as op;
use crate::catalog::types::TimeAttribute;
use crate::logical::rex::{Rex, RexKind};

/// `rex` with every time attribute that a call or cast takes made ordinary: rowtime by `CAST(ts AS TIMESTAMP(3))`,
/// processing time by `PROCTIME_MATERIALIZE(pt)`. A bare column stays what it is.
pub fn materialize(rex: Rex) -> Rex {
    let Rex { kind, ty, origins } = rex;
    let kind = match kind {
        RexKind::Call(function, args) if function.name() != op::PROCTIME_MATERIALIZE.name => {
            RexKind::Call(function, args.into_iter().map(|a| ordinary(materialize(a))).collect())
        }
        RexKind::Cast { operand, is_try } => {
            let operand = materialize(*operand);
            // A cast of the attribute to its own ordinary type is the materialization.
            let same = operand.ty.is_rowtime() && operand.ty.clone().materialized().same_kind(&ty);
            let operand = if same { operand } else { ordinary(operand) };
            RexKind::Cast { operand: Box::new(operand), is_try }
        }
        kind => kind,
    };
    Rex { kind, ty, origins }
}

fn ordinary(rex: Rex) -> Rex {
    match rex.ty.time_attribute() {
        TimeAttribute::None => rex,
        TimeAttribute::Rowtime => {
            let ty = rex.ty.clone().materialized();
            Rex::cast(rex, ty)
        }
        TimeAttribute::Proctime => {
            let (ty, origins) = (rex.ty.clone().materialized(), rex.origins.clone());
            Rex::call(&op::PROCTIME_MATERIALIZE, vec![rex], ty).or_at(&origins)
        }
    }
}
