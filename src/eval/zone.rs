//! Between instants and the clocks of a time zone.

use jiff::civil;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

/// Local milliseconds of an instant (`LocalDateTime.ofInstant`).
pub fn to_local(millis: i64, zone: &TimeZone) -> i64 {
    millis.saturating_add(offset_at(millis, zone))
}

/// The instant of local milliseconds (`LocalDateTime.atZone`): a time that a gap leaves out moves on by the gap, one that
/// comes twice is the first.
pub fn to_instant(local: i64, zone: &TimeZone) -> i64 {
    let offset = match local_offset(local, zone) {
        AmbiguousOffset::Unambiguous { offset } => offset,
        AmbiguousOffset::Gap { before, .. } | AmbiguousOffset::Fold { before, .. } => before,
    };
    local.saturating_sub(millis_of(offset))
}

/// As [`to_instant`], but a time that comes twice is the second (`java.util.GregorianCalendar`).
pub fn to_instant_of_calendar(local: i64, zone: &TimeZone) -> i64 {
    if local < CALENDAR_START {
        return local.saturating_sub(standard_offset(zone));
    }
    let offset = match local_offset(local, zone) {
        AmbiguousOffset::Unambiguous { offset } => offset,
        AmbiguousOffset::Gap { before, .. } => before,
        AmbiguousOffset::Fold { after, .. } => after,
    };
    local.saturating_sub(millis_of(offset))
}

/// 1900-01-01: `java.util.TimeZone` knows no local mean times, so before it has the zone's offset of today.
const CALENDAR_START: i64 = -2_208_988_800_000;

/// As [`offset_at`] after `java.util.TimeZone.getOffset`: the two differ before 1900.
pub fn calendar_offset_at(millis: i64, zone: &TimeZone) -> i64 {
    if millis < CALENDAR_START { standard_offset(zone) } else { offset_at(millis, zone) }
}

/// The zone's offset without daylight saving (`TimeZone.getRawOffset`).
pub fn standard_offset(zone: &TimeZone) -> i64 {
    // The smaller of January and July 2024.
    offset_at(1_704_067_200_000, zone).min(offset_at(1_719_792_000_000, zone))
}

/// Milliseconds that the zone's clocks are ahead of UTC at an instant (`java.time.ZoneId`).
pub fn offset_at(millis: i64, zone: &TimeZone) -> i64 {
    if *zone == TimeZone::UTC {
        return 0;
    }
    let seconds = millis.div_euclid(1_000);
    let (least, most) = (jiff::Timestamp::MIN, jiff::Timestamp::MAX);
    let at = jiff::Timestamp::from_second(seconds.clamp(least.as_second(), most.as_second())).unwrap_or(most);
    millis_of(zone.to_offset(at))
}

/// A zone by its id, as `java.util.TimeZone.getTimeZone` knows it: a name, an old three-letter id or `GMT+8`. All others are
/// UTC.
pub fn find(id: &str) -> TimeZone {
    const OLD: [(&str, &str); 25] = [
        ("ACT", "Australia/Darwin"),
        ("AET", "Australia/Sydney"),
        ("AGT", "America/Argentina/Buenos_Aires"),
        ("ART", "Africa/Cairo"),
        ("AST", "America/Anchorage"),
        ("BET", "America/Sao_Paulo"),
        ("BST", "Asia/Dhaka"),
        ("CAT", "Africa/Harare"),
        ("CNT", "America/St_Johns"),
        ("CST", "America/Chicago"),
        ("CTT", "Asia/Shanghai"),
        ("EAT", "Africa/Addis_Ababa"),
        ("ECT", "Europe/Paris"),
        ("IET", "America/Indiana/Indianapolis"),
        ("IST", "Asia/Kolkata"),
        ("JST", "Asia/Tokyo"),
        ("MIT", "Pacific/Apia"),
        ("NET", "Asia/Yerevan"),
        ("NST", "Pacific/Auckland"),
        ("PLT", "Asia/Karachi"),
        ("PNT", "America/Phoenix"),
        ("PRT", "America/Puerto_Rico"),
        ("PST", "America/Los_Angeles"),
        ("SST", "Pacific/Guadalcanal"),
        ("VST", "Asia/Ho_Chi_Minh"),
    ];
    if let Some(offset) = id.strip_prefix("GMT").and_then(fixed) {
        return TimeZone::fixed(offset);
    }
    let id = OLD.iter().find(|(old, _)| *old == id).map_or(id, |(_, name)| name);
    jiff::tz::db().get(id).unwrap_or(TimeZone::UTC)
}

/// A zone by its id, as `java.time.ZoneId` knows it: a name of the zone database, `UTC`, `GMT+8` or `+08:00`.
pub fn known(id: &str) -> Option<TimeZone> {
    if let Some(offset) = ["GMT", "UTC", "UT", ""].iter().find_map(|p| fixed(id.strip_prefix(p)?)) {
        return Some(TimeZone::fixed(offset));
    }
    match id {
        "GMT" | "UTC" | "UT" | "Z" => Some(TimeZone::UTC),
        _ => jiff::tz::db().get(id).ok(),
    }
}

/// `+8`, `-08`, `+0830`, `+08:30`.
fn fixed(text: &str) -> Option<Offset> {
    let (sign, digits) = match text.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let (hours, minutes) = match digits.split_once(':') {
        Some(parts) => parts,
        None if digits.len() > 2 => digits.split_at_checked(digits.len() - 2)?,
        None => (digits, "0"),
    };
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    ((0..24).contains(&hours) && (0..60).contains(&minutes))
        .then(|| Offset::from_seconds(sign * (hours * 3_600 + minutes * 60)).ok())
        .flatten()
}

fn millis_of(offset: Offset) -> i64 {
    i64::from(offset.seconds()) * 1_000
}

fn local_offset(local: i64, zone: &TimeZone) -> AmbiguousOffset {
    let seconds = local.div_euclid(1_000);
    // A civil time is the instant that shows it in UTC. Beyond jiff's years zones keep the offset of the last one.
    let (least, most) = (jiff::Timestamp::MIN.as_second(), jiff::Timestamp::MAX.as_second());
    let clock = jiff::Timestamp::from_second(seconds.clamp(least, most)).unwrap_or(jiff::Timestamp::MAX);
    let clock: civil::DateTime = Offset::UTC.to_datetime(clock);
    zone.to_ambiguous_timestamp(clock).offset()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logical::translate::datetime::{TimestampText, parse_timestamp};

    fn instant(text: &str, zone: &str) -> Option<String> {
        let (millis, nanos, _) = parse_timestamp(text)?;
        Some(TimestampText(to_instant(millis, &known(zone)?), nanos).to_string())
    }

    #[test]
    fn gaps_and_folds_are_resolved_as_java_does() {
        assert_eq!(instant("2024-03-10 02:30:00", "America/New_York").as_deref(), Some("2024-03-10 07:30:00"));
        assert_eq!(instant("2024-11-03 01:30:00", "America/New_York").as_deref(), Some("2024-11-03 05:30:00"));
        assert_eq!(instant("2024-01-01 00:00:00", "GMT+8").as_deref(), Some("2023-12-31 16:00:00"));
        assert_eq!(instant("2024-01-01 00:00:00", "+08:30").as_deref(), Some("2023-12-31 15:30:00"));
        assert!(known("Mars/Olympus").is_none());
    }
}
