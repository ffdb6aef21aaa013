//! Flags that documentation names in code marks: `--like-this`.

use std::collections::{BTreeMap, BTreeSet};

use super::Complaint;
use super::source::{Source, Tree};

/// Records, which are as they were, and what names removed flags.
const HISTORY: [&str; 2] = ["docs/decisions/", "CHANGELOG.md"];

/// A flag that the manual or a page at the root names is that of a command: some source has it as it is written, as a
/// name, as a field, or as the setting that it sets.
pub(super) fn exist(tree: &Tree) -> Vec<Complaint> {
    let mut places: BTreeMap<&str, Vec<(&Source, usize)>> = BTreeMap::new();
    for page in tree.sources.iter().filter(|source| is_read(source)) {
        flags(page).for_each(|(line, flag)| places.entry(flag).or_default().push((page, line)));
    }
    let known = known(tree);
    places.retain(|flag, _| !known.contains(flag.trim_start_matches('-').replace('-', "_").as_str()));
    let complain = |flag: &str, (page, line): (&Source, usize)| {
        page.complaint(line, format!("no command has the flag `{flag}`; mend or delete it"))
    };
    places.into_iter().flat_map(|(flag, places)| places.into_iter().map(move |place| complain(flag, place))).collect()
}

fn is_read(page: &Source) -> bool {
    let is_manual = !page.path.contains('/') || page.path.starts_with("docs/");
    page.is_markdown() && is_manual && !HISTORY.iter().any(|path| page.path.starts_with(path))
}

fn flags(page: &Source) -> impl Iterator<Item = (usize, &str)> {
    page.lines().flat_map(|(number, line)| {
        let marked = line.split('`').skip(1).step_by(2).filter(|text| text.starts_with("--"));
        let flags = marked.map(|text| text.split(|c| !is_of_name(c)).next().unwrap_or_default());
        flags.filter(|flag| flag.len() > 2).map(move |flag| (number, flag))
    })
}

/// What may be a flag's name, with `_` for each `-`: how strings begin or end, what is before one, fields of structs.
fn known(tree: &Tree) -> BTreeSet<String> {
    let is_code = |source: &&Source| source.is_rust() && source.path.contains("/src/");
    let names = tree.sources.iter().filter(is_code).flat_map(|source| {
        let strings = source.text.split('"').flat_map(|text| {
            let first = text.split(|c| !is_of_name(c)).find(|name| !name.is_empty());
            [first, text.trim_end().rsplit(|c| !is_of_name(c)).next()]
        });
        let fields = source.text.split(": ").map(|text| text.rsplit(|c| !is_of_name(c)).next());
        strings.chain(fields).flatten()
    });
    names.map(|name| name.trim_start_matches('-').replace('-', "_")).collect()
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let code = "(\"--print-config\", \"\"), row(\"component.reuse_idle\"), struct Load { load_core: u8 }";
        let sources = vec![Source::new(path, text), Source::new("crates/skep-server/src/config/flags.rs", code)];
        exist(&Tree { sources, paths: BTreeSet::new() }).iter().map(|complaint| complaint.line).collect()
    }

    #[test]
    fn a_flag_is_that_of_a_command() {
        let good =
            "`--print-config` shows it; `--reuse-idle TIME`, `--load-core` and `cargo build --release` too, and `--`";
        assert_eq!(lines("docs/a.md", good), [0; 0]);
        assert_eq!(lines("docs/a.md", "`--print-config`\n`--print-settings`"), [2]);
        assert_eq!(lines("docs/decisions/a.md", "`--gone`"), [0; 0]);
    }
}
