//! The parts of the protocol that are spoken, under the names that it gives them.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::text::{Encoding, Position, Range};

/// A document, by its address.
#[derive(Debug, Deserialize)]
pub struct DocumentId {
    pub uri: String,
}

/// A document that was opened.
#[derive(Debug, Deserialize)]
pub struct Opened {
    pub uri: String,
    #[serde(default)]
    pub version: i32,
    pub text: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DidOpen {
    pub text_document: Opened,
}

#[derive(Debug, Deserialize)]
pub struct Versioned {
    pub uri: String,
    #[serde(default)]
    pub version: Option<i32>,
}

/// A piece of a text and what stands there now; without a piece, the whole text.
#[derive(Debug, Deserialize)]
pub struct Edit {
    #[serde(default)]
    pub range: Option<Range>,
    pub text: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DidChange {
    pub text_document: Versioned,
    pub content_changes: Vec<Edit>,
}

/// Something about a document: that it was saved, or closed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct About {
    pub text_document: DocumentId,
}

/// Something about a place in a document.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AboutPlace {
    pub text_document: DocumentId,
    pub position: Position,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CodeActions {
    pub text_document: DocumentId,
    pub range: Range,
    #[serde(default)]
    pub context: ActionContext,
}

#[derive(Debug, Default, Deserialize)]
pub struct ActionContext {
    /// The kinds of actions that are wanted; all if there are none.
    #[serde(default)]
    pub only: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
pub struct Execute {
    pub command: String,
    #[serde(default)]
    pub arguments: Vec<Value>,
}

#[derive(Debug, Deserialize)]
pub struct Cancel {
    pub id: Value,
}

/// A piece of a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Location {
    pub uri: String,
    pub range: Range,
}

/// How much something matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Error = 1,
    Warning = 2,
    Information = 3,
    Hint = 4,
}

/// Something else to look at.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Related {
    pub location: Location,
    pub message: String,
}

/// What is said of a piece of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostic {
    pub range: Range,
    pub severity: Severity,
    pub code: Option<String>,
    /// Where the rule comes from.
    pub href: Option<String>,
    pub message: String,
    /// True if the piece does nothing and may be taken out.
    pub unnecessary: bool,
    pub related: Vec<Related>,
    /// The jobs that it is about, where the document is none.
    pub jobs: Vec<String>,
}

impl Diagnostic {
    /// Something to say, and no more.
    pub fn new(range: Range, severity: Severity, message: impl Into<String>) -> Diagnostic {
        let message = message.into();
        Diagnostic {
            range,
            severity,
            message,
            code: None,
            href: None,
            unnecessary: false,
            related: Vec::new(),
            jobs: Vec::new(),
        }
    }

    /// As the protocol has it, for a client.
    pub fn to_json(&self, client: &Client) -> Value {
        let jobs = match self.jobs.as_slice() {
            [] => String::new(),
            [job] => format!("\njob: {job}"),
            jobs => format!("\njobs: {}", jobs.join(", ")),
        };
        let mut out = json!({
            "range": self.range,
            "severity": self.severity as u8,
            "source": "keepstate",
            "message": format!("{}{jobs}", self.message),
        });
        if let Some(code) = &self.code {
            out["code"] = json!(code);
        }
        if let Some(href) = &self.href {
            out["codeDescription"] = json!({ "href": href });
        }
        if self.unnecessary {
            out["tags"] = json!([1]);
        }
        if client.related && !self.related.is_empty() {
            out["relatedInformation"] = json!(self.related);
        }
        out
    }
}

/// What a client can do.
#[derive(Debug, Clone, Copy, Default)]
pub struct Client {
    /// What positions count.
    pub encoding: Encoding,
    /// Diagnostics may name other places.
    pub related: bool,
    /// Texts that are no files can be shown: the old side, and pages of the rule book.
    pub virtual_texts: bool,
    /// It can be told that such a text has changed.
    pub refreshes: bool,
    /// The server may ask it to show a document or a page.
    pub shows: bool,
    /// Code actions may be more than commands.
    pub literal_actions: bool,
    /// Hovers may be Markdown.
    pub markdown: bool,
    /// It watches files if it is asked to.
    pub watches: bool,
}

impl Client {
    /// Reads the capabilities of a client.
    pub fn of(capabilities: &Value, virtual_texts: bool) -> Client {
        let has = |path: &str| capabilities.pointer(path).is_some_and(|v| !v.is_null() && *v != Value::Bool(false));
        let lists = |path: &str, what: &str| {
            let list = capabilities.pointer(path).and_then(Value::as_array);
            list.is_some_and(|list| list.iter().any(|v| v.as_str() == Some(what)))
        };
        let utf8 = lists("/general/positionEncodings", Encoding::Utf8.name());
        Client {
            encoding: if utf8 { Encoding::Utf8 } else { Encoding::Utf16 },
            related: has("/textDocument/publishDiagnostics/relatedInformation"),
            virtual_texts: virtual_texts || has("/workspace/textDocumentContent"),
            refreshes: has("/workspace/textDocumentContent"),
            shows: has("/window/showDocument/support"),
            literal_actions: has("/textDocument/codeAction/codeActionLiteralSupport"),
            markdown: lists("/textDocument/hover/contentFormat", "markdown"),
            watches: has("/workspace/didChangeWatchedFiles/dynamicRegistration"),
        }
    }
}

/// What the server can do, for `initialize`.
pub fn capabilities(client: &Client) -> Value {
    json!({
        "capabilities": {
            "positionEncoding": client.encoding.name(),
            "textDocumentSync": { "openClose": true, "change": 2, "save": { "includeText": false } },
            "hoverProvider": true,
            "definitionProvider": true,
            "codeActionProvider": { "codeActionKinds": ["quickfix"] },
            "executeCommandProvider": { "commands": super::explain::COMMANDS },
            "workspace": { "textDocumentContent": { "schemes": [super::uri::SCHEME] } },
        },
        "serverInfo": { "name": "keepstate", "version": env!("CARGO_PKG_VERSION") },
    })
}
