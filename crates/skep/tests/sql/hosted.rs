//! What a host keeps for a component, and what a component must not do.

use std::future::poll_fn;
use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::task::Poll;
use std::time::Duration;

use skep::Setup;
use skep::hosted::Hosted;
use skep::offload::Offload;
use skep::sql::{Database, Elsewhere, Packed};

fn hosted_in(data: &Path, change: impl FnOnce(&mut Setup)) -> Hosted {
    let mut setup = Setup::default();
    data.clone_into(&mut setup.data);
    change(&mut setup);
    Hosted::new("test", setup).unwrap()
}

#[test]
fn sessions_open_their_file_once() {
    let folder = tempfile::tempdir().unwrap();
    let hosted = hosted_in(folder.path(), |_| ());
    assert!(!hosted.is_open("sessions"));
    let (first, _) = hosted.cache("sessions").unwrap();
    assert!(hosted.is_open("sessions"));
    let (second, _) = hosted.cache("sessions").unwrap();
    assert!(Arc::ptr_eq(&first, &second));
    assert!(!hosted.is_open("pages"));
    let (pages, _) = hosted.cache("pages").unwrap();
    assert!(hosted.is_open("pages") && Arc::ptr_eq(&pages, &hosted.cache("pages").unwrap().0));
}

#[test]
fn what_is_only_checked_keeps_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let hosted = hosted_in(&folder.path().join("data"), |setup| setup.temporary_database = true);
    let database = open_in(&hosted, "create table note (text text)").unwrap();
    run(&database, "insert into note values ('a')").unwrap();
    assert_eq!(hosted.keys().unwrap().trim().len(), 64);
    hosted.cache("sessions").unwrap();
    assert!(!folder.path().join("data").exists());
}

#[cfg(unix)]
#[test]
fn keys_that_others_can_read_are_refused_with_the_command_that_mends_it() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let hosted = hosted_in(folder.path(), |_| ());
    hosted.keys().unwrap();
    for (mode, is_fine) in [(0o600, true), (0o640, true), (0o644, false), (0o660, false)] {
        std::fs::set_permissions(folder.path().join("secret"), std::fs::Permissions::from_mode(mode)).unwrap();
        let keys = hosted.keys();
        assert_eq!(keys.is_ok(), is_fine, "{mode:o}");
        let told = keys.is_err_and(|error| error.to_string().contains("chmod 600"));
        assert_eq!(told, !is_fine, "{mode:o}");
    }
}

/// A database of a component, in a folder with another file.
fn hosted() -> (tempfile::TempDir, Database) {
    let folder = tempfile::tempdir().unwrap();
    let database = open(folder.path(), "create table note (text text)").unwrap();
    (folder, database)
}

fn open(folder: &Path, migration: &str) -> Result<Database, String> {
    open_in(&hosted_in(folder, |_| ()), migration)
}

fn open_in(hosted: &Hosted, migration: &str) -> Result<Database, String> {
    hosted.open_database(&[(1, "0001_note.sql".to_owned(), migration.to_owned())], &[], false)
}

fn packed(verb: u8, text: &str) -> Arc<Packed> {
    Arc::new(Packed::new(verb, text.to_owned(), Vec::new()).unwrap())
}

/// Runs it as a request does: here if it can be, else elsewhere.
fn run(database: &Database, text: &str) -> Result<Vec<u8>, String> {
    let packed = packed(0, text);
    match database.local().packed_now(&packed, false) {
        Ok(bytes) => Ok(bytes),
        Err(elsewhere) => now(elsewhere.run(&packed)).0.map_err(|error| error.packed().1),
    }
}

/// What runs it where it may wait.
fn elsewhere(database: &Database, packed: &Packed) -> Elsewhere {
    database.local().packed_now(packed, false).expect_err("it runs elsewhere")
}

/// With work that is done at once, nothing waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut cx) {
            return value;
        }
        std::thread::yield_now();
    }
}

