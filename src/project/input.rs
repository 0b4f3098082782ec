//! Texts from files and from stdin.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use super::checkout;
use crate::check::Text;
use crate::nearest::nearest;
use crate::report::model::{ErrorCode, ErrorItem};

/// Reads texts; `-` is stdin, which can be read once. All errors are given, not only the first.
pub fn read_all<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Vec<Text>, Vec<ErrorItem>> {
    let (mut texts, mut errors, mut stdin) = (Vec::new(), Vec::new(), false);
    for name in names {
        if name == "-" && std::mem::replace(&mut stdin, true) {
            errors.push(
                ErrorItem::new(ErrorCode::Config, "stdin is named twice, but can be read once")
                    .help("give one of the two as a file"),
            );
            continue;
        }
        let text = checkout::revision_text(name).unwrap_or_else(|| read(name));
        match text {
            Ok(text) => texts.push(text),
            Err(error) => errors.push(*error),
        }
    }
    if errors.is_empty() { Ok(texts) } else { Err(errors) }
}

/// Scripts are at most this large, in bytes: a file may be endless.
const LARGEST: u64 = 256 << 20;

/// A file, but not much more of it than `most` bytes.
pub fn read_file(name: &str, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(name)?.take(most + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn read(name: &str) -> Result<Text, Box<ErrorItem>> {
    if name == "-" {
        return read_stdin("<stdin>");
    }
    read_path(Path::new(name), name)
}

/// What comes over stdin, under a name.
pub fn read_stdin(shown: &str) -> Result<Text, Box<ErrorItem>> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(LARGEST + 1).read_to_end(&mut bytes);
    read.map_err(|error| Box::new(unreadable("-", &error)))?;
    text(shown, bytes)
}

/// A file, under a name.
pub fn read_path(path: &Path, shown: &str) -> Result<Text, Box<ErrorItem>> {
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|f| f.take(LARGEST + 1).read_to_end(&mut bytes));
    read.map_err(|error| Box::new(unreadable(shown, &error)))?;
    text(shown, bytes)
}

/// Bytes as a text, if they are one.
pub fn text(shown: &str, bytes: Vec<u8>) -> Result<Text, Box<ErrorItem>> {
    if bytes.len() as u64 > LARGEST {
        let error = ErrorItem::new(ErrorCode::Io, format!("{shown} is larger than {} MiB", LARGEST >> 20));
        return Err(Box::new(error.help("split the script")));
    }
    if bytes.contains(&0) {
        let error = ErrorItem::new(ErrorCode::Io, format!("{shown} is a binary file, not SQL"));
        return Err(Box::new(error.help("name a text file in UTF-8")));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Text::new(shown, text)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let error = ErrorItem::new(ErrorCode::Io, format!("{shown} is not UTF-8 (byte {at})"));
            Err(Box::new(error.help("convert the file to UTF-8")))
        }
    }
}

fn unreadable(name: &str, error: &io::Error) -> ErrorItem {
    let path = Path::new(name);
    if path.is_dir() {
        return ErrorItem::new(ErrorCode::Io, format!("{name} is a directory")).help("name a file in it");
    }
    if error.kind() != io::ErrorKind::NotFound {
        return ErrorItem::new(ErrorCode::Io, format!("{name} cannot be read: {error}"));
    }
    let item = ErrorItem::new(ErrorCode::Io, format!("there is no file {name}"));
    match neighbour(path) {
        Some(other) => item.help(format!("did you mean {other}?")),
        None => item.help("check the path; it is taken from the current directory"),
    }
}

/// The file in the same directory whose name is nearest.
fn neighbour(path: &Path) -> Option<String> {
    let directory = path.parent().filter(|p| !p.as_os_str().is_empty());
    let entries = fs::read_dir(directory.unwrap_or(Path::new("."))).ok()?;
    let mut names: Vec<String> = entries.flatten().filter_map(|e| e.file_name().into_string().ok()).collect();
    names.sort();
    let name = nearest(path.file_name()?.to_str()?, names.iter().map(String::as_str))?;
    Some(directory.map_or_else(|| name.to_owned(), |d| d.join(name).display().to_string()))
}
