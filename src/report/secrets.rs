//! Values that must not be printed: those of options whose key speaks of a password, a secret, a token, a key or a
//! credential.
//!
//! Excerpts of the text show such values as stars, one for each byte, so that places stay right. Values that are surely
//! secret are also struck from messages, wherever they came from.

use std::collections::BTreeMap;

/// Words in the key of an option whose value is not shown.
const WORDS: [&str; 7] = ["password", "passwd", "secret", "token", "key", "credential", "jaas"];

/// Ends of keys that speak of the key of a message or a row: a format, a list of columns, a prefix, a class.
const ABOUT_KEYS: [&str; 9] = [
    "key.format",
    "key.fields",
    "key.fields-prefix",
    "key.serializer",
    "key.deserializer",
    "key-delimiter",
    "primary-key",
    "bucket-key",
    "key-column",
];

/// True if the value of an option with this key must not be shown. What is doubtful is not shown.
pub fn is_secret_key(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let about_keys = ABOUT_KEYS.iter().any(|end| {
        // The end must be whole words: `sort.primary-key` ends with one, `my-primary-key` need not mean it.
        key.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    });
    // The options of a key's format are those of any format: `key.json.ignore-parse-errors`.
    let rest = match key.strip_prefix("key.") {
        _ if about_keys => {
            return ["password", "passwd", "secret", "token", "credential"].iter().any(|w| key.contains(w));
        }
        Some(rest) if FORMATS.iter().any(|f| rest.strip_prefix(f).is_some_and(|r| r.starts_with('.'))) => rest,
        _ => &key,
    };
    WORDS.iter().any(|word| rest.contains(word))
}

/// Formats whose options may stand behind `key.`.
const FORMATS: [&str; 9] =
    ["json", "csv", "avro", "avro-confluent", "protobuf", "raw", "debezium-json", "canal-json", "maxwell-json"];

/// True if the value of such a key is surely a secret, and may be struck from messages.
fn is_surely_secret(key: &str) -> bool {
    let lower = key.to_ascii_lowercase();
    is_secret_key(key)
        && WORDS.iter().any(|word| if *word == "key" { lower.ends_with("key") } else { lower.contains(word) })
}

/// The text with secret values as stars. It has as many bytes as before, and the same lines.
pub fn mask(text: &str) -> String {
    let ranges = secret_values(text);
    if ranges.is_empty() {
        return text.to_owned();
    }
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    for value in ranges {
        masked.push_str(&text[at..value.start]);
        masked.extend(text[value.start..value.end].bytes().map(|b| if b == b'\n' { '\n' } else { '*' }));
        at = value.end;
    }
    masked.push_str(&text[at..]);
    masked
}

/// Strikes the secrets of some texts from other texts.
#[derive(Debug, Default)]
pub struct Redactor(Vec<String>);

impl Redactor {
    /// Learns the secrets of texts, and those of `${name}` definitions that stand in secret values or have a secret name.
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a str>, defines: &BTreeMap<String, String>) -> Redactor {
        let mut secrets: Vec<String> =
            defines.iter().filter(|(name, _)| is_surely_secret(name)).map(|(_, value)| value.clone()).collect();
        for text in texts {
            for value in secret_values(text).into_iter().filter(|v| v.sure) {
                let value = &text[value.start..value.end];
                secrets.push(value.to_owned());
                let used = defines.iter().filter(|(name, _)| value.contains('{') && value.contains(name.as_str()));
                secrets.extend(used.map(|(_, value)| value.clone()));
            }
        }
        // Shorter ones would strike ordinary words.
        secrets.retain(|s| s.len() >= 4);
        secrets.sort_by_key(|s| std::cmp::Reverse(s.len()));
        secrets.dedup();
        Redactor(secrets)
    }

    /// The text without the secrets.
    pub fn clean(&self, text: &mut String) {
        for secret in &self.0 {
            if text.contains(secret.as_str()) {
                *text = text.replace(secret.as_str(), "***");
            }
        }
    }
}

/// Bytes of a secret value, without its quotes.
struct Value {
    start: usize,
    end: usize,
    sure: bool,
}

/// Finds `key = value` with a secret key. Keys and values are quoted, or bare words as in `SET a.password = x`.
fn secret_values(text: &str) -> Vec<Value> {
    let mut values = Vec::new();
    find(text, 0, &mut values);
    values
}

/// Finds the secrets of a text that stands at `base` of the whole.
fn find(text: &str, base: usize, values: &mut Vec<Value>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if let Some(end) = comment(text, at) {
            // Quotes in comments may be apostrophes: there, they do not hold a value together.
            let quotes = ['\'', '"', '`'];
            find(&text[at + 2..end].replace(quotes, " "), base + at + 2, values);
            at = end;
            continue;
        }
        let Some(key) = token(text, at) else {
            at += 1;
            continue;
        };
        at = key.after;
        if !is_secret_key(&text[key.start..key.end]) {
            continue;
        }
        let equals = skip_space(bytes, at);
        // `=>` is a named argument, not an option.
        if bytes.get(equals) != Some(&b'=') || bytes.get(equals + 1) == Some(&b'>') {
            continue;
        }
        if let Some(value) = token(text, skip_space(bytes, equals + 1)) {
            let sure = is_surely_secret(&text[key.start..key.end]);
            values.push(Value { start: base + value.start, end: base + value.end, sure });
            at = value.after;
        }
    }
}

