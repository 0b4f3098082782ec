//! JSON: one document, fields in the order of the model, a newline at the end.

use serde::Serialize;

/// Writes a document.
pub fn render(document: &impl Serialize) -> String {
    // The model has string keys and no fallible parts, so this cannot fail; should it, the error is the document.
    let mut text = serde_json::to_string_pretty(document)
        .unwrap_or_else(|e| serde_json::json!({ "internal": e.to_string() }).to_string());
    text.push('\n');
    text
}
