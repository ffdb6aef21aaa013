//! Migrations that declare functions, and call them.

use rusqlite::types::Value;
use skep_sql_lock::{Dialect, directives};

use super::*;

fn run(migrations: &[&str]) -> Result<(Connection, Functions), String> {
    let (connection, mut functions) = (Connection::open_in_memory().unwrap(), Functions::default());
    for text in migrations {
        let said = directives(Dialect::Sqlite, text)?;
        follow(&mut functions, &connection, "0001.sql", &said)?;
        connection.execute_batch(text).map_err(|error| error.to_string())?;
    }
    Ok((connection, functions))
}

#[test]
fn a_stand_in_gives_the_declared_type_and_the_same_for_the_same() {
    let declared = "
        -- skep: function a(text) text
        -- skep: function b(text?) integer
        -- skep: function c(real, blob) real?
        -- skep: function d() blob";
    let (connection, _) = run(&[declared]).unwrap();
    let value = |sql: &str| connection.query_row(&format!("select {sql}"), [], |row| row.get::<_, Value>(0)).unwrap();
    assert!(matches!(value("a('x')"), Value::Text(_)));
    assert!(matches!(value("b(null)"), Value::Integer(number) if number >= 0));
    assert!(matches!(value("c(1, x'00')"), Value::Real(_)));
    assert!(matches!(value("d()"), Value::Blob(_)));
    assert_eq!(value("a(null)"), Value::Null);
    assert_eq!(value("a('x') = a('x') and a('x') <> a('y') and b(1) <> b(null)"), Value::Integer(1));
}

#[test]
fn a_function_is_known_from_its_declaration_until_it_is_dropped() {
    let slug = "-- skep: function slug(text) text
        create table post (title text unique);
        create index slugs on post (slug(title));
        insert into post values (slug('a')), (slug('b'));";
    let (connection, functions) = run(&[slug]).unwrap();
    assert!(functions.get("SLUG").is_some());
    connection.prepare("select slug(title) from post").unwrap();
    let (connection, functions) = run(&[slug, "drop index slugs -- skep: drop function slug"]).unwrap();
    assert!(functions.get("slug").is_none());
    assert!(connection.prepare("select slug(title) from post").is_err());
    let (connection, _) =
        run(&[slug, "drop index slugs; -- skep: drop function slug\n-- skep: function slug(text, integer) text"])
            .unwrap();
    connection.prepare("select slug(title, 1) from post").unwrap();
}

#[test]
fn what_cannot_be_a_function_is_said_with_its_line() {
    let before = "-- skep: function pick(text) text not deterministic\n-- skep: function slug(text) text\n";
    for (text, wanted) in [
        ("-- skep: function Lower(text) text", "line 3: SQLite has a function `lower` itself"),
        ("-- skep: function select(text) text", "line 3: `select` is a word of SQL"),
        ("\n-- skep: function slug(text) text", "line 4: `slug(text) text` is declared already, in 0001.sql, line 2"),
        ("-- skep: drop function slgu", "line 3: no function `slgu` was declared before"),
        ("create table a (b text); create index c on a (pick(b));", "non-deterministic functions prohibited in index"),
        (
            "create table a (b text, c text as (pick(b)));",
            "non-deterministic functions prohibited in generated columns",
        ),
        ("create table a (b text, c text as (slug(b, 1)));", "wrong number of arguments to function slug()"),
    ] {
        let error = run(&[&format!("{before}{text}")]).err().unwrap();
        assert!(error.contains(wanted), "{text}: {error}");
    }
}
