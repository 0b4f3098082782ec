//! Many scripts of two sides: which are jobs, which only declare, and what has to be checked with what.
//!
//! The two sides may be two revisions, two directories, or a lock and the work tree; all are trees of texts here. A file without
//! INSERT and SELECT is no job. It belongs to the jobs beside it and below its directory, as do the files that the configuration names.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use rayon::prelude::*;

use crate::check::{Batch, DdlOnly, Options, Pair, Text};
use crate::config::Config;
use crate::report::model::{ErrorCode, ErrorItem, Note};
use crate::source::SourceMap;
use crate::syntax;

/// The scripts of one side, by path: from the root of the tree, with slashes.
pub type Tree = BTreeMap<String, Text>;

/// How the scripts of a directory are checked.
#[derive(Debug)]
pub struct Setting {
    /// What the configuration says.
    pub config: Config,
    /// The directory of the configuration, as a prefix of paths in the trees: empty, or ending in a slash. None if the
    /// configuration says nothing of paths in these trees.
    pub prefix: Option<String>,
    /// Paths of more files with DDL for all scripts.
    pub schema: Vec<String>,
    /// How to check.
    pub options: Arc<Options>,
}

impl Setting {
    fn local<'p>(&self, path: &'p str) -> Option<&'p str> {
        path.strip_prefix(self.prefix.as_deref()?)
    }

    /// True if the configuration names a file as DDL for all.
    fn is_schema(&self, path: &str) -> bool {
        self.schema.iter().any(|s| s == path) || self.local(path).is_some_and(|local| self.config.schema.covers(local))
    }

    /// True unless the configuration says that a script is no job.
    fn may_be_job(&self, path: &str) -> bool {
        self.local(path).is_none_or(|local| self.config.jobs.covers(local))
    }
}

/// Which jobs are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Those that differ, or whose DDL does.
    Changed,
    /// All.
    All,
}

/// The two sides.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    /// What runs.
    pub old: Tree,
    /// What is to be deployed.
    pub new: Tree,
    /// Old paths of files that were renamed, by their new ones.
    pub renamed: BTreeMap<String, String>,
    /// Only paths at or below one of these are checked; all if there is none.
    pub only: Vec<String>,
    /// Files that are not as on the other side and cannot be read, by path.
    pub unreadable: Vec<(String, ErrorItem)>,
    /// What should be known of paths that are not looked into.
    pub notes: Vec<(String, Note)>,
}

/// Below this share of equal lines two files are two, as for git.
const SIMILAR: f32 = 0.5;

/// And below this share of equal words: blanks and keywords are alike in all scripts.
const SIMILAR_WORDS: f32 = 0.75;

/// More files than this are not compared with each other.
const COMPARED: usize = 100;

/// What is to be checked.
#[derive(Debug, Default)]
pub struct Plan {
    /// The pairs, by path.
    pub pairs: Vec<Batch>,
    /// What should be known of files that are not checked.
    pub notes: Vec<Note>,
    /// Files that should be checked and cannot be read. They hide no others.
    pub errors: Vec<ErrorItem>,
}

