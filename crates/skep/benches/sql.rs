//! What a list page's query costs: 20 rows of 6 columns from a table of 1000, by an index, inline on the caller's
//! thread.
//!
//! `rusqlite` is the floor: the same statement, cached, into the same struct by position. `inline` is what a handler
//! pays, and `checked` the same with `sql!`. `one_row` is a look-up by key in the same ways. `handed_over` runs the
//! list query on one other thread, which is what each query would cost without the rule. Nothing is rendered, and
//! everything fits into SQLite's page cache. Run: `cargo bench -p skep --bench sql`.

fn main() {
    #[cfg(not(target_family = "wasm"))]
    divan::main();
}

#[cfg(not(target_family = "wasm"))]
mod list {
    use std::pin::pin;
    use std::sync::{Arc, mpsc};
    use std::task::{Context, Poll, Waker};
    use std::time::Duration;

    use divan::Bencher;
    use skep::offload::{Inline, Offload};
    use skep::sql;
    use skep::sql::{Database, Local, Migrations, Options, Row, migrations, query};

    const SCHEMA: Migrations = migrations!("benches/sql");

    const LIST: &str =
        "select id, slug, title, summary, published, comments from post order by published desc limit ? offset ?";
    const ONE: &str = "select id, slug, title, summary, published, comments from post where slug = ?";

    #[derive(Row)]
    #[allow(dead_code, reason = "reading the fields from the database is what is measured")]
    struct Post {
        id: i64,
        slug: String,
        title: String,
        summary: String,
        published: i64,
        comments: i64,
    }

    impl Post {
        fn by_position(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
            Ok(Self {
                id: row.get(0)?,
                slug: row.get(1)?,
                title: row.get(2)?,
                summary: row.get(3)?,
                published: row.get(4)?,
                comments: row.get(5)?,
            })
        }
    }

    fn raw() -> (Database, rusqlite::Connection) {
        let database = Database::temporary(&SCHEMA, Arc::new(Inline)).unwrap();
        let raw = rusqlite::Connection::open(database.path()).unwrap();
        (database, raw)
    }

    #[divan::bench(sample_size = 1000)]
    fn rusqlite(b: Bencher<'_, '_>) {
        let (_database, raw) = raw();
        b.bench_local(|| {
            let mut statement = raw.prepare_cached(LIST).unwrap();
            let rows = statement.query_map((20, 40), Post::by_position).unwrap();
            rows.collect::<rusqlite::Result<Vec<Post>>>().unwrap()
        });
    }

    #[divan::bench(sample_size = 1000)]
    fn inline(b: Bencher<'_, '_>) {
        let database = Database::temporary(&SCHEMA, Arc::new(Inline)).unwrap();
        let local = database.local();
        b.bench_local(|| list(&local));
    }

    #[divan::bench(sample_size = 1000)]
    fn checked(b: Bencher<'_, '_>) {
        let database = Database::temporary(&SCHEMA, Arc::new(Inline)).unwrap();
        let local = database.local();
        b.bench_local(|| {
            let list = sql!(
                in "benches/sql";
                Post,
                "select id, slug, title, summary, published, comments from post order by published desc limit ? offset ?",
                20,
                40
            );
            wait(local.all(list)).unwrap()
        });
    }

    #[divan::bench(sample_size = 1000)]
    fn one_row_rusqlite(b: Bencher<'_, '_>) {
        let (_database, raw) = raw();
        b.bench_local(|| {
            let mut statement = raw.prepare_cached(ONE).unwrap();
            statement.query_one(["post-500"], Post::by_position).unwrap()
        });
    }

    #[divan::bench(sample_size = 1000)]
    fn one_row_inline(b: Bencher<'_, '_>) {
        let database = Database::temporary(&SCHEMA, Arc::new(Inline)).unwrap();
        let local = database.local();
        b.bench_local(|| wait(local.one::<Post>(query(ONE, "post-500"))).unwrap());
    }

    #[divan::bench(sample_size = 1000)]
    fn one_row_checked(b: Bencher<'_, '_>) {
        let database = Database::temporary(&SCHEMA, Arc::new(Inline)).unwrap();
        let local = database.local();
        b.bench_local(|| {
            let one = sql!(
                in "benches/sql";
                Post,
                "select id, slug, title, summary, published, comments from post where slug = ?",
                "post-500"
            );
            wait(local.one(one)).unwrap()
        });
    }

    #[divan::bench(sample_size = 100)]
    fn handed_over(b: Bencher<'_, '_>) {
        let folder = Database::temporary(&SCHEMA, Arc::new(Inline)).unwrap();
        let options = Options::new().inline_budget(Duration::ZERO);
        let database = Database::open(folder.path(), &SCHEMA, options, Arc::new(OneThread::start())).unwrap();
        let local = database.local();
        b.bench_local(|| list(&local));
    }

    fn list(local: &Local) -> Vec<Post> {
        wait(local.all(query(LIST, (20, 40)))).unwrap()
    }

    /// Polls without a runtime; a pending future parks the thread, as a reactor with nothing else to do would.
    fn wait<T>(future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => value,
            Poll::Pending => tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future),
        }
    }

    struct OneThread(mpsc::Sender<Box<dyn FnOnce() + Send>>);

    impl OneThread {
        fn start() -> Self {
            let (sender, jobs) = mpsc::channel::<Box<dyn FnOnce() + Send>>();
            std::thread::spawn(move || jobs.into_iter().for_each(|job| job()));
            Self(sender)
        }
    }

    impl Offload for OneThread {
        fn run(&self, job: Box<dyn FnOnce() + Send>) {
            let _ = self.0.send(job);
        }
    }
}
