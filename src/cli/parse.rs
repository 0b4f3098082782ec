//! `keepstate parse FILE...`.

use std::fmt::Write as _;

use serde::Serialize;

use super::args::{ParseArgs, PlainFormat};
use super::{Outcome, input};
use crate::check::{self, Text};
use crate::planning;
use crate::report::human::{self, Style};
use crate::report::json;
use crate::report::model::{ErrorItem, Place};
use crate::report::secrets::Redactor;
use crate::source::SourceMap;
use crate::terminal::visible;

#[derive(Serialize)]
struct Document {
    statements: Vec<Statement>,
    errors: Vec<ErrorItem>,
}

#[derive(Serialize)]
struct Statement {
    kind: &'static str,
    at: Place,
}

pub(super) fn run(args: &ParseArgs, style: Style) -> Outcome {
    let mut sources = SourceMap::new();
    let (mut statements, mut errors) = (Vec::new(), Vec::new());
    // Every file is read by itself, so that one that cannot be read does not hide the others.
    let mut stdin = false;
    let defines = args.define.iter().cloned().collect();
    for name in &args.files {
        let names: &[&str] = if name == "-" && std::mem::replace(&mut stdin, true) { &["-", "-"] } else { &[name] };
        match input::read_all(names.iter().copied()) {
            Err(unreadable) => errors.extend(unreadable),
            Ok(texts) => {
                for Text { name, text } in texts {
                    let file = sources.add(name, text);
                    let script = planning::parse(&sources, file, &defines);
                    check::syntax_errors(&sources, &script, &mut errors);
                    statements.extend(
                        script
                            .statements
                            .iter()
                            .map(|s| Statement { kind: s.kind.name(), at: Place::of(&sources, s.span) }),
                    );
                }
            }
        }
    }
    let secrets = Redactor::of(sources.files().iter().map(|f| &*f.text), &defines);
    check::redact_errors(&mut errors, &secrets);
    let exit = if errors.is_empty() { 0 } else { 2 };
    let text = match args.format {
        PlainFormat::Json => json::render(&Document { statements, errors }),
        PlainFormat::Human => {
            let mut text = String::new();
            for Statement { kind, at } in &statements {
                let _ = writeln!(text, "{}:{}:{}: {kind}", visible(&at.file), at.start.line, at.start.column);
            }
            text.push_str(&human::render_errors(&errors, &sources, style));
            text
        }
    };
    Outcome { text, exit }
}
