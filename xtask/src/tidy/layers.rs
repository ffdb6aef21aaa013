//! The layers inside each crate: a module imports modules of its own layer and of lower ones.
//!
//! [`CRATES`] has every module at the top of a crate; submodules belong to the layer of their parent, and `lib.rs` and
//! `main.rs` to none. A new module goes into the lowest layer that is above all it imports. If an import points
//! upwards, move the imported item down or its user up. [`modules`](super::modules) says which paths are imports.

mod table;

use std::collections::{BTreeMap, BTreeSet};

use super::Complaint;
use super::modules::{Import, Modules};
use super::source::{Source, Tree};
use table::{CRATES, Layers};

/// A floor of the framework is one that can be taken in: no more modules stand side by side in it.
const MOST_MODULES: usize = 8;

/// The rule for all crates.
pub(super) fn complaints(tree: &Tree) -> Vec<Complaint> {
    let roots = tree.sources.iter().filter(|source| is_root(&source.path));
    let crates = roots.flat_map(|root| {
        let name = root.path.split('/').nth(1).unwrap_or_default();
        match CRATES.iter().find(|layers| layers.name == name) {
            Some(layers) => layers.complaints(tree),
            None => vec![root.complaint(1, format!("{name} has no layers; name them in xtask's tidy/layers/table.rs"))],
        }
    });
    crates.collect()
}

/// `crates/NAME/src/lib.rs`, or `main.rs` where that is the root.
fn is_root(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    matches!(parts.as_slice(), ["crates", _, "src", "lib.rs" | "main.rs"])
}

impl Layers {
    fn complaints(&self, tree: &Tree) -> Vec<Complaint> {
        let folder = format!("crates/{}/src", self.name);
        let modules = Modules::read(tree, &folder);
        let here = Source::new("xtask/src/tidy/layers/table.rs", "");
        let mut complaints = Vec::new();
        let present: BTreeSet<&str> = modules.files().map(|file| top(file, &folder)).collect();
        for module in present.iter().filter(|module| self.layer(module).is_none()) {
            let text = format!("{}'s module `{module}` is in no layer; name it in CRATES", self.name);
            complaints.push(here.complaint(1, text));
        }
        if self.name == "skep" {
            complaints.extend(crowded(&modules, &folder));
        }
        let listed = self.order.iter().flat_map(|(_, modules)| modules.iter());
        for module in listed.filter(|module| !present.contains(*module)) {
            let text = format!("{} has no module `{module}`; take it out of CRATES", self.name);
            complaints.push(here.complaint(1, text));
        }
        let upward: Vec<(&str, &str, Import)> = modules
            .imports()
            .into_iter()
            .filter_map(|import| {
                let (from, to) = (self.known(top(&import.from, &folder))?, self.known(top(&import.to, &folder))?);
                (self.layer(from) < self.layer(to)).then_some((from, to, import))
            })
            .collect();
        let allowed = |from: &str, to: &str| self.upward.iter().any(|(its, other, _)| (*its, *other) == (from, to));
        for (from, to, import) in upward.iter().filter(|(from, to, _)| !allowed(from, to)) {
            let text = format!(
                "`{from}` ({}) imports `{}`, of `{to}` in the higher layer {}; move the item down or its user up",
                self.describe(from),
                import.path,
                self.describe(to)
            );
            complaints.push(Source::new(import.from.clone(), "").complaint(import.line, text));
        }
        for (from, to, _) in
            self.upward.iter().filter(|(from, to, _)| !upward.iter().any(|(its, other, _)| (its, other) == (from, to)))
        {
            let text = format!("{}: `{from}` imports nothing of `{to}` any more; take that out of CRATES", self.name);
            complaints.push(here.complaint(1, text));
        }
        complaints
    }

    /// The number of a module's layer, from the lowest.
    fn layer(&self, module: &str) -> Option<usize> {
        self.order.iter().position(|(_, modules)| modules.contains(&module))
    }

    /// The module's name in the table.
    fn known(&self, module: &str) -> Option<&'static str> {
        self.order.iter().flat_map(|(_, modules)| modules.iter()).copied().find(|known| *known == module)
    }

    fn describe(&self, module: &str) -> &'static str {
        self.layer(module).map_or("", |layer| self.order[layer].0)
    }
}

