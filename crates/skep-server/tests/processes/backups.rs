//! Copies of the database, made by a process of their own while a server writes, or without one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use rustix::process::Signal;
use skep::offload::Inline;
use skep::sql::{Database, Migration, Migrations, Options, query};

use super::Test;
use super::caches::{Browser, TALLIES, tallies};
use super::server::{Server, command, folder, kill};

pub(crate) const TESTS: &[Test] = &[
    (
        "a_backup_of_a_running_server_has_all_that_was_committed",
        a_backup_of_a_running_server_has_all_that_was_committed,
    ),
    ("a_backup_overwrites_nothing_and_needs_a_database", a_backup_overwrites_nothing_and_needs_a_database),
    ("what_is_restored_is_served_and_the_old_database_kept", what_is_restored_is_served_and_the_old_database_kept),
    ("a_backup_that_does_not_fit_is_not_restored", a_backup_that_does_not_fit_is_not_restored),
    ("a_damaged_database_is_replaced", a_damaged_database_is_replaced),
    ("migrations_are_listed_with_what_became_of_them", migrations_are_listed_with_what_became_of_them),
];

const COUNT: &str = "/tally/false/1";

fn count(server: &Server) -> i64 {
    Browser::default().post(server, COUNT).parse().unwrap()
}

/// What this flag with this file says in the folder of a server, and whether it went well.
fn run(server: &Server, flag: &str, file: &Path) -> (bool, String) {
    let output = command(&server.folder, &[flag, file.to_str().unwrap()]).output().unwrap();
    (output.status.success(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

/// The count in a copy, which opens like any database of the application.
fn counted(copy: &Path) -> i64 {
    let database = Database::open(copy, &TALLIES, Options::new(), Arc::new(Inline)).unwrap();
    database.write(|db| db.one("select value from first_tally where id = 1")).unwrap().unwrap()
}

fn a_backup_of_a_running_server_has_all_that_was_committed() {
    for model in ["thread", "prefork"] {
        let data = folder();
        let mut server = tallies(&data, "", &["--mpm", model, "--workers", "2"]);
        for nth in 0..5 {
            let copy = data.join(format!("copy {nth}"));
            let before = count(&server);
            let (good, text) = thread::scope(|threads| {
                let backup = threads.spawn(|| run(&server, "--backup", &copy));
                while !backup.is_finished() {
                    count(&server);
                }
                backup.join().unwrap()
            });
            assert!(good && text.starts_with(&format!("backed up to {}: ", copy.display())), "{text}");
            assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
            let has = counted(&copy);
            assert!(before <= has && has < count(&server), "{before} {has}");
        }
        let last = count(&server);
        server.control("stop");
        server.wait();
        let (good, text) = run(&server, "--backup", &data.join("copy at rest"));
        assert!(good, "{text}");
        assert_eq!(counted(&data.join("copy at rest")), last);
        drop(server);
        fs::remove_dir_all(data).unwrap();
    }
}

fn a_backup_overwrites_nothing_and_needs_a_database() {
    let data = folder();
    let server = tallies(&data, "", &[]);
    let copy = data.join("copy");
    fs::write(&copy, "precious").unwrap();
    let (good, text) = run(&server, "--backup", &copy);
    assert!(!good && text.contains("that file exists, and nothing is overwritten: name a new one"), "{text}");
    assert_eq!(fs::read(&copy).unwrap(), b"precious");
    assert!(!data.join("copy.partial").exists());
    fs::write(data.join("new.partial"), "").unwrap();
    let (good, text) = run(&server, "--backup", &data.join("new"));
    assert!(!good && text.contains("new.partial exists: another command is at it, or was killed"), "{text}");
    let (good, text) = run(&server, "--backup", &data.join("no/such/folder"));
    assert!(!good && text.contains("no/such/folder.partial cannot be created: No such file"), "{text}");
    for flag in ["--backup", "--restore"] {
        let flags = [flag, "a", "--set", "database=postgres://localhost/shop"];
        let output = command(&server.folder, &flags).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && text.contains("with pg_dump, and restore it with pg_restore"), "{text}");
    }
    drop(server);
    fs::remove_dir_all(&data).unwrap();
    let empty = Server::start(&[]);
    let (good, text) = run(&empty, "--backup", &empty.folder.join("copy"));
    assert!(!good && text.contains("data/database.sqlite is not backed up to"), "{text}");
    assert!(text.contains("there is no such database: does `data` name the data directory of the server?"), "{text}");
}

/// Ends the server, whose folder stays until it is dropped.
fn stop(server: &mut Server) {
    server.control("stop");
    server.wait();
}

/// How old databases are called in this folder.
fn kept(data: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(data).unwrap().map(|entry| entry.unwrap().path());
    let mut kept: Vec<_> =
        paths.filter(|path| path.to_str().unwrap().contains("database.sqlite.before-restore-")).collect();
    kept.sort();
    kept
}

fn what_is_restored_is_served_and_the_old_database_kept() {
    for (model, supervised) in [("thread", "true"), ("prefork", "true"), ("thread", "false")] {
        let data = folder();
        let supervise = format!("supervise={supervised}");
        let mut server = tallies(&data, "", &["--mpm", model, "--set", &supervise]);
        let copy = data.join("copy");
        let saved = count(&server);
        assert!(run(&server, "--backup", &copy).0);
        let lost = count(&server);
        let (good, text) = run(&server, "--restore", &copy);
        let reason = if supervised == "true" {
            "a server runs; end it by --control stop"
        } else {
            "a process uses the database"
        };
        assert!(!good && text.contains("is not restored, and nothing has changed") && text.contains(reason), "{text}");
        assert!(kept(&data).is_empty() && !data.join("database.sqlite.partial").exists());
        if supervised == "true" {
            stop(&mut server);
        } else {
            kill(server.pid(), Signal::TERM);
            server.wait();
        }
        let (good, text) = run(&server, "--restore", &copy);
        let [old] = &kept(&data)[..] else { panic!("{:?}", kept(&data)) };
        assert!(good && text.ends_with(&format!("; the old database is {}\n", old.display())), "{text}");
        drop(server);
        assert_eq!(counted(old), lost);
        let server = tallies(&data, "", &["--mpm", model]);
        assert_eq!(count(&server), saved + 1);
        assert_eq!(counted(&copy), saved, "the backup itself stays");
        drop(server);
        fs::remove_dir_all(data).unwrap();
    }
}

fn a_backup_that_does_not_fit_is_not_restored() {
    const OTHERS: Migrations =
        Migrations::new(&[Migration::new(1, "0001_posts.sql", "create table post (id integer)")]);
    let data = folder();
    let mut server = tallies(&data, "", &[]);
    let last = count(&server);
    stop(&mut server);
    let path = |name: &str| data.join(name);
    fs::write(path("text"), "precious").unwrap();
    for (name, migrations) in [("others", &OTHERS), ("empty", &Migrations::NONE)] {
        drop(Database::open(path(name), migrations, Options::new(), Arc::new(Inline)).unwrap());
    }
    for (name, reason) in [
        ("missing", "there is no such file"),
        ("text", "file is not a database"),
        ("others", "it does not fit this application: migration 0001_tallies.sql has run with another text"),
        ("empty", "it does not fit this application: none of its migrations ran in that database"),
    ] {
        let (good, text) = run(&server, "--restore", &path(name));
        assert!(!good && text.contains(reason), "{name}: {text}");
    }
    assert!(kept(&data).is_empty() && !path("database.sqlite.partial").exists());
    assert_eq!(counted(&path("database.sqlite")), last);
    let mut without = Server::start(&[]);
    stop(&mut without);
    let (good, text) = run(&without, "--restore", &path("database.sqlite"));
    assert!(!good && text.contains("this application has no database of its own (App::database)"), "{text}");
    drop((server, without));
    fs::remove_dir_all(data).unwrap();
}

fn a_damaged_database_is_replaced() {
    let data = folder();
    let mut server = tallies(&data, "", &[]);
    let saved = count(&server);
    assert!(run(&server, "--backup", &data.join("copy")).0);
    stop(&mut server);
    fs::write(data.join("database.sqlite"), "not any more ".repeat(1000)).unwrap();
    fs::write(data.join("database.sqlite-wal"), "of the old one").unwrap();
    let (good, text) = run(&server, "--restore", &data.join("copy"));
    assert!(good, "{text}");
    assert!(kept(&data)[0].metadata().unwrap().len() > 10_000);
    assert_eq!(counted(&data.join("database.sqlite")), saved);
    drop(server);
    fs::remove_dir_all(data).unwrap();
}

fn migrations_are_listed_with_what_became_of_them() {
    let (data, new) = (folder(), folder().join("new"));
    let mut server = tallies(&data, "", &[]);
    count(&server);
    stop(&mut server);
    let list = |data: &Path| {
        let arguments = ["--migrations", "--data", data.to_str().unwrap()];
        let output = command(&server.folder, &arguments).output().unwrap();
        (output.status.success(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    };
    let (good, text) = list(&new);
    assert!(good && text == "0001_tallies.sql  pending\n", "{text}");
    assert!(!new.exists(), "nothing is made");
    let (good, text) = list(&data);
    assert!(good && text.starts_with("0001_tallies.sql  ran at 2") && text.ends_with("Z\n"), "{text}");

    let database = Database::open(data.join("database.sqlite"), &TALLIES, Options::new(), Arc::new(Inline)).unwrap();
    database.write(|db| db.execute(query("update skep_migrations set checksum = 'x'", ()))).unwrap();
    drop(database);
    let (good, text) = list(&data);
    assert!(!good && text.contains("migration 0001_tallies.sql has run with another text"), "{text}");
    drop(server);
    fs::remove_dir_all(data).unwrap();
}
