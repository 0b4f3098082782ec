//! The time zone of a session.

use jiff::tz::{Offset, TimeZone};

/// The zone that `table.local-time-zone` names. Flink takes only ids that `java.util.TimeZone` and `java.time.ZoneId` understand
/// alike (`TableConfigUtils.validateTimeZone`): names of the time zone database in their own letter case, `UTC`, and `GMT+8`.
pub fn session_zone(id: &str) -> Option<TimeZone> {
    if let Some(offset) =
        id.strip_prefix("GMT").filter(|o| !o.is_empty() && !o.starts_with(|c: char| c.is_ascii_digit()))
    {
        return fixed(offset).map(TimeZone::fixed);
    }
    match id {
        "UTC" | "GMT" => Some(TimeZone::UTC),
        // Java reads them as offsets on one side and refuses them on the other.
        "EST" | "MST" | "HST" => None,
        _ => jiff::tz::db().get(id).ok().filter(|zone| zone.iana_name() == Some(id)),
    }
}

/// `+8`, `-08`, `+0830`, `+08:30`.
fn fixed(text: &str) -> Option<Offset> {
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits = &text[1..];
    let (hours, minutes) = match digits.split_once(':') {
        Some((hours, minutes)) if hours.len() == 2 && minutes.len() == 2 => (hours, minutes),
        Some(_) => return None,
        None if digits.len() == 4 => digits.split_at_checked(2)?,
        None if digits.len() <= 2 => (digits, "0"),
        None => return None,
    };
    let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<i32>().ok()).flatten();
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let whole = hours < 18 || (hours == 18 && minutes == 0);
    (whole && minutes < 60).then(|| Offset::from_seconds(sign * (hours * 3_600 + minutes * 60)).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_are_those_that_flink_takes() {
        for id in
            ["UTC", "GMT", "GMT+8", "GMT-08", "GMT+08:30", "GMT+0830", "Europe/Berlin", "Asia/Shanghai", "Etc/UTC"]
        {
            assert!(session_zone(id).is_some(), "{id}");
        }
        for id in [
            "",
            "utc",
            "+08:00",
            "UTC+8",
            "UTC-08:00",
            "Z",
            "UT",
            "GMT+25",
            "GMT+8:30",
            "europe/berlin",
            "EST",
            "GMT8",
            "Mars",
        ] {
            assert!(session_zone(id).is_none(), "{id}");
        }
    }
}
