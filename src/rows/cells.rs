//! Records of a CSV file. Our own, since the `csv` crate cannot tell an empty cell (NULL) from an empty quoted one (`''`).

use std::io::{self, BufRead};

/// One record, read into the same buffers again and again.
#[derive(Debug, Default)]
pub struct Record {
    line: Vec<u8>,
    text: String,
    cells: Vec<Cell>,
}

#[derive(Debug, Clone, Copy)]
struct Cell {
    start: usize,
    end: usize,
    quoted: bool,
}

/// A record that is none.
#[derive(Debug)]
pub enum BadRecord {
    /// The file cannot be read.
    Io(io::Error),
    /// It is not UTF-8.
    Encoding,
    /// A quote is not closed.
    OpenQuote,
    /// Something follows a closing quote.
    AfterQuote,
}

impl Record {
    /// Reads the next record that is not an empty line. Gives the number of lines it took with those before it; none at the end.
    pub fn read(&mut self, input: &mut dyn BufRead) -> Result<Option<u64>, BadRecord> {
        let mut lines = 0;
        loop {
            self.line.clear();
            if input.read_until(b'\n', &mut self.line).map_err(BadRecord::Io)? == 0 {
                return Ok(None);
            }
            lines += 1;
            // A line break within quotes belongs to the cell.
            while self.line.iter().filter(|b| **b == b'"').count() % 2 == 1 {
                if input.read_until(b'\n', &mut self.line).map_err(BadRecord::Io)? == 0 {
                    return Err(BadRecord::OpenQuote);
                }
                lines += 1;
            }
            while matches!(self.line.last(), Some(b'\n' | b'\r')) {
                self.line.pop();
            }
            if !self.line.is_empty() {
                break;
            }
        }
        self.split()?;
        Ok(Some(lines))
    }

    fn split(&mut self) -> Result<(), BadRecord> {
        let line = std::str::from_utf8(&self.line).map_err(|_| BadRecord::Encoding)?;
        self.text.clear();
        self.cells.clear();
        let mut rest = line;
        loop {
            let start = self.text.len();
            let quoted = rest.starts_with('"');
            if quoted {
                rest = &rest[1..];
                loop {
                    let Some(quote) = rest.find('"') else { return Err(BadRecord::OpenQuote) };
                    self.text.push_str(&rest[..quote]);
                    rest = &rest[quote + 1..];
                    match rest.strip_prefix('"') {
                        Some(after) => {
                            self.text.push('"');
                            rest = after;
                        }
                        None => break,
                    }
                }
                if !rest.is_empty() && !rest.starts_with(',') {
                    return Err(BadRecord::AfterQuote);
                }
            } else {
                let end = rest.find(',').unwrap_or(rest.len());
                self.text.push_str(&rest[..end]);
                rest = &rest[end..];
            }
            self.cells.push(Cell { start, end: self.text.len(), quoted });
            match rest.strip_prefix(',') {
                Some(after) => rest = after,
                None => return Ok(()),
            }
        }
    }

    /// How many cells it has.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Cell `i`: its text, and whether it stood in quotes.
    pub fn cell(&self, i: usize) -> (&str, bool) {
        let Cell { start, end, quoted } = self.cells[i];
        (&self.text[start..end], quoted)
    }
}

/// Writes a cell so that [`Record`] reads it back. NULL is `None`.
pub fn write_cell(out: &mut String, cell: Option<&str>) {
    let Some(text) = cell else { return };
    if text.is_empty() || text.contains(['"', ',', '\n', '\r']) {
        out.push('"');
        for (i, part) in text.split('"').enumerate() {
            if i > 0 {
                out.push_str("\"\"");
            }
            out.push_str(part);
        }
        out.push('"');
    } else {
        out.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(text: &str) -> Vec<Vec<(String, bool)>> {
        let mut input = text.as_bytes();
        let (mut record, mut out) = (Record::default(), Vec::new());
        while record.read(&mut input).unwrap().is_some() {
            out.push((0..record.len()).map(|i| (record.cell(i).0.to_owned(), record.cell(i).1)).collect());
        }
        out
    }

    #[test]
    fn quotes_commas_and_line_breaks() {
        let read = cells("a,\"b,\"\"c\"\"\"\r\n\n\"x\ny\",,\"\"\n");
        let shown: Vec<Vec<(&str, bool)>> =
            read.iter().map(|r| r.iter().map(|(t, q)| (t.as_str(), *q)).collect()).collect();
        assert_eq!(shown, [vec![("a", false), ("b,\"c\"", true)], vec![("x\ny", true), ("", false), ("", true)]]);
    }

    #[test]
    fn what_is_written_is_read_back() {
        for text in ["", "a", "a,b", "\"", "x\r\ny", " "] {
            let mut line = String::new();
            write_cell(&mut line, Some(text));
            line.push_str(",end");
            assert_eq!(cells(&line)[0][0].0, text);
        }
    }

    #[test]
    fn broken_quotes_are_errors() {
        let read = |text: &str| Record::default().read(&mut text.as_bytes()).unwrap_err();
        assert!(matches!(read("\"a"), BadRecord::OpenQuote));
        assert!(matches!(read("\"a\"b\"\""), BadRecord::AfterQuote));
    }
}
