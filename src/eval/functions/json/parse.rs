//! JSON text as Jackson's `ReaderBasedJsonParser` reads it, with its messages. What follows the first value is not read.

use super::value::Json;

/// Jackson's limit (`StreamReadConstraints`).
const MAX_DEPTH: usize = 1000;

const VALUES: &str = "(JSON String, Number, Array, Object or token 'null', 'true' or 'false')";

/// The first value of a text, or Jackson's message.
pub fn parse(text: &str) -> Result<Json, String> {
    let mut parser = Parser { text, chars: text.chars().collect(), at: 0 };
    parser.blanks()?;
    if parser.at == parser.chars.len() {
        return Err(format!(
            "No content to map due to end-of-input\n at [Source: (String)\"{}\"; line: 1, column: {}]",
            parser.shown(),
            parser.at
        ));
    }
    let number = matches!(parser.peek(), Some('-' | '0'..='9'));
    let value = parser.value(0)?;
    match parser.peek() {
        Some(c) if number && !matches!(c, ' ' | '\t' | '\r' | '\n') => {
            parser.at += 1;
            Err(parser.unexpected(c, "Expected space separating root-level values", ": "))
        }
        _ => Ok(value),
    }
}

struct Parser<'a> {
    text: &'a str,
    chars: Vec<char>,
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    /// The text in messages: 500 chars at the most.
    fn shown(&self) -> String {
        let total = self.text.encode_utf16().count();
        match total > 500 {
            true => {
                let start: String = self.text.chars().take(500).collect();
                format!("{}\"[truncated {} chars]", start, total - 500)
            }
            false => self.text.to_owned(),
        }
    }

    /// A message with the place behind what was read.
    fn error(&self, message: &str) -> String {
        let read = &self.chars[..self.at.min(self.chars.len())];
        let line = read.iter().filter(|c| **c == '\n').count() + 1;
        let column = self.at - read.iter().rposition(|c| *c == '\n').map_or(0, |at| at + 1) + 1;
        let shown = self.shown();
        let close = if shown.ends_with(" chars]") { "" } else { "\"" };
        format!("{message}\n at [Source: (String)\"{shown}{close}; line: {line}, column: {column}]")
    }

    fn unexpected(&self, c: char, why: &str, colon: &str) -> String {
        let code = u32::from(c);
        self.error(&format!("Unexpected character ('{c}' (code {code})){colon}{why}"))
    }

    fn blanks(&mut self) -> Result<(), String> {
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' | '\r' | '\n' => self.at += 1,
                c if c < ' ' => {
                    self.at += 1;
                    let message = format!(
                        "Illegal character ((CTRL-CHAR, code {})): only regular white space (\\r, \\n, \\t) is allowed \
                         between tokens",
                        u32::from(c)
                    );
                    return Err(self.error(&message));
                }
                _ => break,
            }
        }
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<Json, String> {
        if depth > MAX_DEPTH {
            let message = format!(
                "Document nesting depth ({depth}) exceeds the maximum allowed ({MAX_DEPTH}, from \
                 `StreamReadConstraints.getMaxNestingDepth()`)"
            );
            return Err(self.error(&message));
        }
        match self.peek() {
            Some('{') => self.object(depth),
            Some('[') => self.array(depth),
            Some('"') => {
                self.at += 1;
                self.string().map(Json::String)
            }
            Some('-' | '0'..='9') => self.number(),
            Some(c) if c.is_alphabetic() || matches!(c, '_' | '$') => self.word(),
            Some(c) => {
                self.at += 1;
                Err(self.unexpected(c, &format!("expected a valid value {VALUES}"), ": "))
            }
            None => Err(self.error("Unexpected end-of-input")),
        }
    }

    fn word(&mut self) -> Result<Json, String> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '$')) {
            self.at += 1;
        }
        let word: String = self.chars[start..self.at].iter().collect();
        match word.as_str() {
            "null" => Ok(Json::Null),
            "true" => Ok(Json::Boolean(true)),
            "false" => Ok(Json::Boolean(false)),
            "NaN" | "Infinity" => Err(self.error(&format!(
                "Non-standard token '{word}': enable `JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS` to allow"
            ))),
            _ => Err(self.error(&format!("Unrecognized token '{word}': was expecting {VALUES}"))),
        }
    }

    fn array(&mut self, depth: usize) -> Result<Json, String> {
        let start = self.at + 1;
        self.at += 1;
        let mut items = Vec::new();
        self.blanks()?;
        if self.peek() == Some(']') {
            self.at += 1;
            return Ok(Json::Array(items));
        }
        loop {
            self.blanks()?;
            if self.peek().is_none() {
                return Err(self.open_at_end("Array", start));
            }
            items.push(self.value(depth + 1)?);
            self.blanks()?;
            match self.peek() {
                Some(',') => self.at += 1,
                Some(']') => {
                    self.at += 1;
                    return Ok(Json::Array(items));
                }
                Some(c) => {
                    self.at += 1;
                    return Err(self.unexpected(c, "was expecting comma to separate Array entries", ": "));
                }
                None => return Err(self.open_at_end("Array", start)),
            }
        }
    }

    fn open_at_end(&self, what: &str, start: usize) -> String {
        let source = self.shown();
        self.error(&format!(
            "Unexpected end-of-input: expected close marker for {what} (start marker at [Source: (String)\"{source}\"; line: 1, \
             column: {start}])"
        ))
    }

    fn object(&mut self, depth: usize) -> Result<Json, String> {
        let start = self.at + 1;
        self.at += 1;
        let mut members: Vec<(String, Json)> = Vec::new();
        self.blanks()?;
        if self.peek() == Some('}') {
            self.at += 1;
            return Ok(Json::Object(members));
        }
        loop {
            self.blanks()?;
            let Some(c) = self.peek() else { return Err(self.open_at_end("Object", start)) };
            self.at += 1;
            if c != '"' {
                return Err(self.unexpected(c, "was expecting double-quote to start field name", ": "));
            }
            let key = self.string()?;
            self.blanks()?;
            match self.peek() {
                Some(':') => self.at += 1,
                Some(c) => {
                    self.at += 1;
                    return Err(self.unexpected(c, "was expecting a colon to separate field name and value", ": "));
                }
                None => return Err(self.error("Unexpected end-of-input within/between Object entries")),
            }
            self.blanks()?;
            if self.peek().is_none() {
                return Err(self.error("Unexpected end-of-input within/between Object entries"));
            }
            let value = self.value(depth + 1)?;
            // A key that comes again keeps its place and takes the later value, as in a LinkedHashMap.
            match members.iter_mut().find(|(k, _)| *k == key) {
                Some(member) => member.1 = value,
                None => members.push((key, value)),
            }
            self.blanks()?;
            match self.peek() {
                Some(',') => self.at += 1,
                Some('}') => {
                    self.at += 1;
                    return Ok(Json::Object(members));
                }
                Some(c) => {
                    self.at += 1;
                    return Err(self.unexpected(c, "was expecting comma to separate Object entries", ": "));
                }
                None => return Err(self.open_at_end("Object", start)),
            }
        }
    }

    fn number(&mut self) -> Result<Json, String> {
        let start = self.at;
        if self.peek() == Some('-') {
            self.at += 1;
            self.digit("expected digit (0-9) to follow minus sign, for valid numeric value")?;
        }
        if self.peek() == Some('0') && matches!(self.chars.get(self.at + 1), Some('0'..='9')) {
            self.at += 1;
            return Err(self.error("Invalid numeric value: Leading zeroes not allowed"));
        }
        self.digits();
        let mut whole = true;
        if self.peek() == Some('.') {
            whole = false;
            self.at += 1;
            self.digit("Decimal point not followed by a digit")?;
            self.digits();
        }
        if matches!(self.peek(), Some('e' | 'E')) {
            whole = false;
            self.at += 1;
            if matches!(self.peek(), Some('+' | '-')) {
                self.at += 1;
            }
            self.digit("Exponent indicator not followed by a digit")?;
            self.digits();
        }
        let text: String = self.chars[start..self.at].iter().collect();
        Ok(match text.parse() {
            Ok(i) if whole => Json::Int(i),
            _ if whole => Json::Big(text),
            _ => Json::Double(text.parse().unwrap_or(f64::NAN)),
        })
    }

    fn digits(&mut self) {
        while matches!(self.peek(), Some('0'..='9')) {
            self.at += 1;
        }
    }

    fn digit(&mut self, why: &str) -> Result<(), String> {
        match self.peek() {
            Some('0'..='9') => Ok(()),
            Some(c) => {
                let message = self.unexpected(c, why, " in numeric value: ");
                Err(message)
            }
            None => Err(self.error("Unexpected end-of-input in a Number value")),
        }
    }

    /// The rest of a string, behind its opening quote.
    fn string(&mut self) -> Result<String, String> {
        let mut units: Vec<u16> = Vec::new();
        loop {
            let Some(c) = self.peek() else {
                return Err(self.error("Unexpected end-of-input: was expecting closing quote for a string value"));
            };
            self.at += 1;
            match c {
                '"' => break,
                '\\' => units.push(self.escape()?),
                c if c < ' ' => {
                    let message = format!(
                        "Illegal unquoted character ((CTRL-CHAR, code {})): has to be escaped using backslash to be included \
                         in string value",
                        u32::from(c)
                    );
                    return Err(self.error(&message));
                }
                c => units.extend(c.encode_utf16(&mut [0; 2]).iter()),
            }
        }
        // Half a pair is `?` as soon as it is a STRING.
        Ok(char::decode_utf16(units).map(|c| c.unwrap_or('?')).collect())
    }

    fn escape(&mut self) -> Result<u16, String> {
        let Some(c) = self.peek() else {
            return Err(self.error("Unexpected end-of-input in character escape sequence"));
        };
        self.at += 1;
        Ok(match c {
            '"' | '\\' | '/' => c as u16,
            'b' => 8,
            't' => 9,
            'n' => 10,
            'f' => 12,
            'r' => 13,
            'u' => {
                let mut unit = 0;
                for _ in 0..4 {
                    let Some(c) = self.peek() else {
                        return Err(self.error("Unexpected end-of-input in character escape sequence"));
                    };
                    self.at += 1;
                    let Some(digit) = c.to_digit(16) else {
                        return Err(self.unexpected(c, "expected a hex-digit for character escape sequence", ": "));
                    };
                    unit = unit * 16 + digit as u16;
                }
                unit
            }
            c => {
                let message = format!("Unrecognized character escape '{c}' (code {})", u32::from(c));
                return Err(self.error(&message));
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_line(text: &str) -> String {
        parse(text).map_or_else(|e| e.lines().next().unwrap_or_default().to_owned(), |v| v.text())
    }

    #[test]
    fn reads_what_jackson_reads() {
        for (text, value) in [
            ("{\"a\":1} x", "{\"a\":1}"),
            ("1 2", "1"),
            ("{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":3,\"b\":2}"),
            ("[1.50,1e5,-0,1e400]", "[1.5,100000.0,0,\"Infinity\"]"),
            ("12345678901234567890", "12345678901234567890"),
            ("\"\\u00e9\\ud83d\\ude00\\/\"", "\"é😀/\""),
        ] {
            assert_eq!(first_line(text), value);
        }
    }

    #[test]
    fn says_where_it_stopped() {
        for (text, message) in [
            (
                "{\"a\":tru}",
                "Unrecognized token 'tru': was expecting (JSON String, Number, Array, Object or token 'null', 'true' or 'false')\n at [Source: (String)\"{\"a\":tru}\"; line: 1, column: 9]",
            ),
            (
                "{a:1}",
                "Unexpected character ('a' (code 97)): was expecting double-quote to start field name\n at [Source: (String)\"{a:1}\"; line: 1, column: 3]",
            ),
            (
                "[1",
                "Unexpected end-of-input: expected close marker for Array (start marker at [Source: (String)\"[1\"; line: 1, column: 1])\n at [Source: (String)\"[1\"; line: 1, column: 3]",
            ),
            ("", "No content to map due to end-of-input\n at [Source: (String)\"\"; line: 1, column: 0]"),
            (
                "{\"a\":01}",
                "Invalid numeric value: Leading zeroes not allowed\n at [Source: (String)\"{\"a\":01}\"; line: 1, column: 7]",
            ),
        ] {
            assert_eq!(parse(text), Err(message.to_owned()));
        }
    }

    #[test]
    fn depth_has_a_limit() {
        assert!(parse(&"[".repeat(100_000)).is_err());
        assert!(parse("1x").is_err());
    }
}
