//! Functions of the application, which statements call.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use skep::offload::Inline;
use skep::sql::{Database, Function, Migration, Migrations, migrations, query};
use skep::{App, sql, sql_function};

use crate::support::{Folder, Threads, impatient, run};

const SLUG: Function = sql_function!(
    fn slug(title: &str) -> Result<String, &'static str> {
        assert!(title != "panic", "no slug for {title}");
        if title.is_empty() { Err("a title has letters") } else { Ok(title.to_lowercase().replace(' ', "-")) }
    }
);

const CLIP: Function = sql_function!(
    fn clip(text: Option<&str>, most: usize) -> Option<String> {
        text.map(|text| text.chars().take(most).collect())
    }
);

const NEXT_NUMBER: Function = sql_function!(
    fn next_number() -> i64 {
        static LAST: AtomicI64 = AtomicI64::new(0);
        LAST.fetch_add(1, Ordering::Relaxed) + 1
    }
);

const RATIO: Function = sql_function!(
    fn ratio(one: i64, other: f64) -> f64 {
        f64::from(i32::try_from(one).unwrap()) / other
    }
);

const SEAL: Function = sql_function!(
    fn seal(bytes: &[u8]) -> Vec<u8> {
        bytes.iter().rev().copied().collect()
    }
);

const GIVEN: &[Function] = &[SLUG, CLIP, NEXT_NUMBER, RATIO, SEAL];
const MIGRATIONS: Migrations = migrations!("tests/sql/many_functions").with_functions(GIVEN);

macro_rules! sql {
    ($($input:tt)*) => { skep::sql!(in "tests/sql/many_functions"; $($input)*) };
}

fn insert(title: &str) -> sql::Query<'_> {
    sql!("insert into post (title, body) values (?, 'The honey flow')", title)
}

#[test]
fn a_statement_calls_it_wherever_it_runs() {
    run(async {
        let folder = Folder::new();
        let threads = Threads::start(2);
        // Without a budget, reads run on the pool, too.
        for options in [impatient(), impatient().inline_budget(std::time::Duration::ZERO)] {
            let database = Database::open(folder.file(), &MIGRATIONS, options, threads.clone()).unwrap();
            let db = database.local();
            db.execute(sql!("delete from post")).await.unwrap();
            db.execute(insert("On Bees")).await.unwrap();
            let by_index = sql!(String, "select title from post where slug(title) = ?", "on-bees");
            assert_eq!(db.one(by_index).await.unwrap().as_deref(), Some("On Bees"));
            let column = sql!(Option<String>, "select address from post");
            assert_eq!(db.one(column).await.unwrap().flatten().as_deref(), Some("on-bees"));
            let by_view = sql!(String, "select slug from listed");
            assert_eq!(db.first(by_view).await.unwrap().as_deref(), Some("on-bees"));
            let clipped = sql!((Option<String>, f64), "select clip(body, 9), ratio(1, 4.0) from post");
            assert_eq!(db.one(clipped).await.unwrap(), Some((Some("The honey".to_owned()), 0.25)));
            let transaction = db.transaction().await.unwrap();
            let inside = sql!(String, "select slug(title) from post");
            assert_eq!(transaction.one(inside).await.unwrap().as_deref(), Some("on-bees"));
            let sealed = sql!(Option<Vec<u8>>, "select seal(?)", &b"abc"[..]);
            assert_eq!(transaction.one(sealed).await.unwrap().flatten().as_deref(), Some(&b"cba"[..]));
            transaction.commit().await.unwrap();
            assert!(db.execute(insert("on bees")).await.unwrap_err().is_unique_violation());
        }
    });
}

#[test]
fn what_is_null_is_not_passed_on_unless_it_may_be() {
    let database = Database::temporary(&MIGRATIONS, Arc::new(Inline)).unwrap();
    let one = |text: &'static str| database.write(|db| db.one::<Option<String>>(text)).unwrap().unwrap();
    assert_eq!(one("select slug(null)"), None);
    assert_eq!(one("select clip(null, 3)"), None);
    assert_eq!(one("select clip('abcd', null)"), None);
    assert_eq!(one("select clip('abcd', 3)").as_deref(), Some("abc"));
}

