//! Matching as `java.util.regex.Matcher` does it: backtracking, the first alternative that leads to a match wins.
//!
//! The stack of what is left to be tried is on the heap, so no text is too long for it. Patterns for which Java would search
//! for ages are given up.

use super::parse::{Assertion, Fold, Greed, Node};
use super::set::Set;

/// A step of a program.
#[derive(Debug, Clone)]
enum Step {
    Set(Set, Fold),
    Any {
        dotall: bool,
        unix: bool,
    },
    Assert(Assertion),
    /// Goes on at the first place, and at the second if that leads nowhere.
    Split(usize, usize),
    Jump(usize),
    /// Keeps the position.
    Save(usize),
    /// Goes on at the place if nothing was read since the position was kept: a loop of nothing ends.
    LeaveIfEmpty(usize, usize),
    BackReference(usize, Fold),
    /// A program of its own up to the place, then on from there.
    Look {
        ahead: bool,
        negated: bool,
        end: usize,
    },
    Atomic {
        end: usize,
    },
    Accept,
}

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Program {
    steps: Vec<Step>,
    groups: usize,
    slots: usize,
}

/// The most steps of a program: bounds of repetitions are written out.
const MAX_STEPS: usize = 100_000;
/// The most steps of a search.
const MAX_WORK: u64 = 20_000_000;

/// The search takes too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong;

/// The positions of the groups of a match: starts and ends by turns, the whole match first.
pub type Slots = Vec<Option<usize>>;

impl Program {
    /// Compiles an expression; none if it becomes too large.
    pub fn new(node: &Node, groups: usize) -> Option<Program> {
        let mut program = Program { steps: Vec::new(), groups, slots: 2 * (groups + 1) };
        program.compile(node)?;
        program.push(Step::Accept)?;
        Some(program)
    }

    fn push(&mut self, step: Step) -> Option<usize> {
        self.steps.push(step);
        (self.steps.len() <= MAX_STEPS).then_some(self.steps.len() - 1)
    }

    fn compile(&mut self, node: &Node) -> Option<()> {
        match node {
            Node::Empty => {}
            Node::Set(set, fold) => drop(self.push(Step::Set(set.clone(), *fold))?),
            Node::Any { dotall, unix } => drop(self.push(Step::Any { dotall: *dotall, unix: *unix })?),
            Node::Assert(assertion) => drop(self.push(Step::Assert(*assertion))?),
            Node::Concat(all) => all.iter().try_for_each(|n| self.compile(n))?,
            Node::Alternatives(any) => {
                let mut jumps = Vec::new();
                for (i, node) in any.iter().enumerate() {
                    if i + 1 == any.len() {
                        self.compile(node)?;
                        break;
                    }
                    let split = self.push(Step::Split(0, 0))?;
                    self.compile(node)?;
                    jumps.push(self.push(Step::Jump(0))?);
                    self.steps[split] = Step::Split(split + 1, self.steps.len());
                }
                for jump in jumps {
                    self.steps[jump] = Step::Jump(self.steps.len());
                }
            }
            Node::Capture(group, node) => {
                self.push(Step::Save(2 * group))?;
                self.compile(node)?;
                self.push(Step::Save(2 * group + 1))?;
            }
            Node::Repeat { node, min, max, greed: Greed::Possessive } => {
                let greedy = Node::Repeat { node: node.clone(), min: *min, max: *max, greed: Greed::Greedy };
                self.compile(&Node::Atomic(Box::new(greedy)))?;
            }
            Node::Repeat { node, min, max, greed } => {
                for _ in 0..*min {
                    self.compile(node)?;
                }
                let lazy = *greed == Greed::Lazy;
                let split =
                    |inside, outside| if lazy { Step::Split(outside, inside) } else { Step::Split(inside, outside) };
                match max {
                    Some(max) => {
                        let mut splits = Vec::new();
                        for _ in *min..*max {
                            splits.push(self.push(Step::Split(0, 0))?);
                            self.compile(node)?;
                        }
                        for at in splits {
                            self.steps[at] = split(at + 1, self.steps.len());
                        }
                    }
                    None => {
                        let slot = self.slots;
                        self.slots += 1;
                        let start = self.push(Step::Split(0, 0))?;
                        self.push(Step::Save(slot))?;
                        self.compile(node)?;
                        let check = self.push(Step::LeaveIfEmpty(slot, 0))?;
                        self.push(Step::Jump(start))?;
                        self.steps[check] = Step::LeaveIfEmpty(slot, self.steps.len());
                        self.steps[start] = split(start + 1, self.steps.len());
                    }
                }
            }
            Node::BackReference(group, fold) => drop(self.push(Step::BackReference(*group, *fold))?),
            Node::Look { ahead, negated, node } => {
                let look = self.push(Step::Jump(0))?;
                self.compile(node)?;
                self.push(Step::Accept)?;
                self.steps[look] = Step::Look { ahead: *ahead, negated: *negated, end: self.steps.len() };
            }
            Node::Atomic(node) => {
                let atomic = self.push(Step::Jump(0))?;
                self.compile(node)?;
                self.push(Step::Accept)?;
                self.steps[atomic] = Step::Atomic { end: self.steps.len() };
            }
        }
        Some(())
    }

