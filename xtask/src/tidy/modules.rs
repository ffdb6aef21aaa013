//! The modules of a crate and what they import from each other, read from its source without compiling it.
//!
//! A module is a file. An import is a path that begins with `crate`, `self` or `super`, in a `use` or anywhere else,
//! inside of macros too; a path that begins with a child module counts as well. Tests and `lib.rs` or `main.rs` are
//! left out: a name that is imported through a re-export counts as an import of the file that defines it.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Source, Tree};
use super::tokens::{self, Token};

/// How many re-exports are followed for one name.
const MOST_REEXPORTS: usize = 8;

/// The modules of one crate.
#[derive(Debug)]
pub(crate) struct Modules {
    /// The path of each file, by the path of its module: `["cache", "entry"]`.
    files: BTreeMap<Vec<String>, String>,
    uses: BTreeMap<Vec<String>, Vec<Use>>,
}

/// One file imports another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Import {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) line: usize,
    /// The path as it stands there: `crate::cache::Entry`.
    pub(crate) path: String,
}

/// A path in the source of one module, and the name that it gets there if it stands in a `use`.
#[derive(Debug)]
struct Use {
    path: Vec<String>,
    name: Option<String>,
    line: usize,
}

impl Modules {
    /// Reads the crate whose source is in `folder`, such as `crates/skep/src`.
    pub(crate) fn read(tree: &Tree, folder: &str) -> Self {
        let mut modules = Self { files: BTreeMap::new(), uses: BTreeMap::new() };
        for source in tree.sources.iter().filter(|source| source.is_rust() && !source.is_test()) {
            let Some(module) = module(source, folder) else { continue };
            modules.uses.insert(module.clone(), uses(tokens::without_tests(source)));
            modules.files.insert(module, source.path.clone());
        }
        modules
    }

    /// All files but the root.
    pub(crate) fn files(&self) -> impl Iterator<Item = &String> {
        self.files.iter().filter(|(module, _)| !module.is_empty()).map(|(_, file)| file)
    }

    /// What each file imports from others of its crate: one import, the first, for each pair of files.
    pub(crate) fn imports(&self) -> Vec<Import> {
        let mut imports = BTreeMap::new();
        for (module, uses) in self.uses.iter().filter(|(module, _)| !module.is_empty()) {
            for used in uses {
                let Some(target) = self.resolve(module, &used.path, MOST_REEXPORTS) else { continue };
                if target.is_empty() || target == *module {
                    continue;
                }
                let (from, to) = (self.files[module].clone(), self.files[&target].clone());
                let import = Import { from: from.clone(), to: to.clone(), line: used.line, path: used.path.join("::") };
                imports.entry((from, to)).or_insert(import);
            }
        }
        imports.into_values().collect()
    }

    /// The module that defines what this path names, if it is one of this crate.
    fn resolve(&self, from: &[String], path: &[String], depth: usize) -> Option<Vec<String>> {
        let (mut module, rest) = self.start(from, path)?;
        let mut rest = rest;
        while let Some((next, after)) = rest.split_first() {
            let child = [&module[..], std::slice::from_ref(next)].concat();
            if self.files.contains_key(&child) {
                (module, rest) = (child, after);
                continue;
            }
            return Some(self.reexported(&module, next, after, depth).unwrap_or(module));
        }
        Some(module)
    }

    /// Where a path begins: the root, this module, a parent or a child.
    fn start<'p>(&self, from: &[String], path: &'p [String]) -> Option<(Vec<String>, &'p [String])> {
        let (first, mut rest) = path.split_first()?;
        match first.as_str() {
            "crate" => Some((Vec::new(), rest)),
            "self" => Some((from.to_vec(), rest)),
            "super" => {
                let mut module = parent(from);
                while let Some(("super", after)) = rest.split_first().map(|(word, after)| (word.as_str(), after)) {
                    (module, rest) = (parent(&module), after);
                }
                Some((module, rest))
            }
            _ => {
                let child = [from, std::slice::from_ref(first)].concat();
                self.files.contains_key(&child).then_some((child, rest))
            }
        }
    }

    /// Follows `name`, if a `use` in `module` brings it there.
    fn reexported(&self, module: &[String], name: &str, rest: &[String], depth: usize) -> Option<Vec<String>> {
        let depth = depth.checked_sub(1)?;
        let named = self.uses.get(module)?.iter().find(|used| used.name.as_deref() == Some(name))?;
        let path = [&named.path[..], rest].concat();
        self.resolve(module, &path, depth)
    }
}

