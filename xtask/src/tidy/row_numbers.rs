//! What readers copy: a table whose rows SQLite numbers never gives a number to two rows.

use super::Complaint;
use super::source::Source;

const KEY: &str = "integer primary key";

/// In guides, examples and documentation of crates, such a key has `autoincrement`. One that is called `number` is not
/// drawn by SQLite.
pub(super) fn are_not_given_twice(source: &Source) -> Vec<Complaint> {
    let is_read = source.path.starts_with("docs/") && !source.path.starts_with("docs/decisions/");
    let is_of_crate = source.path.starts_with("crates/") && source.is_rust();
    if !is_read && !is_of_crate && !source.path.starts_with("examples/") {
        return Vec::new();
    }
    let text = "SQLite gives the number of a deleted row to a new one; write `integer primary key autoincrement`";
    let is_shown = |line: &str| !is_of_crate || line.trim_start().starts_with("///") || line.starts_with("//!");
    let lines = source.lines().filter(|(_, line)| is_shown(line) && may_come_again(line));
    lines.map(|(number, _)| source.complaint(number, text)).collect()
}

fn may_come_again(line: &str) -> bool {
    line.match_indices(KEY).any(|(at, _)| {
        let rest = &line[at + KEY.len()..];
        // In a sentence it is quoted.
        !rest.starts_with(" autoincrement") && !rest.starts_with('`') && !line[..at].ends_with("number ")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::lines;

    #[test]
    fn keys_that_readers_copy_are_not_given_twice() {
        let bad = "create table user (\n    id integer primary key,\n    name text\n);";
        let good = "create table user (id integer primary key autoincrement);\n\
                    create table plot (number integer primary key);";
        for path in ["docs/guides/a.md", "examples/blog/migrations/0001_a.sql", "examples/blog/articles/a.md"] {
            assert_eq!(lines(are_not_given_twice, path, bad), [2], "{path}");
            assert_eq!(lines(are_not_given_twice, path, good), [0; 0]);
        }
        let of_crate = "/// create table a (id integer primary key);\n\
                        const B: &str = \"create table b (id integer primary key)\";";
        assert_eq!(lines(are_not_given_twice, "crates/skep/src/a.rs", of_crate), [1]);
        assert_eq!(lines(are_not_given_twice, "docs/guides/a.md", "With `integer primary key` alone, it is."), [0; 0]);
        for path in ["crates/skep/tests/a.sql", "docs/decisions/a.md"] {
            assert_eq!(lines(are_not_given_twice, path, bad), [0; 0], "{path}");
        }
    }
}
