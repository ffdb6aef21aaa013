//! Tests of `generate::tables`.

use super::*;

#[test]
fn columns_are_renamed_and_dropped_and_only_names_and_titles_are_shown() {
    let mut tables = Vec::new();
    run(
        "create table account (id integer primary key, password text not null, email text not null, called text not null);",
        &mut tables,
    );
    assert_eq!(tables[0].label(), None);
    run("alter table account rename column called to name; alter table account drop column email;", &mut tables);
    let names: Vec<&str> = tables[0].columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!((names, tables[0].label()), (vec!["id", "password", "name"], Some("name")));
    run("alter table account rename name to title;", &mut tables);
    assert_eq!(tables[0].label(), Some("title"));
}

#[test]
fn tables_are_as_the_last_migration_leaves_them() {
    let mut tables = Vec::new();
    run(
            "-- create table no (id integer);
             create table if not exists account (
                 id integer primary key autoincrement, email text not null unique collate nocase,
                 role text not null default 'a, b' check (role in ('a', 'b')), /* ; */ name text not null, note text,
                 unique (email, name), foreign key (note) references other (id)
             ) strict;
             create table \"gone\" (id integer); drop table gone;
             alter table account add column team_id integer references team (id); alter table account rename to member;",
            &mut tables,
        );
    let [table] = &tables[..] else { panic!("{tables:?}") };
    assert_eq!((table.name.as_str(), table.label(), table.has_id()), ("member", Some("name"), true));
    let names = |of: fn(&&Column) -> bool| -> Vec<&str> {
        table.columns.iter().filter(of).map(|column| column.name.as_str()).collect()
    };
    assert_eq!(names(|_| true), ["id", "email", "role", "name", "note", "team_id"]);
    assert_eq!(names(|column| column.is_needed), ["email", "name"]);
    assert_eq!(names(|column| column.references.as_deref() == Some("team")), ["team_id"]);
}