#[test]
fn what_fails_in_it_is_an_error_of_the_statement() {
    let database = Database::temporary(&MIGRATIONS, Arc::new(Inline)).unwrap();
    let wrong = |text: &'static str| {
        let error = database.write(|db| db.one::<Option<String>>(text)).unwrap_err();
        assert_eq!(error.statement(), Some(text));
        error.to_string()
    };
    for (text, reason) in [
        ("select slug('')", "the function `slug`: a title has letters"),
        ("select slug('panic')", "no slug for panic"),
        ("select slug(5)", "the function `slug`: the argument `title`: expected text, found an integer"),
        ("select clip('a', -1)", "the function `clip`: the argument `most`: -1 does not fit in usize"),
        ("select slug(cast(x'ff' as text))", "the function `slug`: invalid utf-8"),
        ("select ratio(0, 0.0)", "the function `ratio`: the result is NaN, which SQLite cannot hold"),
        ("select slug()", "wrong number of arguments to function slug()"),
    ] {
        let error = wrong(text);
        assert!(error.contains(reason), "{text}: {error}");
    }
    // And the connection goes on.
    assert_eq!(database.write(|db| db.one::<String>("select slug('A b')")).unwrap().as_deref(), Some("a-b"));
}

#[test]
fn a_panic_in_it_is_an_answer_of_500_and_not_the_end_of_the_handlers_own() {
    use skep::prelude::*;

    #[derive(Service)]
    #[service(GET "/{title}")]
    struct Page {
        title: String,
    }

    impl Handle for Page {
        async fn handle(self, cx: &mut Cx<'_>) -> Result {
            let slug = cx.db().one::<String>(query("select slug(?)", &self.title)).await;
            let slug = slug.map_err(|error| error.to_string());
            assert!(slug.is_ok(), "and the handler: {slug:?}");
            Ok(Response::text(slug.unwrap_or_default().unwrap_or_default()))
        }
    }

    let client = skep::test::Client::new(App::new().serve(services![Page]).database(MIGRATIONS));
    let answer = client.get("/panic");
    assert_eq!(answer.status(), 500);
    let cause = answer.cause().unwrap();
    assert!(cause.contains("and the handler: Err(\"the function `slug`: panicked at "), "{cause}");
    assert_eq!(client.get("/A").text(), "a");
}

#[test]
fn one_that_is_not_deterministic_is_called_each_time_and_is_in_no_index() {
    let database = Database::temporary(&MIGRATIONS, Arc::new(Inline)).unwrap();
    let numbers = database.write(|db| db.all(sql!((i64, i64), "select next_number(), next_number()"))).unwrap();
    assert_ne!(numbers[0].0, numbers[0].1);
    let error = database.write(|db| db.execute("create index bad on post (next_number())")).unwrap_err();
    assert!(error.to_string().contains("non-deterministic functions prohibited in index expressions"), "{error}");
}

const TABLE: Migration = Migration::new(1, "0001_post.sql", "create table post (title text) strict");

/// Opens a database whose second migration has this text, with these functions, and gives the error.
fn refused(text: &'static str, given: &'static [Function]) -> String {
    let list = Box::leak(Box::new([TABLE, Migration::new(2, "0002_slug.sql", text)]));
    let migrations = Migrations::new(list).with_functions(given);
    Database::temporary(&migrations, Arc::new(Inline)).map(drop).map_err(|error| error.to_string()).unwrap_err()
}

const SLUG_AND_NUMBER: Function = sql_function!(
    fn slug(title: &str, number: i64) -> Option<String> {
        (number > 0).then(|| title.to_owned())
    }
);
const LOWER: Function = sql_function!(
    fn lower(text: &str) -> String {
        text.to_lowercase()
    }
);

#[test]
fn what_is_declared_and_what_is_given_must_agree() {
    let cases: [(&'static str, &'static [Function], &str); 7] = [
        (
            "select 1;\n-- skep: function slug(text) text",
            &[],
            "migration 0002_slug.sql, line 2, declares the function `slug(text) text`, and the application does not give it: \
             `migrations!(...).with_functions(&[...])`, with `sql_function!(fn slug(a: &str) -> String { ... })`",
        ),
        (
            "-- skep: function slug(text) text",
            &[SLUG_AND_NUMBER],
            "and that of the application is `slug(text, integer) text?`: make it `fn slug(a: &str) -> String`",
        ),
        (
            "-- skep: function slug(text) text?",
            &[SLUG],
            "and that of the application is `slug(text) text`: make it `fn slug(a: &str) -> Option<String>`",
        ),
        (
            "-- skep: function slg(text) text",
            &[SLUG],
            "gives the function `slug(text) text`, which no migration declares: say `-- skep: function slug(text) text` in a new one; \
             did you mean `slg`?",
        ),
        ("-- skep: function slug(text) text", &[SLUG, SLUG], "the application gives two functions of the name `slug`"),
        ("-- skep: function lower(text) text", &[LOWER], "SQLite has a function `lower` itself: choose another name"),
        (
            "-- skep: function slug(text)",
            &[SLUG],
            "migration 0002_slug.sql, line 1: `skep: function slug(text)`: the type",
        ),
    ];
    for (text, given, wanted) in cases {
        let error = refused(text, given);
        assert!(error.contains(wanted), "{text}: {error}");
    }
}

