//! Message templates: `{name}` is an argument, `[...]` a part that is left out if one of its arguments is missing.

/// Fills a template. An argument that is missing outside of an optional part is written as `?`.
pub fn fill<'a>(template: &str, arg: impl Fn(&str) -> Option<std::borrow::Cow<'a, str>>) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some(at) = rest.find('[') {
        expand(&rest[..at], &arg, &mut out);
        let (optional, after) = rest[at + 1..].split_once(']').unwrap_or((&rest[at + 1..], ""));
        let before = out.len();
        if !expand(optional, &arg, &mut out) {
            out.truncate(before);
        }
        rest = after;
    }
    expand(rest, &arg, &mut out);
    out
}

/// Appends `text` with its arguments; false if one was missing.
fn expand<'a>(text: &str, arg: &impl Fn(&str) -> Option<std::borrow::Cow<'a, str>>, out: &mut String) -> bool {
    let mut complete = true;
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        let (name, after) = rest[at + 1..].split_once('}').unwrap_or((&rest[at + 1..], ""));
        match arg(name) {
            Some(value) => out.push_str(&value),
            None => {
                complete = false;
                out.push('?');
            }
        }
        rest = after;
    }
    out.push_str(rest);
    complete
}

/// Refuses a template whose brackets do not close.
pub fn check(template: &str) -> Result<(), String> {
    for (open, close) in [('{', '}'), ('[', ']')] {
        let mut depth = 0i32;
        for c in template.chars() {
            depth += i32::from(c == open) - i32::from(c == close);
            if !(0..=1).contains(&depth) {
                break;
            }
        }
        if depth != 0 {
            let problem =
                if depth < 0 { format!("`{close}` is not opened") } else { format!("`{open}` is not closed") };
            return Err(format!("in the template {template:?}: {problem}"));
        }
    }
    Ok(())
}

/// The argument names of a template.
pub fn names(template: &str) -> Vec<&str> {
    template.split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_filled_and_optional_parts_dropped() {
        let arg = |name: &str| (name == "old").then(|| "2".into());
        assert_eq!(fill("N is {old}[, now {new}]", arg), "N is 2");
        assert_eq!(fill("N[ was {old}][ and is {new}] here", arg), "N was 2 here");
        assert_eq!(fill("{new}", arg), "?");
    }

    #[test]
    fn names_are_listed() {
        assert_eq!(names("from {old}[ to {new}]"), ["old", "new"]);
    }
}
