//! The items of GROUP BY: keys, grouping sets, the legacy window.

use super::Builder;
use super::legacy_window::{LegacyWindow, legacy_window};
use super::select::SelectResolver;
use crate::catalog::types::DataType;
use crate::logical::rel::WrittenKey;
use crate::logical::rex::{Origins, Rex};
use crate::logical::scope::Scope;
use crate::logical::translate::Translator;
use crate::plan_error::{PlanError, PlanResult};
use crate::source::Span;
use crate::syntax::ast::{Expr, GroupItem, Select};

/// A group key over the row of FROM.
pub(super) struct Key {
    pub rex: Rex,
    pub ty: DataType,
    pub origins: Origins,
}

/// What GROUP BY says.
pub(super) struct GroupItems {
    /// The keys, each once.
    pub keys: Vec<Key>,
    /// The grouping sets, as indices of keys; none for a plain GROUP BY.
    pub sets: Option<Vec<Vec<usize>>>,
    /// The legacy window.
    pub window: Option<LegacyWindow>,
    /// Keys and window in the order written.
    pub written_keys: Vec<WrittenKey>,
    /// The first constant.
    constant: Option<Key>,
}

/// More sets than this are refused, as Flink's planner would never finish.
const MAX_SETS: usize = 1024;

impl<'a> Builder<'a> {
    pub(super) fn group_items(&mut self, select: &'a Select, scope: &mut Scope) -> PlanResult<GroupItems> {
        let mut out =
            GroupItems { keys: Vec::new(), sets: None, window: None, written_keys: Vec::new(), constant: None };
        let Some(group) = &select.group_by else { return Ok(out) };
        let mut sets: Vec<Vec<usize>> = vec![Vec::new()];
        let mut several = false;
        for item in &group.items {
            let (more, span) = match item {
                GroupItem::Expr(e) => {
                    if let Some(window) = legacy_window(e, &mut Translator::new(self.catalog), scope)? {
                        if out.window.is_some() {
                            return Err(PlanError::rejected(
                                e.span,
                                "only a single window group function may be used in GROUP BY",
                            )
                            .label("the second window")
                            .into());
                        }
                        out.window = Some(window);
                        out.written_keys.push(WrittenKey::Window);
                        continue;
                    }
                    (vec![self.keys(std::slice::from_ref(e), scope, &mut out)?], e.span)
                }
                GroupItem::GroupingSets(list, span) => {
                    several = true;
                    let sets = list.iter().map(|s| self.keys(s, scope, &mut out)).collect::<PlanResult<Vec<_>>>()?;
                    (sets, *span)
                }
                GroupItem::Cube(list, span) => {
                    several = true;
                    let parts = list.iter().map(|s| self.keys(s, scope, &mut out)).collect::<PlanResult<Vec<_>>>()?;
                    if parts.len() > 10 {
                        return Err(too_many(*span));
                    }
                    (cube(&parts), *span)
                }
                GroupItem::Rollup(list, span) => {
                    several = true;
                    let parts = list.iter().map(|s| self.keys(s, scope, &mut out)).collect::<PlanResult<Vec<_>>>()?;
                    ((0..=parts.len()).rev().map(|n| parts[..n].concat()).collect(), *span)
                }
            };
            if sets.len() * more.len() > MAX_SETS {
                return Err(too_many(span));
            }
            sets = sets
                .iter()
                .flat_map(|a| {
                    more.iter().map(|b| {
                        let mut set = a.clone();
                        set.extend(b.iter().filter(|k| !a.contains(k)));
                        set
                    })
                })
                .collect();
        }
        // A GROUP BY of constants alone keeps one of them: without a row there is no group.
        if out.keys.is_empty()
            && out.window.is_none()
            && !several
            && let Some(constant) = out.constant.take()
        {
            out.keys.push(constant);
            out.written_keys.push(WrittenKey::Key(0));
        }
        if several && sets.len() > 1 {
            if let Some(window) = &out.window {
                return Err(PlanError::rejected(
                    window.origins.call.first().unwrap_or(group.span),
                    "a legacy window function cannot be used with GROUPING SETS, CUBE or ROLLUP",
                )
                .label("here")
                .help("use the window table function: FROM TABLE(TUMBLE(...)) GROUP BY window_start, window_end, ...")
                .into());
            }
            out.sets = Some(sets);
        }
        Ok(out)
    }

    /// The keys of some expressions; each is added once.
    fn keys(&mut self, exprs: &'a [Expr], scope: &mut Scope, out: &mut GroupItems) -> PlanResult<Vec<usize>> {
        let mut list = Vec::with_capacity(exprs.len());
        for e in exprs {
            let mut resolver = SelectResolver {
                scope,
                windows: &[],
                aggregates: None,
                over: false,
                clause: "GROUP BY",
                subqueries: &[],
            };
            let rex = Translator::new(self.catalog).expr(e, &mut resolver)?;
            if rex.as_literal().is_some() {
                // A constant groups nothing (and is no ordinal: Flink does not count columns here).
                out.constant.get_or_insert(Key { ty: rex.ty.clone(), origins: Origins::at(e.span), rex });
                continue;
            }
            let k = out.keys.iter().position(|k| k.rex == rex).unwrap_or_else(|| {
                out.keys.push(Key { ty: rex.ty.clone(), origins: Origins::at(e.span), rex });
                out.written_keys.push(WrittenKey::Key(out.keys.len() - 1));
                out.keys.len() - 1
            });
            if !list.contains(&k) {
                list.push(k);
            }
        }
        Ok(list)
    }
}

/// All subsets, the fullest first, in Calcite's order.
fn cube(parts: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let n = parts.len();
    (0..1usize << n)
        .map(|missing| {
            (0..n).filter(|i| missing & (1 << (n - 1 - i)) == 0).flat_map(|i| parts[i].iter().copied()).collect()
        })
        .collect()
}

fn too_many(span: Span) -> Box<PlanError> {
    PlanError::rejected(span, format!("more than {MAX_SETS} grouping sets"))
        .label("too many sets")
        .help("list the sets you need with GROUPING SETS")
        .into()
}
