//! Tests of `db::rollback`.

use super::*;

#[test]
fn what_was_added_is_dropped_in_the_opposite_order() {
    let migration = "-- Posts; and more.
        create table post (id integer primary key, title text default ';') strict;
        create index post_by_title on post (title);
        insert into post (title) values ('first');
        create trigger post_added after insert on post begin update post set title = 'a'; delete from post; end;
        alter table author add column posts integer not null default 0;
        create view titles as select title from post;";
    let expected = [
        "drop view titles;",
        "alter table author drop column posts;",
        "drop trigger post_added;",
        "drop index post_by_title;",
        "drop table post;",
    ];
    assert_eq!(drops(migration, false).unwrap(), expected.join("\n"));
    let trigger = "create trigger post_added after insert on post for each row execute function noted();";
    assert_eq!(drops(trigger, true).unwrap(), "drop trigger post_added on post;");
}

#[test]
fn what_has_no_opposite_is_named() {
    for (migration, says) in [
        ("create table a (b integer); drop table c;", "drop table c"),
        ("update author set name = 'x';", "update author set name ="),
        ("insert into author (name) values ('x');", "insert into author ( name"),
        ("alter table author rename to writer;", "alter table author rename to"),
        ("alter table author add column a integer, add column b integer;", "alter table author add column"),
        ("create table if not exists a (b integer);", "create table if not exists"),
        ("create index if not exists a_b on a (b);", "create index if not exists"),
        ("alter table a add column if not exists b integer;", "alter table a add column"),
        ("alter table a add b integer, drop c;", "alter table a add b"),
        ("alter table a add constraint b check (c > 0);", "alter table a add constraint"),
        (
            "create function f() returns trigger as $$ begin return new; end $$ language plpgsql;",
            "create function f ( )",
        ),
    ] {
        assert_eq!(drops(migration, true).unwrap_err(), says, "{migration}");
    }
}

#[test]
fn names_stay_as_they_are_written() {
    for (migration, expected) in [
        ("create table \"order\" (id integer);", "drop table \"order\";"),
        ("CREATE TABLE app.\"Post\" (id integer);", "drop table app.\"Post\";"),
        ("create index concurrently by_title on app . post (title);", "drop index app.by_title;"),
        ("create unique index by_title on post (title);", "drop index by_title;"),
        ("alter table app.post add price numeric(10, 2);", "alter table app.post drop column price;"),
        ("alter table post add column \"Check\" text;", "alter table post drop column \"Check\";"),
        ("create trigger noted after insert on app.post execute function f();", "drop trigger noted on app.post;"),
        ("create table `order` (id integer); insert into `order` values (1.5);", "drop table `order`;"),
    ] {
        assert_eq!(drops(migration, true).unwrap(), expected, "{migration}");
    }
    assert_eq!(drops("create index app.by_title on post (title);", false).unwrap(), "drop index app.by_title;");
}

#[test]
fn a_file_says_how_another_one_is_undone() {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let undo = |ran: &str| undo(folder.path(), false, "0001_a.sql", &skep_sql_lock::checksum(ran));
    let ran = "drop table a;";
    assert!(undo(ran).unwrap_err().contains("bring it back"));
    write("migrations/0001_a.sql", ran);
    let refused = undo(ran).unwrap_err();
    assert!(refused.contains("by `drop table a ...`: write what undoes it into db/rollback/0001_a.sql"), "{refused}");
    let refused = undo("create table b (id integer);").unwrap_err();
    assert!(refused.contains("0001_a.sql has changed since it ran"), "{refused}");
    assert!(refused.contains("into db/rollback/0001_a.sql"), "{refused}");
    write("db/rollback/0001_a.sql", "create table a (id integer);");
    assert_eq!(undo(ran).unwrap(), "create table a (id integer);");
}

#[test]
fn a_file_that_cannot_be_read_is_not_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let ran = "create table a (id integer);";
    for sub in ["migrations", FOLDER] {
        fs::create_dir_all(folder.path().join(sub)).unwrap();
    }
    fs::write(folder.path().join("migrations/0001_a.sql"), ran).unwrap();
    let undo = || undo(folder.path(), false, "0001_a.sql", &skep_sql_lock::checksum(ran));
    assert_eq!(undo().unwrap(), "drop table a;");
    fs::write(folder.path().join("db/rollback/0001_a.sql"), b"-- \xff").unwrap();
    let refused = undo().unwrap_err();
    assert!(refused.starts_with("db/rollback/0001_a.sql: ") && refused.contains("UTF-8"), "{refused}");
}
