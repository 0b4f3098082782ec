//! Values of arguments that have names, so that shells can complete them.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::documents::Destination;
use crate::report::format::Format;
use crate::target::Target;

/// Reads the name of an engine.
pub(super) fn target() -> impl TypedValueParser<Value = Target> {
    PossibleValuesParser::new(Target::ALL.map(Target::name)).try_map(|name| name.parse::<Target>())
}

/// Reads `FORMAT` or `FORMAT=PATH`. Only the formats have names.
#[derive(Clone)]
pub(super) struct Destinations;

impl TypedValueParser for Destinations {
    type Value = Destination;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Destination, clap::Error> {
        TypedValueParser::parse_ref(&|text: &str| text.parse::<Destination>(), command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Format::ALL.into_iter().map(|format| PossibleValue::new(format.name()))))
    }
}
