//! The statements that are compiled: 1 000 of the usual kinds, of a database of 20 tables, the same with `sql!` and
//! with `query()`.
//!
//! A struct that `sql!` makes stands written out beside `query()`.

use std::fmt::Write as _;

const STATEMENTS: usize = 1000;
const TABLES: usize = 20;
/// Tables that one migration makes.
const IN_ONE: usize = 4;

/// A function with one statement. `№` is its number, `§` that of its table.
struct Kind {
    function: &'static str,
    rows: &'static str,
    text: &'static str,
    arguments: &'static str,
}

const KINDS: [Kind; 10] = [POST, POST, POST, POST, UNNAMED, COUNT, COUNT, PAIR, INSERT, UPDATE];

const POST: Kind = Kind {
    function: "find_№(db: &sql::Local, slug: &str) -> sql::Result<Option<Post§>> { db.one(QUERY).await }",
    rows: "Post§",
    text: "select id, title, body from post§ where slug = ? and seen > №",
    arguments: "slug",
};
const UNNAMED: Kind = Kind {
    function: "titles_№(db: &sql::Local, author: i64) -> sql::Result<usize> {
    Ok(db.all(QUERY).await?.iter().map(|row| row.title.len()).sum())
}",
    rows: "",
    text: "select id, title from post§ where author = ? and seen > №",
    arguments: "author",
};
const COUNT: Kind = Kind {
    function: "count_№(db: &sql::Local, author: i64) -> sql::Result<Option<i64>> { db.one(QUERY).await }",
    rows: "i64",
    text: "select count(*) from post§ where author = ? and seen > №",
    arguments: "author",
};
const PAIR: Kind = Kind {
    function: "pairs_№(db: &sql::Local, author: i64, slug: &str) -> sql::Result<Vec<(i64, String)>> { db.all(QUERY).await }",
    rows: "(i64, String)",
    text: "select id, title from post§ where author = ? and slug > ? limit №",
    arguments: "author, slug",
};
const INSERT: Kind = Kind {
    function: "insert_№(db: &sql::Local, author: i64, slug: &str, title: &str) -> sql::Result<sql::Changes> {
    db.execute(QUERY).await
}",
    rows: "",
    text: "insert into post§ (author, slug, title, seen) values (?, ?, ?, №)",
    arguments: "author, slug, title",
};
const UPDATE: Kind = Kind {
    function: "rename_№(db: &sql::Local, id: i64, title: &str) -> sql::Result<sql::Changes> { db.execute(QUERY).await }",
    rows: "",
    text: "update post§ set title = ? where id = ? and seen < №",
    arguments: "title, id",
};

const TITLES: &str = "#[derive(Clone, Debug, PartialEq, Row)]\npub struct Titles№ { pub id: i64, pub title: String }\n";

/// The library, with `sql!` or with `query()`.
pub(super) fn source(is_checked: bool) -> String {
    let mut source = String::from("use skep::sql::{self, Row};\n");
    for table in 0..TABLES {
        let fields = "{ pub id: i64, pub title: String, pub body: Option<String> }";
        _ = writeln!(source, "#[derive(Row)]\npub struct Post{table} {fields}");
    }
    for number in 0..STATEMENTS {
        let Kind { function, rows, text, arguments } = KINDS[number % KINDS.len()];
        let is_unnamed = text == UNNAMED.text;
        let unnamed = if is_unnamed && !is_checked { TITLES } else { "" };
        // A tuple, if there are several.
        let values = if arguments.contains(',') { format!("({arguments})") } else { arguments.to_owned() };
        let query = match (is_checked, rows) {
            (true, "") => format!("skep::sql!({text:?}, {arguments})"),
            (true, rows) => format!("skep::sql!({rows}, {text:?}, {arguments})"),
            (false, _) if is_unnamed => format!("sql::query::<Titles№>({text:?}, {values})"),
            (false, "") => format!("sql::query({text:?}, {values})"),
            (false, rows) => format!("sql::query::<{rows}>({text:?}, {values})"),
        };
        let function = function.replace("QUERY", &query);
        let text = format!("{unnamed}pub async fn {function}\n");
        source += &text.replace('№', &number.to_string()).replace('§', &(number % TABLES).to_string());
    }
    source
}

/// Names of files and what is in them.
pub(super) fn migrations() -> impl Iterator<Item = (String, String)> {
    (0..TABLES).step_by(IN_ONE).map(|first| {
        let tables = (first..first + IN_ONE).map(|table| TABLE.replace('§', &table.to_string()));
        (format!("migrations/{first:04}_posts.sql"), tables.collect())
    })
}

const TABLE: &str = "create table post§ (
    id integer primary key,
    author integer not null,
    slug text not null unique,
    title text not null,
    body text,
    rating real not null default 0,
    seen integer not null default 0
) strict;
create index post§_author on post§ (author);
";
