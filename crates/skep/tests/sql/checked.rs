//! `sql!`: what a checked statement gives, and what it knows of itself. What must not compile is in
//! `tests/compile-fail/sql`.

use std::sync::Arc;

use skep::offload::Inline;
use skep::sql::{self, Blocking, Database, Migrations, Query, Row, Value, migrations};

use crate::support::{self, Threads};

const MIGRATIONS: Migrations = migrations!("tests/sql/checked");

macro_rules! sql {
    ($($input:tt)*) => { skep::sql!(in "tests/sql/checked"; $($input)*) };
}

/// Calls `work` with three authors, and three posts of two of them and nobody.
fn with_posts(work: impl FnOnce(&mut Blocking<'_>) -> sql::Result<()>) {
    let database = Database::temporary(&MIGRATIONS, Arc::new(Inline)).unwrap();
    let fill = |db: &mut Blocking<'_>| {
        for (id, name, born) in [(1, "Ann", Some(1980)), (2, "Ben", None), (3, "Cid", None)] {
            db.execute(sql!("insert into author (id, name, born) values (?, ?, ?)", id, name, born))?;
        }
        let posts = [
            (1, Some(1), "one", "One", Some("First.")),
            (2, Some(2), "two", "Two", None),
            (3, None, "three", "Three", None),
        ];
        for (id, author, slug, title, body) in posts {
            db.execute(sql!(
                "insert into post (id, author, slug, title, body, seen) values (?, ?, ?, ?, ?, ?)",
                id,
                author,
                slug,
                title,
                body,
                id - 1
            ))?;
            db.execute(sql!("insert into tag (post, name) values (?, ?)", id, if id == 3 { "odd" } else { "early" }))?;
        }
        work(db)
    };
    database.write(fill).unwrap();
}

#[derive(Row, Debug, PartialEq)]
struct Post {
    title: String,
    body: Option<String>,
}

#[test]
fn rows_are_a_named_struct_an_unnamed_one_a_value_or_a_tuple() {
    with_posts(|db| {
        let named = db.one(sql!(Post, "select body, title from post where slug = ?", "one"))?;
        assert_eq!(named, Some(Post { title: "One".to_owned(), body: Some("First.".to_owned()) }));
        let unnamed = db.one(sql!("select title, body, rating, seen from post where slug = ?", "two"))?.unwrap();
        let (title, body, rating, seen): (String, Option<String>, f64, i64) =
            (unnamed.title, unnamed.body, unnamed.rating, unnamed.seen);
        assert_eq!((title.as_str(), body, seen), ("Two", None, 1));
        assert!(rating.abs() < f64::EPSILON);
        assert_eq!(db.one(sql!(u32, "select count(*) from post"))?, Some(3));
        let pairs = db.all(sql!((i64, Option<String>), "select id, body from post order by id limit 2"))?;
        assert_eq!(pairs, [(1, Some("First.".to_owned())), (2, None)]);
        Ok(())
    });
}

#[test]
fn what_an_outer_join_may_leave_out_is_an_option() {
    with_posts(|db| {
        let text = sql!(
            "select title, author.name as author from post left join author on author.id = post.author order by post.id"
        );
        let rows = db.all(text)?;
        let authors: Vec<Option<&str>> = rows.iter().map(|row| row.author.as_deref()).collect();
        assert_eq!(authors, [Some("Ann"), Some("Ben"), None]);
        // Through a view just the same.
        let rows =
            db.all(sql!((String, Option<String>), "select title, author from post_with_author order by slug"))?;
        assert_eq!(rows[0], ("One".to_owned(), Some("Ann".to_owned())));
        // An inner join leaves nothing open.
        let rows = db.all(sql!(
            (String, String),
            "select title, name from post join author on author.id = post.author order by title"
        ))?;
        assert_eq!(rows.len(), 2);
        Ok(())
    });
}

#[test]
fn conditions_are_booleans() {
    with_posts(|db| {
        let row = db.one(sql!(
            "select exists (select 1 from post where seen > ?) as any, seen > 1 as often from post where id = 3",
            100
        ))?;
        let row = row.unwrap();
        let (any, often): (bool, bool) = (row.any, row.often);
        assert_eq!((any, often), (false, true));
        Ok(())
    });
}

