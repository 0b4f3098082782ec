//! A binary heap whose inner order is that of Java's `PriorityQueue`: Flink goes through its matches in that order, and where two
//! began with the same row it shows in what is found.

/// Things in the order of a key; equal keys in an order that depends on how they came.
#[derive(Debug, Clone, Default)]
pub struct Heap<T> {
    items: Vec<T>,
}

/// What a heap orders.
pub trait Ordered {
    /// The key.
    type Key: Ord;
    /// The key of a thing.
    fn key(&self) -> Self::Key;
}

impl<T: Ordered> Heap<T> {
    /// Nothing.
    pub fn new() -> Heap<T> {
        Heap { items: Vec::new() }
    }

    /// The things in the order in which Java goes through them.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter()
    }

    /// The first thing.
    pub fn peek(&self) -> Option<&T> {
        self.items.first()
    }

    /// Adds a thing.
    pub fn push(&mut self, item: T) {
        self.items.push(item);
        let mut at = self.items.len() - 1;
        while at > 0 {
            let parent = (at - 1) / 2;
            if self.items[at].key() >= self.items[parent].key() {
                return;
            }
            self.items.swap(at, parent);
            at = parent;
        }
    }

    /// Takes the first thing away.
    pub fn pop(&mut self) -> Option<T> {
        if self.items.is_empty() {
            return None;
        }
        let first = self.items.swap_remove(0);
        self.sift_down(0);
        Some(first)
    }

    /// Takes away what `goes` says, and gives it back in the order in which it stood.
    pub fn take(&mut self, mut goes: impl FnMut(&T) -> bool) -> Vec<T> {
        let (gone, kept): (Vec<T>, Vec<T>) = std::mem::take(&mut self.items).into_iter().partition(|item| goes(item));
        self.items = kept;
        if !gone.is_empty() {
            for at in (0..self.items.len() / 2).rev() {
                self.sift_down(at);
            }
        }
        gone
    }

    /// Everything, in the order in which it stands.
    pub fn into_items(self) -> Vec<T> {
        self.items
    }

    fn sift_down(&mut self, mut at: usize) {
        let len = self.items.len();
        while at < len / 2 {
            let (left, right) = (2 * at + 1, 2 * at + 2);
            let least = if right < len && self.items[left].key() > self.items[right].key() { right } else { left };
            if self.items[at].key() <= self.items[least].key() {
                return;
            }
            self.items.swap(at, least);
            at = least;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Ordered for (u8, char) {
        type Key = u8;
        fn key(&self) -> u8 {
            self.0
        }
    }

    fn of(items: &[(u8, char)]) -> Heap<(u8, char)> {
        let mut heap = Heap::new();
        items.iter().for_each(|i| heap.push(*i));
        heap
    }

    #[test]
    fn things_come_out_in_order_and_equal_ones_as_in_java() {
        let mut heap = of(&[(3, 'a'), (1, 'b'), (2, 'c'), (1, 'd')]);
        assert_eq!(heap.iter().map(|i| i.1).collect::<String>(), "bdca");
        assert_eq!(heap.pop(), Some((1, 'b')));
        assert_eq!(heap.pop(), Some((1, 'd')));
        assert_eq!(heap.pop(), Some((2, 'c')));
        assert_eq!(heap.pop(), Some((3, 'a')));
        assert_eq!(heap.pop(), None);
    }

    #[test]
    fn what_is_left_after_taking_some_is_a_heap_again() {
        let mut heap = of(&[(1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'), (5, 'e')]);
        assert_eq!(heap.take(|i| i.0 <= 2), [(1, 'a'), (2, 'b')]);
        assert_eq!(heap.peek(), Some(&(3, 'c')));
        assert!(heap.take(|_| false).is_empty());
    }
}
