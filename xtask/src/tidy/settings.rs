//! One owner for each setting: the row in a group of `settings!` (`crates/skep-settings`).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::Complaint;
use super::source::{Source, Tree};

/// How names of files end that begin like settings.
const FILES: [&str; 4] = ["css", "history", "js", "sock"];

/// `Setup` and the groups in it, whose variables a component gets; a host hands on no others.
const OF_COMPONENTS: [&str; 4] = [
    "skep/src/context/session/rules.rs",
    "skep/src/context/setup.rs",
    "skep/src/context/setup/limits.rs",
    "skep-http/src/fetch.rs",
];

/// One row.
#[derive(Debug)]
struct Row<'t> {
    /// With its table.
    name: String,
    field: &'t str,
    source: &'t Source,
    line: usize,
}

/// Each setting has one row, each row has a reader, and what code names in a string has a row.
pub(super) fn have_one_owner(tree: &Tree) -> Vec<Complaint> {
    let product: Vec<&Source> = tree.sources.iter().filter(|source| is_of_the_product(source)).collect();
    let rows: Vec<Row<'_>> = product.iter().flat_map(|source| rows(source)).collect();
    let lines = lines_of_words(&product);
    let mut owners: BTreeMap<&str, &Row<'_>> = BTreeMap::new();
    let mut complaints = Vec::new();
    for row in &rows {
        if let Some(first) = owners.insert(&row.name, row) {
            let text = format!("{} has a row in {} already; keep one of them", row.name, first.source.path);
            complaints.push(row.source.complaint(row.line, text));
        }
        // One of the lines is its own.
        if lines.get(row.field).is_none_or(|lines| *lines < 2) {
            let text = format!("nothing reads `{}`, the field of {}; use it or delete the row", row.field, row.name);
            complaints.push(row.source.complaint(row.line, text));
        }
    }
    complaints.extend(product.iter().flat_map(|source| misplaced(source)));
    let unknown = product.iter().flat_map(|source| names(source).map(move |(line, name)| (source, line, name)));
    let is_unknown = |name: &str| {
        let is_of_table =
            |row: &Row<'_>| row.name.split_once('.').map(|row| row.0) == name.split_once('.').map(|at| at.0);
        !owners.contains_key(name) && rows.iter().any(is_of_table)
    };
    complaints.extend(unknown.filter(|(.., name)| is_unknown(name)).map(|(source, line, name)| {
        source.complaint(line, format!("no setting is called {name}; write the name of a row"))
    }));
    complaints
}

fn is_of_the_product(source: &Source) -> bool {
    // The crate of `settings!` has groups in its documentation only.
    let is_in_src = source.path.starts_with("crates/skep") && source.path.contains("/src/");
    source.is_rust() && is_in_src && !source.path.starts_with("crates/skep-settings/")
}

/// The rows of a file: lines such as `idle: Duration = Duration(0..=HOUR), 0;` in `struct Rules in "session" {`.
fn rows(source: &Source) -> Vec<Row<'_>> {
    let (mut table, mut rows) = (None, Vec::new());
    for (line, text) in source.lines() {
        let text = text.trim();
        if let Some((_, rest)) = text.split_once("struct ").and_then(|(_, group)| group.split_once(" in \"")) {
            table = rest.split_once('"').map(|(table, _)| table);
        } else if text.starts_with('}') {
            table = None;
        }
        let Some(table) = table else { continue };
        let Some((left, _)) = text.split_once(": ").filter(|(left, rest)| is_name(left) && rest.contains(" = ")) else {
            continue;
        };
        let (field, whole) = left.split_once(" as ").unwrap_or((left, ""));
        let name = match (whole.trim_matches('"'), table) {
            ("", "") => field.to_owned(),
            ("", table) => format!("{table}.{field}"),
            (whole, _) => whole.to_owned(),
        };
        rows.push(Row { name, field, source, line });
    }
    rows
}

/// Words of a row that would do nothing, or less than they promise.
fn misplaced(source: &Source) -> impl Iterator<Item = Complaint> {
    let is_code = |text: &str| !text.trim_start().starts_with("//");
    let has_variables = OF_COMPONENTS.iter().any(|path| source.path.ends_with(path));
    source.lines().filter(move |(_, text)| is_code(text)).filter_map(move |(line, text)| {
        if text.contains(": Secret<") && text.contains(", by ") {
            return Some(source.complaint(line, "a row with `by` is shown; give the secret's type `FromSetting`"));
        }
        let is_lost = text.contains(", variable \"") && !has_variables;
        is_lost.then(|| source.complaint(line, "no component gets this variable; take it out of the row"))
    })
}

/// `idle`, or `queue as "limits.mail_queue"`.
fn is_name(left: &str) -> bool {
    !left.is_empty() && left.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_. \"NAME".contains(c))
}

/// In how many lines of code each word stands.
fn lines_of_words<'t>(sources: &[&'t Source]) -> HashMap<&'t str, usize> {
    let mut lines = HashMap::new();
    for (_, text) in sources.iter().flat_map(|source| source.lines()) {
        if text.trim_start().starts_with("//") {
            continue;
        }
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        for word in words.collect::<BTreeSet<_>>() {
            *lines.entry(word).or_default() += 1;
        }
    }
    lines
}

/// Strings that are names of settings and nothing else, such as `"limits.body"`.
fn names(source: &Source) -> impl Iterator<Item = (usize, &str)> {
    source.lines().filter(|(_, text)| !text.trim_start().starts_with("//")).flat_map(|(line, text)| {
        let strings = text.split('"').skip(1).step_by(2);
        let part = |part: &str| !part.is_empty() && part.bytes().all(|c| c.is_ascii_lowercase() || c == b'_');
        let is_setting = move |name: &&str| {
            name.split_once('.').is_some_and(|(table, key)| part(table) && part(key) && !FILES.contains(&key))
        };
        strings.filter(is_setting).map(move |name| (line, name))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        let sources = vec![Source::new("crates/skep-server/src/a.rs", text)];
        let complaints = have_one_owner(&Tree { sources, paths: BTreeSet::new() });
        assert!(complaints.iter().all(|complaint| complaint.text.contains("; ")), "{complaints:?}");
        complaints.iter().map(|complaint| complaint.line).collect()
    }

    #[test]
    fn a_setting_has_one_row_and_a_reader() {
        let group = "pub struct Rules in \"session\" {\n    /// How long.\n    idle: Duration = Duration(0..=DAY), 0;\n    bytes as \"limits.x\": u64 = Size(0..=GIB), 0;\n}\n";
        let used = format!("{group}fn f(rules: &Rules) {{ (rules.idle, rules.bytes) }}\n");
        assert_eq!(lines(&used), [0; 0]);
        assert_eq!(lines(group), [3, 4], "nothing reads them");
        assert_eq!(
            lines(&format!("{used}\"session.idle\" \"limits.x\" \"other.key\" \"session.css\" \"session.name\"")),
            [7]
        );
        assert_eq!(lines(&format!("{used}{group}")), [9, 10], "two rows");
    }

    #[test]
    fn a_word_of_a_row_does_what_it_promises() {
        assert_eq!(lines("    key: Secret<Key> = Text, \"\", by read_key;\n"), [1]);
        assert_eq!(lines("    idle: Duration = Duration(0..=DAY), 0, variable \"SKEP_IDLE\" as seconds;\n"), [1]);
        assert_eq!(lines("    key: Secret<Key> = Text, \"\";\n"), [0; 0]);
    }
}