impl Workspace {
    /// Finds renames that nobody has told: what is gone and what is new, if they are the same text, or files of one name that have moved
    /// together, or have enough in common.
    pub fn find_renames(&mut self) {
        let Workspace { old, new, renamed, .. } = self;
        let known: HashSet<&String> = renamed.values().collect();
        let mut gone: Vec<&String> = old.keys().filter(|p| !new.contains_key(*p) && !known.contains(p)).collect();
        let mut added: Vec<&String> =
            new.keys().filter(|p| !old.contains_key(*p) && !renamed.contains_key(*p)).collect();
        let mut found: Vec<(String, String)> = Vec::new();
        for by in [same_text as Key, file_name] {
            found.extend(only_pairs(&gone, &added, &|path| by(old, path), &|path| by(new, path)));
            let (to, from): (HashSet<&String>, HashSet<&String>) = found.iter().map(|(to, from)| (to, from)).unzip();
            gone.retain(|path| !from.contains(path));
            added.retain(|path| !to.contains(path));
        }
        if gone.len().max(added.len()) <= COMPARED {
            let mut likely: Vec<(f32, &String, &String)> = Vec::new();
            for from in &gone {
                for to in &added {
                    let (was, is) = (&*old[*from].text, &*new[*to].text);
                    let lines = similar::TextDiff::from_lines(was, is).ratio();
                    // Of a short script an edit may touch every line.
                    let words = similar::TextDiff::from_words(was, is).ratio();
                    if lines >= SIMILAR || words >= SIMILAR_WORDS {
                        likely.push((words, from, to));
                    }
                }
            }
            likely.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2))));
            for (_, from, to) in likely {
                if !found.iter().any(|(t, f)| t == to || f == from) {
                    found.push((to.clone(), from.clone()));
                }
            }
        }
        renamed.extend(found);
    }

    /// Finds the pairs. `setting` says how a script at a path is checked.
    pub fn plan(&self, extent: Extent, setting: &dyn Fn(&str) -> Arc<Setting>) -> Plan {
        let renames: BTreeMap<&str, &str> = self.renamed.iter().map(|(n, o)| (n.as_str(), o.as_str())).collect();
        let old_names: HashSet<&str> = renames.values().copied().collect();
        // Each file once, by its new path where it has one.
        let mut files: BTreeMap<&str, (Option<&Text>, Option<&Text>)> = BTreeMap::new();
        for (path, text) in &self.new {
            let old = self.old.get(renames.get(path.as_str()).copied().unwrap_or(path));
            files.insert(path, (old, Some(text)));
        }
        for (path, text) in &self.old {
            if !old_names.contains(path.as_str()) && !self.new.contains_key(path) {
                files.insert(path, (Some(text), None));
            }
        }
        let differs = |(old, new): &(Option<&Text>, Option<&Text>)| match (old, new) {
            (Some(old), Some(new)) => !Arc::ptr_eq(&old.text, &new.text) && old.text != new.text,
            _ => true,
        };
        let named_path = |path: &str| self.only.is_empty() || self.only.iter().any(|only| within(path, only));
        // A renamed file goes by both its names.
        let wanted = |path: &str| named_path(path) || renames.get(path).is_some_and(|old| named_path(old));
        let changed: Vec<&str> = files.iter().filter(|(_, sides)| differs(sides)).map(|(path, _)| *path).collect();

        // The directories in which files that only declare matter: those above what differs, and all below such a file that differs.
        let mut directories: BTreeSet<&str> = match extent {
            Extent::All => files.keys().filter(|path| wanted(path)).flat_map(|path| ancestors(path)).collect(),
            Extent::Changed => changed.iter().flat_map(|path| ancestors(path)).collect(),
        };
        let ddl = |directories: &BTreeSet<&str>| {
            let near = |path: &str| directories.contains(directory(path));
            (declaring(&self.old, &near), declaring(&self.new, &near))
        };
        let (mut old_ddl, mut new_ddl) = ddl(&directories);
        let shared: Vec<&str> = changed
            .iter()
            .filter(|path| {
                let old = renames.get(**path).copied().unwrap_or(path);
                new_ddl.contains(**path) || old_ddl.contains(old) || setting(path).is_schema(path)
            })
            .copied()
            .collect();
        if extent == Extent::Changed && !shared.is_empty() {
            let reach = |path: &str| shared.iter().any(|s| within(path, directory(s)) || setting(path).is_schema(s));
            directories.extend(files.keys().filter(|path| reach(path)).flat_map(|path| ancestors(path)));
            (old_ddl, new_ddl) = ddl(&directories);
        }
        let is_ddl = |path: &str, (old, new): &(Option<&Text>, Option<&Text>)| {
            let old_path = renames.get(path).copied().unwrap_or(path);
            (old.is_none() || old_ddl.contains(old_path)) && (new.is_none() || new_ddl.contains(path))
        };

        let unreadable = self.unreadable.iter().filter(|(path, _)| wanted(path));
        // Who names a file that only declares means the jobs that it declares for.
        let named_ddl: Vec<&str> = self
            .only
            .iter()
            .map(String::as_str)
            .filter(|only| old_ddl.contains(*only) || new_ddl.contains(*only) || setting(only).is_schema(only))
            .filter(|only| files.contains_key(only))
            .collect();
        let declared =
            |path: &str| named_ddl.iter().any(|ddl| within(path, directory(ddl)) || setting(path).is_schema(ddl));
        let mut plan = Plan { errors: unreadable.map(|(_, error)| error.clone()).collect(), ..Plan::default() };
        plan.notes.extend(self.notes.iter().filter(|(path, _)| wanted(path)).map(|(_, note)| note.clone()));
        let mut settings: Vec<Arc<Setting>> = Vec::new();
        for (path, sides) in files.iter().filter(|(path, _)| wanted(path) || declared(path)) {
            let setting = setting(path);
            if !settings.iter().any(|known| Arc::ptr_eq(known, &setting)) {
                settings.push(Arc::clone(&setting));
            }
            if setting.is_schema(path) {
                continue;
            }
            if !setting.may_be_job(path) {
                if self.only.iter().any(|only| only == path) {
                    let message = format!("{path} is left out: [jobs] of the configuration says that it is no job");
                    plan.notes.push(Note { message, at: None });
                }
                continue;
            }
            let old_path = renames.get(path).copied().unwrap_or(path);
            let side = |tree: &Tree, ddl: &BTreeSet<String>, path: &str| -> (Vec<Text>, Vec<Text>) {
                (named(tree, &setting), beside(tree, ddl, path, &setting))
            };
            let affected = || {
                let (old, new) = (side(&self.old, &old_ddl, old_path), side(&self.new, &new_ddl, path));
                let texts = |s: &(Vec<Text>, Vec<Text>)| -> Vec<Arc<str>> {
                    s.0.iter().chain(&s.1).map(|t| Arc::clone(&t.text)).collect()
                };
                texts(&old) != texts(&new)
            };
            if extent == Extent::Changed && !differs(sides) && (shared.is_empty() || !affected()) {
                continue;
            }
            if is_ddl(path, sides) {
                if extent == Extent::Changed {
                    let message =
                        format!("{path} has no INSERT and no SELECT: it is DDL for the jobs beside and below it");
                    plan.notes.push(Note { message, at: None });
                }
                continue;
            }
            let (old, new) = *sides;
            let (mut old_schema, old_beside) =
                if old.is_some() { side(&self.old, &old_ddl, old_path) } else { Default::default() };
            let (mut new_schema, new_beside) =
                if new.is_some() { side(&self.new, &new_ddl, path) } else { Default::default() };
            old_schema.splice(0..0, setting.options.schema.iter().cloned());
            new_schema.splice(0..0, setting.options.schema.iter().cloned());
            let pair = Pair {
                old: old.cloned(),
                new: new.cloned(),
                old_schema,
                new_schema,
                old_beside,
                new_beside,
                ddl_only: DdlOnly::NoJob,
            };
            plan.pairs.push(Batch { pair, options: Arc::clone(&setting.options) });
        }
        for setting in &settings {
            plan.errors.extend(self.useless_globs(setting));
        }
        plan
    }

    /// Globs of a configuration that no file matches: what they were to name would silently play no part.
    fn useless_globs(&self, setting: &Setting) -> Option<ErrorItem> {
        let (prefix, config) = (setting.prefix.as_deref()?, &setting.config);
        let mut files = self.new.keys().chain(self.old.keys());
        let none = !config.schema.globs.is_empty() && !files.any(|path| setting.is_schema(path));
        none.then(|| {
            let globs = config.schema.globs.join("`, `");
            let place = if prefix.is_empty() { "here".to_owned() } else { format!("in {prefix}") };
            let message = format!("no file {place} matches the schema globs `{globs}` of keepstate.toml");
            let help = "globs are relative to the directory of keepstate.toml, and do not leave it";
            ErrorItem::new(ErrorCode::Config, message).help(help)
        })
    }
}

