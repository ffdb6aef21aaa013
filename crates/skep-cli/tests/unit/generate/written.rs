//! Tests of `generate::written`.

use super::*;

#[test]
fn what_was_saved_meanwhile_is_left_alone_and_named() {
    let folder = tempfile::tempdir().unwrap();
    let [old, saved, new, lock] = ["old", "saved", "a/b/new", "lock"].map(|name| folder.path().join(name));
    fs::write(&old, "1").unwrap();
    fs::write(&saved, "1").unwrap();
    let mut written = Written::default();
    written.remember(&lock);
    written.write(&old, Some("1"), "2").unwrap();
    written.write(&saved, Some("1"), "2").unwrap();
    written.write(&new, None, "2").unwrap();
    fs::write(&saved, "mine").unwrap();
    fs::write(&lock, "by cargo").unwrap();
    let said = written.undo();
    assert!(said.contains("saved was changed meanwhile") && !said.contains("old was"), "{said}");
    assert_eq!(fs::read_to_string(&old).unwrap(), "1");
    assert_eq!(fs::read_to_string(&saved).unwrap(), "mine");
    assert!(!lock.exists() && !folder.path().join("a").exists());
}

#[test]
fn what_has_changed_since_it_was_read_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lib.rs");
    fs::write(&file, "mine").unwrap();
    for old in [Some("old"), None] {
        let mut written = Written::default();
        assert!(written.write(&file, old, "2").unwrap_err().to_string().contains("meanwhile"));
        assert!(written.undo().contains("nothing was written"));
        assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    }
}