fn parent(module: &[String]) -> Vec<String> {
    module[..module.len().saturating_sub(1)].to_vec()
}

/// The module that a file is, if it is below this folder and no executable of its own.
fn module(source: &Source, folder: &str) -> Option<Vec<String>> {
    let path = source.path.strip_prefix(folder)?.strip_prefix('/')?.strip_suffix(".rs")?;
    if path.starts_with("bin/") {
        return None;
    }
    if path == "lib" || path == "main" {
        return Some(Vec::new());
    }
    Some(path.split('/').map(str::to_owned).collect())
}

/// All paths of a file, those of `use` with the names that they bring.
fn uses(tokens: &[Token]) -> Vec<Use> {
    let mut uses = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let follows_path = at > 1 && tokens[at - 1].text == ":" && tokens[at - 2].text == ":";
        if token.text == "use" {
            at = use_tree(tokens, at + 1, &mut Vec::new(), &mut uses);
        } else if is_name(&token.text) && !follows_path {
            let (path, after) = path(tokens, at);
            if path.len() > 1 {
                uses.push(Use { path, name: None, line: token.line });
            }
            at = after;
        } else {
            at += 1;
        }
    }
    uses
}

/// Reads what follows `use`, or stands in its braces, and returns where it ends.
fn use_tree(tokens: &[Token], mut at: usize, before: &mut Vec<String>, uses: &mut Vec<Use>) -> usize {
    let length = before.len();
    while let Some(token) = tokens.get(at) {
        match token.text.as_str() {
            "{" => {
                at += 1;
                while tokens.get(at).is_some_and(|token| !matches!(token.text.as_str(), "}" | ";")) {
                    // At least one token, whatever stands there.
                    at = use_tree(tokens, at, before, uses).max(at + usize::from(tokens[at].text != ","));
                    at += usize::from(tokens.get(at).is_some_and(|token| token.text == ","));
                }
                at += 1;
                break;
            }
            "," | ";" | "}" => {
                add(before, None, token.line, uses);
                break;
            }
            "as" => {
                let name = tokens.get(at + 1).map(|name| name.text.clone());
                add(before, name, token.line, uses);
                at += 2;
                break;
            }
            ":" => at += 1,
            "*" => {
                uses.push(Use { path: before.clone(), name: None, line: token.line });
                at += 1;
                break;
            }
            word if is_name(word) => {
                before.push(word.to_owned());
                at += 1;
            }
            // No `use` of Rust, but an element of SVG in a macro.
            _ => break,
        }
    }
    before.truncate(length);
    at
}

fn add(path: &[String], name: Option<String>, line: usize, uses: &mut Vec<Use>) {
    let mut path = path.to_vec();
    // `a::{self}` brings `a`.
    if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
        path.pop();
    }
    let name = name.or_else(|| path.last().cloned());
    uses.push(Use { path, name, line });
}

/// The names that follow each other with `::` between them, and where they end.
fn path(tokens: &[Token], mut at: usize) -> (Vec<String>, usize) {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let mut path = vec![text(at).to_owned()];
    at += 1;
    while text(at) == ":" && text(at + 1) == ":" && is_name(text(at + 2)) {
        path.push(text(at + 2).to_owned());
        at += 3;
    }
    (path, at)
}

fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// The strongly connected components of more than one file, the largest first: in each, every file imports every other
/// by some way.
pub(crate) fn cycles<'a>(imports: impl IntoIterator<Item = &'a Import>) -> Vec<BTreeSet<String>> {
    let mut graph = Graph::default();
    for import in imports {
        let (from, to) = (graph.number(&import.from), graph.number(&import.to));
        graph.next[from].push(to);
    }
    let mut cycles: Vec<BTreeSet<String>> = graph.components();
    cycles.sort_by_key(|cycle| std::cmp::Reverse(cycle.len()));
    cycles
}

/// Files by number, in the order in which they were first named.
#[derive(Default)]
struct Graph<'a> {
    numbers: BTreeMap<&'a str, usize>,
    names: Vec<&'a str>,
    next: Vec<Vec<usize>>,
}

