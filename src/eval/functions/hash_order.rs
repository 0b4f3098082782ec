//! The order of `java.util.HashMap`, in which Flink's maps come out where its functions build them with one.

use crate::eval::Datum;

/// The entries of a map in the order of a `HashMap` made for `capacity` of them. `hash` is `hashCode` of the keys.
pub fn sorted(map: Datum, hash: impl Fn(&Datum) -> i32, capacity: usize) -> Vec<(Datum, Datum)> {
    let Datum::Map(entries) = map else { return Vec::new() };
    let mut table = capacity.max(1).next_power_of_two();
    // The table doubles whenever it is more than three quarters full.
    while entries.len() * 4 > table * 3 {
        table *= 2;
    }
    let bucket = |key: &Datum| {
        let hash = hash(key) as u32;
        (hash ^ (hash >> 16)) as usize & (table - 1)
    };
    let mut sorted = entries.to_vec();
    // Stable: in a bucket, what came first is first.
    sorted.sort_by_key(|(key, _)| bucket(key));
    sorted
}
