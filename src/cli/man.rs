//! `keepstate man [--dir DIR]`.

use std::fs;
use std::path::Path;

use clap::CommandFactory;
use clap_mangen::Man;

use super::args::{Args, ManArgs};
use super::{Outcome, refuse};
use crate::report::human::Style;
use crate::report::model::{ErrorCode, ErrorItem};

pub(super) fn run(args: &ManArgs, style: Style) -> Outcome {
    let written = match &args.dir {
        None => {
            let mut page = Vec::new();
            Man::new(program()).render(&mut page).map(|()| String::from_utf8_lossy(&page).into_owned())
        }
        Some(dir) => pages(dir).map(|()| String::new()),
    };
    match written {
        Ok(text) => Outcome::ok(text),
        Err(error) => {
            let place = args.dir.as_ref().map_or_else(|| "the page".to_owned(), |dir| dir.display().to_string());
            let error = ErrorItem::new(ErrorCode::Io, format!("{place} cannot be written: {error}"));
            refuse(error.help("name a directory that can be written with --dir"), style)
        }
    }
}

/// Writes a page for the program and one for each command, such as `keepstate-check.1`.
fn pages(dir: &Path) -> std::io::Result<()> {
    fs::create_dir_all(dir)?;
    clap_mangen::generate_to(program(), dir)
}

/// The program without `help`, which has no page.
fn program() -> clap::Command {
    Args::command().disable_help_subcommand(true)
}