/// What two files are compared by.
type Key = for<'t> fn(&'t Tree, &'t str) -> &'t str;

fn same_text<'t>(tree: &'t Tree, path: &'t str) -> &'t str {
    tree.get(path).map_or("", |text| &text.text)
}

fn file_name<'t>(_: &'t Tree, path: &'t str) -> &'t str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

/// New and old paths of which just one on each side has a key. What could be several files is none of them.
fn only_pairs<'t>(
    gone: &[&'t String],
    added: &[&'t String],
    old: &dyn Fn(&'t str) -> &'t str,
    new: &dyn Fn(&'t str) -> &'t str,
) -> Vec<(String, String)> {
    let mut by_key: BTreeMap<&str, (Vec<&String>, Vec<&String>)> = BTreeMap::new();
    gone.iter().for_each(|path| by_key.entry(old(path)).or_default().0.push(path));
    added.iter().for_each(|path| by_key.entry(new(path)).or_default().1.push(path));
    let pair = |(from, to): (Vec<&String>, Vec<&String>)| match (from.as_slice(), to.as_slice()) {
        ([from], [to]) => Some(((*to).clone(), (*from).clone())),
        _ => None,
    };
    by_key.into_values().filter_map(pair).collect()
}

/// The files that the configuration names.
fn named(tree: &Tree, setting: &Setting) -> Vec<Text> {
    let mut texts = Vec::new();
    if let Some(prefix) = setting.prefix.as_ref().filter(|_| !setting.config.schema.globs.is_empty()) {
        let below = tree.range(prefix.clone()..).take_while(|(path, _)| path.starts_with(prefix.as_str()));
        let covered = below.filter(|(path, _)| setting.is_schema(path) && !setting.schema.contains(*path));
        texts.extend(covered.map(|(_, text)| text.clone()));
    }
    texts.extend(setting.schema.iter().filter_map(|path| tree.get(path)).cloned());
    texts
}

/// The files that only declare, beside a script and above it; the nearest last.
fn beside(tree: &Tree, ddl: &BTreeSet<String>, path: &str, setting: &Setting) -> Vec<Text> {
    let mut found: Vec<&String> = Vec::new();
    for above in ancestors(path).collect::<Vec<_>>().into_iter().rev() {
        let prefix = if above.is_empty() { String::new() } else { format!("{above}/") };
        let inside = ddl.range(prefix.clone()..).take_while(|p| p.starts_with(&prefix));
        found.extend(inside.filter(|p| directory(p) == above && *p != path && !setting.is_schema(p)));
    }
    found.into_iter().filter_map(|p| tree.get(p)).cloned().collect()
}

/// The files near by that only declare.
fn declaring(tree: &Tree, near: &(dyn Fn(&str) -> bool + Sync)) -> BTreeSet<String> {
    let files: Vec<(&String, &Text)> = tree.iter().filter(|(path, _)| near(path)).collect();
    let only = files.into_par_iter().filter(|(_, text)| {
        let mut sources = SourceMap::new();
        let file = sources.add(text.name.clone(), Arc::clone(&text.text));
        syntax::parse(&sources, file, &BTreeMap::new()).only_declares()
    });
    only.map(|(path, _)| path.clone()).collect()
}

/// The directory of a path; empty at the root.
fn directory(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// The directory of a path and those above it, up to the root, which is empty.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    let mut next = Some(directory(path));
    std::iter::from_fn(move || {
        let at = next?;
        next = if at.is_empty() { None } else { Some(directory(at)) };
        Some(at)
    })
}

/// True if a path is another one, or is below it.
pub fn within(path: &str, above: &str) -> bool {
    above.is_empty() || path.strip_prefix(above).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DDL: &str = "CREATE TABLE s (a INT) WITH ('connector' = 'datagen');";
    const JOB: &str = "SELECT a FROM s;";

    fn tree(files: &[(&str, &str)]) -> Tree {
        files.iter().map(|(path, text)| ((*path).to_owned(), Text::new(*path, *text))).collect()
    }

    fn plan(old: &[(&str, &str)], new: &[(&str, &str)], renamed: &[(&str, &str)], extent: Extent) -> Vec<String> {
        let renamed = renamed.iter().map(|(n, o)| ((*n).to_owned(), (*o).to_owned())).collect();
        let workspace = Workspace { old: tree(old), new: tree(new), renamed, ..Workspace::default() };
        let setting = Arc::new(Setting {
            config: Config::default(),
            prefix: Some(String::new()),
            schema: Vec::new(),
            options: Arc::default(),
        });
        let name = |text: &Option<Text>| text.as_ref().map_or("-", |t| t.name.as_str()).to_owned();
        let shown = |b: &Batch| {
            let beside: Vec<&str> = b.pair.new_beside.iter().map(|t| t.name.as_str()).collect();
            format!("{} > {} {}", name(&b.pair.old), name(&b.pair.new), beside.join(","))
        };
        workspace.plan(extent, &|_| Arc::clone(&setting)).pairs.iter().map(shown).collect()
    }

    #[test]
    fn only_what_differs_is_checked() {
        let (old, new) = ([("a.sql", JOB), ("b.sql", "SELECT 1;")], [("a.sql", JOB), ("b.sql", "SELECT 2;")]);
        assert_eq!(plan(&old, &new, &[], Extent::Changed), ["b.sql > b.sql "]);
        assert_eq!(plan(&old, &new, &[], Extent::All), ["a.sql > a.sql ", "b.sql > b.sql "]);
    }

    #[test]
    fn files_that_only_declare_are_beside_jobs_and_no_jobs() {
        let old = [("ddl.sql", DDL), ("x/a.sql", JOB), ("x/own.sql", DDL), ("y/b.sql", JOB)];
        let new = [("ddl.sql", "CREATE TABLE s (a BIGINT);"), ("x/a.sql", JOB), ("x/own.sql", DDL), ("y/b.sql", JOB)];
        let found = plan(&old, &new, &[], Extent::Changed);
        assert_eq!(found, ["x/a.sql > x/a.sql ddl.sql,x/own.sql", "y/b.sql > y/b.sql ddl.sql"]);
    }

    #[test]
    fn renamed_added_and_deleted_files_are_pairs() {
        let old = [("a.sql", JOB), ("gone.sql", JOB)];
        let new = [("b.sql", JOB), ("new.sql", JOB)];
        let found = plan(&old, &new, &[("b.sql", "a.sql")], Extent::Changed);
        assert_eq!(found, ["gone.sql > - ", "- > new.sql "]);
        let found = plan(&old, &new, &[("b.sql", "a.sql")], Extent::All);
        assert_eq!(found, ["a.sql > b.sql ", "gone.sql > - ", "- > new.sql "]);
    }
}