/// The end of a comment that begins at `at`.
fn comment(text: &str, at: usize) -> Option<usize> {
    let rest = &text.as_bytes()[at..];
    if rest.starts_with(b"--") {
        return Some(rest.iter().position(|b| *b == b'\n').map_or(text.len(), |n| at + n));
    }
    if rest.starts_with(b"/*") {
        return Some(text[at + 2..].find("*/").map_or(text.len(), |n| at + 2 + n));
    }
    None
}

struct Token {
    start: usize,
    end: usize,
    after: usize,
}

/// A quoted text or a bare word that begins at `at`.
fn token(text: &str, at: usize) -> Option<Token> {
    let bytes = text.as_bytes();
    let first = *bytes.get(at)?;
    if matches!(first, b'\'' | b'"' | b'`') {
        let mut end = at + 1;
        while end < bytes.len() {
            if bytes[end] == first {
                if bytes.get(end + 1) != Some(&first) {
                    return Some(Token { start: at + 1, end, after: end + 1 });
                }
                end += 1;
            }
            end += 1;
        }
        return None;
    }
    let word = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-') || b >= 0x80;
    let boundary = at == 0 || !word(bytes[at - 1]);
    if !word(first) || first == b'-' || !boundary {
        return None;
    }
    let end = at + bytes[at..].iter().take_while(|b| word(**b)).count();
    Some(Token { start: at, end, after: end })
}

fn skip_space(bytes: &[u8], at: usize) -> usize {
    at + bytes[at.min(bytes.len())..].iter().take_while(|b| b.is_ascii_whitespace()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_become_stars_of_the_same_length() {
        let text = "WITH ('connector' = 'jdbc', 'password' = 'hunter2',\n 'access.key'='é')";
        let masked = mask(text);
        assert_eq!(masked, "WITH ('connector' = 'jdbc', 'password' = '*******',\n 'access.key'='**')");
        assert_eq!(masked.len(), text.len());
    }

    #[test]
    fn keys_of_messages_and_rows_are_no_secrets() {
        let open = [
            "key.format",
            "key.fields",
            "KEY.FIELDS",
            "key.fields-prefix",
            "properties.key.serializer",
            "primary-key",
            "bucket-key",
            "key.json.ignore-parse-errors",
            "topic",
        ];
        for key in open {
            assert!(!is_secret_key(key), "{key}");
        }
        let hidden = [
            "key",
            "access.key",
            "fs.s3a.secret.key",
            "accessKeyId",
            "ssl.key-password",
            "properties.ssl.keystore.location",
            "private-key",
            "my-primary-key",
            "secret.key.format",
            "key.avro-confluent.basic-auth.credentials-source",
            "key.avro-confluent.ssl.truststore.password",
            "api_token",
            "properties.sasl.jaas.config",
            "key.something",
        ];
        for key in hidden {
            assert!(is_secret_key(key), "{key}");
        }
        assert_eq!(mask("'key.format' = 'json', 'key.fields' = 'a;b'"), "'key.format' = 'json', 'key.fields' = 'a;b'");
    }

    #[test]
    fn bare_words_and_escaped_quotes_are_seen() {
        assert_eq!(mask("SET sasl.password = abc;"), "SET sasl.password = ***;");
        assert_eq!(mask("'token' = 'a''b' , x"), "'token' = '****' , x");
        assert_eq!(mask("PRIMARY KEY (a) NOT ENFORCED"), "PRIMARY KEY (a) NOT ENFORCED");
    }

    #[test]
    fn an_apostrophe_in_a_comment_hides_nothing() {
        assert_eq!(mask("-- don't\n'password' = 'abcd'"), "-- don't\n'password' = '****'");
        assert_eq!(mask("/* it's */ 'password' = 'abcd'"), "/* it's */ 'password' = '****'");
        assert_eq!(mask("-- it's 'password' = 'abcd'"), "-- it's 'password' = '****'");
    }

    #[test]
    fn secrets_are_struck_from_messages() {
        let defines = [("db", "sesame"), ("topic", "orders")].map(|(n, v)| (n.to_owned(), v.to_owned()));
        let text = "'password' = 'hunter2', 'key.something' = 'json', 'token' = '${db}', 'topic' = '${topic}'";
        let redactor = Redactor::of([text], &defines.into());
        let mut message = "hunter2 json sesame orders".to_owned();
        redactor.clean(&mut message);
        assert_eq!(message, "*** json *** orders");
    }
}
