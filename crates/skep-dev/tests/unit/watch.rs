//! Tests of `watch`.

use super::*;

/// A file may be seen more than once.
fn wait_for(seen: &mut UnboundedReceiver<Seen>, wanted: &Path) {
    while !matches!(seen.blocking_recv().expect("the watcher runs"), Seen::File(path) if path == wanted) {}
}

#[test]
fn files_are_seen_in_folders_that_came_later_too() {
    let folder = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(folder.path()).unwrap();
    fs::create_dir_all(root.join("target/debug")).unwrap();
    fs::create_dir_all(root.join("a/b")).unwrap();
    let mut seen = start(std::slice::from_ref(&root), &root.join("target")).unwrap();
    fs::write(root.join("target/debug/out"), "").unwrap();
    fs::write(root.join("a/b/c.rs"), "").unwrap();
    let first = seen.blocking_recv();
    assert!(matches!(&first, Some(Seen::File(path)) if *path == root.join("a/b/c.rs")), "{first:?}");
    fs::create_dir(root.join("new")).unwrap();
    wait_for(&mut seen, &root.join("new"));
    fs::write(root.join("new/d.rs"), "").unwrap();
    wait_for(&mut seen, &root.join("new/d.rs"));
    while seen.try_recv().is_ok() {}
    // As editors save: a new file takes the name.
    fs::write(root.join("new/.e.tmp"), "").unwrap();
    fs::rename(root.join("new/.e.tmp"), root.join("new/e.rs")).unwrap();
    wait_for(&mut seen, &root.join("new/e.rs"));
}
