//! Reports on their way out: one to stdout, any number to files.
//!
//! A file appears whole or not at all: it is written beside its place and then moved there. Whether files can be written is found out
//! before anything is rendered, so that the report, in every format, says which cannot.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::Outcome;
use crate::report::format::Format;
use crate::report::model::{ErrorCode, ErrorItem};

/// Where a report goes, and in which format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Destination {
    pub format: Format,
    /// The file; none for stdout.
    pub path: Option<PathBuf>,
}

impl Destination {
    /// A format on stdout.
    pub fn stdout(format: Format) -> Destination {
        Destination { format, path: None }
    }
}

/// Reads `FORMAT` or `FORMAT=PATH`.
impl std::str::FromStr for Destination {
    type Err = String;

    fn from_str(text: &str) -> Result<Destination, String> {
        match text.split_once('=') {
            None => Ok(Destination::stdout(text.parse()?)),
            Some((format, "-")) => Ok(Destination::stdout(format.parse()?)),
            Some((format, "")) => Err(format!("write the file behind `=`, as in {format}=report.txt")),
            Some((format, path)) => Ok(Destination { format: format.parse()?, path: Some(path.into()) }),
        }
    }
}

/// Why destinations contradict each other, with what to do.
pub(super) fn contradiction(destinations: &[Destination]) -> Option<String> {
    let mut stdout = destinations.iter().filter(|d| d.path.is_none());
    if let (Some(first), Some(second)) = (stdout.next(), stdout.next()) {
        return Some(format!(
            "two formats are for stdout, {} and {}; give one of them a file: --format {}=FILE",
            first.format.name(),
            second.format.name(),
            second.format.name()
        ));
    }
    let twice = destinations.iter().enumerate().find_map(|(n, one)| {
        let path = one.path.as_ref()?;
        let same = |other: &Destination| other.path.as_ref().is_some_and(|other| plain(other) == plain(path));
        destinations[..n].iter().any(same).then_some(path)
    })?;
    Some(format!("two formats are for {}; give each a file of its own", twice.display()))
}

/// A path without the ways round that lead to the same file.
fn plain(path: &Path) -> PathBuf {
    let directory = path.parent().filter(|d| !d.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (directory.canonicalize(), path.file_name()) {
        (Ok(directory), Some(name)) => directory.join(name),
        _ => path.to_owned(),
    }
}

/// The destinations of a run, those that are files open.
pub(super) struct Documents {
    stdout: Option<Format>,
    files: Vec<(Format, Target)>,
    /// Said on stderr if no format on stdout says it.
    complaints: Vec<String>,
}

/// A file on its way to its place.
struct Target {
    path: PathBuf,
    file: File,
    /// Where it is written until it is whole; none for what is no ordinary file, such as a pipe.
    temporary: Option<PathBuf>,
}

impl Documents {
    /// Opens the files. Those that cannot be written are errors of the report.
    pub fn open(destinations: &[Destination]) -> (Documents, Vec<ErrorItem>) {
        let mut documents = Documents { stdout: None, files: Vec::new(), complaints: Vec::new() };
        if destinations.is_empty() {
            documents.stdout = Some(Format::default());
        }
        let mut errors = Vec::new();
        for Destination { format, path } in destinations {
            match path {
                None => documents.stdout = Some(*format),
                Some(path) => match Target::open(path) {
                    Ok(target) => documents.files.push((*format, target)),
                    Err(error) => {
                        let item = unwritable(path, &error);
                        documents.complaints.push(item.message.clone());
                        errors.push(item);
                    }
                },
            }
        }
        (documents, errors)
    }

    /// Writes the files and gives what is for stdout.
    pub fn finish(self, exit: u8, render: impl Fn(Format) -> String) -> Outcome {
        let Documents { stdout, files, mut complaints } = self;
        if stdout.is_some() {
            complaints.clear();
        }
        let mut exit = exit;
        for (format, target) in files {
            let path = target.path.clone();
            if let Err(error) = target.write(render(format).as_bytes()) {
                complaints.push(unwritable(&path, &error).message);
                exit = 2;
            }
        }
        for complaint in complaints {
            // Should stderr be gone, nobody is there to tell.
            let _ = writeln!(io::stderr(), "keepstate: {complaint}");
        }
        Outcome { text: stdout.map(render).unwrap_or_default(), exit }
    }
}

impl Target {
    fn open(path: &Path) -> io::Result<Target> {
        // A link stays one: what it leads to is written.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let there = fs::metadata(&path).ok();
        if there.as_ref().is_some_and(fs::Metadata::is_dir) {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        // A slip of the pen must not cost a script.
        let name = path.file_name().map(|n| n.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        let kept = name.ends_with(".sql") || name == crate::config::FILE_NAME || name == crate::lock::FILE_NAME;
        if there.is_some() && kept {
            return Err(io::Error::other("it is a script or a file of the project, and a report would replace it"));
        }
        if there.as_ref().is_some_and(|there| !there.is_file()) {
            let file = File::options().write(true).open(&path)?;
            return Ok(Target { path, file, temporary: None });
        }
        if there.as_ref().is_some_and(|there| there.permissions().readonly()) {
            return Err(io::Error::from(io::ErrorKind::PermissionDenied));
        }
        let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?.to_string_lossy().into_owned();
        let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
        let file = File::options().write(true).create_new(true).open(&temporary)?;
        let target = Target { path, file, temporary: Some(temporary) };
        if let Some(there) = there {
            target.file.set_permissions(there.permissions())?;
        }
        Ok(target)
    }

    fn write(mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.file.flush()?;
        if let Some(temporary) = &self.temporary {
            fs::rename(temporary, &self.path)?;
            self.temporary = None;
        }
        Ok(())
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // Only what was not moved to its place is left; that it cannot be removed changes nothing for the report.
            let _ = fs::remove_file(temporary);
        }
    }
}

fn unwritable(path: &Path, error: &io::Error) -> ErrorItem {
    let name = path.display();
    let item = |message: String| ErrorItem::new(ErrorCode::Io, message);
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    match error.kind() {
        io::ErrorKind::NotFound => {
            let parent = parent.unwrap_or(Path::new(".")).display();
            item(format!("{name} cannot be written: there is no directory {parent}")).help("make the directory first")
        }
        io::ErrorKind::IsADirectory => {
            item(format!("{name} cannot be written: it is a directory")).help("name a file in it")
        }
        io::ErrorKind::PermissionDenied => item(format!("{name} cannot be written: there is no permission to"))
            .help("name a file in a directory that you may write"),
        _ => item(format!("{name} cannot be written: {error}")).help("name another file"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(texts: &[&str]) -> Vec<Destination> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn a_format_may_have_a_file() {
        assert_eq!(of(&["json"]), [Destination::stdout(Format::Json)]);
        let file = Destination { format: Format::Json, path: Some("a=b.json".into()) };
        assert_eq!(of(&["json=a=b.json"]), [file]);
        assert!("json=".parse::<Destination>().is_err() && "=a".parse::<Destination>().is_err());
    }

    #[test]
    fn stdout_and_files_take_one_format_each() {
        assert_eq!(contradiction(&of(&["json=a", "human", "concise=b"])), None);
        let why = contradiction(&of(&["human", "json"])).unwrap();
        assert!(why.ends_with("give one of them a file: --format json=FILE"), "{why}");
        let why = contradiction(&of(&["human=a", "json=a"])).unwrap();
        assert!(why.contains("two formats are for a"), "{why}");
    }
}
