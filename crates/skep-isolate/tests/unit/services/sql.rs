//! Unit tests of `services::sql`.

use super::*;

fn application(folder: &std::path::Path, allow_breaking: bool) -> Arc<Application> {
    let mut setup = skep::Setup::default();
    setup.data = folder.to_owned();
    Application::new("test", setup, allow_breaking, crate::services::Taken::default()).unwrap()
}

fn wanted(texts: &[&str]) -> Wanted {
    let migration = |(number, text): (u32, &&str)| (number, format!("{number:04}_a.sql"), (*text).to_owned());
    ((1..).zip(texts).map(migration).collect(), Vec::new())
}

const TABLE: &str = "create table note (text text)";

#[test]
fn a_version_has_one_database() {
    let folder = tempfile::tempdir().unwrap();
    let opened = application(folder.path(), false).open(wanted(&[TABLE])).unwrap();
    assert_eq!(opened.serves(&wanted(&[TABLE])), Ok(()));
    let refused = opened.serves(&wanted(&[TABLE, "create table other (a)"])).unwrap_err();
    assert!(refused.contains("with other migrations"), "{refused}");
}

#[test]
fn a_new_version_breaks_the_old_one_only_if_that_is_allowed() {
    for allowed in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let application = application(folder.path(), allowed);
        application.open(wanted(&[TABLE])).unwrap();
        let opened = application.open(wanted(&[TABLE, "drop table note"]));
        assert_eq!(opened.is_ok(), allowed, "{opened:?}");
    }
}

#[test]
fn a_thread_forgets_the_database_of_a_version_that_is_gone() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [old, new] = folders.each_ref().map(|folder| application(folder.path(), false).open(wanted(&[TABLE])).unwrap());
    let known = |opened: &Arc<Opened>| opened.here(|_| LOCALS.with_borrow(Vec::len));
    assert_eq!((known(&old), known(&new)), (1, 2));
    drop(old);
    assert_eq!(known(&new), 1);
}
