//! Each migration runs once, whole or not at all.

use std::process::{Command, Stdio};
use std::sync::Arc;

use skep::offload::Inline;
use skep::sql::{Database, Migration, Migrations, Options, migrations};

use crate::support::Folder;

const POSTS: Migration =
    Migration::new(1, "0001_posts.sql", "create table post (title text); insert into post values ('a');");
const TAGS: Migration =
    Migration::new(3, "0003_tags.sql", "create table tag (name text); insert into tag values ('b');");

static V1: Migrations = Migrations::new(&[POSTS]);
static V2: Migrations = Migrations::new(&[POSTS, TAGS]);

fn tables(folder: &Folder) -> Vec<String> {
    let stranger = folder.stranger();
    let mut statement = stranger.prepare("select name from sqlite_schema where type = 'table' order by name").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

/// Opens a database at version 1 with a further migration of this text, which fails, and gives the error.
fn failing(folder: &Folder, text: &'static str) -> String {
    drop(folder.open(&V1).unwrap());
    let before = tables(folder);
    let list = Box::leak(Box::new([POSTS, Migration::new(2, "0002_bad.sql", text)]));
    let error = folder.open(&Migrations::new(list)).unwrap_err();
    assert!(error.is_failed_migration(), "{error}");
    assert_eq!(tables(folder), before, "the database is as it was");
    drop(folder.open(&V1).unwrap());
    error.to_string()
}

#[test]
fn embedded_files_run_in_order_and_are_recorded() {
    let folder = Folder::new();
    let database = folder.open(&migrations!("tests/sql/migrations")).unwrap();
    let recorded = database.write(|writer| {
        writer.all::<(i64, String, i64)>("select number, name, length(checksum) from skep_migrations order by number")
    });
    let expected = [(1, "0001_posts.sql".to_owned(), 16), (3, "0003_comments.sql".to_owned(), 16)];
    assert_eq!(recorded.unwrap(), expected);
    assert_eq!(tables(&folder), ["comment", "post", "skep_migrations"]);
}

#[test]
fn what_ran_is_not_run_again_and_what_is_new_is() {
    let folder = Folder::new();
    drop(folder.open(&V1).unwrap());
    for _ in 0..2 {
        let database = folder.open(&V2).unwrap();
        let rows =
            database.write(|writer| writer.all::<String>("select title from post union all select name from tag"));
        assert_eq!(rows.unwrap(), ["a", "b"]);
    }
}

#[test]
fn a_database_from_a_newer_version_is_refused() {
    let folder = Folder::new();
    drop(folder.open(&V2).unwrap());
    let error = folder.open(&V1).unwrap_err();
    assert!(error.is_from_newer_version());
    assert!(error.to_string().ends_with("which ran migration 0003_tags.sql; start that version"), "{error}");
}

#[test]
fn a_migration_whose_text_changed_since_it_ran_is_refused() {
    static CHANGED: Migrations =
        Migrations::new(&[Migration::new(1, "0001_posts.sql", "create table post (body text);")]);
    let folder = Folder::new();
    drop(folder.open(&V1).unwrap());
    let error = folder.open(&CHANGED).unwrap_err().to_string();
    assert!(error.contains("migration 0001_posts.sql has run with another text; restore the file"), "{error}");
}

#[test]
fn a_migration_that_comes_too_late_is_refused() {
    static LATE: Migrations =
        Migrations::new(&[POSTS, Migration::new(2, "0002_late.sql", "create table late (a)"), TAGS]);
    let folder = Folder::new();
    drop(folder.open(&V2).unwrap());
    let error = folder.open(&LATE).unwrap_err().to_string();
    assert!(error.contains("migration 0002_late.sql would run after number 3"), "{error}");
}

#[test]
fn a_failing_statement_is_shown_with_file_line_and_reason_and_nothing_of_its_file_stays() {
    let folder = Folder::new();
    let text =
        failing(&folder, "create table good (a);\n\n-- now\ninsert into good values (1);\ncreate tabel bad (a);\n");
    assert!(
        text.ends_with(
            "migration 0002_bad.sql failed at line 5 and was undone: \
             near \"tabel\": syntax error; in: create tabel bad (a);"
        ),
        "{text}"
    );
    let text = failing(
        &folder,
        "create table good (a unique);\ninsert into good values (1);\ninsert into good\n  values (1);",
    );
    assert!(text.ends_with("line 3 and was undone: UNIQUE constraint failed: good.a; in: insert into good"), "{text}");
    let text = failing(&folder, "create table good (a unique);\n\n-- c\n/* d\n*/ insert into good values (1), (1);\n");
    assert!(text.contains("failed at line 5 and was undone: UNIQUE"), "{text}");
    assert!(text.ends_with("; in: */ insert into good values (1), (1);"), "{text}");
    let text = failing(&folder, "/* a\n*/ b\n");
    assert!(text.contains("failed at line 2 and was undone") && text.ends_with("; in: */ b"), "{text}");
}

#[test]
fn a_migration_cannot_end_its_transaction() {
    let text = failing(&Folder::new(), "create table good (a);\ncommit;\ncreate tabel bad (a);");
    assert!(text.contains("line 2 and was undone: a migration must not begin or end a transaction"), "{text}");
}

#[test]
fn a_migration_may_replace_a_table_that_others_refer_to_but_leaves_no_loose_end() {
    static REPLACE: Migrations = Migrations::new(&[
        Migration::new(
            1,
            "0001_a.sql",
            "create table a (id integer primary key); create table b (a references a on delete cascade);
            insert into a values (1); insert into b values (1);",
        ),
        Migration::new(
            2,
            "0002_b.sql",
            "create table new_a (id integer primary key, name text);
            insert into new_a (id) select id from a; drop table a; alter table new_a rename to a;",
        ),
    ]);
    let folder = Folder::new();
    let database = folder.open(&REPLACE).unwrap();
    assert_eq!(
        database.write(|writer| writer.one::<i64>("select count(*) from b join a on b.a = a.id")).unwrap(),
        Some(1)
    );
    let text = failing(
        &Folder::new(),
        "create table a (id integer primary key); create table b (a references a); insert into b values (7);",
    );
    assert!(text.ends_with("it leaves rows of `b` that refer to missing rows of `a`"), "{text}");
}

#[test]
fn a_file_added_after_the_program_was_compiled_is_noticed_while_developing() {
    let folder = Folder::new();
    let source = folder.0.join("migrations");
    std::fs::create_dir(&source).unwrap();
    std::fs::write(source.join("0002_new.sql"), "").unwrap();
    let name: &'static str = source.to_str().unwrap().to_owned().leak();
    let opened = folder.open(&V1.from_folder(name));
    if cfg!(debug_assertions) {
        let error = opened.unwrap_err().to_string();
        assert!(error.contains("migration 0002_new.sql was added after this program was compiled"), "{error}");
    } else {
        opened.unwrap();
    }
}

#[test]
fn processes_that_start_at_once_run_each_migration_once() {
    let folder = Folder::new();
    let start = || {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "migrating::child_process", "--ignored"])
            .env("SKEP_TEST_DATABASE", folder.file())
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    let processes: Vec<_> = (0..6).map(|_| start()).collect();
    for mut process in processes {
        assert!(process.wait().unwrap().success());
    }
    let database = folder.open(&V2).unwrap();
    let rows = database.write(|writer| writer.all::<String>("select title from post union all select name from tag"));
    assert_eq!(rows.unwrap(), ["a", "b"]);
}

