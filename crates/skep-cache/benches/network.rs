//! What one read and one write cost over a unix socket: our drivers beside the clients others use, on the same servers.
//!
//! One connection each, values of 160 bytes, 1 000 keys of 36 characters, a runtime of one thread. `one` has one caller who
//! waits for each answer; `64` has 64 tasks on the same connection (a client that cannot share one is left out there). Rounds of all are
//! interleaved, so that what else the machine does falls on each alike; the median of the rounds is shown, and its ratio to the
//! best of the others.
//!
//! Run: `cargo bench -p skep-cache --all-features --bench network`. Needs memcached and redis-server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_memcached::AsciiProtocol;
use fred::interfaces::{ClientLike, KeysInterface};
use skep_cache::driver::{Header, Record, When};
use skep_cache::{Clock, Driver, Memcached, Redis};

#[allow(dead_code)]
#[path = "../tests/backends/process.rs"]
mod process;

use process::Process;

const ROUNDS: usize = 21;
const CALLS: usize = 1_000;
const TASKS: usize = 64;
const VALUE: [u8; 160] = [b'v'; 160];

/// A client that many tasks share.
trait Client: Clone + Send + Sync + 'static {
    fn get(&self, key: &str) -> impl Future<Output = usize> + Send;
    fn set(&self, key: &str) -> impl Future<Output = ()> + Send;
}

struct Ours<D>(Arc<D>);

impl<D> Clone for Ours<D> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<D: Driver> Client for Ours<D> {
    async fn get(&self, key: &str) -> usize {
        let now = Clock::system().now();
        self.0.get(key.as_bytes(), now, |entry| entry.value().len()).await.unwrap().unwrap()
    }

    async fn set(&self, key: &str) {
        let clock = Clock::system();
        let record = Record::new(&Header { version: clock.version(), ..Header::default() }, &[], &VALUE);
        assert!(self.0.set(key.as_bytes(), &record, When::Always, clock.now()).await.unwrap());
    }
}

#[derive(Clone)]
struct RawRedis(redis::aio::MultiplexedConnection);

impl Client for RawRedis {
    async fn get(&self, key: &str) -> usize {
        let value: Vec<u8> = redis::cmd("GET").arg(key).query_async(&mut self.0.clone()).await.unwrap();
        value.len()
    }

    async fn set(&self, key: &str) {
        redis::cmd("SET").arg(key).arg(&VALUE[..]).query_async::<()>(&mut self.0.clone()).await.unwrap();
    }
}

#[derive(Clone)]
struct Fred(fred::clients::Client);

impl Client for Fred {
    async fn get(&self, key: &str) -> usize {
        let value: bytes::Bytes = self.0.get(key).await.unwrap();
        value.len()
    }

    async fn set(&self, key: &str) {
        let () = self.0.set(key, &VALUE[..], None, None, false).await.unwrap();
    }
}

/// One caller at a time: its calls need it alone.
#[derive(Clone)]
struct AsyncMemcached(Arc<tokio::sync::Mutex<async_memcached::Client>>);

impl Client for AsyncMemcached {
    async fn get(&self, key: &str) -> usize {
        self.0.lock().await.get(key).await.unwrap().unwrap().data.unwrap().len()
    }

    async fn set(&self, key: &str) {
        self.0.lock().await.set(key, &VALUE[..], None, None).await.unwrap();
    }
}

/// What was measured of one client: for each kind, a figure per round.
struct Column {
    name: &'static str,
    rounds: [Vec<f64>; 4],
}

const KINDS: [&str; 4] = ["get, one", "set, one", "get, 64", "set, 64"];

impl Column {
    fn new(name: &'static str) -> Self {
        Self { name, rounds: Default::default() }
    }

