//! Casts, one file per kind of result.

use std::borrow::Cow;

/// A text as CHAR(n) or VARCHAR(n): cut, and padded with blanks if `pads`.
pub(super) fn fit_text(text: &str, length: usize, pads: bool) -> Cow<'_, str> {
    let characters = text.chars().count();
    if characters > length {
        Cow::Owned(text.chars().take(length).collect())
    } else if pads && characters < length {
        Cow::Owned(format!("{text}{}", " ".repeat(length - characters)))
    } else {
        Cow::Borrowed(text)
    }
}
