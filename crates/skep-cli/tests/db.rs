//! `skep db` and `skep secret` as a whole.

#[path = "db/moving.rs"]
mod moving;

use std::fs;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn skep(folder: &Path, arguments: &[&str]) -> Output {
    let mut skep = Command::new(env!("CARGO_BIN_EXE_skep"));
    skep.args(arguments).current_dir(folder).stdin(Stdio::null());
    for variable in ["SKEP_CONTROL", "SKEP_DATA", "SKEP_DATABASE", "SKEP_DEVELOPMENT"] {
        skep.env_remove(variable);
    }
    skep.output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// A folder as that of an application that has run.
fn application() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    fs::write(folder.path().join("skep.toml"), "development = true\n").unwrap();
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
    let wrong = skep(application().path(), &["db", "move", "--yess"]);
    assert!(text(&wrong.stderr).contains("there is no \"--yess\"; did you mean --yes?"), "{wrong:?}");
    let application = application();
    let refused = skep(application.path(), &["db", "rest"]);
    assert!(refused.status.code() == Some(2) && text(&refused.stderr).contains("did you mean reset?"), "{refused:?}");
    let refused = skep(application.path(), &["db", "seed"]);
    assert!(text(&refused.stderr).contains("db/seed.sql: "), "{refused:?}");
}

#[test]
fn only_the_word_reset_deletes() {
    let application = application();
    for words in [&["--yes"][..], &["reset", "console"], &["reset", "reset"], &["--yes", "rest"], &["--yes", "db"]] {
        let refused = skep(application.path(), &[&["db"], words, &["--yes"]].concat());
        assert_eq!(refused.status.code(), Some(2), "{words:?}: {refused:?}");
    }
    // What stands behind --yes is what runs: here, it fails, with or without a sqlite3.
    assert!(text(&skep(application.path(), &["db", "--yes", "seed"]).stderr).contains("db/seed.sql: "));
    skep(application.path(), &["db", "--yes", "console"]);
    assert!(application.path().join("data/database.sqlite").exists());
}

#[test]
fn data_is_changed_only_in_development_and_on_this_machine() {
    let application = application();
    fs::create_dir(application.path().join("db")).unwrap();
    fs::write(application.path().join("db/seed.sql"), "select 1;").unwrap();
    for (settings, says) in [
        ("", "no `development = true`"),
        ("development = true\ndatabase = \"postgres://db.example.org/shop\"\n", "changes no data elsewhere"),
        ("development = true\ndatabase = \"postgres://localhost/shop?hostaddr=192.0.2.7\"\n", "no data elsewhere"),
    ] {
        fs::write(application.path().join("skep.toml"), settings).unwrap();
        for words in [&["db", "reset", "--yes"][..], &["db", "seed"]] {
            let refused = skep(application.path(), words);
            assert!(!refused.status.success() && text(&refused.stderr).contains(says), "{settings}: {refused:?}");
        }
    }
    assert!(application.path().join("data/database.sqlite").exists());
    // With PostgreSQL, too, a server that runs is found, wherever its socket is.
    let _server = UnixListener::bind(application.path().join("socket")).unwrap();
    let settings = "development = true\ncontrol = \"socket\"\ndatabase = \"postgres://127.0.0.1:1/shop\"\n";
    fs::write(application.path().join("skep.toml"), settings).unwrap();
    let refused = skep(application.path(), &["db", "reset", "--yes"]);
    assert!(text(&refused.stderr).contains("a server uses"), "{refused:?}");
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
#[ignore = "needs sqlite3"]
fn the_last_migration_is_undone_or_else_nothing() {
    let application = application();
    let query = |sql: &str| {
        let file = application.path().join("data/database.sqlite");
        let output = Command::new("sqlite3").arg(file).arg(sql).output().unwrap();
        text(&output.stdout).trim().to_owned()
    };
    let note = "create table note (id integer primary key); create index missing on note (id);";
    let tag = "create table tag (note integer references note (id));";
    let [ran_note, ran_tag] = [note, tag].map(skep_sql_lock::checksum);
    query(&format!(
        "create table skep_migrations (number integer primary key, name text not null, checksum text not null);
           insert into skep_migrations values (1, '0001_note.sql', '{ran_note}'), (2, '0002_tag.sql', '{ran_tag}');
           create table note (id integer primary key); {tag} insert into note values (1)"
    ));
    fs::create_dir(application.path().join("migrations")).unwrap();
    let write = |file: &str, sql: &str| fs::write(application.path().join("migrations").join(file), sql).unwrap();
    write("0001_note.sql", note);
    write("0002_tag.sql", tag);
    let refused = skep(application.path(), &["db", "rollback"]);
    assert!(text(&refused.stdout).contains("drop table tag;") && !refused.status.success(), "{refused:?}");
    let done = skep(application.path(), &["db", "rollback", "--yes"]);
    assert!(done.status.success(), "{done:?}");
    assert_eq!(query("select group_concat(name) from skep_migrations"), "0001_note.sql");
    // Its index is not there, so nothing of it is done.
    let refused = skep(application.path(), &["db", "rollback", "--yes"]);
    assert!(text(&refused.stderr).contains("no such index") && !refused.status.success(), "{refused:?}");
    assert_eq!(query("select count(*) from skep_migrations, note"), "1");
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

#[test]
#[ignore = "needs PostgreSQL"]
fn a_database_of_postgres_is_made_again_and_no_other() {
    let application = application();
    let cluster = skep_cluster::Cluster::start();
    let (server, query) = cluster
        .address()
        .split_once('?')
        .map_or_else(|| (cluster.address(), String::new()), |(server, query)| (server.to_owned(), format!("?{query}")));
    let (server, _) = server.rsplit_once('/').unwrap();
    let sql = |name: &str, sql: &str| {
        let psql = Command::new("psql").args(["-XAtc", sql, &format!("{server}/{name}{query}")]).output().unwrap();
        (psql.status.success(), text(&psql.stdout).trim().to_owned())
    };
    assert!(sql("postgres", "create database shop").0);
    assert!(sql("shop", "create table note (id integer)").0);
    let settings = format!("development = true\ndatabase = \"{server}/shop{query}\"\n");
    fs::write(application.path().join("skep.toml"), settings).unwrap();
    fs::create_dir(application.path().join("db")).unwrap();
    let seed = |sql: &str| {
        fs::write(application.path().join("db/seed.sql"), sql).unwrap();
        skep(application.path(), &["db", "seed"]).status.success()
    };
    assert!(seed("insert into note values (1)") && !seed("insert into note values (2); select 1 / 0"));
    assert_eq!(sql("shop", "select sum(id) from note").1, "1");
    let text_of_a = "create table a (b integer);";
    let ran = format!(
        "create table skep_migrations as select 1 as number, '0001_a.sql' as name, '{}' as checksum; {text_of_a}",
        skep_sql_lock::checksum(text_of_a)
    );
    assert!(sql("shop", &ran).0);
    fs::create_dir_all(application.path().join("migrations/postgres")).unwrap();
    fs::write(application.path().join("migrations/postgres/0001_a.sql"), text_of_a).unwrap();
    let done = skep(application.path(), &["db", "rollback", "--yes"]);
    assert!(done.status.success(), "{done:?}");
    assert_eq!(sql("shop", "select to_regclass('a') is null, count(*) from skep_migrations").1, "t|0");

    let done = skep(application.path(), &["db", "reset", "--yes"]);
    assert!(done.status.success(), "{done:?}");
    assert!(sql("shop", "select 1").0 && !sql("shop", "select 1 from note").0);
}
