//! What migrations say of scopes, over the life of a schema.

use skep_sql_lock::{Dialect, directives};

use super::*;

/// Runs the migrations in order: what is scoped at the end, or what is wrong.
fn scopes(migrations: &[&str]) -> Result<Vec<(String, String)>, String> {
    let connection = Connection::open_in_memory().unwrap();
    let mut scopes = Scopes::default();
    for migration in migrations {
        connection.execute_batch(migration).unwrap();
        scopes.follow(&connection, &directives(Dialect::Sqlite, migration)?)?;
    }
    Ok(scopes.0.into_iter().collect())
}

const TOKEN: &str =
    "-- skep: token is scoped by user_id\ncreate table token (id integer primary key, User_Id integer);";

#[test]
fn a_comment_scopes_a_table_also_in_a_later_migration() {
    let wanted = vec![("token".to_owned(), "user_id".to_owned())];
    assert_eq!(scopes(&[TOKEN]), Ok(wanted.clone()));
    let plain = "create table token (id integer primary key, user_id integer);";
    assert_eq!(scopes(&[plain, "/* skep: Token is scoped by USER_ID */"]), Ok(wanted));
    assert_eq!(scopes(&[plain, "select '-- skep: token is scoped by user_id'"]), Ok(vec![]));
}

#[test]
fn a_scope_is_not_lost_in_silence() {
    for change in [
        "alter table token rename to key",
        "alter table token rename column user_id to owner",
        "drop table token",
        "drop table token; create table token (id integer primary key)",
    ] {
        let error = scopes(&[TOKEN, change]).unwrap_err();
        assert!(error.contains("takes that column away"), "{change}: {error}");
    }
    let renamed = "alter table token rename to key; -- skep: token is not scoped\n-- skep: key is scoped by user_id";
    assert_eq!(scopes(&[TOKEN, renamed]), Ok(vec![("key".to_owned(), "user_id".to_owned())]));
    let rebuilt =
        "create table new (id integer primary key, user_id integer); drop table token; alter table new rename to token";
    assert_eq!(scopes(&[TOKEN, rebuilt]).unwrap().len(), 1);
}

#[test]
fn what_is_misspelt_is_an_error() {
    for wrong in ["skep: token is scoped by user", "skep: scoped by user_id", "skep: tokens is not scoped"] {
        assert!(scopes(&[TOKEN, &format!("-- {wrong}")]).is_err(), "{wrong}");
    }
}