const FOREIGN: &[&str] = &[
    "attach '/tmp/skep-other.sqlite' as other",
    "attach ':memory:' as other",
    "detach main",
    "vacuum into '/tmp/skep-copy.sqlite'",
    "create temp table kept (a)",
    "create table temp.kept (a)",
    "create view temp.kept as select 1",
    "create trigger temp.kept after insert on note begin select 1; end",
    "create temp view kept as select 1",
    "create temp trigger kept after insert on note begin select 1; end",
    "create virtual table temp.kept using fts5(a)",
    "select load_extension('/tmp/skep.so')",
    "pragma hard_heap_limit = 1",
    "pragma soft_heap_limit = 1",
    "pragma busy_timeout = 1000000",
    "pragma query_only = off",
    "pragma foreign_keys = off",
    "pragma locking_mode = exclusive",
    "pragma journal_mode = delete",
    "pragma temp_store = memory",
    "pragma temp_store_directory = '/etc'",
    "pragma writable_schema = on",
    "pragma mmap_size = 1000000000000",
    "pragma cache_size = 1000000000",
    "pragma database_list",
    "pragma user_version = 1",
    "select * from pragma_database_list",
    "select * from pragma_cache_size",
];

#[test]
fn a_statement_stays_within_its_own_database() {
    let (folder, database) = hosted();
    for text in FOREIGN {
        let refused = run(&database, text).expect_err(text);
        let reasons = ["not authorized", "authorization denied", "prohibited"];
        assert!(reasons.iter().any(|reason| refused.contains(reason)), "{text}: {refused}");
        // As what the tables of a program are made by, and as a migration.
        assert!(database.write(|db| db.execute(*text)).is_err(), "{text}");
        let folder = tempfile::tempdir().unwrap();
        assert!(open(folder.path(), text).is_err(), "{text}");
    }
    assert!(!Path::new("/tmp/skep-other.sqlite").exists());
    assert!(!Path::new("/tmp/skep-copy.sqlite").exists());
    let files = std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    assert!(files.into_iter().all(|file| file.starts_with("database.sqlite")));
}