#[test]
fn keywords_are_columns_too() {
    with_posts(|db| {
        let row = db.one(sql!("select slug as type, title as \"match\" from post where id = 1"))?.unwrap();
        assert_eq!((row.r#type.as_str(), row.r#match.as_str()), ("one", "One"));
        Ok(())
    });
}

#[test]
fn an_asserted_column_is_no_option_and_a_null_in_it_an_error() {
    with_posts(|db| {
        let last = db.one(sql!(r#"select max(id) as "id!" from post"#))?.unwrap();
        let id: i64 = last.id;
        assert_eq!(id, 3);
        let error = db.all(sql!(r#"select body as "body!" from post order by id"#)).unwrap_err();
        assert!(error.to_string().contains("body"), "{error}");
        Ok(())
    });
}

#[test]
fn a_parameter_may_borrow_from_what_is_made_in_its_place() {
    with_posts(|db| {
        let title = db.one(sql!(String, "select title from post where slug = ?", &format!("{}e", "on")))?;
        assert_eq!(title.as_deref(), Some("One"));
        // Beside parts, too.
        let parts = db.all(sql!(
            "select title from post where slug <> ?" {if title.is_some(): "and seen < ?", 2},
            &"ONE".to_lowercase(),
        ))?;
        assert_eq!(parts.iter().map(|row| row.title.as_str()).collect::<Vec<_>>(), ["Two"]);
        Ok(())
    });
}

#[test]
fn lists_have_any_length_and_any_text() {
    with_posts(|db| {
        let by_id = |db: &mut Blocking<'_>, ids: &[i64]| {
            db.all(sql!(String, "select title from post where id in {ids} order by id"))
        };
        assert_eq!(by_id(db, &[1, 3, 77])?, ["One", "Three"]);
        assert_eq!(by_id(db, &[])?, [""; 0]);
        db.execute(sql!("insert into author (name) values (?)", "\"], 'x\u{1f41d}\\"))?;
        let names = ["Ann".to_owned(), "\"], 'x\u{1f41d}\\".to_owned()];
        assert_eq!(db.one(sql!(i64, "select count(*) from author where name not in {&names}"))?, Some(2));
        Ok(())
    });
}

#[test]
fn each_combination_of_parts_is_a_statement_of_its_own() {
    #[derive(Clone, Copy)]
    enum Order {
        Newest,
        Title,
        Near(i64),
    }
    let titles = |db: &mut Blocking<'_>, tag: Option<&str>, seen: bool, order: Order| {
        db.all(sql!(
            String,
            "select title from post where id < ?"
            {if let Some(tag) = tag: "and id in (select post from tag where name = ?)", tag}
            {if seen: "and seen > 0"}
            {match order: Order::Newest => "order by id desc",
                Order::Title => "order by title",
                Order::Near(id) => { "order by abs(id - ?), id", id }}
            "limit ?",
            100,
            10,
        ))
    };
    with_posts(|db| {
        assert_eq!(titles(db, None, false, Order::Newest)?, ["Three", "Two", "One"]);
        assert_eq!(titles(db, None, false, Order::Title)?, ["One", "Three", "Two"]);
        assert_eq!(titles(db, Some("early"), false, Order::Title)?, ["One", "Two"]);
        assert_eq!(titles(db, Some("early"), true, Order::Title)?, ["Two"]);
        assert_eq!(titles(db, None, true, Order::Near(3))?, ["Three", "Two"]);
        assert_eq!(titles(db, None, false, Order::Near(2))?, ["Two", "One", "Three"]);
        Ok(())
    });
}

#[test]
fn writes_return_what_they_say() {
    with_posts(|db| {
        let changed = db.execute(sql!("update post set seen = seen + 1 where slug = ?", "one"))?;
        assert_eq!(changed.rows, 1);
        let post = db.one(sql!(
            "insert into post (slug, title, body) values (?, ?, ?)
             on conflict (slug) do update set title = excluded.title returning id, title, body",
            "one",
            "Uno",
            None::<String>
        ))?;
        let post = post.unwrap();
        let (id, body): (i64, Option<String>) = (post.id, post.body);
        assert_eq!((id, post.title.as_str(), body.as_deref()), (1, "Uno", Some("First.")));
        Ok(())
    });
}

#[test]
fn a_value_of_no_certain_type_is_a_value() {
    with_posts(|db| {
        let row = db.one(sql!("select json_extract('{\"a\": 5}', '$.a') as found"))?.unwrap();
        let found: Value<'static> = row.found;
        assert_eq!(found, Value::Integer(5));
        Ok(())
    });
}

/// The tables of these columns, once each.
fn tables(columns: &[(&'static str, &'static str)]) -> Vec<&'static str> {
    let mut tables: Vec<&str> = columns.iter().map(|(table, _)| *table).collect();
    tables.sort_unstable();
    tables.dedup();
    tables
}

#[test]
fn a_statement_knows_what_it_reads_and_writes() {
    fn checked<T>(query: Query<'_, T>) -> &'static skep::sql::Checked {
        query.checked().unwrap()
    }
    let read = checked(sql!("select title from published where slug = ?", "one"));
    assert!(read.reads_only());
    assert!(read.reads().contains(&("post", "title")) && read.reads().contains(&("post", "seen")));
    assert!(!read.reads().contains(&("post", "body")));
    assert_eq!(tables(read.writes()), [""; 0]);
    let counted = checked(sql!(i64, "select count(*) from tag"));
    assert_eq!(counted.reads(), [("tag", "")]);
    // A trigger writes as well.
    let update = checked(sql!("update post set title = 'x'"));
    assert!(!update.reads_only());
    assert!(update.writes().contains(&("post", "title")));
    assert_eq!(tables(update.writes()), ["change", "post"]);
    // And so does a foreign key.
    assert_eq!(tables(checked(sql!("delete from author")).writes()), ["author", "post", "tag"]);
    // SQLite itself does not report what `using` compares.
    let joined = checked(sql!(String, "select tag.name from tag join author using (name)"));
    assert!(joined.reads().contains(&("author", "name")));
    assert!(sql::query::<i64>("select 1", ()).checked().is_none());
}

/// Without a first run on another thread, which is how a statement from a text is found out to write.
#[test]
fn where_a_statement_runs_is_known_before_it_ran() {
    let threads = Threads::start(1);
    let database = Database::temporary(&MIGRATIONS, Arc::clone(&threads) as Arc<dyn skep::offload::Offload>).unwrap();
    let db = database.local();
    support::run(async {
        let before = threads.taken();
        let rows = db.all(sql!("insert into author (name) values ('Ann') returning id")).await.unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!(threads.taken(), before + 1);
        assert_eq!(db.one(sql!(i64, "select count(*) from author")).await.unwrap(), Some(1));
        assert_eq!(threads.taken(), before + 1);
    });
}
