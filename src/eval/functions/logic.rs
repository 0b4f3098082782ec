//! AND, OR, NOT and the IS tests.

use super::Call;
use crate::eval::{Datum, Evaluator};

pub(super) fn compile(call: &Call<'_>, mut args: Vec<Evaluator>) -> Option<Evaluator> {
    if matches!(call.name, "AND" | "OR") {
        // FALSE decides AND and TRUE decides OR, whatever follows; NULL does not.
        let decisive = call.name == "OR";
        return Some(match <[Evaluator; 2]>::try_from(args) {
            Ok([a, b]) => Evaluator::computed(move |row, now| {
                let a = a.test(row, now)?;
                if a == Some(decisive) {
                    return Ok(Datum::Boolean(decisive));
                }
                let b = b.test(row, now)?;
                Ok(match (a, b) {
                    (_, Some(b)) if b == decisive => Datum::Boolean(decisive),
                    (Some(_), Some(_)) => Datum::Boolean(!decisive),
                    _ => Datum::Null,
                })
            }),
            Err(args) => Evaluator::computed(move |row, now| {
                let mut result = Datum::Boolean(!decisive);
                for arg in &args {
                    match arg.test(row, now)? {
                        Some(value) if value == decisive => return Ok(Datum::Boolean(decisive)),
                        Some(_) => {}
                        None => result = Datum::Null,
                    }
                }
                Ok(result)
            }),
        });
    }
    let arg = args.pop()?;
    Some(match call.name {
        "NOT" => arg.map(|v| Ok(v.as_bool().map(|b| !b).into())),
        "IS NULL" => arg.map(|v| Ok(v.is_null().into())),
        "IS NOT NULL" => arg.map(|v| Ok((!v.is_null()).into())),
        "IS TRUE" => arg.map(|v| Ok((v.as_bool() == Some(true)).into())),
        "IS NOT TRUE" => arg.map(|v| Ok((v.as_bool() != Some(true)).into())),
        "IS FALSE" => arg.map(|v| Ok((v.as_bool() == Some(false)).into())),
        "IS NOT FALSE" => arg.map(|v| Ok((v.as_bool() != Some(false)).into())),
        _ => return None,
    })
}
