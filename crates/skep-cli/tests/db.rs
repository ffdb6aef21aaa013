//! `skep db` and `skep secret` as a whole.

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn skep(folder: &Path, arguments: &[&str]) -> Output {
    let mut skep = Command::new(env!("CARGO_BIN_EXE_skep"));
    skep.args(arguments).current_dir(folder).stdin(Stdio::null()).env_remove("SKEP_DATABASE").env_remove("SKEP_DATA");
    skep.output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// A folder as that of an application that has run.
fn application() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    for file in ["Cargo.toml", "data/database.sqlite", "data/database.sqlite-wal", "data/secret"] {
        fs::write(folder.path().join(file), "").unwrap();
    }
    folder
}

#[test]
fn a_reset_deletes_the_database_and_nothing_else() {
    let application = application();
    let data = application.path().join("data");
    let refused = skep(application.path(), &["db", "reset"]);
    assert!(!refused.status.success() && text(&refused.stderr).contains("nothing was deleted"), "{refused:?}");
    assert!(data.join("database.sqlite").exists());

    let server = UnixListener::bind(data.join("control")).unwrap();
    let refused = skep(application.path(), &["db", "reset", "--yes"]);
    assert!(text(&refused.stderr).contains("a server uses"), "{refused:?}");
    drop(server);

    let done = skep(application.path(), &["db", "reset", "--yes"]);
    assert!(done.status.success() && text(&done.stdout).contains("database.sqlite is empty"), "{done:?}");
    let left = data.read_dir().unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut left: Vec<_> = left.collect();
    left.sort();
    assert_eq!(left, ["control", "secret"]);

    fs::remove_file(application.path().join("Cargo.toml")).unwrap();
    let refused = skep(application.path(), &["db", "reset", "--yes"]);
    assert!(text(&refused.stderr).contains("`reset` is for development"), "{refused:?}");
}

#[test]
fn a_wrong_command_says_what_is_right() {
    let application = application();
    let refused = skep(application.path(), &["db", "rest"]);
    assert!(refused.status.code() == Some(2) && text(&refused.stderr).contains("did you mean reset?"), "{refused:?}");
    let refused = skep(application.path(), &["db", "seed"]);
    assert!(text(&refused.stderr).contains("db/seed.sql: "), "{refused:?}");
    fs::write(application.path().join("skep.toml"), "database = \"postgres://db.example.org/shop\"\n").unwrap();
    let refused = skep(application.path(), &["db", "reset", "--yes"]);
    assert!(text(&refused.stderr).contains("deletes no data elsewhere"), "{refused:?}");
}

#[test]
#[ignore = "needs sqlite3"]
fn seeds_run_together_or_not_at_all() {
    let application = application();
    let query = |sql: &str| {
        let file = application.path().join("data/database.sqlite");
        let output = Command::new("sqlite3").arg(file).arg(sql).output().unwrap();
        text(&output.stdout).trim().to_owned()
    };
    query("create table note (id integer primary key, title text not null unique)");
    fs::create_dir(application.path().join("db")).unwrap();
    let seed = |sql: &str| {
        fs::write(application.path().join("db/seed.sql"), sql).unwrap();
        skep(application.path(), &["db", "seed"])
    };
    let done = seed("insert into note (title) values ('a'), ('b'); -- two");
    assert!(done.status.success(), "{done:?}");
    let refused = seed("insert into note (title) values ('c');\ninsert into note (title) values ('a');");
    assert!(!refused.status.success() && text(&refused.stderr).contains("nothing of it was done"), "{refused:?}");
    assert_eq!(query("select group_concat(title) from note"), "a,b");
}

#[test]
fn a_secret_is_another_one_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let secrets = [0, 1].map(|_| text(&skep(folder.path(), &["secret"]).stdout).trim().to_owned());
    assert!(secrets[0] != secrets[1]);
    assert!(secrets.iter().all(|secret| secret.len() == 64 && secret.chars().all(|one| one.is_ascii_hexdigit())));
    assert_eq!(skep(folder.path(), &["secret", "more"]).status.code(), Some(2));
}

#[test]
fn completions_know_their_shells() {
    let folder = tempfile::tempdir().unwrap();
    let script = skep(folder.path(), &["completions", "bash"]);
    fs::write(folder.path().join("skep"), &script.stdout).unwrap();
    // bash itself says what it would offer.
    let offer = "source ./skep; COMP_WORDS=(skep gen sc); COMP_CWORD=2; _skep; echo \"${COMPREPLY[*]}\"";
    let bash = Command::new("bash").args(["-c", offer]).current_dir(folder.path()).output().unwrap();
    assert_eq!(text(&bash.stdout).trim(), "scaffold");
    let refused = skep(folder.path(), &["completions", "fihs"]);
    assert!(text(&refused.stderr).contains("did you mean fish?"), "{refused:?}");
}
