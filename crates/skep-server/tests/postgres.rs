//! What clients of a whole server see of a PostgreSQL that is ended, restarted, full, or asked by somebody who leaves:
//! the right answer, or a 503 with its id, and never silence: `cargo xtask test external`.
//!
//! This executable is both the tests and the application under test, which it is when [`APPLICATION`] is its first
//! argument.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use libtest_mimic::{Arguments, Trial};
use skep::prelude::*;
use skep::sql::{Migration, Migrations, query};
use skep_client::{exchange, wait_until};
use skep_cluster::Cluster;
use skep_drill::{APPLICATION, Server, Subject, folder};

fn main() -> ExitCode {
    if std::env::args().nth(1).is_some_and(|first| first == APPLICATION) {
        return skep_server::Server::new(application).run_with(std::env::args_os().skip(2));
    }
    let tests: [(&str, fn()); 2] = [
        (
            "a_postgres_that_goes_costs_no_wrong_answer_and_no_silence",
            a_postgres_that_goes_costs_no_wrong_answer_and_no_silence,
        ),
        (
            "a_postgres_without_connections_costs_no_wrong_answer_and_no_silence",
            a_postgres_without_connections_costs_no_wrong_answer_and_no_silence,
        ),
    ];
    let trial = |(name, test): (_, fn())| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
        .with_ignored_flag(true)
    };
    libtest_mimic::run(&Arguments::from_args(), tests.map(trial).into()).exit_code()
}

fn application() -> App {
    skep_drill::application().database(MIGRATIONS).serve(services![Look, Count, Wait, End])
}

const MIGRATIONS: Migrations = Migrations::new(&[]).with_postgres(&Migrations::new(&[Migration::new(
    1,
    "0001_counted.sql",
    "create table counted (key bigint primary key, value text not null, count bigint not null default 0, twice bigint not null default 0);
     insert into counted select a, 'value of ' || a from generate_series(0, 99) a;",
)]));

/// A row, by its key.
#[derive(Service)]
#[service(GET "/counted/{key}")]
struct Look {
    key: i64,
}

impl Handle for Look {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let value = cx.db().one::<String>(query("select value from counted where key = ?", self.key)).await?;
        Ok(Response::text(value.unwrap_or_default()))
    }
}

/// Counts up twice, in a transaction.
#[derive(Service)]
#[service(POST "/counted/{key}")]
struct Count {
    key: i64,
}

impl Handle for Count {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let add =
            || query("update counted set count = count + 1, twice = twice + 1 where key = ? returning value", self.key);
        let db = cx.transaction().await?;
        db.one::<String>(add()).await?;
        let value = db.one::<String>(add()).await?;
        Ok(Response::text(value.unwrap_or_default()))
    }
}

/// A read that most clients leave before its end.
#[derive(Service)]
#[service(GET "/counted/{key}/slow")]
struct Wait {
    key: i64,
}

impl Handle for Wait {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let slow = query("select 'value of ' || ?::bigint from pg_sleep(0.2)", self.key);
        Ok(Response::text(cx.db().one::<String>(slow).await?.unwrap_or_default()))
    }
}

/// Ends all backends but its own.
#[derive(Service)]
#[service(POST "/backends/end")]
struct End;

impl Handle for End {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let end = "select count(pg_terminate_backend(pid)) from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid()";
        Ok(Response::text(cx.db().one::<i64>(end).await?.unwrap_or_default().to_string()))
    }
}

const CLIENTS: usize = 24;

/// `database_timeout` of the server. Beside it, requests wait for nothing that takes seconds.
const LIMIT: &str = "3s";
const SILENCE: Duration = Duration::from_secs(12);

#[derive(Default)]
struct Tally {
    right: AtomicUsize,
    refused: AtomicUsize,
    left: AtomicUsize,
    is_over: AtomicBool,
}

impl Tally {
    fn right(&self) -> usize {
        self.right.load(Ordering::Relaxed)
    }

    fn refused(&self) -> usize {
        self.refused.load(Ordering::Relaxed)
    }
}

/// A request of a program that reads the id of a failure.
fn request(method: &str, path: &str) -> Vec<u8> {
    let head = format!("{method} {path} HTTP/1.1\r\nhost: x\r\naccept: application/json\r\n");
    format!("{head}sec-fetch-site: same-origin\r\ncontent-length: 0\r\n\r\n").into_bytes()
}

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(SILENCE)).unwrap();
    stream
}