/// What Tarjan's algorithm notes of each file.
#[derive(Default)]
struct Visit {
    /// When it was first seen, from 1; 0 before that.
    order: Vec<usize>,
    lowest: Vec<usize>,
    is_open: Vec<bool>,
    open: Vec<usize>,
    seen: usize,
}

impl<'a> Graph<'a> {
    fn number(&mut self, file: &'a str) -> usize {
        *self.numbers.entry(file).or_insert_with(|| {
            self.names.push(file);
            self.next.push(Vec::new());
            self.names.len() - 1
        })
    }

    fn components(&self) -> Vec<BTreeSet<String>> {
        let count = self.names.len();
        let mut visit =
            Visit { order: vec![0; count], lowest: vec![0; count], is_open: vec![false; count], ..Visit::default() };
        let mut components = Vec::new();
        for file in 0..count {
            if visit.order[file] == 0 {
                self.visit(file, &mut visit, &mut components);
            }
        }
        components.retain(|files| files.len() > 1);
        components
            .into_iter()
            .map(|files| files.into_iter().map(|file| self.names[file].to_owned()).collect())
            .collect()
    }

    fn visit(&self, file: usize, visit: &mut Visit, components: &mut Vec<Vec<usize>>) {
        visit.seen += 1;
        (visit.order[file], visit.lowest[file], visit.is_open[file]) = (visit.seen, visit.seen, true);
        visit.open.push(file);
        for &next in &self.next[file] {
            if visit.order[next] == 0 {
                self.visit(next, visit, components);
                visit.lowest[file] = visit.lowest[file].min(visit.lowest[next]);
            } else if visit.is_open[next] {
                visit.lowest[file] = visit.lowest[file].min(visit.order[next]);
            }
        }
        if visit.lowest[file] == visit.order[file] {
            let at = visit.open.iter().rposition(|open| *open == file).unwrap_or(0);
            let component = visit.open.split_off(at);
            for member in &component {
                visit.is_open[*member] = false;
            }
            components.push(component);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn imports(files: &[(&str, &str)]) -> Vec<(String, String)> {
        let sources = files.iter().map(|(path, text)| Source::new(format!("c/src/{path}"), *text)).collect();
        let tree = Tree { sources, paths: BTreeSet::new() };
        let imports = Modules::read(&tree, "c/src").imports();
        let short = |path: &str| path.trim_start_matches("c/src/").to_owned();
        imports.iter().map(|import| (short(&import.from), short(&import.to))).collect()
    }

    fn pair(from: &str, to: &str) -> (String, String) {
        (from.to_owned(), to.to_owned())
    }

    #[test]
    fn paths_of_all_kinds_are_imports() {
        let all = imports(&[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "mod child; use crate::b::{self, B}; fn f() { child::run(); m!(super::c::D) }"),
            ("a/child.rs", "use super::super::c; use super::A as Other;"),
            ("b.rs", "use std::fmt; fn f() -> crate::c::D {}"),
            ("c.rs", "#[cfg(test)]\nmod tests { use crate::a; }"),
        ]);
        let expected = [
            pair("a.rs", "a/child.rs"),
            pair("a.rs", "b.rs"),
            pair("a.rs", "c.rs"),
            pair("a/child.rs", "a.rs"),
            pair("a/child.rs", "c.rs"),
            pair("b.rs", "c.rs"),
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn a_reexport_leads_to_the_file_that_defines_the_name() {
        let all = imports(&[
            ("lib.rs", "mod a; mod b; pub use a::A;"),
            ("a.rs", "mod inner; pub use inner::{A, Z as Y};"),
            ("a/inner.rs", ""),
            ("b.rs", "use crate::A; use crate::a::Y;"),
            ("c.rs", "use crate::Missing;"),
        ]);
        assert_eq!(all, [pair("a.rs", "a/inner.rs"), pair("b.rs", "a/inner.rs")]);
    }

    #[test]
    fn a_cycle_has_all_files_that_reach_each_other() {
        let import = |from: &str, to: &str| Import { from: from.into(), to: to.into(), line: 1, path: String::new() };
        let found = cycles(&[import("a", "b"), import("b", "c"), import("c", "a"), import("c", "d"), import("e", "a")]);
        assert_eq!(found, [BTreeSet::from(["a", "b", "c"].map(String::from))]);
        assert_eq!(cycles(&[import("a", "b"), import("b", "c")]).len(), 0);
    }
}
