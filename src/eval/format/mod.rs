//! Dates by pattern. Flink has two readers and writers of patterns: `java.time.format.DateTimeFormatter` ([`formatter`]) for
//! DATE_FORMAT of timestamps and TO_TIMESTAMP, and `java.text.SimpleDateFormat` ([`simple`]) for all else.

pub(super) mod formatter;
pub(super) mod parser;
pub(super) mod simple;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// From Monday.
const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// The English name of a month, 1 to 12.
fn month_name(month: i64) -> &'static str {
    MONTHS[(month - 1).rem_euclid(12) as usize]
}

/// The English name of a weekday, 1 for Monday to 7.
fn weekday_name(weekday: i64) -> &'static str {
    WEEKDAYS[(weekday - 1).rem_euclid(7) as usize]
}

/// A text with as many characters before it as it lacks. (The width of Rust's formats has 16 bits, and a pattern can ask for more.)
fn padded(text: &str, width: usize, with: char) -> String {
    let lacks = width.saturating_sub(text.chars().count());
    std::iter::repeat_n(with, lacks).chain(text.chars()).collect()
}

/// Three letters.
fn short(name: &str) -> &str {
    &name[..3]
}

/// The index of the longest name that `text` begins with, and its length; full names and short ones.
fn match_name(text: &str, names: &[&str], ignore_case: bool) -> Option<(usize, usize)> {
    let fits = |name: &str| {
        text.get(..name.len()).is_some_and(|t| if ignore_case { t.eq_ignore_ascii_case(name) } else { t == name })
    };
    let full = names.iter().position(|n| fits(n)).map(|i| (i, names[i].len()));
    full.or_else(|| names.iter().position(|n| fits(short(n))).map(|i| (i, 3)))
}
