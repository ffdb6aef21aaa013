//! The shape of the tree: what no compiler and no lint looks at.
//!
//! A rule is a plain function from a file to complaints, so that its test is one good and one bad sample. All rules are
//! in [`RULES`]; rules about several files at once are in [`complaints`].

use std::fmt;
use std::process::ExitCode;

use source::Source;

mod changelog;
pub(crate) mod cycles;
mod files;
mod flags;
mod functions;
mod ignored;
mod invariants;
mod laboratory;
mod layers;
mod leftovers;
mod line_length;
mod links;
mod machine;
mod manifests;
mod manual;
mod modules;
mod paths;
mod published;
mod records;
mod row_numbers;
mod settings;
mod size;
mod sleeps;
mod snippets;
mod source;
mod tokens;
mod type_names;
mod words;

/// A rule about single files; each rule decides which files it is about.
type Rule = fn(&Source) -> Vec<Complaint>;

/// Every rule about single files.
pub(crate) const RULES: &[Rule] = &[
    functions::length,
    files::length,
    line_length::bound,
    files::name,
    files::module_doc,
    files::table_of_contents,
    manifests::arrows,
    manifests::lints,
    laboratory::is_not_named,
    invariants::unsafe_code,
    invariants::sockets_and_threads,
    leftovers::macros,
    leftovers::words,
    ignored::helpers,
    machine::paths,
    machine::registries,
    changelog::unreleased,
    row_numbers::are_not_given_twice,
    words::avoided,
    type_names::say_something,
];

/// Something that is not as it should be: "path:line: what is wrong; what would be right".
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Complaint {
    path: String,
    line: usize,
    text: String,
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.text)
    }
}

/// Prints the import cycles of all crates, or of one.
pub(crate) fn print_cycles(only: Option<&str>) -> Result<ExitCode, String> {
    print!("{}", cycles::report(&source::Tree::read()?, only)?);
    Ok(ExitCode::SUCCESS)
}

/// Prints what is wrong in the tree.
pub(crate) fn run() -> Result<ExitCode, String> {
    let complaints = complaints()?;
    for complaint in &complaints {
        println!("{complaint}");
    }
    if complaints.is_empty() {
        println!("tidy");
        return Ok(ExitCode::SUCCESS);
    }
    println!("{} to mend", complaints.len());
    Ok(ExitCode::FAILURE)
}

/// What is wrong in the tree, by file and line.
pub(crate) fn complaints() -> Result<Vec<Complaint>, String> {
    let tree = source::Tree::read()?;
    let mut complaints: Vec<_> =
        tree.sources.iter().flat_map(|source| RULES.iter().flat_map(move |rule| rule(source))).collect();
    complaints.extend(tree.sources.iter().flat_map(|source| links::lead_somewhere(source, &tree)));
    complaints.extend(snippets::are_compiled(&tree));
    complaints.extend(tree.sources.iter().flat_map(|source| paths::exist(source, &tree)));
    complaints.extend(tree.sources.iter().flat_map(|source| paths::pages_exist(source, &tree)));
    complaints.extend(files::needless_exceptions(&tree));
    complaints.extend(type_names::needless_exceptions(&tree));
    complaints.extend(cycles::complaints(&tree));
    complaints.extend(layers::complaints(&tree));
    complaints.extend(size::lines(&tree));
    complaints.extend(sleeps::in_tests(&tree));
    complaints.extend(manual::size(&tree));
    complaints.extend(published::complaints(&tree));
    complaints.extend(flags::exist(&tree));
    complaints.extend(records::newest(&tree));
    complaints.extend(settings::have_one_owner(&tree));
    complaints.sort();
    Ok(complaints)
}

/// For the tests of rules: the lines a rule complains about in a file of this path and text.
#[cfg(test)]
fn lines(rule: Rule, path: &str, text: &str) -> Vec<usize> {
    let complaints = rule(&Source::new(path, text));
    assert!(complaints.iter().all(|complaint| complaint.text.contains("; ")), "what would be right? {complaints:?}");
    complaints.iter().map(|complaint| complaint.line).collect()
}