    /// The first match from `from` on, which is where the match before has ended.
    pub fn find(&self, text: &[char], from: usize) -> Result<Option<Slots>, TooLong> {
        let mut search = Search { program: self, text, last: from, work: 0 };
        for start in from..=text.len() {
            let mut slots = vec![None; self.slots];
            if let Some(end) = search.run(0, start, &mut slots, None)? {
                slots.truncate(2 * (self.groups + 1));
                (slots[0], slots[1]) = (Some(start), Some(end));
                return Ok(Some(slots));
            }
        }
        Ok(None)
    }

    /// True if the whole text matches.
    pub fn matches(&self, text: &[char]) -> Result<bool, TooLong> {
        let mut search = Search { program: self, text, last: 0, work: 0 };
        Ok(search.run(0, 0, &mut vec![None; self.slots], Some(text.len()))?.is_some())
    }
}

struct Search<'a> {
    program: &'a Program,
    text: &'a [char],
    last: usize,
    work: u64,
}

/// What is done when the search goes back.
enum Undo {
    Try(usize, usize),
    Restore(usize, Option<usize>),
}

impl Search<'_> {
    /// Runs from a step and a position; where it ends, at `end` if that is given. Recursion is as deep as groups are nested.
    fn run(&mut self, step: usize, at: usize, slots: &mut Slots, end: Option<usize>) -> Result<Option<usize>, TooLong> {
        let (mut step, mut at) = (step, at);
        let mut stack: Vec<Undo> = Vec::new();
        loop {
            self.work += 1;
            if self.work > MAX_WORK {
                return Err(TooLong);
            }
            let goes_on = match &self.program.steps[step] {
                Step::Accept if end.is_none_or(|end| end == at) => return Ok(Some(at)),
                Step::Accept => false,
                Step::Set(set, fold) => {
                    let found = self.text.get(at).is_some_and(|c| has(set, *c, *fold));
                    at += usize::from(found);
                    found
                }
                Step::Any { dotall, unix } => {
                    let found = self.text.get(at).is_some_and(|c| *dotall || !ends_line(*c, *unix));
                    at += usize::from(found);
                    found
                }
                Step::Assert(assertion) => self.holds(*assertion, at),
                Step::Split(first, second) => {
                    stack.push(Undo::Try(*second, at));
                    step = *first;
                    continue;
                }
                Step::Jump(to) => {
                    step = *to;
                    continue;
                }
                Step::Save(slot) => {
                    stack.push(Undo::Restore(*slot, slots[*slot]));
                    slots[*slot] = Some(at);
                    true
                }
                Step::LeaveIfEmpty(slot, to) => {
                    step = if slots[*slot] == Some(at) { *to } else { step + 1 };
                    continue;
                }
                Step::BackReference(group, fold) => {
                    let group =
                        slots.get(2 * group).copied().flatten().zip(slots.get(2 * group + 1).copied().flatten());
                    // A group that has not matched is never matched again.
                    let found = group.is_some_and(|(from, to)| {
                        let wanted = &self.text[from..to];
                        let here = self.text.get(at..at + wanted.len());
                        here.is_some_and(|here| here.iter().zip(wanted).all(|(a, b)| same(*a, *b, *fold)))
                    });
                    at += group.filter(|_| found).map_or(0, |(from, to)| to - from);
                    found
                }
                Step::Look { ahead, negated, end } => {
                    let (start, end, negated) = (step + 1, *end, *negated);
                    let mut inner = slots.clone();
                    let found = match ahead {
                        true => self.run(start, at, &mut inner, None)?.is_some(),
                        false => {
                            let mut found = false;
                            for from in (0..=at).rev() {
                                found = self.run(start, from, &mut inner, Some(at))?.is_some();
                                if found {
                                    break;
                                }
                                inner.clone_from(slots);
                            }
                            found
                        }
                    };
                    if found && !negated {
                        adopt(slots, &inner, &mut stack);
                    }
                    step = end;
                    if found != negated {
                        continue;
                    }
                    false
                }
                Step::Atomic { end } => {
                    let (start, end) = (step + 1, *end);
                    let mut inner = slots.clone();
                    match self.run(start, at, &mut inner, None)? {
                        Some(to) => {
                            adopt(slots, &inner, &mut stack);
                            (step, at) = (end, to);
                            continue;
                        }
                        None => false,
                    }
                }
            };
            if goes_on {
                step += 1;
                continue;
            }
            loop {
                match stack.pop() {
                    Some(Undo::Restore(slot, value)) => slots[slot] = value,
                    Some(Undo::Try(to, from)) => {
                        (step, at) = (to, from);
                        break;
                    }
                    None => return Ok(None),
                }
            }
        }
    }

    fn holds(&self, assertion: Assertion, at: usize) -> bool {
        let text = self.text;
        let before = at.checked_sub(1).map(|i| text[i]);
        let here = text.get(at).copied();
        // Between the two characters of one line terminator.
        let inside = before == Some('\r') && here == Some('\n');
        match assertion {
            Assertion::Start => at == 0,
            Assertion::VeryEnd => at == text.len(),
            Assertion::LastMatch => at == self.last,
            Assertion::LineStart { unix } => {
                at == 0 || at < text.len() && before.is_some_and(|c| ends_line(c, unix)) && (unix || !inside)
            }
            Assertion::LineEnd { unix } => here.is_none_or(|c| ends_line(c, unix) && (unix || !inside)),
            Assertion::End { unix } => match &text[at..] {
                [] => true,
                [c] => ends_line(*c, unix) && (unix || !inside),
                ['\r', '\n'] => !unix,
                _ => false,
            },
            Assertion::Word | Assertion::NotWord => {
                let word = |c: Option<char>| c.is_some_and(is_word);
                (word(before) != word(here)) == (assertion == Assertion::Word)
            }
        }
    }
}

