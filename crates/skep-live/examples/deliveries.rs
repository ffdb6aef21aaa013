//! What topics cost on SQLite, on a server in this process: one message to many event streams, in deliveries per second
//! of processor time of the server's threads, and the time from the begin of a commit to each delivery.
//!
//! Not measured: several processes, PostgreSQL, a network, slow readers. The readers are in this process, too, and take
//! processor time of their own, which is left out of the figure per core. Run:
//! `cargo run --release -p skep-live --example deliveries`.

#![allow(clippy::cast_precision_loss, reason = "figures for people")]

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use skep::prelude::*;
use skep::sql::Migrations;
use skep_live::prelude::*;

const SUBSCRIBERS: usize = 2_000;
const MESSAGES: u64 = 200;

/// Numbers.
const NEWS: Topic<u64> = Topic::new("news");

/// When the last message was committed, in nanoseconds since [`start`].
static COMMITTED: AtomicU64 = AtomicU64::new(0);

fn now() -> u64 {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    u64::try_from(START.get_or_init(Instant::now).elapsed().as_nanos()).unwrap_or(u64::MAX)
}

#[derive(Service)]
#[service(GET "/news")]
struct News;

impl Handle for News {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        NEWS.events(cx, "all", None).await
    }
}

#[derive(Service)]
#[service(POST "/news/{number}")]
struct Publish {
    number: u64,
}

impl Handle for Publish {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let db = cx.db().transaction().await?;
        NEWS.publish_in(&db, cx, "all", &self.number).await?;
        COMMITTED.store(now(), Ordering::SeqCst);
        db.commit().await?;
        Ok(Response::text("published"))
    }
}

fn post(address: &str, path: &str) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(address)?;
    let head = "Sec-Fetch-Site: same-origin\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    write!(stream, "POST {path} HTTP/1.1\r\nHost: {address}\r\n{head}")?;
    stream.read_to_end(&mut Vec::new()).map(drop)
}

fn subscribe(address: &str) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET /news HTTP/1.1\r\nHost: {address}\r\n\r\n")?;
    let mut text = Vec::new();
    // It hears from here on.
    while !text.windows(4).any(|part| part == b"id: ") {
        let mut bytes = [0; 1024];
        let count = stream.read(&mut bytes)?;
        text.extend_from_slice(&bytes[..count]);
    }
    stream.set_nonblocking(true)?;
    Ok(stream)
}

/// Reads until each stream has the next event, and notes when.
fn take(streams: &mut [TcpStream], times: &mut Histogram<u64>) -> std::io::Result<()> {
    let mut waiting: Vec<&mut TcpStream> = streams.iter_mut().collect();
    while !waiting.is_empty() {
        let mut failed = Ok(());
        waiting.retain_mut(|stream| match stream.read(&mut [0; 1024]) {
            Ok(count) if count > 0 => {
                times.saturating_record(now().saturating_sub(COMMITTED.load(Ordering::SeqCst)));
                false
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => true,
            other => {
                failed = other.map(drop).and(Err(ErrorKind::UnexpectedEof.into()));
                false
            }
        });
        failed?;
        thread::yield_now();
    }
    Ok(())
}

/// Processor time of the threads of this process whose name does not begin with `cost`: those of the server.
fn server_time() -> std::io::Result<Duration> {
    let mut total = Duration::ZERO;
    for task in std::fs::read_dir("/proc/self/task")? {
        let folder = task?.path();
        let name = std::fs::read_to_string(folder.join("comm"))?;
        let stat = std::fs::read_to_string(folder.join("schedstat"))?;
        if !name.starts_with("cost") {
            let nanoseconds = stat.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or_default();
            total += Duration::from_nanos(nanoseconds);
        }
    }
    Ok(total)
}

fn app() -> App {
    App::new().database(Migrations::NONE).serve(services![News, Publish]).topics(Topics::new())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = tempfile::tempdir()?;
    let settings =
        ["log.access=false", "supervise=false", "limits.connections=20000", "limits.connections_per_address=20000"];
    let settings = settings.into_iter().flat_map(|setting| ["--set", setting]);
    let arguments = ["--listen", "127.0.0.1:0"].into_iter().chain(settings).chain(["--data"]).map(Into::into);
    let arguments = arguments.chain([data.path().as_os_str().to_owned()]);
    let server = skep_server::Server::new(app).arguments(arguments).allow_unmounted_services().start()?;
    let address = server.urls()[0].trim_start_matches("http://").to_owned();
    let mut streams = (0..SUBSCRIBERS).map(|_| subscribe(&address)).collect::<Result<Vec<_>, _>>()?;
    let mut times = Histogram::<u64>::new_with_bounds(1, 60_000_000_000, 3)?;
    let before = server_time()?;
    let begun = Instant::now();
    for number in 0..MESSAGES {
        post(&address, &format!("/news/{number}"))?;
        take(&mut streams, &mut times)?;
    }
    let (wall, time) = (begun.elapsed(), server_time()?.saturating_sub(before));
    let deliveries = SUBSCRIBERS as f64 * MESSAGES as f64;
    println!(
        "{SUBSCRIBERS} subscribers, {MESSAGES} messages: {:.0} deliveries a second of the server's processor time, {:.0} of the clock",
        deliveries / time.as_secs_f64(),
        deliveries / wall.as_secs_f64()
    );
    let at = |quantile| times.value_at_quantile(quantile) as f64 / 1e6;
    println!("commit to delivery: p50 {:.2} ms, p99 {:.2} ms, last {:.2} ms", at(0.5), at(0.99), at(1.0));
    server.stop();
    Ok(())
}
