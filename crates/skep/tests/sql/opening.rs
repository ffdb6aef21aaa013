//! What can be wrong with a file is said before the first request.

use std::fs;
use std::sync::Arc;

use skep::offload::Inline;
use skep::sql::{Database, Migrations};
use skep::{App, Secret, Setup};

use crate::support::{Folder, SCHEMA, impatient, run};

#[test]
fn the_directory_is_made_and_the_file_is_kept() {
    let folder = Folder::new();
    let path = folder.0.join("a/b/site.sqlite");
    let open = || Database::open(&path, &SCHEMA, impatient(), Arc::new(Inline)).unwrap();
    open().write(|writer| writer.execute("insert into post (title) values ('a')")).unwrap();
    assert_eq!(open().write(|writer| writer.one::<i64>("select count(*) from post")).unwrap(), Some(1));
}

#[test]
fn the_settings_that_the_promises_rest_on_are_in_force() {
    run(async {
        let folder = Folder::new();
        let database = folder.open(&SCHEMA).unwrap();
        let db = database.local();
        let pragmas = [("journal_mode", "wal"), ("synchronous", "1"), ("foreign_keys", "1"), ("query_only", "1")];
        for (name, expected) in pragmas {
            let text = format!("select cast({name} as text) from pragma_{name}");
            assert_eq!(db.one::<String>(&text).await.unwrap().as_deref(), Some(expected), "{name}");
        }
        let writes =
            database.write(|writer| writer.one::<(i64, i64)>("select * from pragma_query_only, pragma_foreign_keys"));
        assert_eq!(writes.unwrap(), Some((0, 1)));
    });
}

#[test]
fn a_file_that_is_no_database_is_said_to_be_none_and_left_alone() {
    for content in ["hello world!".to_owned(), "x".repeat(10_000)] {
        let folder = Folder::new();
        fs::write(folder.file(), &content).unwrap();
        let error = folder.open(&SCHEMA).unwrap_err();
        assert!(error.is_not_a_database(), "{error}");
        let path = folder.file().display().to_string();
        assert!(error.to_string().starts_with(&format!("cannot open the database {path}: the file is no SQLite")));
        assert_eq!(fs::read_to_string(folder.file()).unwrap(), content);
    }
}

#[test]
fn a_directory_is_said_to_be_one() {
    let folder = Folder::new();
    let error = Database::open(&folder.0, &SCHEMA, impatient(), Arc::new(Inline)).unwrap_err();
    assert!(error.to_string().ends_with("it is a directory; name a file in it"), "{error}");
}

#[test]
fn a_directory_that_cannot_be_made_is_an_error_with_the_reason() {
    let folder = Folder::new();
    fs::write(folder.0.join("file"), "").unwrap();
    let path = folder.0.join("file/site.sqlite");
    let error = Database::open(path, &SCHEMA, impatient(), Arc::new(Inline)).unwrap_err();
    assert!(error.to_string().contains("its directory cannot be created: "), "{error}");
}

#[test]
fn a_lock_that_outlasts_the_patience_is_named() {
    let folder = Folder::new();
    let stranger = folder.stranger();
    stranger.execute_batch("begin exclusive; create table theirs (a)").unwrap();
    let error = folder.open(&SCHEMA).unwrap_err();
    assert!(error.is_locked(), "{error}");
    assert!(error.to_string().contains("another process has locked it for 0."), "{error}");
    stranger.execute_batch("commit").unwrap();
    folder.open(&SCHEMA).unwrap();
}

#[test]
fn an_ordinary_start_waits_for_no_lock() {
    let folder = Folder::new();
    drop(folder.open(&SCHEMA).unwrap());
    let stranger = folder.stranger();
    stranger.execute_batch("begin immediate; insert into post (title) values ('a')").unwrap();
    let database = folder.open(&SCHEMA).unwrap();
    assert_eq!(run(async { database.local().one("select count(*) from post").await }).unwrap(), Some(0));
}