/// Takes over what an inner program has kept.
fn adopt(slots: &mut Slots, inner: &Slots, stack: &mut Vec<Undo>) {
    for (slot, value) in inner.iter().enumerate() {
        if slots[slot] != *value {
            stack.push(Undo::Restore(slot, slots[slot]));
            slots[slot] = *value;
        }
    }
}

/// What `\b` takes for a part of a word: other than `\w`, letters and digits of all scripts.
fn is_word(c: char) -> bool {
    c == '_' || c.is_ascii_alphanumeric() || !c.is_ascii() && c.is_alphanumeric()
}

/// True for line terminators.
pub fn ends_line(c: char, unix: bool) -> bool {
    c == '\n' || !unix && matches!(c, '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn other_case(c: char) -> char {
    if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }
}

/// `Character.toUpperCase` and `toLowerCase`: none for characters that become several.
fn single(mut mapped: impl Iterator<Item = char>, c: char) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(mapped), None) => mapped,
        _ => c,
    }
}

fn has(set: &Set, c: char, fold: Fold) -> bool {
    set.contains(c)
        || match fold {
            Fold::None => false,
            Fold::Ascii => set.contains(other_case(c)),
            Fold::Unicode => {
                let upper = single(c.to_uppercase(), c);
                set.contains(upper) || set.contains(single(upper.to_lowercase(), upper))
            }
        }
}

fn same(a: char, b: char, fold: Fold) -> bool {
    a == b
        || match fold {
            Fold::None => false,
            Fold::Ascii => a.eq_ignore_ascii_case(&b),
            Fold::Unicode => single(a.to_uppercase(), a) == single(b.to_uppercase(), b),
        }
}
