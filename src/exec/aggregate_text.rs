//! How Flink prints aggregate calls and their accumulators (its `RelExplainUtil`).

use super::{TextContext, join};
use crate::logical::print::print_argument;
use crate::logical::rel::{AggArg, AggCall};

/// The function's name; over input with updates most have a form of their own.
pub fn function_name(call: &AggCall, retracts: bool) -> String {
    let has_form = matches!(
        &*call.function,
        "COUNT" | "SUM" | "AVG" | "MAX" | "MIN" | "$SUM0" | "LISTAGG" | "FIRST_VALUE" | "LAST_VALUE"
    );
    if call.takes_back(retracts) && has_form { format!("{}_RETRACT", call.function) } else { call.function.to_string() }
}

/// `SUM(price) AS revenue`, with DISTINCT and FILTER.
pub fn call_text(call: &AggCall, retracts: bool, context: &TextContext<'_>) -> String {
    let distinct = if call.distinct { "DISTINCT " } else { "" };
    format!("{}({distinct}{}){}", function_name(call, retracts), arguments(call, context), filter_text(call, context))
}

/// The arguments; none is `*`.
pub fn arguments(call: &AggCall, context: &TextContext<'_>) -> String {
    if call.args.is_empty() {
        return "*".to_owned();
    }
    join(call.args.iter().map(|a| match a {
        AggArg::Column(i) => context.name(*i).to_owned(),
        AggArg::Constant(e) => print_argument(e),
    }))
}

/// ` FILTER $f4`, or nothing.
pub fn filter_text(call: &AggCall, context: &TextContext<'_>) -> String {
    call.filter.map(|f| format!(" FILTER {}", context.name(f))).unwrap_or_default()
}

/// The names of the accumulator fields of two-phase aggregates, in order: `sum$0`, `(sum$1, count$2)`.
pub struct Accumulators {
    /// Per call: its accumulator, in parentheses if it has several fields.
    pub names: Vec<String>,
    /// Per call: the index of its distinct view, if DISTINCT.
    pub distinct: Vec<Option<usize>>,
    /// The distinct views: the arguments they hold.
    pub views: Vec<Vec<AggArg>>,
}

impl Accumulators {
    /// Names the accumulators of `calls`.
    pub fn of(calls: &[AggCall], retracts: bool) -> Accumulators {
        let mut next = 0;
        let mut out = Accumulators { names: Vec::new(), distinct: Vec::new(), views: Vec::new() };
        for call in calls {
            let fields = accumulator_fields(call, retracts);
            let named: Vec<String> = fields
                .iter()
                .map(|f| {
                    next += 1;
                    format!("{f}${}", next - 1)
                })
                .collect();
            out.names.push(match named.as_slice() {
                [one] => one.clone(),
                many => format!("({})", many.join(", ")),
            });
            out.distinct.push(call.distinct.then(|| {
                out.views.iter().position(|v| *v == call.args).unwrap_or_else(|| {
                    out.views.push(call.args.clone());
                    out.views.len() - 1
                })
            }));
        }
        out
    }
}

/// The calls of a local aggregate with the accumulators they fill, then the distinct views.
pub fn local_call_texts(
    calls: &[AggCall],
    accumulators: &Accumulators,
    retracts: bool,
    context: &TextContext<'_>,
) -> Vec<String> {
    let mut out: Vec<String> = calls
        .iter()
        .enumerate()
        .map(|(i, call)| {
            let view = accumulators.distinct[i].map(|v| format!("distinct${v} ")).unwrap_or_default();
            format!(
                "{}({view}{}){} AS {}",
                function_name(call, retracts),
                arguments(call, context),
                filter_text(call, context),
                accumulators.names[i]
            )
        })
        .collect();
    out.extend(accumulators.views.iter().enumerate().map(|(i, view)| {
        let columns = join(view.iter().filter_map(AggArg::column).map(|c| context.name(c)));
        format!("DISTINCT({columns}) AS distinct${i}")
    }));
    out
}

/// The calls of a global aggregate over the accumulators of the local one.
pub fn global_call_texts(calls: &[AggCall], accumulators: &Accumulators, retracts: bool) -> Vec<String> {
    calls
        .iter()
        .enumerate()
        .map(|(i, call)| {
            let view = accumulators.distinct[i].map(|v| format!("distinct${v} ")).unwrap_or_default();
            format!("{}({view}{})", function_name(call, retracts), accumulators.names[i])
        })
        .collect()
}

fn accumulator_fields(call: &AggCall, retracts: bool) -> Vec<String> {
    let words: &[&str] = match &*call.function {
        "COUNT" if call.args.is_empty() => &["count1"],
        "COUNT" => &["count"],
        "SUM" if call.takes_back(retracts) => &["sum", "count"],
        "SUM" | "$SUM0" => &["sum"],
        "AVG" => &["sum", "count"],
        "LISTAGG" if !call.takes_back(retracts) => &["accDelimiter", "concatAcc"],
        other => return vec![other.trim_start_matches('$').to_lowercase()],
    };
    words.iter().map(|w| (*w).to_owned()).collect()
}
