//! Unit tests of `sql`: what becomes of lock files.

use skep_sql_lock::{Reach, Tables};

use super::*;

fn entry(statement: &str, reads: &str) -> Entry {
    Entry {
        statement: statement.to_owned(),
        parameters: Vec::new(),
        columns: Vec::new(),
        reads: Tables::These([reads.to_owned()].into()),
        writes: Tables::none(),
        is_volatile: false,
        reach: Reach::NoScoped,
    }
}

fn lock(entries: &[Entry]) -> Lock {
    Lock::new(entries.iter().cloned(), "of the migrations")
}

/// Compares what was found with the file, and gives what was said and what is in the file then.
fn compared(before: &Lock, found: &[Entry], is_part: bool, locked: bool) -> (Result<String, String>, Lock) {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("migrations").join(FOLDER);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(FILE), before.to_string()).unwrap();
    let packages = Packages::of_roots(vec![root.path().to_owned()]);
    let said = compare(&packages, [(folder.clone(), lock(found))].into(), is_part, locked);
    (said, read(&folder))
}

#[test]
fn a_lock_file_is_written_and_what_has_changed_is_said() {
    let before = lock(&[entry("a", "t"), entry("b", "t"), entry("c", "t")]);
    let (said, after) = compared(&before, &[entry("a", "t"), entry("b", "u"), entry("d", "t")], false, false);
    assert_eq!(said.unwrap(), "migrations/postgres/sql.lock: 3 statements, 1 new, 1 gone, 1 changed\n");
    assert_eq!(after.statements().collect::<Vec<_>>(), ["a", "b", "d"]);
    let (said, _) = compared(&before, &[entry("a", "t"), entry("b", "t"), entry("c", "t")], false, false);
    assert_eq!(said.unwrap(), "migrations/postgres/sql.lock: 3 statements, as they were\n");
}

#[test]
fn locked_changes_nothing_and_fails_if_something_would() {
    let before = lock(&[entry("a", "t")]);
    let (said, after) = compared(&before, &[entry("a", "t"), entry("b", "t")], false, true);
    assert!(said.unwrap_err().contains("1 new, 0 gone, 0 changed\nerror: run `skep sql check`, and commit"));
    assert_eq!(after.to_string(), before.to_string());
    assert!(compared(&before, &[entry("a", "t")], false, true).0.is_ok());
}

#[test]
fn targets_that_do_not_compile_keep_their_entries() {
    let before = lock(&[entry("a", "t"), entry("of a test", "t")]);
    let (_, after) = compared(&before, &[entry("a", "u")], true, false);
    assert_eq!(after.statements().collect::<Vec<_>>(), ["a", "of a test"]);
}
