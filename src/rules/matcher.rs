//! Flat predicates over facts.
//!
//! A [`Pattern`] is a table of `fact = predicate`; all of them must hold. A fact that a change does not state counts as
//! `false` and as `0`, so that a rule about `feeds_window_rank = false` holds for operators that know no such thing.

use toml::Value;

use crate::diff::change::{Fact, Facts};

/// A condition on one fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Predicate {
    /// The fact is this value, or has this word among several.
    Is(Fact),
    /// The fact is a count within these bounds, both included.
    Between {
        /// The least count.
        min: Option<u64>,
        /// The greatest count.
        max: Option<u64>,
    },
    /// One of these holds.
    AnyOf(Vec<Predicate>),
    /// This does not hold.
    Not(Box<Predicate>),
}

impl Predicate {
    /// Reads a predicate from its notation in a rule's front matter.
    pub fn from_toml(value: &Value) -> Result<Predicate, String> {
        match value {
            Value::Boolean(b) => Ok(Predicate::Is(Fact::Bool(*b))),
            Value::Integer(n) => Ok(Predicate::Is(Fact::Count(count(*n)?))),
            Value::String(s) => Ok(Predicate::Is(Fact::Word(s.clone().into()))),
            Value::Array(values) => {
                Ok(Predicate::AnyOf(values.iter().map(Predicate::from_toml).collect::<Result<_, _>>()?))
            }
            Value::Table(table) => {
                if let Some(inner) = table.get("not").filter(|_| table.len() == 1) {
                    return Ok(Predicate::Not(Box::new(Predicate::from_toml(inner)?)));
                }
                let (mut min, mut max) = (None, None);
                for (key, value) in table {
                    let bound = match key.as_str() {
                        "min" => &mut min,
                        "max" => &mut max,
                        _ => return Err(format!("`{key}` is no predicate; write `min`, `max` or `not`")),
                    };
                    let n = value.as_integer().ok_or_else(|| format!("`{key}` must be a whole number"))?;
                    *bound = Some(count(n)?);
                }
                if min.is_none() && max.is_none() {
                    return Err("an empty table is no predicate; write `min`, `max` or `not`".to_owned());
                }
                Ok(Predicate::Between { min, max })
            }
            other => Err(format!("a {} is no predicate", other.type_str())),
        }
    }

    /// True if the predicate holds for a fact, or for its absence.
    pub fn holds(&self, fact: Option<&Fact>) -> bool {
        match self {
            Predicate::Is(expected) => match fact {
                Some(Fact::Words(words)) => matches!(expected, Fact::Word(w) if words.iter().any(|word| word == w)),
                Some(fact) => fact == expected,
                None => matches!(expected, Fact::Bool(false) | Fact::Count(0)),
            },
            Predicate::Between { min, max } => {
                let n = match fact {
                    Some(Fact::Count(n)) => *n,
                    Some(_) => return false,
                    None => 0,
                };
                min.is_none_or(|min| n >= min) && max.is_none_or(|max| n <= max)
            }
            Predicate::AnyOf(any) => any.iter().any(|p| p.holds(fact)),
            Predicate::Not(inner) => !inner.holds(fact),
        }
    }
}

fn count(n: i64) -> Result<u64, String> {
    u64::try_from(n).map_err(|_| format!("a count cannot be {n}"))
}

/// All predicates of one alternative of a rule's `match`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pattern(Vec<(String, Predicate)>);

impl Pattern {
    /// Reads a table of predicates.
    pub fn from_toml(table: &toml::Table) -> Result<Pattern, String> {
        table
            .iter()
            .map(|(fact, value)| match Predicate::from_toml(value) {
                Ok(predicate) => Ok((fact.clone(), predicate)),
                Err(why) => Err(format!("in `match.{fact}`: {why}")),
            })
            .collect::<Result<_, _>>()
            .map(Pattern)
    }

    /// True if every predicate holds.
    pub fn holds(&self, facts: &Facts) -> bool {
        self.0.iter().all(|(name, predicate)| predicate.holds(lookup(facts, name)))
    }

    /// The names of the facts it asks for.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// The words that a fact may be, where the pattern names them.
    pub fn words(&self, fact: &str) -> Vec<&str> {
        fn collect<'a>(predicate: &'a Predicate, words: &mut Vec<&'a str>) {
            match predicate {
                Predicate::Is(Fact::Word(word)) => words.push(word),
                Predicate::AnyOf(any) => any.iter().for_each(|p| collect(p, words)),
                Predicate::Is(_) | Predicate::Between { .. } | Predicate::Not(_) => {}
            }
        }
        let mut words = Vec::new();
        for (name, predicate) in &self.0 {
            if name == fact {
                collect(predicate, &mut words);
            }
        }
        words
    }
}

/// The value of a fact, if it is stated.
pub fn lookup<'a>(facts: &'a Facts, name: &str) -> Option<&'a Fact> {
    facts.iter().find(|(n, _)| *n == name).map(|(_, fact)| fact)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Pattern {
        Pattern::from_toml(&text.parse().unwrap()).unwrap()
    }

    #[test]
    fn all_predicates_must_hold() {
        let facts: Facts = vec![("change", "window".into()), ("size", true.into()), ("added", 2usize.into())];
        assert!(pattern("change = 'window'\nsize = true").holds(&facts));
        assert!(!pattern("change = 'window'\nsize = false").holds(&facts));
        assert!(pattern("change = ['order-by', 'window']\nadded = { min = 1, max = 2 }").holds(&facts));
        assert!(!pattern("added = { max = 1 }").holds(&facts));
        assert!(pattern("change = { not = ['order-by'] }").holds(&facts));
    }

    #[test]
    fn of_several_words_one_is_enough() {
        let functions: &[String] = &["LAG".to_owned(), "SUM".to_owned()];
        let facts: Facts = vec![("functions", functions.into())];
        assert!(pattern("functions = ['LAG', 'LEAD']").holds(&facts));
        assert!(pattern("functions = 'SUM'").holds(&facts));
        assert!(!pattern("functions = ['MAX', 'MIN']").holds(&facts));
        assert!(!pattern("functions = { not = ['LAG', 'LEAD'] }").holds(&facts));
    }

    #[test]
    fn an_absent_fact_is_false_and_zero() {
        let facts = Facts::new();
        assert!(pattern("feeds_window_rank = false\nadded = 0\nremoved = { max = 0 }").holds(&facts));
        assert!(!pattern("feeds_window_rank = true").holds(&facts));
        assert!(!pattern("family = 'window-rank'").holds(&facts));
        assert!(pattern("family = { not = 'window-rank' }").holds(&facts));
    }

    #[test]
    fn bad_predicates_are_refused_in_words() {
        for (text, why) in [
            ("a = { mim = 1 }", "in `match.a`: `mim` is no predicate; write `min`, `max` or `not`"),
            ("a = {}", "in `match.a`: an empty table is no predicate; write `min`, `max` or `not`"),
            ("a = -1", "in `match.a`: a count cannot be -1"),
            ("a = 1.5", "in `match.a`: a float is no predicate"),
        ] {
            assert_eq!(Pattern::from_toml(&text.parse().unwrap()).unwrap_err(), why);
        }
    }
}
