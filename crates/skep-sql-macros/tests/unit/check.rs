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

/// An aggregate of an inner select is that of the outer one if nothing in it names a column of the inner one: then all
/// rows are one, which is there without any.
#[test]
fn a_column_beside_an_aggregate_may_be_null() {
    let schema = Schema::of(&[("0001.sql".into(), SCHEMA.to_owned())]).unwrap();
    for (aggregate, makes_one_row) in [
        ("(select count(*) from remark)", false),
        ("(select count(p.id) from remark)", true),
        ("(select count(*) filter (where p.id) from remark)", true),
        ("(select count(*) filter (where p.id = remark.post) from remark)", false),
        ("(select count(p.id) filter (where remark.post) from remark)", false),
        ("(select group_concat(p.title order by remark.post) from remark)", false),
        ("(select group_concat('a' order by p.title) from remark)", true),
    ] {
        let sql = format!("select title, {aggregate} from post as p where id = 0");
        let checked = check(&schema, &sql, &[], false).unwrap();
        let data = rusqlite::Connection::open_in_memory().unwrap();
        data.execute_batch(SCHEMA).unwrap();
        let rows: Vec<Option<String>> =
            data.prepare(&sql).unwrap().query_map((), |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows, if makes_one_row { vec![None] } else { Vec::new() }, "{sql}");
        assert_eq!(checked.columns[0].ty.nullable, makes_one_row, "{sql}");
    }
}

const FUNCTIONS: &str = "
    -- skep: function slug(text) text
    -- skep: function clip(text?, integer) text?
    -- skep: function pick(integer) integer not deterministic
    create table post (id integer primary key, title text not null, body text, size real not null) strict;
    create index slugs on post (slug(title));
    insert into post (title, size) values (slug('a'), 1.0), (slug('b'), 2.0);";

fn with_functions(sql: &str) -> Result<Checked, String> {
    let schema = Schema::of(&[("migrations/0001_post.sql".into(), FUNCTIONS.to_owned())]).unwrap();
    check(&schema, sql, &[], false)
}

#[test]
fn a_function_gives_what_it_is_declared_to() {
    let of = Type::of;
    let nullable = |kind| Type { nullable: true, ..of(kind) };
    for (expression, ty) in [
        ("slug(title)", of(Kind::Text)),
        ("SLUG(body)", nullable(Kind::Text)),
        ("slug(coalesce(body, title))", of(Kind::Text)),
        ("clip(body, 1)", nullable(Kind::Text)),
        ("coalesce(clip(body, 1), '')", of(Kind::Text)),
        ("pick(id)", of(Kind::Integer)),
        ("pick(null)", nullable(Kind::Integer)),
        ("pick(?)", nullable(Kind::Integer)),
    ] {
        let checked = with_functions(&format!("select {expression} as one from post")).unwrap();
        assert_eq!(checked.columns[0].ty, ty, "{expression}");
    }
    let checked = with_functions("select title from post where slug(?) = ? and clip(?, ?) = ?").unwrap();
    let wanted = [Kind::Text, Kind::Text, Kind::Text, Kind::Integer, Kind::Text];
    assert_eq!(checked.parameters, wanted);
    assert_eq!(checked.reads.iter().map(|(table, _)| table.as_str()).collect::<BTreeSet<_>>(), ["post"].into());
    assert!(checked.reads_only);
}

#[test]
fn a_call_that_is_wrong_has_its_help() {
    for (sql, wanted) in [
        ("select slgu(title) from post", "did you mean `slug`?"),
        ("select anything_else(title) from post", "`-- skep: function anything_else(text) text`"),
        ("select clip(title) from post", "0001_post.sql, line 3, declares `clip(text?, integer) text?`"),
        (
            "select slug(id) as a from post",
            "argument 1 of `slug(text) text` gets an integer\nhelp: write `cast(... as text)`",
        ),
        ("select 1 as a from post where pick(size) = 1", "argument 1 of `pick(integer) integer` gets a real number"),
    ] {
        let error = with_functions(sql).err().unwrap();
        assert!(error.contains(wanted), "{sql}: {error}");
    }
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
