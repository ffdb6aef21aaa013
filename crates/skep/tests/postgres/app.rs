//! An application with the setting `database`.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use skep::cache::{EntryPolicy, PublicPage, SharedCx};
use skep::prelude::*;
use skep::sql::query;
use skep::test::{Client, TestResponse};
use skep::{Secret, Setup};
use skep_cluster::Cluster;

use crate::faults::Bomb;
use crate::{MIGRATIONS, shared};

#[derive(Service)]
#[service(GET "/pairs")]
struct Pairs;

impl PublicPage for Pairs {
    fn policy(&self) -> EntryPolicy {
        EntryPolicy::new(Duration::from_hours(1))
    }

    async fn page(&self, cx: &SharedCx<'_>) -> Result {
        let values = cx.db().all::<String>("select value from pair order by key").await?;
        Ok(Response::text(values.join(",")))
    }
}

#[derive(Service)]
#[service(GET "/form")]
struct Page;

impl Handle for Page {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(Response::html(html! { form (Add::form(cx)) { input (Add::key); button { "Add" } } }))
    }
}

/// Accepted once: that is noted in the database.
#[derive(Service)]
#[service(POST "/pairs", page = Page, once = "2h")]
struct Add {
    #[form]
    key: i64,
}

impl Handle for Add {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let db = cx.transaction().await?;
        let insert = query("insert into pair (key, value) values (?, ?)", (self.key, format!("v{}", self.key)));
        match db.execute(insert).await {
            Err(error) if error.is_unique_violation() => return Err(Add::key.refuse("It is there.")),
            outcome => drop(outcome?),
        }
        if self.key < 0 {
            return Err(Error::bad_request("too small"));
        }
        Ok(Response::see_other(Pairs))
    }
}

/// Each of these writes without a number of rows that says so, or with an error or a panic after the write.
#[derive(Service)]
#[service(POST "/write/{how}")]
struct Write {
    how: u8,
}

impl Handle for Write {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let db = cx.db();
        match self.how {
            0 => _ = db.execute("with a as (insert into pair values (1, 'a')) select 1 where false").await?,
            1 => assert!(db.one::<i64>("update pair set value = 'b' returning value").await.is_err()),
            2 => {
                let mut write = pin!(db.one::<Bomb>("update pair set value = 'c' returning value"));
                let polled = poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| write.as_mut().poll(cx))) {
                    Ok(polled) => polled.map(|_| false),
                    Err(_) => Poll::Ready(true),
                });
                assert!(polled.await, "it panics");
            }
            _ => _ = db.execute("truncate pair cascade").await?,
        }
        Ok(Response::text("done"))
    }
}

fn app() -> App {
    App::new().serve(services![Pairs, Page, Add, Write]).database(MIGRATIONS)
}

fn setup(cluster: &Cluster) -> Setup {
    let mut setup = Setup::default();
    setup.database = Some(Secret::new(cluster.address()));
    setup.temporary_database = true;
    setup
}

fn add(page: &TestResponse, key: &str) -> TestResponse {
    page.form::<Add>().set(Add::key, key).submit()
}

#[test]
#[ignore = "needs PostgreSQL"]
fn handlers_forms_and_cached_pages_work_as_on_sqlite() {
    let client = Client::with_setup(app(), setup(shared()));
    assert_eq!(client.get("/pairs").text(), "");
    let page = client.get("/form");
    // The answer to the first, and the same answer to the same form: the page that was kept is made again.
    assert_eq!(add(&page, "1").text(), "v1");
    assert_eq!(add(&page, "1").text(), "v1");
    let refused = add(&client.get("/form"), "1");
    assert_eq!(refused.status(), 422);
    assert!(refused.text().contains("It is there."), "{}", refused.text());
    assert_eq!(add(&client.get("/form"), "-2").status(), 400);
    assert_eq!(client.get("/pairs").text(), "v1", "what failed is undone");
    assert_eq!(add(&client.get("/form"), "2").text(), "v1,v2");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn every_kind_of_write_invalidates_pages() {
    let client = Client::with_setup(app(), setup(shared()));
    for (how, expected) in [(0, "a"), (1, "b"), (2, "c"), (3, "")] {
        assert_eq!(client.get("/pairs").status(), 200);
        assert_eq!(client.post(&format!("/write/{how}"), &[]).status(), 200);
        assert_eq!(client.get("/pairs").text(), expected, "{how}");
    }
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_request_without_a_database_is_a_503_and_the_next_one_with_it_succeeds() {
    let mut cluster = Cluster::start();
    let site = Arc::new(app().open(lasting(&cluster)).unwrap());
    let client = Client::of_site(&site);
    assert_eq!(add(&client.get("/form"), "1").text(), "v1");
    let page = client.get("/form");
    cluster.stop();
    let failed = add(&page, "2");
    assert_eq!((failed.status().as_u16(), failed.header("retry-after")), (503, Some("5")));
    assert!(failed.text().contains("The database does not answer"), "{}", failed.text());
    cluster.start_again();
    let begun = Instant::now();
    let mut again = add(&client.get("/form"), "3");
    while again.status() == 503 {
        assert!(begun.elapsed() < Duration::from_secs(30), "it is not found again: {}", again.text());
        again = add(&client.get("/form"), "3");
    }
    assert_eq!(again.text(), "v1,v3");
}

/// With the database of the address itself: one for tests is dropped at the end, which needs a server that runs.
fn lasting(cluster: &Cluster) -> Setup {
    let mut setup = setup(cluster);
    (setup.data, setup.development) = (tempfile::tempdir().unwrap().keep(), true);
    setup.temporary_database = false;
    setup
}
