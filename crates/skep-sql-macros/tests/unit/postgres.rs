//! Unit tests of `postgres`: what needs no server to be found wrong.

use proc_macro2::TokenStream;
use syn::parse::Parser as _;

use super::*;

fn expanded(tokens: &str) -> Result<TokenStream> {
    let tokens: TokenStream = tokens.parse().unwrap();
    (|input: syn::parse::ParseStream<'_>| Input::of(Dialect::Postgres, input))
        .parse2(tokens)
        .and_then(|input| expand(&input))
}

fn wrong(tokens: &str) -> String {
    expanded(tokens).unwrap_err().to_string()
}

/// Sets `name` as the folder of a `sql!` below this package's; it is removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, migration: &str, lock: &str) -> Self {
        let folder = package::root().join("../../target/tmp").join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(folder.join(FOLDER)).unwrap();
        fs::write(folder.join(FOLDER).join("0001_a.sql"), migration).unwrap();
        fs::write(folder.join(FOLDER).join(FILE), lock).unwrap();
        Self(folder)
    }

    fn expand(&self, rest: &str) -> Result<TokenStream> {
        let name = self.0.file_name().unwrap().to_str().unwrap();
        expanded(&format!("in \"../../target/tmp/{name}\"; {rest}"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}

fn entry(statement: &str) -> Entry {
    Entry {
        statement: statement.to_owned(),
        parameters: Vec::new(),
        columns: vec![skep_sql_lock::Column { name: "a".to_owned(), kind: Noted::Text, nullable: true, unique: false }],
        reads: Tables::none(),
        writes: Tables::none(),
        is_volatile: false,
    }
}

const MIGRATION: &str = "create table t (a text)";

fn lock(migration: &str, statement: &str) -> String {
    let hash = skep_sql_lock::hash(["0001_a.sql", migration]);
    Lock::new([entry(statement)], &hash).to_string()
}

#[test]
fn a_statement_is_known_missing_or_stale() {
    let sql = "select a from t";
    let known = Folder::new("known", MIGRATION, &lock(MIGRATION, sql));
    let combination = Combination { sql: sql.to_owned(), places: Vec::new(), lists: Vec::new() };
    let facts = Known::read(&known.0.join(FOLDER)).unwrap();
    let found = whole(&facts, vec![combination], "migrations/postgres").unwrap();
    assert_eq!((found.statements[0].sql.as_str(), found.statements[0].reads_only), (sql, true));
    let files = ["/migrations/postgres/0001_a.sql", "/migrations/postgres/sql.lock", "/Cargo.toml"];
    assert_eq!(found.files, files, "Cargo watches them");
    let missing = known.expand("\"select a as b from t\"").unwrap_err().to_string();
    assert!(missing.contains("this statement is not in") && missing.contains("run `skep sql check`"), "{missing}");
    let stale = Folder::new("stale", "create table t (a int)", &lock(MIGRATION, sql));
    assert!(stale.expand("\"select a from t\"").unwrap_err().to_string().contains("is stale"));
    let damaged = Folder::new("damaged", MIGRATION, &lock(MIGRATION, sql).replace("text? a", "text a"));
    assert!(damaged.expand("\"select a from t\"").unwrap_err().to_string().contains("is stale"));
    let conflict = Folder::new("conflict", MIGRATION, &lock(MIGRATION, sql).replace("column", "=======\ncolumn"));
    let error = conflict.expand("\"select a from t\"").unwrap_err().to_string();
    assert!(error.contains("line 5: `=======`"), "{error}");
}

#[test]
fn scopes_are_no_silence() {
    let scoped = Folder::new("scoped", "-- skep: t is scoped by a\ncreate table t (a text)", "");
    let error = scoped.expand("\"select a from t\"").unwrap_err().to_string();
    assert!(error.contains("scopes are checked on SQLite only"), "{error}");
    let error = wrong("unscoped \"all of them\"; \"select 1\"");
    assert!(error.contains("`unscoped` is for SQLite"), "{error}");
}

#[test]
fn what_no_handler_may_run_is_refused() {
    let folder = Folder::new("refused", MIGRATION, "");
    for (sql, expected) in [
        ("drop table t", "expected a statement that reads or writes rows"),
        ("begin", "not `begin`"),
        ("", "the statement is empty"),
        ("select 1; select 2", "expected one statement"),
        ("select pg_advisory_lock(1)", "`pg_advisory_lock` is not for statements of handlers"),
        ("select a from t where a = $1", "write `?`"),
        ("select a from t where a = {b}", "stands after `in`"),
    ] {
        let error = folder.expand(&format!("{sql:?}")).unwrap_err().to_string();
        assert!(error.contains(expected), "{sql}: {error}");
    }
}

#[test]
fn a_star_of_columns_is_known_from_one_that_multiplies() {
    for sql in ["select * from t", "select t.*, 1", "select 1, *", "insert into t values (1) returning *"] {
        assert!(has_star(sql), "{sql}");
    }
    for sql in ["select a * b from t", "select count(*) from t", "select a from t where exists (select * from u)"] {
        assert!(!has_star(sql), "{sql}");
    }
}