/// Floors, and the layer of the modules beside them, with more than [`MOST_MODULES`].
fn crowded(modules: &Modules, folder: &str) -> Vec<Complaint> {
    let mut floors: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for file in modules.files() {
        let path = file.strip_prefix(folder).unwrap_or(file).trim_start_matches('/').trim_end_matches(".rs");
        if let Some((floor, rest)) = path.split_once('/') {
            floors.entry(floor).or_default().insert(rest.split('/').next().unwrap_or(rest));
        }
    }
    let crowded = floors.into_iter().filter(|(_, modules)| modules.len() > MOST_MODULES);
    let complaint = |(floor, modules): (&str, BTreeSet<&str>)| {
        let text =
            format!("{} modules side by side, {MOST_MODULES} at most; give some a floor of their own", modules.len());
        Source::new(format!("{folder}/{floor}.rs"), "").complaint(1, text)
    };
    crowded.map(complaint).collect()
}

/// The module at the top of the crate that a file belongs to.
fn top<'f>(file: &'f str, folder: &str) -> &'f str {
    let path = file.strip_prefix(folder).unwrap_or(file).trim_start_matches('/');
    path.split('/').next().unwrap_or_default().trim_end_matches(".rs")
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYERS: Layers = Layers {
        name: "new",
        order: &[("values", &["time", "size"]), ("server", &["server"])],
        upward: &[("size", "server", "a test")],
    };

    fn complaints(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<_> =
            files.iter().map(|(path, text)| Source::new(format!("crates/new/src/{path}"), *text)).collect();
        let tree = Tree { paths: sources.iter().map(|source| source.path.clone()).collect(), sources };
        LAYERS.complaints(&tree).iter().map(ToString::to_string).collect()
    }

    const SIZE: (&str, &str) = ("size.rs", "use crate::server::Server;");

    #[test]
    fn a_module_imports_its_own_layer_and_lower_ones() {
        let good = [("time.rs", "use crate::size::Size;"), SIZE, ("server.rs", "use crate::time::Time;")];
        assert_eq!(complaints(&good), [""; 0]);
    }

    #[test]
    fn an_upward_import_names_both_modules_and_its_line() {
        let bad = [("time.rs", ""), ("time/zone.rs", "\nuse crate::server::Server;"), SIZE, ("server.rs", "")];
        let expected = "crates/new/src/time/zone.rs:2: `time` (values) imports `crate::server::Server`, of `server` in the higher \
            layer server; move the item down or its user up";
        assert_eq!(complaints(&bad), [expected]);
    }

    #[test]
    fn the_table_has_each_module_and_no_others() {
        let text = complaints(&[("time.rs", ""), SIZE, ("server.rs", ""), ("clock/tick.rs", "")]);
        assert_eq!(text, ["xtask/src/tidy/layers/table.rs:1: new's module `clock` is in no layer; name it in CRATES"]);
        let text = complaints(&[("time.rs", ""), ("server.rs", "")]).join("\n");
        assert!(text.contains("new has no module `size`; take it out of CRATES"), "{text}");
        assert!(text.contains("`size` imports nothing of `server` any more"), "{text}");
    }

    #[test]
    fn a_floor_has_eight_modules_at_most() {
        let crowd = |count: usize| {
            let paths = (0..count).flat_map(|at| [format!("m{at}.rs"), format!("m{at}/deep.rs")]);
            let sources = paths.map(|path| Source::new(format!("crates/skep/src/http/{path}"), "")).collect();
            let modules = Modules::read(&Tree { sources, paths: BTreeSet::new() }, "crates/skep/src");
            crowded(&modules, "crates/skep/src").len()
        };
        assert_eq!((crowd(8), crowd(9)), (0, 1));
    }

    #[test]
    fn a_module_has_one_layer_and_an_exception_a_reason() {
        for layers in CRATES {
            let all: Vec<&str> = layers.order.iter().flat_map(|(_, modules)| modules.iter().copied()).collect();
            let once: BTreeSet<&str> = all.iter().copied().collect();
            assert_eq!(all.len(), once.len(), "{}", layers.name);
            assert!(layers.upward.iter().all(|(.., reason)| !reason.is_empty()), "{}", layers.name);
        }
    }
}
