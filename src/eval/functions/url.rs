//! PARSE_URL: what `java.net.URL` makes of a text.

use crate::eval::Datum;

/// The parts of a URL. Those that are not there are none, except for host, path and file, which are empty.
struct Url<'a> {
    protocol: String,
    authority: Option<&'a str>,
    user: Option<&'a str>,
    host: &'a str,
    path: String,
    query: Option<&'a str>,
    reference: Option<&'a str>,
}

/// A part of a URL, or the value of a key of its query. NULL for what is no URL.
pub fn part_of(url: &str, part: &str, key: Option<&str>) -> Datum {
    let Some(url) = Url::parse(url) else { return Datum::Null };
    if let Some(key) = key {
        let value = url.query.filter(|_| part == "QUERY").and_then(|query| value_of(query, key));
        return value.map_or(Datum::Null, Datum::string);
    }
    let text = match part {
        "HOST" => Some(url.host),
        "PATH" => Some(url.path.as_str()),
        "QUERY" => url.query,
        "REF" => url.reference,
        "PROTOCOL" => Some(url.protocol.as_str()),
        "FILE" => {
            return Datum::string(match url.query {
                Some(query) => format!("{}?{query}", url.path),
                None => url.path,
            });
        }
        "AUTHORITY" => url.authority,
        "USERINFO" => url.user,
        _ => None,
    };
    text.map_or(Datum::Null, Datum::string)
}

/// The first `key=value` of a query.
fn value_of<'a>(query: &'a str, key: &str) -> Option<&'a str> {
    query.split('&').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='))
}

impl<'a> Url<'a> {
    /// `new URL(text)`: a protocol that the JDK handles, then what its handler (`URLStreamHandler.parseURL`) takes it for.
    fn parse(text: &'a str) -> Option<Url<'a>> {
        let text = text.trim_matches(|c| c <= ' ');
        let text = match text.get(..4) {
            Some(start) if start.eq_ignore_ascii_case("url:") => &text[4..],
            _ => text,
        };
        let colon = text.find([':', '/', '#']).filter(|at| text[*at..].starts_with(':'))?;
        let protocol = text[..colon].to_ascii_lowercase();
        let rest = &text[colon + 1..];
        let (rest, reference) = match rest.split_once('#') {
            Some((rest, reference)) => (rest, Some(reference)),
            None => (rest, None),
        };
        let mut url =
            Url { protocol, authority: None, user: None, host: "", path: String::new(), query: None, reference };
        match url.protocol.as_str() {
            "http" | "https" | "ftp" | "file" => {}
            "mailto" => {
                url.path = rest.to_owned();
                return Some(url);
            }
            "jar" if rest.contains("!/") => {
                url.path = rest.to_owned();
                return Some(url);
            }
            _ => return None,
        }
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (rest, None),
        };
        url.query = query;
        // Four slashes are a UNC path: no authority.
        let path = match rest.strip_prefix("//").filter(|r| !r.starts_with("//")) {
            Some(rest) => {
                let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                url.authority = Some(authority);
                url.set_host(authority)?;
                path
            }
            None => rest,
        };
        url.path = path.to_owned();
        Some(url)
    }

    /// Splits the authority. None for a port that is no number or an address that is not closed.
    fn set_host(&mut self, authority: &'a str) -> Option<()> {
        let host = match authority.split_once('@') {
            // More than one `@`: neither user nor host can be told.
            Some((_, host)) if host.contains('@') => return Some(()),
            Some((user, host)) => {
                self.user = Some(user);
                host
            }
            None => authority,
        };
        let (host, port) = if host.starts_with('[') {
            let end = host.find(']').filter(|end| *end > 2)?;
            let port = &host[end + 1..];
            if !port.is_empty() && !port.starts_with(':') {
                return None;
            }
            (&host[..=end], port.strip_prefix(':').unwrap_or_default())
        } else {
            host.split_once(':').unwrap_or((host, ""))
        };
        if !port.is_empty() && port.parse::<i32>().ok()? < -1 {
            return None;
        }
        self.host = host;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(url: &str, part: &str) -> Option<String> {
        part_of(url, part, None).as_str().map(str::to_owned)
    }

    #[test]
    fn takes_a_url_apart() {
        let url = "http://u:p@facebook.com:80/path/p1.php?query=1&b=2#ref";
        for (name, expected) in [
            ("HOST", "facebook.com"),
            ("PATH", "/path/p1.php"),
            ("QUERY", "query=1&b=2"),
            ("REF", "ref"),
            ("PROTOCOL", "http"),
            ("FILE", "/path/p1.php?query=1&b=2"),
            ("AUTHORITY", "u:p@facebook.com:80"),
            ("USERINFO", "u:p"),
        ] {
            assert_eq!(part(url, name).as_deref(), Some(expected), "{name}");
        }
        assert_eq!(part_of(url, "QUERY", Some("b")), Datum::string("2"));
        assert_eq!(part_of(url, "QUERY", Some("zz")), Datum::Null);
        assert_eq!(part("http://facebook.com?x=1", "FILE").as_deref(), Some("?x=1"));
        assert_eq!(part("http://[::1]:8080/x", "HOST").as_deref(), Some("[::1]"));
        assert_eq!(part("file:///etc/p", "HOST").as_deref(), Some(""));
        assert_eq!(part("mailto:a@b", "PATH").as_deref(), Some("a@b"));
    }

    #[test]
    fn what_is_no_url_has_no_parts() {
        for url in ["nope", "foo://bar/x", "http://h:ab/x", "#x:y"] {
            assert_eq!(part(url, "HOST"), None, "{url}");
        }
    }
}