#[test]
fn a_migration_calls_it_also_one_that_was_dropped_since() {
    static LIST: [Migration; 3] = [
        TABLE,
        Migration::new(
            2,
            "0002_slug.sql",
            "-- skep: function slug(text) text\ninsert into post values (slug('On Bees'))",
        ),
        Migration::new(3, "0003_gone.sql", "-- skep: drop function slug"),
    ];
    let with = |given: &'static [Function]| {
        Database::temporary(&Migrations::new(&LIST).with_functions(given), Arc::new(Inline))
    };
    let database = with(&[SLUG]).unwrap();
    assert_eq!(database.write(|db| db.one::<String>("select title from post")).unwrap().as_deref(), Some("on-bees"));
    let error = with(&[]).unwrap_err();
    assert!(error.is_failed_migration() && error.to_string().contains("no such function: slug"), "{error}");

    let folder = Folder::new();
    drop(folder.open(&Migrations::new(&LIST).with_functions(&[SLUG])).unwrap());
    folder.open(&Migrations::new(&LIST)).unwrap();
}

#[test]
fn an_index_on_it_would_keep_an_older_version_from_writing() {
    static OLD: [Migration; 1] = [TABLE];
    static NEW: [Migration; 3] = [
        TABLE,
        Migration::new(2, "0002_slug.sql", "-- skep: function slug(text) text\ncreate table tag (name text);"),
        Migration::new(3, "0003_index.sql", "create index post_by_slug on post (slug(title))"),
    ];
    let folder = Folder::new();
    let check = |list: &'static [Migration]| {
        Database::check_careful(folder.file(), &Migrations::new(list).with_functions(&[SLUG]))
    };
    drop(folder.open(&Migrations::new(&OLD)).unwrap());
    let error = check(&NEW).unwrap_err().to_string();
    assert!(
        error.contains("migration 0003_index.sql, line 1 (create index post_by_slug on post (slug(title)))"),
        "{error}"
    );
    check(&NEW[..2]).unwrap();
    drop(folder.open(&Migrations::new(&NEW[..2]).with_functions(&[SLUG])).unwrap());
    check(&NEW).unwrap();
}

#[test]
fn a_backup_has_what_is_generated_by_it() {
    let data = tempfile::tempdir().unwrap();
    let app = || App::new().database(MIGRATIONS);
    let setup = || {
        let mut setup = skep::Setup::default();
        data.path().clone_into(&mut setup.data);
        setup
    };
    let site = app().open(setup()).unwrap();
    site.db().write(|db| db.execute(insert("On Bees"))).unwrap();
    drop(site);
    let backup = data.path().join("backup.sqlite");
    app().back_up(data.path(), &backup, &HashMap::new()).unwrap();
    app().restore(data.path(), &backup, &HashMap::new()).unwrap();
    let site = app().open(setup()).unwrap();
    assert_eq!(site.db().write(|db| db.one(sql!(i64, "select count(*) from post"))).unwrap(), Some(1));
}

#[test]
fn an_application_with_one_is_checked_and_started() {
    App::new().database(MIGRATIONS).check(&skep::Setup::default()).unwrap();
    let error =
        App::new().database(migrations!("tests/sql/many_functions")).check(&skep::Setup::default()).unwrap_err();
    assert!(error.to_string().contains("declares the function `slug(text) text`, and the application"), "{error}");
    let nothing = Migrations::NONE.with_functions(&[SLUG]);
    let error = Database::temporary(&nothing, Arc::new(Inline)).unwrap_err().to_string();
    assert!(error.contains("which no migration declares"), "{error}");
}