    #[expect(clippy::cast_precision_loss, reason = "some thousand calls")]
    async fn round(&mut self, client: &impl Client, keys: &Arc<Vec<String>>, shared: bool) {
        let each = |start: Instant, calls: usize| start.elapsed().as_secs_f64() * 1e6 / calls as f64;
        let start = Instant::now();
        for key in &keys[..CALLS] {
            client.set(key).await;
        }
        self.rounds[1].push(each(start, CALLS));
        let start = Instant::now();
        for key in &keys[..CALLS] {
            assert_eq!(client.get(key).await, VALUE.len());
        }
        self.rounds[0].push(each(start, CALLS));
        for (kind, reads) in [(2, true), (3, false)].into_iter().filter(|_| shared) {
            let start = Instant::now();
            let tasks: Vec<_> = (0..TASKS)
                .map(|task| {
                    let (client, keys) = (client.clone(), Arc::clone(keys));
                    tokio::spawn(async move {
                        for call in 0..CALLS / 8 {
                            let key = &keys[(call + 7 * task) % CALLS];
                            if reads { assert_eq!(client.get(key).await, VALUE.len()) } else { client.set(key).await }
                        }
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
            self.rounds[kind].push(each(start, TASKS * (CALLS / 8)));
        }
    }

    fn median(&self, kind: usize) -> Option<f64> {
        let mut rounds = self.rounds[kind].clone();
        rounds.sort_by(f64::total_cmp);
        rounds.get(rounds.len() / 2).copied()
    }
}

/// Shows medians in microseconds, and how many times as fast as the best of the others the first is.
fn show(columns: &[Column]) {
    for (kind, name) in KINDS.iter().enumerate() {
        print!("{name:10}");
        for column in columns {
            match column.median(kind) {
                Some(median) => print!("  {} {median:6.2} us", column.name),
                None => print!("  {}      -   ", column.name),
            }
        }
        let ours = columns[0].median(kind).unwrap_or(f64::NAN);
        let best = columns[1..].iter().filter_map(|column| column.median(kind)).min_by(f64::total_cmp);
        println!("{}", best.map_or(String::new(), |best| format!("  x{:.2}", best / ours)));
    }
}

fn main() {
    let memcached = Process::start("memcached", |folder| {
        ["-s", &folder.join("m.sock").display().to_string(), "-u", "root", "-t", "1"].map(str::to_owned).to_vec()
    });
    let redis = Process::start("redis-server", |folder| {
        let socket = folder.join("r.sock").display().to_string();
        ["--port", "0", "--unixsocket", &socket, "--save", ""].map(str::to_owned).to_vec()
    });
    let (m, r) = (memcached.path("m.sock"), redis.path("r.sock"));
    process::wait_for("memcached", || process::listens_on_path(&m));
    process::wait_for("redis-server", || process::listens_on_path(&r));
    let (m, r) = (m.display().to_string(), r.display().to_string());
    let keys = Arc::new((0..CALLS).map(|n| format!("{n:08x}-0000-4000-8000-{n:012x}")).collect::<Vec<_>>());
    let patience = Duration::from_secs(10);
    process::on_runtime(async {
        let ours_m = Ours(Arc::new(Memcached::builder().server(&*m, 1).timeout(patience).build().unwrap()));
        let peer_m = async_memcached::Client::new(format!("unix://{m}")).await.unwrap();
        let peer_m = AsyncMemcached(Arc::new(tokio::sync::Mutex::new(peer_m)));
        let ours_r = Ours(Arc::new(Redis::builder(format!("unix://{r}")).timeout(patience).build().unwrap()));
        let raw = redis::Client::open(format!("unix://{r}")).unwrap();
        let raw = RawRedis(raw.get_multiplexed_async_connection().await.unwrap());
        let config = fred::types::config::Config::from_url(&format!("redis+unix://{r}")).unwrap();
        let fred = Fred(fred::types::Builder::from_config(config).build().unwrap());
        fred.0.init().await.unwrap();
        let mut on_memcached = [Column::new("skep-cache"), Column::new("async-memcached")];
        let mut on_redis = [Column::new("skep-cache"), Column::new("redis"), Column::new("fred")];
        for _ in 0..ROUNDS {
            on_memcached[0].round(&ours_m, &keys, true).await;
            on_memcached[1].round(&peer_m, &keys, false).await;
            on_redis[0].round(&ours_r, &keys, true).await;
            on_redis[1].round(&raw, &keys, true).await;
            on_redis[2].round(&fred, &keys, true).await;
        }
        println!("memcached");
        show(&on_memcached);
        println!("Redis");
        show(&on_redis);
    });
}
