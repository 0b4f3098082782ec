//! Records of a CSV file. Our own, since the `csv` crate cannot tell an empty cell (NULL) from an empty quoted one (`''`).

use std::io::{self, BufRead};

use super::lines::read_line;

/// One record, read into the same buffers again and again.
#[derive(Debug, Default)]
pub struct Record {
    /// The record as it stands in the file: cells without quotes lie in it.
    line: String,
    /// Cells that stood in quotes, without them.
    unquoted: String,
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
    pub fn read(&mut self, input: &mut impl BufRead) -> Result<Option<u64>, BadRecord> {
        let mut line = std::mem::take(&mut self.line).into_bytes();
        let mut lines = 0;
        let plain = loop {
            line.clear();
            if read_line(input, &mut line).map_err(BadRecord::Io)? == 0 {
                return Ok(None);
            }
            lines += 1;
            let plain = self.split_plain(&line);
            if !plain {
                let mut quotes = count_quotes(&line);
                // A line break within quotes belongs to the cell.
                while quotes % 2 == 1 {
                    let length = line.len();
                    if read_line(input, &mut line).map_err(BadRecord::Io)? == 0 {
                        return Err(BadRecord::OpenQuote);
                    }
                    lines += 1;
                    quotes += count_quotes(&line[length..]);
                }
            }
            while matches!(line.last(), Some(b'\n' | b'\r')) {
                line.pop();
            }
            if !line.is_empty() {
                break plain;
            }
        };
        self.line = String::from_utf8(line).map_err(|_| BadRecord::Encoding)?;
        if plain {
            self.cells.push(Cell {
                start: self.cells.last().map_or(0, |cell| cell.end + 1),
                end: self.line.len(),
                quoted: false,
            });
        } else {
            self.split()?;
        }
        Ok(Some(lines))
    }

    /// Splits a line without quotes, but for the last cell, which ends with the line. False if there is a quote.
    fn split_plain(&mut self, line: &[u8]) -> bool {
        self.cells.clear();
        let mut start = 0;
        for (at, byte) in line.iter().enumerate() {
            match byte {
                b',' => {
                    self.cells.push(Cell { start, end: at, quoted: false });
                    start = at + 1;
                }
                b'"' => return false,
                _ => {}
            }
        }
        true
    }

    fn split(&mut self) -> Result<(), BadRecord> {
        self.unquoted.clear();
        self.cells.clear();
        let mut rest = self.line.as_str();
        loop {
            if let Some(inner) = rest.strip_prefix('"') {
                let start = self.unquoted.len();
                rest = inner;
                loop {
                    let Some(quote) = rest.find('"') else { return Err(BadRecord::OpenQuote) };
                    self.unquoted.push_str(&rest[..quote]);
                    rest = &rest[quote + 1..];
                    match rest.strip_prefix('"') {
                        Some(after) => {
                            self.unquoted.push('"');
                            rest = after;
                        }
                        None => break,
                    }
                }
                if !rest.is_empty() && !rest.starts_with(',') {
                    return Err(BadRecord::AfterQuote);
                }
                self.cells.push(Cell { start, end: self.unquoted.len(), quoted: true });
            } else {
                let start = self.line.len() - rest.len();
                let length = rest.find(',').unwrap_or(rest.len());
                self.cells.push(Cell { start, end: start + length, quoted: false });
                rest = &rest[length..];
            }
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
        (if quoted { &self.unquoted[start..end] } else { &self.line[start..end] }, quoted)
    }
}

fn count_quotes(bytes: &[u8]) -> usize {
    bytes.iter().filter(|b| **b == b'"').count()
}

/// Writes a cell so that [`Record`] reads it back: `write` appends its text to `out`, and quotes are added where it needs them.
pub fn write_cell(out: &mut String, write: impl FnOnce(&mut String)) {
    let start = out.len();
    write(out);
    let text = &out[start..];
    if text.is_empty() || text.bytes().any(|b| matches!(b, b'"' | b',' | b'\n' | b'\r')) {
        let quoted = text.replace('"', "\"\"");
        out.truncate(start);
        out.push('"');
        out.push_str(&quoted);
        out.push('"');
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
            write_cell(&mut line, |out| out.push_str(text));
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
