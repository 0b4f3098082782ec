//! Files by their address: `file:///home/me/a%20b.sql`, `file:///c%3A/jobs/a.sql`.

use std::path::{Path, PathBuf};

/// The scheme of texts that are no files: what stands on the old side, and what the rules say.
pub const SCHEME: &str = "keepstate";

/// The file that an address means; none if it is no file's.
pub fn to_path(uri: &str) -> Option<PathBuf> {
    path_text(uri, cfg!(windows)).map(PathBuf::from)
}

fn path_text(uri: &str, windows: bool) -> Option<String> {
    let (scheme, rest) = uri.split_once(':')?;
    if !scheme.eq_ignore_ascii_case("file") {
        return None;
    }
    let rest = rest.split(['?', '#']).next()?;
    let (host, path) = match rest.strip_prefix("//") {
        Some(rest) => rest.split_at(rest.find('/')?),
        None => ("", rest),
    };
    let path = decoded(path)?;
    let local = host.is_empty() || host.eq_ignore_ascii_case("localhost");
    if !windows {
        return (local && path.starts_with('/')).then_some(path);
    }
    if !local {
        return Some(format!(r"\\{}{}", decoded(host)?, path.replace('/', r"\")));
    }
    let drive = path.strip_prefix('/').filter(|p| {
        let mut chars = p.chars();
        chars.next().is_some_and(|c| c.is_ascii_alphabetic()) && chars.next() == Some(':')
    });
    drive.map(|path| path.replace('/', r"\"))
}

/// The address of a file.
pub fn of_path(path: &Path) -> String {
    format!("file://{}", address(&path.to_string_lossy(), cfg!(windows)))
}

/// A path as it stands in an address, from the first slash on.
pub fn address(path: &str, windows: bool) -> String {
    let path = if windows { path.trim_start_matches(r"\\?\").replace('\\', "/") } else { path.to_owned() };
    let mut out = String::with_capacity(path.len() + 1);
    if !path.starts_with('/') {
        out.push('/');
    }
    encode(&path, &mut out);
    out
}

/// An address as it is compared with others: editors differ in what they encode.
pub fn plain(uri: &str) -> String {
    decoded(uri).unwrap_or_else(|| uri.to_owned())
}

/// A piece of an address, slashes included.
pub fn encoded(text: &str) -> String {
    let mut out = String::new();
    encode(text, &mut out);
    out.replace('/', "%2F")
}

fn encode(text: &str, out: &mut String) {
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' | b'~' => out.push(byte as char),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
}

fn decoded(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let digit = |b: Option<u8>| (b? as char).to_digit(16);
        out.push((digit(bytes.next())? * 16 + digit(bytes.next())?) as u8);
    }
    String::from_utf8(out).ok().filter(|text| !text.contains('\0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_files_are_paths() {
        let unix = |uri| path_text(uri, false);
        assert_eq!(unix("file:///a%20b/%C3%A9.sql").as_deref(), Some("/a b/é.sql"));
        assert_eq!(unix("FILE://localhost/a.sql?x#y").as_deref(), Some("/a.sql"));
        for none in
            ["untitled:Untitled-1", "file://server/a.sql", "file:///%zz", "file:///%ff", "file:///a%00", "a.sql", ""]
        {
            assert_eq!(unix(none), None, "{none}");
        }
        let windows = |uri| path_text(uri, true);
        assert_eq!(windows("file:///c%3A/jobs/a%20b.sql").as_deref(), Some(r"c:\jobs\a b.sql"));
        assert_eq!(windows("file:///C:/a.sql").as_deref(), Some(r"C:\a.sql"));
        assert_eq!(windows("file://server/share/a.sql").as_deref(), Some(r"\\server\share\a.sql"));
        assert_eq!(windows("file:///jobs/a.sql"), None);
    }

    #[test]
    fn paths_have_addresses() {
        assert_eq!(address("/a b/é#1.sql", false), "/a%20b/%C3%A9%231.sql");
        assert_eq!(address(r"\\?\C:\jobs\a.sql", true), "/C%3A/jobs/a.sql");
        assert_eq!(encoded("origin/main"), "origin%2Fmain");
        #[cfg(not(windows))]
        assert_eq!(to_path(&of_path(Path::new("/a b/é%.sql"))), Some(PathBuf::from("/a b/é%.sql")));
    }
}