#[test]
fn for_reading_only_there_must_be_a_file_with_all_migrations() {
    let folder = Folder::new();
    let missing = folder.open_with(&SCHEMA, impatient().read_only(true)).unwrap_err();
    assert!(missing.to_string().contains("there is no such file"), "{missing}");
    drop(folder.open(&Migrations::NONE).unwrap());
    let pending = folder.open_with(&SCHEMA, impatient().read_only(true)).unwrap_err();
    assert!(pending.is_read_only(), "{pending}");
    assert!(pending.to_string().contains("migration 0001_posts.sql has to run"), "{pending}");
}

#[test]
fn a_check_finds_what_opening_would_find_and_runs_nothing() {
    let folder = Folder::new();
    Database::check(folder.file(), &SCHEMA).unwrap();
    assert!(!folder.file().exists());
    drop(folder.open(&Migrations::NONE).unwrap());
    Database::check(folder.file(), &SCHEMA).unwrap();
    drop(folder.open(&SCHEMA).unwrap());
    assert!(Database::check(folder.file(), &Migrations::NONE).unwrap_err().is_from_newer_version());
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1, "nothing is left beside it");
    fs::write(folder.file(), "no database at all, but a text that is long enough for a header of SQLite").unwrap();
    assert!(Database::check(folder.file(), &SCHEMA).unwrap_err().is_not_a_database());
}

#[test]
fn a_check_of_an_application_makes_no_file() {
    let folder = Folder::new();
    let mut setup = skep::Setup::default();
    setup.data.clone_from(&folder.0);
    skep::App::new().database(SCHEMA).check(&setup).unwrap();
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 0);
    assert!(!fs::exists("data").unwrap());
}

#[test]
fn a_check_of_an_application_finds_all_kinds_of_problems_at_once() {
    let folder = Folder::new();
    let no_database = "no database at all, but a text that is long enough for a header of SQLite";
    fs::write(folder.0.join("database.sqlite"), no_database).unwrap();
    let mut setup = skep::Setup::default();
    setup.data.clone_from(&folder.0);
    setup.databases.insert("clicks".to_owned(), Secret::new("postgres://nowhere.invalid/clicks".to_owned()));
    let app = skep::App::new().database(SCHEMA).check_parts(|_| Some("a part is missing".to_owned()));
    let app = app.on_check(|_| Err(skep::StartError::new("the tide is out")));
    let problems = app.check(&setup).unwrap_err();
    for wanted in ["is no SQLite database", "clicks", "a part is missing", "the tide is out"] {
        let count = problems.problems().iter().filter(|problem| problem.contains(wanted)).count();
        assert_eq!(count, 1, "{wanted}: {problems}");
    }
}

#[test]
fn a_read_only_database_answers_reads_and_refuses_writes_with_503() {
    run(async {
        let folder = Folder::new();
        drop(folder.open(&SCHEMA).unwrap());
        let db = folder.open_with(&SCHEMA, impatient().read_only(true)).unwrap().local();
        assert_eq!(db.one("select count(*) from post").await.unwrap(), Some(0));
        let error = db.execute("insert into post (title) values ('a')").await.unwrap_err();
        assert!(error.is_read_only(), "{error}");
        let error = skep::Error::from(error);
        assert_eq!(error.status(), 503);
        assert_eq!(error.message(), Some("Nothing can be changed at the moment. Please try again later."));
        let transaction = db.transaction().await.unwrap();
        assert!(transaction.execute("delete from post").await.unwrap_err().is_read_only());
    });
}

#[test]
fn a_temporary_database_is_gone_with_its_last_handle() {
    let database = Database::temporary(&SCHEMA, Arc::new(Inline)).unwrap();
    let (path, local) = (database.path().to_owned(), database.local());
    drop(database);
    assert!(path.exists());
    drop(local);
    assert!(!path.parent().unwrap().exists());
}

#[test]
fn statements_that_are_checked_for_sqlite_keep_an_application_from_postgresql() {
    let setup = || {
        let mut setup = Setup::default();
        setup.database = Some(Secret::new("postgres://nowhere.invalid/shop".to_owned()));
        setup
    };
    let app = || App::new().database(Migrations::NONE);
    let error = app().open(setup()).unwrap_err().to_string();
    assert!(error.contains("`sql!` in ") && error.contains("tests/sql/"), "{error}");
    assert!(app().check(&setup()).unwrap_err().to_string().contains("`sql!` in "));
}
