//! Tests of `db::rollback`.

use super::*;

#[test]
fn what_was_added_is_dropped_in_the_opposite_order() {
    let migration = "-- Posts; and more.
        create table if not exists post (id integer primary key, title text default ';') strict;
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
        ("update author set name = 'x';", "update author set name"),
        ("insert into author (name) values ('x');", "insert into author ("),
        ("alter table author rename to writer;", "alter table author rename"),
        ("alter table author add column a integer, add column b integer;", "alter table author add"),
        ("create function f() returns trigger as $$ begin return new; end $$ language plpgsql;", "create function f ("),
    ] {
        assert_eq!(drops(migration, true).unwrap_err(), says, "{migration}");
    }
}

#[test]
fn a_file_says_how_another_one_is_undone() {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    assert!(undo(folder.path(), false, "0001_a.sql").unwrap_err().contains("bring it back"));
    write("migrations/0001_a.sql", "drop table a;");
    let refused = undo(folder.path(), false, "0001_a.sql").unwrap_err();
    assert!(refused.contains("by `drop table a ...`: write what undoes it into db/rollback/0001_a.sql"), "{refused}");
    write("db/rollback/0001_a.sql", "create table a (id integer);");
    assert_eq!(undo(folder.path(), false, "0001_a.sql").unwrap(), "create table a (id integer);");
}
