//! States what differs between two plans, as typed facts. Does not judge.

pub mod change;