/// Asks until the test is over, on a connection that stays if the server keeps it.
fn client(server: &Server, tally: &Tally, number: usize) {
    let mut stream = connect(server);
    let mut round = number;
    while !tally.is_over.load(Ordering::Relaxed) {
        round += 1;
        let key = (round * (2 * number + 1)) % 100;
        if round.is_multiple_of(20) {
            // This one leaves.
            let mut leaving = connect(server);
            leaving.write_all(&request("GET", &format!("/counted/{key}/slow"))).unwrap();
            leaving.set_read_timeout(Some(Duration::from_millis(key as u64 + 1))).unwrap();
            let read = leaving.read(&mut [0; 16]);
            assert!(read.as_ref().is_ok_and(|&read| read > 0) || is_waiting(&read), "{read:?}");
            tally.left.fetch_add(1, Ordering::Relaxed);
        }
        let method = if round.is_multiple_of(4) { "POST" } else { "GET" };
        let asked = request(method, &format!("/counted/{key}"));
        let answer = exchange(&mut stream, &asked, false, SILENCE).unwrap_or_else(|error| panic!("key {key}: {error}"));
        judge(&answer, key, tally);
        if !answer.keeps {
            stream = connect(server);
        }
    }
}

fn is_waiting(read: &std::io::Result<usize>) -> bool {
    read.as_ref().is_err_and(|error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut))
}

fn judge(answer: &skep_client::Response, key: usize, tally: &Tally) {
    let body = String::from_utf8_lossy(&answer.body);
    match answer.status {
        200 => {
            assert_eq!(body, format!("value of {key}"));
            tally.right.fetch_add(1, Ordering::Relaxed);
        }
        503 | 504 => {
            assert!(body.contains(r#""id":""#), "a failure has an id: {body}");
            tally.refused.fetch_add(1, Ordering::Relaxed);
            // As a client does that is to come again later.
            thread::sleep(Duration::from_millis(5));
        }
        status => panic!("{status}: {body}"),
    }
}

fn becomes(what: &str, is_so: impl Fn() -> bool) {
    wait_until(|| what.to_owned(), is_so);
}

fn start(cluster: &Cluster, model: &str) -> Server {
    let database = format!("database={}", cluster.address());
    let limit = format!("database_timeout={LIMIT}");
    let arguments = [
        "--mpm",
        model,
        "--workers",
        "2",
        "--set",
        "max_workers=8",
        "--set",
        "concurrency=8",
        "--set",
        &database,
        "--set",
        &limit,
    ];
    Server::start_in(&Subject::ours().unwrap(), folder().unwrap(), &arguments).unwrap()
}

/// Runs `faults` beside clients. When all is over, each transaction was done whole or not at all.
fn beside_clients(cluster: &mut Cluster, server: &Server, faults: impl FnOnce(&mut Cluster, &Tally)) -> Tally {
    let tally = Tally::default();
    thread::scope(|scope| {
        // Also if a fault goes wrong, or the clients would go on for ever.
        let _over = Over(&tally);
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                scope.spawn({
                    let tally = &tally;
                    move || client(server, tally, number)
                })
            })
            .collect();
        becomes("clients are answered", || tally.right() > 200);
        faults(cluster, &tally);
        tally.is_over.store(true, Ordering::Relaxed);
        for client in clients {
            // With its message: the test says what the client met.
            client.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    });
    tally
}

struct Over<'t>(&'t Tally);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Relaxed);
    }
}

fn a_postgres_that_goes_costs_no_wrong_answer_and_no_silence() {
    for model in ["thread", "prefork"] {
        let mut cluster = Cluster::start();
        let server = start(&cluster, model);
        let tally = beside_clients(&mut cluster, &server, |cluster, tally| {
            let mut killer = connect(&server);
            for _ in 0..10 {
                let ended = exchange(&mut killer, &request("POST", "/backends/end"), false, SILENCE).unwrap();
                assert!([200, 503].contains(&ended.status), "{ended:?}");
                if !ended.keeps {
                    killer = connect(&server);
                }
                let right = tally.right();
                becomes("clients are answered again", || tally.right() > right + 50);
            }
            let right = tally.right();
            becomes("clients are answered in spite of ended backends", || tally.right() > right + 200);
            for _ in 0..2 {
                cluster.stop();
                let refused = tally.refused();
                becomes("clients are refused", || tally.refused() > refused + 100);
                cluster.start_again();
                let right = tally.right();
                becomes("clients are answered again", || tally.right() > right + 200);
            }
        });
        let (right, refused, left) = (tally.right(), tally.refused(), tally.left.load(Ordering::Relaxed));
        assert!(!server.errors().contains("cannot invalidate"), "{}", server.errors());
        println!("{model}: {right} right, {refused} refused, {left} clients left");
        assert!(left > 0);
    }
}

fn a_postgres_without_connections_costs_no_wrong_answer_and_no_silence() {
    let mut cluster = Cluster::with(&["max_connections=6", "superuser_reserved_connections=0"]);
    let server = start(&cluster, "thread");
    let tally = beside_clients(&mut cluster, &server, |_, tally| {
        let right = tally.right();
        becomes("clients are answered", || tally.right() > right + 1000);
    });
    println!("{} right, {} refused", tally.right(), tally.refused());
}
