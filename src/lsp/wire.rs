//! Messages: a header that says how long they are, then JSON.

use std::io::{self, BufRead, Read, Write};

use serde_json::{Value, json};

/// The longest message that is read, in bytes.
const LONGEST: usize = 1 << 30;

/// What came in.
#[derive(Debug)]
pub enum Incoming {
    /// A request, which has to be answered.
    Request {
        /// Names it in the answer.
        id: Value,
        /// What is asked for.
        method: String,
        /// Of what.
        params: Value,
    },
    /// Something to know.
    Notification {
        /// What.
        method: String,
        /// Of what.
        params: Value,
    },
    /// An answer to a request of the server's.
    Answer,
    /// Something that is no message, and the error to answer with.
    Malformed(Failure),
}

/// Why a request is not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The number that the protocol gives the kind of error.
    pub code: i32,
    /// What is wrong.
    pub message: String,
}

impl Failure {
    /// An error of a kind.
    pub fn new(code: i32, message: impl Into<String>) -> Failure {
        Failure { code, message: message.into() }
    }
}

/// The text is no JSON.
pub const PARSE_ERROR: i32 = -32700;
/// The JSON is no request, or one that is not allowed now.
pub const INVALID_REQUEST: i32 = -32600;
/// Nobody knows the method.
pub const METHOD_NOT_FOUND: i32 = -32601;
/// The method does not take these parameters.
pub const INVALID_PARAMS: i32 = -32602;
/// The first request has to be `initialize`.
pub const NOT_INITIALIZED: i32 = -32002;
/// Somebody took the request back.
pub const CANCELLED: i32 = -32800;
/// The text changed while it was looked at.
pub const CONTENT_MODIFIED: i32 = -32801;

/// Reads the next message; none if the stream is at its end. What is no message is told from the end.
pub fn read(stream: &mut impl BufRead) -> io::Result<Option<Incoming>> {
    let Some(length) = header(stream)? else { return Ok(None) };
    let Ok(length) = length else {
        return Ok(Some(Incoming::Malformed(Failure::new(PARSE_ERROR, "the header has no Content-Length"))));
    };
    if length > LONGEST {
        let skipped = io::copy(&mut stream.by_ref().take(length as u64), &mut io::sink())?;
        let message = format!("a message of {length} bytes is too long ({skipped} were there)");
        return Ok(Some(Incoming::Malformed(Failure::new(PARSE_ERROR, message))));
    }
    let mut body = Vec::new();
    stream.by_ref().take(length as u64).read_to_end(&mut body)?;
    if body.len() < length {
        return Ok(None);
    }
    Ok(Some(match serde_json::from_slice(&body) {
        Ok(value) => message(value),
        Err(error) => Incoming::Malformed(Failure::new(PARSE_ERROR, format!("the message is no JSON: {error}"))),
    }))
}

/// The length that a header gives, or an error if it gives none; nothing at the end of the stream.
fn header(stream: &mut impl BufRead) -> io::Result<Option<Result<usize, ()>>> {
    let (mut length, mut any) = (Err(()), false);
    loop {
        let mut line = Vec::new();
        // A line without end is no header; it is passed over in pieces.
        if stream.by_ref().take(1 << 16).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if line.is_empty() {
            // Blank lines between messages are harmless.
            if !any {
                continue;
            }
            return Ok(Some(length));
        }
        any = true;
        if let Some((name, value)) = line.split_once(':')
            && name.trim().eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().map_err(|_| ());
        }
    }
}

fn message(value: Value) -> Incoming {
    let Value::Object(mut fields) = value else {
        return Incoming::Malformed(Failure::new(INVALID_REQUEST, "a message is one JSON object"));
    };
    let id = fields.remove("id");
    let method = match fields.remove("method") {
        Some(Value::String(method)) => method,
        None if id.is_some() && (fields.contains_key("result") || fields.contains_key("error")) => {
            return Incoming::Answer;
        }
        _ => return Incoming::Malformed(Failure::new(INVALID_REQUEST, "the message has no method")),
    };
    let params = fields.remove("params").unwrap_or(Value::Null);
    match id {
        None => Incoming::Notification { method, params },
        Some(id @ (Value::Number(_) | Value::String(_))) => Incoming::Request { id, method, params },
        Some(_) => Incoming::Malformed(Failure::new(INVALID_REQUEST, "an id is a number or a string")),
    }
}

/// Writes messages.
pub struct Writer<W: Write> {
    out: W,
    /// The number of the last request of the server's.
    asked: u64,
}

impl<W: Write> Writer<W> {
    /// Writes to a stream.
    pub fn new(out: W) -> Writer<W> {
        Writer { out, asked: 0 }
    }

    /// Answers a request.
    pub fn answer(&mut self, id: &Value, result: Result<Value, Failure>) -> io::Result<()> {
        self.send(&match result {
            Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            Err(Failure { code, message }) => {
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
            }
        })
    }

    /// Says something.
    pub fn notify(&mut self, method: &str, params: Value) -> io::Result<()> {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
    }

    /// Asks the client for something. Nothing here depends on the answer.
    pub fn ask(&mut self, method: &str, params: Value) -> io::Result<()> {
        self.asked += 1;
        let id = format!("keepstate-{}", self.asked);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    }

    fn send(&mut self, message: &Value) -> io::Result<()> {
        let body = message.to_string();
        write!(self.out, "Content-Length: {}\r\n\r\n{body}", body.len())?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(bytes: &[u8]) -> Vec<String> {
        let mut stream = bytes;
        let mut out = Vec::new();
        while let Some(incoming) = read(&mut stream).unwrap() {
            out.push(match incoming {
                Incoming::Request { id, method, .. } => format!("{method} {id}"),
                Incoming::Notification { method, .. } => method,
                Incoming::Answer => "answer".to_owned(),
                Incoming::Malformed(failure) => failure.code.to_string(),
            });
        }
        out
    }

    fn framed(bodies: &[&str]) -> Vec<u8> {
        bodies.iter().flat_map(|b| format!("Content-Length: {}\r\n\r\n{b}", b.len()).into_bytes()).collect()
    }

    #[test]
    fn messages_are_told_apart() {
        let bodies = [
            r#"{"id":1,"method":"a","params":{}}"#,
            r#"{"method":"b"}"#,
            r#"{"id":"x","result":null}"#,
            r#"{"id":"é","method":"c"}"#,
        ];
        assert_eq!(read_all(&framed(&bodies)), ["a 1", "b", "answer", "c \"é\""]);
    }

    #[test]
    fn what_is_no_message_does_not_end_the_stream() {
        let bodies = ["{", "[]", "{}", r#"{"id":null,"method":"a"}"#, "\u{7f}", r#"{"method":"b"}"#];
        assert_eq!(read_all(&framed(&bodies)), ["-32700", "-32600", "-32600", "-32600", "-32700", "b"]);
        let mut bytes = b"Content-Type: x\r\n\r\nContent-Length: nine\r\n\r\n\r\n".to_vec();
        bytes.extend(framed(&[r#"{"method":"b"}"#]));
        assert_eq!(read_all(&bytes), ["-32700", "-32700", "b"]);
        // A message that is cut off is none.
        assert_eq!(read_all(b"Content-Length: 9\r\n\r\n{}"), [""; 0]);
    }
}
