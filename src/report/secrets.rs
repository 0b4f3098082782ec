//! Values that must not be printed: those of options whose key speaks of a password, a secret, a token, a key or a
//! credential.
//!
//! Excerpts of the text show such values as stars, one for each byte, so that places stay right. Values that are surely
//! secret are also struck from messages, wherever they came from.

use std::collections::BTreeMap;

/// Words in the key of an option whose value is not shown.
const WORDS: [&str; 10] =
    ["password", "passwd", "passphrase", "secret", "token", "key", "credential", "jaas", "signature", "authorization"];

/// Whole parts of such a key.
const PARTS: [&str; 7] = ["pass", "pwd", "auth", "ak", "sk", "pem", "accessid"];

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
    let part = |part: &str| PARTS.contains(&part);
    WORDS.iter().any(|word| rest.contains(word))
        || rest.split(['.', '-', '_']).any(part)
        || rest.contains("access.id")
        || rest.contains("access-id")
}

/// Formats whose options may stand behind `key.`.
const FORMATS: [&str; 9] =
    ["json", "csv", "avro", "avro-confluent", "protobuf", "raw", "debezium-json", "canal-json", "maxwell-json"];

/// True if the value of such a key is surely a secret, and may be struck from messages.
fn is_surely_secret(key: &str) -> bool {
    let lower = key.to_ascii_lowercase();
    is_secret_key(key)
        && (WORDS.iter().any(|word| if *word == "key" { lower.ends_with("key") } else { lower.contains(word) })
            || lower.split(['.', '-', '_']).any(|part| PARTS.contains(&part)))
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
    let mut values: Vec<Value> = Vec::new();
    find(text, 0, &mut values);
    // In the order of the text, one after the other.
    values.sort_by_key(|v| v.start);
    let mut end = 0;
    values.retain(|value| {
        let apart = value.start >= end;
        end = end.max(value.end);
        apart
    });
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
            inside(text, &key, base, values);
            continue;
        }
        let quoted = key.start > 0 && matches!(bytes[key.start - 1], b'\'' | b'"');
        let equals = skip_space(bytes, at);
        let written = bytes.get(equals) == Some(&b'=');
        // `=>` is a named argument, not an option; a quoted key whose `=` was forgotten is one all the same.
        let arrow = written && bytes.get(equals + 1) == Some(&b'>');
        let forgotten = quoted && is_quote(bytes.get(equals));
        if arrow || !(written || forgotten) {
            continue;
        }
        let begin = if written { skip_space(bytes, equals + 1) } else { equals };
        let sure = is_surely_secret(&text[key.start..key.end]);
        if let Some(value) = token(text, begin) {
            values.push(Value { start: base + value.start, end: base + value.end, sure });
            at = value.after;
        } else if is_quote(bytes.get(begin)) {
            // A quote that nothing closes: the rest of the line.
            let end = text[begin..].find('\n').map_or(text.len(), |n| begin + n);
            values.push(Value { start: base + begin + 1, end: base + end, sure });
            at = end;
        }
    }
}

fn is_quote(byte: Option<&u8>) -> bool {
    matches!(byte, Some(b'\'' | b'"'))
}

/// Secrets within a value: the password of a URL, and `password=...` among parameters.
fn inside(text: &str, value: &Token, base: usize, values: &mut Vec<Value>) {
    let content = &text[value.start..value.end];
    let mut from = 0;
    let first = values.len();
    while let Some(found) = content[from..].find("://") {
        let begin = from + found + 3;
        let end = content[begin..].find(['/', '?', ' ', '\n']).map_or(content.len(), |n| begin + n);
        if let Some(at) = content[begin..end].rfind('@')
            && let Some(colon) = content[begin..begin + at].find(':')
            && colon + 1 < at
        {
            let range = (base + value.start + begin + colon + 1, base + value.start + begin + at);
            values.push(Value { start: range.0, end: range.1, sure: true });
        }
        from = begin;
    }
    for (equals, _) in content.match_indices('=') {
        let word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
        let key = content[..equals].rsplit(|c| !word(c)).next().unwrap_or_default();
        let begin = equals + 1;
        let end = content[begin..].find(['&', ';', ',', ' ', '\n', '\'', '"']).map_or(content.len(), |n| begin + n);
        let apart = !values[first..].iter().any(|v| v.end > base + value.start + begin);
        if !key.is_empty() && end > begin && apart && is_surely_secret(key) {
            let range = (base + value.start + begin, base + value.start + end);
            values.push(Value { start: range.0, end: range.1, sure: true });
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
    fn what_is_written_wrong_is_masked_all_the_same() {
        assert_eq!(mask("WITH ('password' 'LEAK1')"), "WITH ('password' '*****')");
        assert_eq!(mask("'a' = 'b', 'password' = 'LEAK1);\nSELECT 1"), "'a' = 'b', 'password' = '*******\nSELECT 1");
        assert_eq!(
            mask("'auth' = 'x', 'sink.pass'='y', 'author' = 'z'"),
            "'auth' = '*', 'sink.pass'='*', 'author' = 'z'"
        );
    }

    #[test]
    fn secrets_within_values_are_masked() {
        assert_eq!(mask("'url' = 'redis://:LEAK@h:6379/0'"), "'url' = 'redis://:****@h:6379/0'");
        assert_eq!(mask("'u' = 'mongodb://me:LEAK@h,g/d'"), "'u' = 'mongodb://me:****@h,g/d'");
        assert_eq!(
            mask("'u' = 'jdbc:mysql://h:3306/d?user=a&pwd=LEAK&x=1'"),
            "'u' = 'jdbc:mysql://h:3306/d?user=a&pwd=****&x=1'"
        );
        assert_eq!(mask("'u' = 'http://h:80/a'"), "'u' = 'http://h:80/a'");
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
