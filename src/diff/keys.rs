//! What differs between two lists of keys or columns.

use rustc_hash::FxHashSet;

use super::aggregates::quoted;
use super::change::KeysChange;
use super::lineage::Ident;
use super::view::{AggregateView, KeyView};
use crate::logical::rel::WrittenKey;
use crate::source::Span;

/// The difference with the words and places that messages need.
pub struct KeysDiff {
    /// The counts.
    pub change: KeysChange,
    /// Words for messages.
    pub args: Vec<(&'static str, String)>,
    /// The first key that only the old side has, or the first that moved.
    pub old: Option<Span>,
    /// The first key that only the new side has, or the first that moved.
    pub new: Option<Span>,
    /// What only the old side has.
    pub only_old: Vec<Ident>,
    /// What only the new side has.
    pub only_new: Vec<Ident>,
}

impl KeysDiff {
    /// All idents of one side only.
    pub fn differing(&self) -> impl Iterator<Item = Ident> + '_ {
        self.only_old.iter().chain(&self.only_new).copied()
    }
}

/// Whether the order of the list bears on anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// It is compared.
    Counts,
    /// It is free.
    Free,
}

/// Keys that are on one side only; those of one name, or of one place when the lists are equally long, count as changed.
pub fn compare(old: &[KeyView], new: &[KeyView], order: Order) -> Option<KeysDiff> {
    let idents = |list: &[KeyView]| list.iter().map(|k| k.ident).collect::<FxHashSet<Ident>>();
    let (in_old, in_new) = (idents(old), idents(new));
    let only_old: Vec<&KeyView> = old.iter().filter(|k| !in_new.contains(&k.ident)).collect();
    let only_new: Vec<&KeyView> = new.iter().filter(|k| !in_old.contains(&k.ident)).collect();
    let mut added: Vec<&KeyView> = only_new.clone();
    let mut removed: Vec<&KeyView> = Vec::new();
    let mut changed: Vec<String> = Vec::new();
    let mut retyped = 0;
    for o in &only_old {
        match added.iter().position(|n| n.name == o.name) {
            Some(at) => {
                let n = added.remove(at);
                retyped += usize::from(n.ty != o.ty);
                changed.push(n.said.clone());
            }
            None => removed.push(o),
        }
    }
    let common_old: Vec<Ident> = old.iter().map(|k| k.ident).filter(|id| in_new.contains(id)).collect();
    let common_new: Vec<Ident> = new.iter().map(|k| k.ident).filter(|id| in_old.contains(id)).collect();
    let moved = order == Order::Counts && common_old != common_new;
    let change = KeysChange {
        added: added.len(),
        removed: removed.len(),
        changed: changed.len(),
        retyped,
        moved,
        window_moved: false,
    };
    if change == KeysChange::default() {
        return None;
    }
    let first_moved = common_old.iter().zip(&common_new).find(|(a, b)| a != b);
    let place = |list: &[KeyView], only: &[&KeyView], moved: Option<Ident>| {
        only.iter()
            .find_map(|k| k.origins.first())
            .or_else(|| list.iter().find(|k| Some(k.ident) == moved).and_then(|k| k.origins.first()))
            .or_else(|| list.iter().find_map(|k| k.origins.first()))
    };
    let names = |list: &[&KeyView]| list.iter().map(|k| k.said.clone()).collect::<Vec<_>>();
    let list = |keys: &[KeyView]| keys.iter().map(|k| k.said.as_str()).collect::<Vec<_>>().join(", ");
    let args = vec![
        ("added_names", quoted(&names(&added))),
        ("removed_names", quoted(&names(&removed))),
        ("changed_names", quoted(&changed)),
        ("old", list(old)),
        ("new", list(new)),
    ]
    .into_iter()
    .filter(|(_, v)| !v.is_empty())
    .collect();
    Some(KeysDiff {
        args,
        old: place(old, &only_old, first_moved.map(|(a, _)| *a)),
        new: place(new, &only_new, first_moved.map(|(_, b)| *b)),
        only_old: only_old.iter().map(|k| k.ident).collect(),
        only_new: only_new.iter().map(|k| k.ident).collect(),
        change,
    })
}

/// GROUP BY: the plain keys, their order, and the places of window columns or the window function among them.
pub fn compare_group_keys(old: &AggregateView, new: &AggregateView) -> Option<KeysDiff> {
    let written = |view: &AggregateView| -> Vec<KeyView> {
        view.written_keys
            .iter()
            .filter_map(|k| match k {
                WrittenKey::Key(n) => view.keys.get(*n).cloned(),
                _ => None,
            })
            .collect()
    };
    let plain = compare(&written(old), &written(new), Order::Counts);
    // Places of window columns, with what only one side groups by left out.
    let tokens = |view: &AggregateView, other: &AggregateView| -> Vec<Option<WrittenKey>> {
        view.written_keys
            .iter()
            .filter_map(|k| match k {
                WrittenKey::Key(n) => {
                    let ident = view.keys.get(*n)?.ident;
                    other.keys.iter().any(|o| o.ident == ident).then_some(None)
                }
                window => other.written_keys.contains(window).then_some(Some(*window)),
            })
            .collect()
    };
    let window_moved = tokens(old, new) != tokens(new, old);
    match (plain, window_moved) {
        (None, false) => None,
        (Some(diff), window_moved) => Some(KeysDiff { change: KeysChange { window_moved, ..diff.change }, ..diff }),
        (None, true) => Some(KeysDiff {
            change: KeysChange { window_moved: true, ..KeysChange::default() },
            args: Vec::new(),
            old: None,
            new: None,
            only_old: Vec::new(),
            only_new: Vec::new(),
        }),
    }
}