#[test]
fn what_is_its_own_it_may_do() {
    let (_folder, database) = hosted();
    for text in [
        "insert into note values ('a') returning text",
        "create index by_text on note (text)",
        "alter table note add column more integer",
        "create view all_notes as select text from note",
        "create virtual table words using fts5(text, content='note')",
        "create trigger noted after insert on note begin insert into words (rowid, text) values (new.rowid, new.text); end",
        "insert into note (text) values ('bees')",
        "select * from words where words match 'bees'",
        "create virtual table area using rtree(id, low, high)",
        "insert into area values (1, 2, 3)",
        "alter table note rename to notes",
        "analyze",
        "pragma table_info('notes')",
        "pragma user_version",
        "select name from pragma_table_info('notes')",
        "select group_concat(text) over (order by text) from notes group by text",
        "drop table words",
    ] {
        run(&database, text).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
}

#[test]
fn nothing_recurses_deeper_than_the_stack() {
    let (_folder, database) = hosted();
    let pattern = format!("select '{}' like '{}'", "a".repeat(24_000), "%a".repeat(12_000));
    let nested = |depth| format!("select {}1{}", "(".repeat(depth), ")".repeat(depth));
    let selects = |depth| format!("{}select 1{}", "select * from (".repeat(depth), ")".repeat(depth));
    let unions = vec!["select 1"; 50_000].join(" union all ");
    let sums = format!("select 1{}", "+1".repeat(100_000));
    let json = format!("select json('{}')", "[".repeat(500_000));
    // That of a guest's call, without what its own code may have of it.
    let tried = std::thread::Builder::new().stack_size(4 << 20).spawn(move || {
        for text in [pattern, nested(150_000), selects(30_000), unions, sums, json] {
            let refused = run(&database, &text).expect_err(&text[..60]);
            assert!(!refused.is_empty());
        }
    });
    tried.unwrap().join().unwrap();
}

#[test]
fn an_answer_has_a_limit() {
    let (_folder, database) = hosted();
    for text in [
        "select zeroblob(1000000000)",
        "select replace(printf('%1000000d', 1), ' ', printf('%1000d', 1))",
        "with recursive n (i) as (select 1 union all select i + 1 from n) select i, zeroblob(1000000) from n",
    ] {
        let refused = run(&database, text).expect_err(text);
        assert!(refused.contains("too big") || refused.contains("32 MiB"), "{text}: {refused}");
    }
    let long = format!("select 1 -- {}", "x".repeat(1 << 20));
    assert!(Packed::new(0, long, Vec::new()).unwrap_err().to_string().contains("1 MiB"));
}

#[test]
fn more_values_than_a_statement_has_parameters_are_refused_before_they_are_read() {
    let (_folder, database) = hosted();
    let run = |count: u32| {
        let mut values = skep::wire::Writer::with_capacity(0);
        values.u32(count);
        (0..count).for_each(|_| values.u8(0));
        let nulls = Arc::new(Packed::new(0, "select 1".to_owned(), values.finish()).unwrap());
        now(elsewhere(&database, &nulls).run(&nulls)).0.unwrap_err().packed().1
    };
    assert!(run(32_766).contains("32766 were given"), "{}", run(32_766));
    assert!(!run(32_767).contains("were given"), "{}", run(32_767));
}

#[test]
fn arrays_are_not_for_sqlite_and_have_an_end() {
    let (_folder, database) = hosted();
    let run = |elements: &[u8]| {
        let mut values = skep::wire::Writer::with_capacity(0);
        values.u32(1);
        values.u8(6);
        values.bytes(elements);
        let array = Arc::new(Packed::new(0, "select ?".to_owned(), values.finish()).unwrap());
        now(elsewhere(&database, &array).run(&array)).0.unwrap_err().packed().1
    };
    for elements in [vec![], vec![0; 1 << 20]] {
        assert!(run(&elements).contains("SQLite has no arrays"), "{}", run(&elements));
    }
    // One more than may be; an array in an array that has elements; an unknown kind.
    for elements in [vec![0; (1 << 20) + 1], vec![6, 1, 0, 0, 0, 0], vec![7]] {
        assert!(run(&elements).contains("cut off"), "{}", run(&elements));
    }
}

/// A thread that takes one job after the other.
#[derive(Debug)]
struct OneThread(mpsc::Sender<Box<dyn FnOnce() + Send>>);

impl Offload for OneThread {
    fn run(&self, job: Box<dyn FnOnce() + Send>) {
        self.0.send(job).unwrap();
    }
}

#[test]
fn an_abandoned_write_ends() {
    let folder = tempfile::tempdir().unwrap();
    let (jobs, taken) = mpsc::channel::<Box<dyn FnOnce() + Send>>();
    std::thread::spawn(move || taken.into_iter().for_each(|job| job()));
    let hosted = hosted_in(folder.path(), |setup| setup.offload = Arc::new(OneThread(jobs)));
    let database = open_in(&hosted, "create table note (i integer)").unwrap();
    let endless = packed(
        3,
        "insert into note with recursive n (i) as (select 1 union all select 1 from n) select i from n where i > 1",
    );
    {
        let writer = elsewhere(&database, &endless);
        let mut write = pin!(writer.run(&endless));
        let begun = now(poll_fn(|cx| Poll::Ready(write.as_mut().poll(cx).is_pending())));
        assert!(begun);
        // Nothing outside shows how far the statement has come: it is abandoned somewhere in its work.
        std::thread::sleep(Duration::from_millis(20));
    }
    let next = packed(3, "insert into note values (7)");
    assert!(now(elsewhere(&database, &next).run(&next)).0.is_ok());
}

#[test]
fn a_component_declares_no_function_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let error = open(folder.path(), "create table note (text text);\n-- skep: function slug(text) text").unwrap_err();
    let wanted = "migration 0001_note.sql, line 2, declares the function `slug(text) text` of the application, which a component cannot have";
    assert!(error.contains(wanted), "{error}");
}
