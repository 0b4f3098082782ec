//! Between the time line of watermarks and clocks and that of windows (Flink's `TimeWindowUtil`).
//!
//! Windows over TIMESTAMP_LTZ and over processing time are aligned to the local time of the session: a day begins at local
//! midnight. So moments are shifted to local time before windows are assigned, and back for timers.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::catalog::types::{DataType, TypeKind};
use crate::eval::zone;

const HOUR: i64 = 3_600_000;

/// How local time is computed; nothing is shifted for TIMESTAMP.
#[derive(Debug, Clone)]
pub struct Shift {
    zone: Option<TimeZone>,
    /// The zone has daylight saving time (`TimeZone.useDaylightTime`).
    daylight: bool,
}

impl Shift {
    /// The shift for windows over a time attribute of type `ty` (`TimeWindowUtil.getShiftTimeZone`). `None` as type stands for
    /// the clock itself.
    pub fn of(ty: Option<&DataType>, zone: &TimeZone) -> Shift {
        let local = ty.is_none_or(|t| matches!(t.kind, TypeKind::TimestampLtz(..)));
        if !local || zone.iana_name().is_some_and(|n| n == "UTC") || *zone == TimeZone::UTC {
            return Shift { zone: None, daylight: false };
        }
        // Zones that change their offset in the far future have a rule for it.
        let far = Timestamp::from_second(4_102_444_800).unwrap_or(Timestamp::MAX);
        Shift { daylight: zone.following(far).next().is_some(), zone: Some(zone.clone()) }
    }

    /// True if local time differs from that of watermarks.
    pub fn is_local(&self) -> bool {
        self.zone.is_some()
    }

    /// The local time of a moment (`toUtcTimestampMills`).
    #[inline]
    pub fn to_local(&self, epoch: i64) -> i64 {
        match &self.zone {
            None => epoch,
            Some(_) if epoch == i64::MAX => epoch,
            Some(zone) => zone::to_local(epoch, zone),
        }
    }

    /// The moment of a local time (`toEpochMills`): the earlier of two, and in a gap as late as if there were none.
    pub fn to_epoch(&self, local: i64) -> i64 {
        match &self.zone {
            None => local,
            Some(_) if local == i64::MAX => local,
            Some(zone) => zone::to_instant(local, zone),
        }
    }

    /// When a timer for a local time is due (`toEpochMillsForTimer`): once no further row can have that local time.
    #[inline]
    pub fn timer(&self, local: i64) -> i64 {
        if self.zone.is_none() {
            return local;
        }
        let first = self.to_epoch(local);
        if !self.daylight || local == i64::MAX {
            return first;
        }
        let second = self.to_epoch(local.saturating_add(HOUR));
        if first == second {
            // The local time does not exist: the first moment after the gap.
            first - first % HOUR
        } else if second - first > HOUR {
            // It exists twice: the later one.
            first + HOUR
        } else {
            first
        }
    }

    /// True if a window that ends at `end` (local time) has been due at `progress` (`isWindowFired`).
    #[inline]
    pub fn is_fired(&self, end: i64, progress: i64) -> bool {
        end != i64::MAX && progress >= self.timer(end - 1)
    }

    /// The next progress at which Flink looks into its buffers (`getNextTriggerWatermark`). It knows of no window offset, and of
    /// local time only where there is daylight saving time; so rows can stay in a buffer until their window is gone.
    pub fn next_trigger(&self, progress: i64, interval: i64) -> i64 {
        if progress == i64::MAX {
            return progress;
        }
        let trigger = if self.daylight {
            self.timer(super::window_start(self.to_local(progress), 0, interval) + interval - 1)
        } else {
            super::window_start(progress, 0, interval) + interval - 1
        };
        if trigger > progress { trigger } else { trigger + interval }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::types::TimeAttribute;
    use jiff::tz::Offset;

    fn shift(zone: &str) -> Shift {
        let ty = TypeKind::TimestampLtz(3, TimeAttribute::Rowtime).nullable();
        Shift::of(Some(&ty), &TimeZone::get(zone).unwrap())
    }

    /// The examples in the comments of `TimeWindowUtil`.
    #[test]
    fn timers_at_the_turns_of_daylight_saving_time() {
        let la = shift("America/Los_Angeles");
        let local = |text: &str| text.parse::<jiff::civil::DateTime>().unwrap();
        let millis = |text: &str| Offset::UTC.to_timestamp(local(text)).unwrap().as_millisecond();
        assert_eq!(la.timer(millis("2021-03-14T01:00:00")), 1_615_712_400_000);
        assert_eq!(la.timer(millis("2021-03-14T02:00:00")), 1_615_716_000_000);
        assert_eq!(la.timer(millis("2021-03-14T02:59:59")), 1_615_716_000_000);
        assert_eq!(la.timer(millis("2021-03-14T03:00:00")), 1_615_716_000_000);
        assert_eq!(la.timer(millis("2021-11-07T00:00:00")), 1_636_268_400_000);
        assert_eq!(la.timer(millis("2021-11-07T01:00:00")), 1_636_275_600_000);
        assert_eq!(la.timer(millis("2021-11-07T02:00:00")), 1_636_279_200_000);
    }

    #[test]
    fn only_zones_with_daylight_saving_time_shift_the_next_trigger() {
        let day = 24 * HOUR;
        assert_eq!(shift("Asia/Shanghai").next_trigger(5, day), day - 1);
        assert_eq!(shift("Europe/Berlin").next_trigger(5, day), 23 * HOUR - 1);
        assert_eq!(shift("Asia/Shanghai").to_local(0), 8 * HOUR);
        assert!(!shift("UTC").is_local());
    }
}
