//! Reads from a replica, and what its lag may not do.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use skep::prelude::*;
use skep::sql::{Options, query};
use skep::test::Client;
use skep::{Secret, Setup, Site};
use skep_cluster::Cluster;

use super::MIGRATIONS;

/// A primary and its standby. They end with the process.
fn shared() -> &'static (Cluster, Cluster) {
    static CLUSTERS: OnceLock<(Cluster, Cluster)> = OnceLock::new();
    CLUSTERS.get_or_init(pair)
}

fn pair() -> (Cluster, Cluster) {
    let primary = Cluster::start();
    let standby = primary.standby();
    (primary, standby)
}

/// Pairs, and where they were read.
#[derive(Service)]
#[service(GET "/pairs")]
struct Pairs {
    #[query(default = true)]
    near: bool,
}

impl Handle for Pairs {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let db = if self.near { cx.replica() } else { cx.db().clone() };
        let found: Option<String> = db.one("select pg_is_in_recovery() || ' ' || (select count(*) from pair)").await?;
        Ok(Response::text(found.unwrap_or_default()))
    }
}

#[derive(Service)]
#[service(POST "/pairs/{key}")]
struct Add {
    key: i64,
    #[query(default = false)]
    together: bool,
}

impl Handle for Add {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let insert = "insert into pair values (?, 'x')";
        if self.together {
            cx.transaction().await?.execute(query(insert, self.key)).await?;
            return Ok(Response::text("committed with the response"));
        }
        cx.replica().execute(query(insert, self.key)).await?;
        // What the request itself has written, it reads.
        let found: Option<i64> = cx.replica().one(query("select key from pair where key = ?", self.key)).await?;
        Ok(Response::text(format!("{found:?}")))
    }
}

/// What a replica refuses.
#[derive(Service)]
#[service(GET "/write")]
struct Write;

impl Handle for Write {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let next: Option<i64> = cx.replica().one("select nextval('numbers')").await?;
        Ok(Response::text(format!("{next:?}")))
    }
}

fn app() -> App {
    App::new().serve(services![Pairs, Add, Write]).database(MIGRATIONS)
}

fn site((primary, standby): &(Cluster, Cluster), lag: Duration) -> Arc<Site> {
    let mut setup = Setup::default();
    setup.database = Some(Secret::new(primary.address()));
    setup.temporary_database = true;
    setup.sql = Options::new().replica(Some(standby.address())).replica_lag(lag);
    Arc::new(app().open(setup).unwrap())
}

/// Runs a statement on this server.
fn tell(cluster: &Cluster, text: &str) {
    let mut command = skep_cluster::as_server("psql");
    command.arg("-h").arg(cluster.folder()).args(["-U", "skep", "-d", "postgres", "-qtAc", text]);
    assert!(command.stdout(std::process::Stdio::null()).status().unwrap().success(), "{text}");
}

#[track_caller]
fn until(said: &str, ask: impl Fn() -> String) {
    let begun = Instant::now();
    while ask() != said {
        assert!(begun.elapsed() < Duration::from_secs(30), "{} is not {said}", ask());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
#[ignore = "needs PostgreSQL"]
fn reads_go_to_the_replica_but_for_those_of_ones_own_writes_that_it_lacks() {
    let pair = pair();
    let site = site(&pair, Duration::from_hours(1));
    let (client, stranger) = (Client::of_site(&site), Client::of_site(&site));
    let near = |client: &Client| client.get("/pairs").text().to_owned();
    // Each is on a thread of its own, which connects to the replica when it is asked for it first.
    until("true 0", || near(&client));
    until("true 0", || near(&stranger));
    assert_eq!(client.get("/pairs?near=false").text(), "false 0", "what does not ask for it");
    tell(&pair.1, "select pg_wal_replay_pause()");
    assert_eq!(client.post("/pairs/1", &[]).text(), "Some(1)");
    assert_eq!(near(&client), "false 1", "what one has written");
    assert_eq!(near(&stranger), "true 0", "what others have");
    assert_eq!(client.post("/pairs/2?together=true", &[]).status(), 200);
    assert_eq!((near(&client), near(&stranger)), ("false 2".to_owned(), "true 0".to_owned()));
    tell(&pair.1, "select pg_wal_replay_resume()");
    until("true 2", || near(&client));
    until("true 2", || near(&stranger));
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_replica_that_is_gone_or_far_behind_is_passed_over() {
    let mut pair = pair();
    let site = site(&pair, Duration::from_millis(300));
    let client = Client::of_site(&site);
    let near = || client.get("/pairs").text().to_owned();
    until("true 0", near);
    tell(&pair.1, "select pg_wal_replay_pause()");
    assert_eq!(Client::of_site(&site).post("/pairs/1", &[]).status(), 200);
    until("false 1", near);
    tell(&pair.1, "select pg_wal_replay_resume()");
    until("true 1", near);
    pair.1.stop();
    until("false 1", near);
    pair.1.start_again();
    until("true 1", near);
}

#[test]
#[ignore = "needs PostgreSQL"]
fn what_a_replica_refuses_is_asked_of_the_primary() {
    let client = Client::of_site(&site(shared(), Duration::from_hours(1)));
    until("true 0", || client.get("/pairs").text().to_owned());
    assert_eq!(client.get("/write").status(), 500, "there is no such sequence, which the primary says");
    let cause = client.get("/write").cause().unwrap_or_default().to_owned();
    assert!(cause.contains("\"numbers\" does not exist"), "{cause}");
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_primary_is_no_replica() {
    let (primary, _) = shared();
    let mut setup = Setup::default();
    setup.database = Some(Secret::new(primary.address()));
    setup.temporary_database = true;
    setup.sql = Options::new().replica(Some(primary.address()));
    let client = Client::with_setup(app(), setup);
    for _ in 0..50 {
        assert_eq!(client.get("/pairs").text(), "false 0");
    }
}

#[test]
fn a_wrong_address_is_said_at_the_start() {
    let mut setup = Setup::default();
    setup.database = Some(Secret::new("postgres:///nothing?host=/nowhere".to_owned()));
    setup.sql = Options::new().replica(Some("mysql://secret@db".to_owned()));
    let refused = app().open(setup).map(drop).unwrap_err().to_string();
    assert!(refused.contains("the replica: expected an address such as `postgres://"), "{refused}");
    assert!(!refused.contains("secret"), "{refused}");
    let mut setup = Setup::default();
    setup.database = Some(Secret::new("postgres:///nothing?host=/nowhere".to_owned()));
    setup.sql = Options::new().replica(Some("postgres://one,two/shop".to_owned()));
    let refused = app().open(setup).map(drop).unwrap_err().to_string();
    assert!(refused.contains("expected the address of a replica on one host"), "{refused}");
}
