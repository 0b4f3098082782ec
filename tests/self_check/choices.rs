//! A finite list of decisions, Hypothesis-style: where it ends every decision is the simplest one, so that shrinking the
//! list shrinks what is made from it.

/// Decisions yet to be taken.
#[derive(Debug, Clone)]
pub struct Choices<'a> {
    left: &'a [u8],
}

impl<'a> Choices<'a> {
    /// Reads decisions from bytes.
    pub fn new(bytes: &'a [u8]) -> Self {
        Choices { left: bytes }
    }

    /// A number below `n`; 0 once the list has ended.
    pub fn below(&mut self, n: usize) -> usize {
        match self.left.split_first() {
            Some((first, rest)) => {
                self.left = rest;
                *first as usize % n.max(1)
            }
            None => 0,
        }
    }

    /// True in one of `n` cases, never once the list has ended.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    /// An element of a list that is not empty.
    pub fn pick<'t, T>(&mut self, list: &'t [T]) -> &'t T {
        &list[self.below(list.len())]
    }
}
