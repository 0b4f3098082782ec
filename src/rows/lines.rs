//! Lines of files, of which none may be endless.

use std::io::{self, BufRead, Read};

use super::error::RowError;

/// A line, or a CSV record of several lines, is at most this long.
const LONGEST: usize = 64 << 20;

/// Appends the next line, which ends with a line break or with the file, to what is there of its record. Gives its length.
pub(super) fn read_line(input: &mut (impl BufRead + ?Sized), record: &mut Vec<u8>) -> io::Result<usize> {
    let room = LONGEST.saturating_sub(record.len());
    let length = Read::take(&mut *input, room as u64 + 1).read_until(b'\n', record)?;
    if length > room {
        record.clear();
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is longer than {} MiB", LONGEST >> 20)));
    }
    Ok(length)
}

/// The error of a line that cannot be read.
pub(super) fn unreadable(file: &str, line: u64, error: &io::Error) -> Box<RowError> {
    let cannot = RowError::new(file, line, format!("the line cannot be read: {error}"));
    match error.kind() {
        io::ErrorKind::FileTooLarge => cannot.help("write one row per line"),
        _ => cannot,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    #[test]
    fn lines_end_somewhere() {
        let mut endless = BufReader::new(io::repeat(b'a'));
        let error = read_line(&mut endless, &mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "it is longer than 64 MiB");
        let mut record = vec![b'"'; LONGEST - 2];
        assert_eq!(read_line(&mut "b\nc".as_bytes(), &mut record).unwrap(), 2);
        assert!(read_line(&mut "c".as_bytes(), &mut record).is_err(), "all lines of a record count");
    }
}
