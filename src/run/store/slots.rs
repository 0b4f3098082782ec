//! Values by key and namespace. A key's number is the place of its values, so finding them hashes nothing; most keys have one.

use rustc_hash::FxHashMap;

use super::data::Namespace;
use super::keys::KeyId;

/// Values by key and namespace.
#[derive(Debug)]
pub(super) struct Slots<N, T>(Vec<Kept<N, T>>);

/// The values of one key. While the first place is free, the value of a namespace may still be among the others.
#[derive(Debug)]
struct Kept<N, T> {
    one: Option<(N, T)>,
    more: Option<Box<FxHashMap<N, T>>>,
}

impl<N: Namespace, T> Slots<N, T> {
    pub fn new() -> Slots<N, T> {
        Slots(Vec::new())
    }

    pub fn get(&self, key: KeyId, namespace: &N) -> Option<&T> {
        let kept = self.0.get(key.index())?;
        match &kept.one {
            Some((n, value)) if n == namespace => Some(value),
            _ => kept.more.as_ref()?.get(namespace),
        }
    }

    pub fn get_mut(&mut self, key: KeyId, namespace: &N) -> Option<&mut T> {
        let kept = self.0.get_mut(key.index())?;
        match &mut kept.one {
            Some((n, value)) if n == namespace => Some(value),
            _ => kept.more.as_mut()?.get_mut(namespace),
        }
    }

    /// The value, or first what `empty` gives.
    pub fn entry(&mut self, key: KeyId, namespace: N, empty: impl FnOnce() -> T) -> &mut T {
        if self.0.len() <= key.index() {
            self.0.resize_with(key.index() + 1, || Kept { one: None, more: None });
        }
        let Kept { one, more } = &mut self.0[key.index()];
        let first = match one {
            Some((n, _)) => *n == namespace,
            None => !more.as_ref().is_some_and(|m| m.contains_key(&namespace)),
        };
        if first {
            &mut one.get_or_insert_with(|| (namespace, empty())).1
        } else {
            more.get_or_insert_default().entry(namespace).or_insert_with(empty)
        }
    }

    /// Keeps a value in the place of any other; true if there was none.
    pub fn insert(&mut self, key: KeyId, namespace: N, value: T) -> bool {
        if let Some(place) = self.get_mut(key, &namespace) {
            *place = value;
            return false;
        }
        self.entry(key, namespace, || value);
        true
    }

    pub fn remove(&mut self, key: KeyId, namespace: &N) -> Option<T> {
        let Kept { one, more } = self.0.get_mut(key.index())?;
        if one.as_ref().is_some_and(|(n, _)| n == namespace) {
            return one.take().map(|(_, value)| value);
        }
        let removed = more.as_mut()?.remove(namespace);
        if more.as_ref().is_some_and(|m| m.is_empty()) {
            *more = None;
        }
        removed
    }

    /// True if the key has a value.
    pub fn any(&self, key: KeyId) -> bool {
        self.0.get(key.index()).is_some_and(|kept| kept.one.is_some() || kept.more.is_some())
    }

    /// How many values the key has.
    pub fn count(&self, key: KeyId) -> usize {
        let of = |kept: &Kept<N, T>| usize::from(kept.one.is_some()) + kept.more.as_ref().map_or(0, |m| m.len());
        self.0.get(key.index()).map_or(0, of)
    }

    /// The namespaces under which the key has values, in no order.
    pub fn namespaces(&self, key: KeyId) -> impl Iterator<Item = &N> {
        self.0.get(key.index()).into_iter().flat_map(|kept| {
            let others = kept.more.iter().flat_map(|m| m.keys());
            kept.one.iter().map(|(n, _)| n).chain(others)
        })
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// All values, in no order, to be changed in place.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().flat_map(|kept| {
            let others = kept.more.iter_mut().flat_map(|m| m.values_mut());
            kept.one.iter_mut().map(|(_, value)| value).chain(others)
        })
    }

    /// All values, in no order.
    pub fn iter(&self) -> impl Iterator<Item = (KeyId, &N, &T)> {
        self.0.iter().enumerate().flat_map(|(index, kept)| {
            let others = kept.more.iter().flat_map(|m| m.iter());
            let values = kept.one.iter().map(|(n, value)| (n, value)).chain(others);
            values.map(move |(n, value)| (KeyId::at(index), n, value))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_wherever_it_stands() {
        let (key, mut slots) = (KeyId::at(3), Slots::<i64, &str>::new());
        assert!(slots.insert(key, 1, "a"));
        assert!(slots.insert(key, 2, "b"));
        assert_eq!(slots.remove(key, &1), Some("a"));
        assert_eq!(slots.get(key, &2), Some(&"b"));
        assert!(!slots.insert(key, 2, "c"), "it stands among the others, though the first place is free");
        assert_eq!(*slots.entry(key, 4, || "d"), "d");
        assert_eq!(slots.iter().count(), 2);
        assert_eq!((slots.remove(key, &4), slots.remove(key, &2)), (Some("d"), Some("c")));
        assert!(!slots.any(key));
    }
}
