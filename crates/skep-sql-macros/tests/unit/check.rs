//! Which tables a statement reads and writes, where SQLite alone does not say so.

use super::*;

const SCHEMA: &str = "
    create table post (id integer primary key, title text not null) strict;
    create table remark (post integer references post (id) on delete cascade on update cascade, text text) strict;
    create table note (post integer references post (id) on delete set null) strict;
    create view title as select title from post;
    create trigger title_added instead of insert on title begin insert into post (title) values (new.title); end;
    create virtual table post_index using fts5 (title, content='post', content_rowid='id');
    create virtual table word using fts5vocab (post_index, 'row');";

/// The tables that are read, and those that are written.
fn tables(sql: &str, lists: &[usize]) -> (Vec<String>, Vec<String>) {
    let schema = Schema::of(&[("0001.sql".into(), SCHEMA.to_owned())]).unwrap();
    let checked = check(&schema, sql, lists, false).unwrap();
    let names = |pairs: BTreeSet<(String, String)>| {
        let names: BTreeSet<String> = pairs.into_iter().map(|(table, _)| table).collect();
        names.into_iter().collect()
    };
    (names(checked.reads), names(checked.writes))
}

#[test]
fn a_view_and_a_list_are_no_tables() {
    let list = "select title from title where title in (select value from json_each(?))";
    assert_eq!(tables(list, &[1]).0, ["post"]);
    assert_eq!(tables("insert into title (title) values ('a')", &[]).1, ["post"]);
}

#[test]
fn foreign_keys_write() {
    assert_eq!(tables("delete from post where id = 1", &[]).1, ["note", "post", "remark"]);
    assert_eq!(tables("update post set id = 2", &[]).1, ["post", "remark"]);
    assert_eq!(tables("update post set title = ''", &[]).1, ["post"]);
}

#[test]
fn a_virtual_table_reads_what_it_is_made_of() {
    assert!(tables("select title from post_index where post_index match 'a'", &[]).0.contains(&"post".to_owned()));
    assert!(tables("select term from word", &[]).0.contains(&"post_index".to_owned()));
}