#[test]
#[ignore = "child process: the test above starts several"]
fn child_process() {
    let Some(path) = std::env::var_os("SKEP_TEST_DATABASE") else { return };
    Database::open(path, &V2, Options::new(), Arc::new(Inline)).unwrap();
}

#[test]
fn threads_that_start_at_once_run_each_migration_once() {
    let folder = Folder::new();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| folder.open_with(&V2, Options::new()).unwrap());
        }
    });
    let rows = folder.open(&V2).unwrap().write(|writer| writer.all::<String>("select title from post"));
    assert_eq!(rows.unwrap(), ["a"]);
}

#[test]
fn a_checksum_stays_what_it_was() {
    // Recorded in every database there is: it must never change.
    const CREATED: &str = "60e2c491315993b2";
    for (text, checksum) in
        [("", "cbf29ce484222325"), ("create table a (b);\n", CREATED), ("create table a (b);\r\n", CREATED)]
    {
        let folder = Folder::new();
        let list = Box::leak(Box::new([Migration::new(1, "0001_a.sql", text)]));
        drop(folder.open(&Migrations::new(list)).unwrap());
        let recorded = folder.stranger().query_row("select checksum from skep_migrations", [], |row| row.get(0));
        assert_eq!(recorded, Ok(checksum.to_owned()), "{text:?}");
    }
}

/// What a version says of a pending migration while another one uses the database.
fn careful(text: &str) -> Result<(), String> {
    let folder = Folder::new();
    drop(folder.open(&V1).unwrap());
    let list = Box::leak(Box::new([POSTS, Migration::new(2, "0002_more.sql", String::leak(text.to_owned()))]));
    Database::check_careful(folder.file(), &Migrations::new(list)).map_err(|error| error.to_string())
}

#[test]
fn what_only_adds_passes() {
    for text in [
        "-- drop table a;\ncreate table a (b text default ';drop table x');\ncreate unique index c on a (b);",
        "alter table a add column d integer; update a set d = 1; insert into a values (1);",
        "create trigger t after insert on a begin insert into f values (new.b); delete from f; end;\nselect 1;",
        "create trigger t after insert on a for each row execute function f();\nselect 1;",
        "alter table a add d numeric(9, 2), add column if not exists e text;",
        "create virtual table if not exists f using fts5(b); drop index if exists c; insert or ignore into a values (2)",
        "",
    ] {
        assert_eq!(careful(text), Ok(()), "{text}");
    }
}

#[test]
fn a_trigger_without_a_body_hides_nothing_behind_it() {
    let refused =
        careful("create trigger t after insert on a execute function f();\ndrop table b;\nselect 1;").unwrap_err();
    assert!(refused.contains("line 2 (drop table b;) does more than add"), "{refused}");
}

#[test]
fn what_does_more_is_named_with_its_line() {
    for text in [
        "drop table a;",
        "alter table a rename to b;",
        "alter table a drop column b;",
        "alter table \"a\" rename column b to c",
        "delete from a;",
        "create unique index c on a (b);",
        "insert or replace into a values (1);",
        "drop trigger t;",
        "alter table a add d text default 'x, y', drop column b;",
        "alter table a add constraint c check (b > 0);",
        "with c as (select 1) delete from a;",
        "pragma user_version = 1",
    ] {
        let all = format!("create table z (y);\n/* and\n then */ {text}");
        let refused = careful(&all).expect_err(text);
        assert!(refused.contains(&format!("migration 0002_more.sql, line 3 ({text}) does more than add")), "{refused}");
    }
}
