//! Unit tests of `postgres`: what needs no server to be found wrong.

use proc_macro2::TokenStream;
use skep_sql_lock::Proof;
use syn::parse::Parser as _;

use super::*;
use crate::home::Home;

fn input(tokens: &str) -> Result<Input> {
    let tokens: TokenStream = tokens.parse().unwrap();
    (|input: syn::parse::ParseStream<'_>| Input::of(Home::Skep, Ok(Dialect::Postgres), input)).parse2(tokens)
}

fn expanded(tokens: &str) -> Result<TokenStream> {
    expand(&input(tokens)?)
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

    fn whole(&self, tokens: &str) -> std::result::Result<Whole, String> {
        let (input, facts) = (input(tokens).unwrap(), Known::read(&self.0.join(FOLDER)).unwrap());
        whole(&facts, combinations(&input).unwrap(), &input, "migrations/postgres")
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
        columns: vec![skep_sql_lock::Column {
            name: "a".to_owned(),
            kind: Noted::Text,
            is_list: false,
            nullable: true,
            unique: false,
        }],
        reads: Tables::none(),
        writes: Tables::none(),
        is_volatile: false,
        reach: Reach::NoScoped,
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
    let found = known.whole("\"select a from t\"").unwrap();
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
fn a_scoped_statement_wants_a_scope_or_says_why_not() {
    let (mine, all, free) = ("select a from t where b = ? and c = ?", "select a from t", "select 1 as a");
    let proof = Proof { parameter: 2, table: "t".to_owned(), column: "c".to_owned() };
    let entries = [
        Entry { reach: Reach::Scoped([proof].into()), ..entry(mine) },
        Entry { reach: Reach::Everybody("nothing says whose".to_owned()), ..entry(all) },
        entry(free),
    ];
    let lock = Lock::new(entries, &skep_sql_lock::hash(["0001_a.sql", MIGRATION])).to_string();
    let folder = Folder::new("scoped", MIGRATION, &lock);
    let (kept, both) = (format!("{mine:?}, 1, 2"), format!("unscoped \"all are meant\"; {mine:?}, 1, 2"));
    let scopes = folder.whole(&kept).unwrap().scopes;
    // Guards are skep's, and what `skep_sql::sql!` writes names nothing of it.
    let refused = refuse_scopes(&Input { home: Home::Sql, ..input(&kept).unwrap() }, &scopes).unwrap_err();
    assert!(refused.starts_with("the rows of `t` are scoped by `c`") && refused.contains("unscoped"), "{refused}");
    assert_eq!(scopes, [((0, 0, 1), [("t".to_owned(), "c".to_owned())].into())].into());
    assert_eq!(folder.whole(&both).unwrap().scopes, Scopes::new());
    assert_eq!(folder.expand(&format!("{all:?}")).unwrap_err().to_string(), "nothing says whose");
    assert_eq!(folder.whole(&format!("unscoped \"all are meant\"; {all:?}")).unwrap().scopes, Scopes::new());
    assert_eq!(folder.whole(&format!("{free:?}")).unwrap().scopes, Scopes::new());
    let needless = folder.expand(&format!("unscoped \"why not\"; {free:?}")).unwrap_err().to_string();
    assert_eq!(needless, "no table of this statement is scoped: leave out `unscoped`");
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
