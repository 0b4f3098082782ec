//! `keepstate schema DOCUMENT`.

use super::Outcome;
use super::args::{SchemaArgs, SchemaOf};
use crate::report::schema;

pub(super) fn run(args: &SchemaArgs) -> Outcome {
    Outcome::ok(match args.document {
        SchemaOf::Report => schema::REPORT.to_owned(),
        SchemaOf::Config => schema::CONFIG.to_owned(),
        SchemaOf::Lock => schema::LOCK.to_owned(),
    })
}
