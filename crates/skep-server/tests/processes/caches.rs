//! Sessions and caches of running servers: several processes on one file, machines on one Redis, connections after a
//! fork.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use skep::cache::{EntryPolicy, PublicPage, SharedCx, Store};
use skep::prelude::*;
use skep::session::Key;
use skep::sql::{Migrations, Query, migrations};
use skep_drill::{descendants, is_there, kill, wait_until};

use super::Test;
use super::server::{Server, deploy, folder};

/// Those that start Redis or memcached: only `cargo xtask test --all` runs them.
pub(crate) const NEED_A_BACKEND: &[&str] = &[
    "machines_share_their_sessions_on_redis",
    "machines_share_their_counts_on_redis",
    "forked_processes_have_connections_of_their_own",
    "machines_share_their_pages_on_redis",
    "no_page_of_a_machine_is_older_than_what_was_committed",
    "no_page_of_its_own_process_is_older_than_what_was_committed",
    "a_server_of_caches_that_dies_costs_time_and_no_page",
];

pub(crate) const TESTS: &[Test] = &[
    ("sessions_of_many_processes_are_in_one_file", sessions_of_many_processes_are_in_one_file),
    ("machines_share_their_sessions_on_redis", machines_share_their_sessions_on_redis),
    ("a_file_holds_sessions_up_to_the_limit", a_file_holds_sessions_up_to_the_limit),
    ("forked_processes_have_connections_of_their_own", forked_processes_have_connections_of_their_own),
    ("what_is_kept_by_default_is_in_no_folder", what_is_kept_by_default_is_in_no_folder),
    ("machines_share_their_pages_on_redis", machines_share_their_pages_on_redis),
    ("no_page_is_older_than_what_was_committed", no_page_is_older_than_what_was_committed),
    ("no_page_of_a_machine_is_older_than_what_was_committed", no_page_of_a_machine_is_older_than_what_was_committed),
    (
        "no_page_of_its_own_process_is_older_than_what_was_committed",
        no_page_of_its_own_process_is_older_than_what_was_committed,
    ),
    ("a_server_of_caches_that_dies_costs_time_and_no_page", a_server_of_caches_that_dies_costs_time_and_no_page),
];

const NAME: Key<String> = Key::new("name");
const VISITS: Key<u32> = Key::new("visits");
pub(crate) const NOTES: Store<str, String> = Store::new("notes");
pub(crate) const MARKS: Store<str, String> = Store::new("marks");

pub(crate) const TALLIES: Migrations = migrations!("tests/processes/migrations");

/// What a server of these tests can do beside the others.
pub(crate) const SERVICES: skep::Services =
    skep::services![Visit, Who, LogIn, LogOutEverywhere, Made, Change, Note, Noted, Tally, Count];

/// What is configured is asked while the application is initialised: with `prefork`, on connections that no copy of
/// that process may use.
pub(crate) fn ask_before_the_fork(site: &skep::Site) -> Result<()> {
    site.invalidate("start-up")
}

/// Counts up in the session; the count, and the process.
#[derive(Service)]
#[service(POST "/session/visit")]
pub(crate) struct Visit;

impl Handle for Visit {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let visits = cx.session().update(&VISITS, |visits| visits.unwrap_or(0) + 1).await?;
        Ok(Response::text(format!("{visits} {}", std::process::id())))
    }
}

#[derive(Service)]
#[service(GET "/session/who")]
pub(crate) struct Who;

impl Handle for Who {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let session = cx.session();
        let (name, visits) = (session.get(&NAME).await?, session.get(&VISITS).await?);
        Ok(Response::text(format!("{} {}", name.as_deref().unwrap_or("-"), visits.unwrap_or(0))))
    }
}

#[derive(Service)]
#[service(POST "/session/log-in/{name}")]
pub(crate) struct LogIn {
    name: String,
}

impl Handle for LogIn {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.session().renew().await?;
        cx.session().belongs_to(&self.name).await?;
        cx.session().set(&NAME, &self.name).await?;
        Ok(Response::text("welcome"))
    }
}

#[derive(Service)]
#[service(POST "/session/log-out-everywhere/{name}")]
pub(crate) struct LogOutEverywhere {
    name: String,
}

impl Handle for LogOutEverywhere {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.session().end_all(&self.name).await?;
        Ok(Response::text("good bye"))
    }
}

/// Another text each time that it is made, in whichever process.
#[derive(Service)]
#[service(GET "/cached/{name}")]
pub(crate) struct Made {
    name: String,
}

static MADE: AtomicU64 = AtomicU64::new(0);

impl PublicPage for Made {
    fn policy(&self) -> EntryPolicy {
        EntryPolicy::new(Duration::from_hours(1)).tag(&self.name)
    }

    async fn page(&self, _cx: &SharedCx<'_>) -> Result {
        Ok(Response::text(format!("{} {}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed))))
    }
}

/// Invalidates a page of [`Made`].
#[derive(Service)]
#[service(POST "/cached/{name}")]
pub(crate) struct Change {
    name: String,
}

impl Handle for Change {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.invalidate(&self.name).await?;
        Ok(Response::text("changed"))
    }
}

/// Keeps a value, in two caches; the process.
#[derive(Service)]
#[service(POST "/note/{name}/{text}")]
pub(crate) struct Note {
    name: String,
    text: String,
}

impl Handle for Note {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.cache(&NOTES).set(self.name.as_str(), &self.text).await?;
        cx.cache(&MARKS).set(self.name.as_str(), &self.text).await?;
        Ok(Response::text(std::process::id().to_string()))
    }
}

/// What was kept, and the process.
#[derive(Service)]
#[service(GET "/note/{name}")]
pub(crate) struct Noted {
    name: String,
}

impl Handle for Noted {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let text = cx.cache(&NOTES).get(self.name.as_str()).await?;
        assert_eq!(text, cx.cache(&MARKS).get(self.name.as_str()).await?);
        Ok(Response::text(format!("{} {}", text.as_deref().unwrap_or("-"), std::process::id())))
    }
}

/// The value, which process made the page, and a number of that.
#[derive(Service)]
#[service(GET "/tally/{second}/{id}")]
pub(crate) struct Tally {
    second: bool,
    id: i64,
}

impl PublicPage for Tally {
    fn policy(&self) -> EntryPolicy {
        EntryPolicy::new(Duration::from_hours(1))
    }

    async fn page(&self, cx: &SharedCx<'_>) -> Result {
        let select = skep::sql!(in "tests/processes/migrations"; i64,
            "select value from"
            {match self.second: false => "first_tally", true => "second_tally"}
            "where id = ?",
            self.id
        );
        let value = cx.db().one(select).await?.or_404()?;
        Ok(Response::text(format!("{value} {} {}", MADE.fetch_add(1, Ordering::Relaxed), std::process::id())))
    }
}

/// Counts up, by itself or in the request's transaction; the new value.
#[derive(Service)]
#[service(POST "/tally/{second}/{id}")]
pub(crate) struct Count {
    second: bool,
    id: i64,
    #[query]
    transaction: Option<bool>,
}

impl Handle for Count {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let update: Query<'_, i64> = skep::sql!(in "tests/processes/migrations"; i64,
            "update"
            {match self.second: false => "first_tally", true => "second_tally"}
            "set value = value + 1 where id = ? returning value",
            self.id
        );
        let value = match self.transaction {
            Some(true) => cx.transaction().await?.one(update).await?,
            _ => cx.db().one(update).await?,
        };
        Ok(Response::text(value.or_404()?.to_string()))
    }
}

/// redis-server or memcached, on a socket in a folder of its own; it ends with this.
pub(crate) struct Backend {
    child: Child,
    pub(crate) socket: PathBuf,
}

impl Backend {
    pub(crate) fn redis() -> Self {
        let folder = folder();
        let socket = folder.join("r.sock");
        let mut command = Command::new("redis-server");
        command.args(["--port", "0", "--save", "", "--unixsocket"]).arg(&socket);
        Self::start(command, socket)
    }

    fn memcached() -> Self {
        let folder = folder();
        let socket = folder.join("m.sock");
        let mut command = Command::new("memcached");
        command.args(["-u", "root", "-t", "1", "-U", "0", "-s"]).arg(&socket);
        Self::start(command, socket)
    }

    fn start(mut command: Command, socket: PathBuf) -> Self {
        command.current_dir(socket.parent().unwrap()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().expect("it is installed: `cargo xtask setup` does so");
        let backend = Self { child, socket };
        let listens = || UnixStream::connect(&backend.socket).is_ok();
        wait_until(|| format!("nobody listens on {}", backend.socket.display()), listens);
        backend
    }

    /// How many connections it has, beside the one that asks.
    fn connections(&self, question: &str, field: &str) -> usize {
        let mut stream = UnixStream::connect(&self.socket).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        stream.write_all(question.as_bytes()).unwrap();
        let (mut said, mut buffer) = (String::new(), [0; 4096]);
        loop {
            if let Some(number) = said.split(field).nth(1).and_then(|rest| rest.split_once('\r')) {
                return number.0.trim().parse::<usize>().unwrap() - 1;
            }
            let read = stream.read(&mut buffer).unwrap();
            assert!(read > 0, "{field:?} is not in {said:?}");
            said.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
        }
    }

    fn of_redis(&self) -> usize {
        self.connections("INFO clients\r\n", "connected_clients:")
    }

    fn of_memcached(&self) -> usize {
        self.connections("stats\r\n", "STAT curr_connections ")
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(self.socket.parent().unwrap());
    }
}

/// A server with this in its skep.toml.
fn serve(toml: &str, arguments: &[&str]) -> Server {
    let folder = folder();
    fs::write(folder.join("skep.toml"), toml).unwrap();
    Server::start_in(folder, arguments)
}

/// Who keeps a cookie.
#[derive(Clone, Default)]
pub(crate) struct Browser {
    cookie: String,
}

impl Browser {
    fn ask(&mut self, server: &Server, method: &str, path: &str) -> io::Result<String> {
        let mut stream = TcpStream::connect(&server.address)?;
        stream.set_read_timeout(Some(Duration::from_secs(20)))?;
        let cookie = if self.cookie.is_empty() { String::new() } else { format!("Cookie: {}\r\n", self.cookie) };
        let from = "Sec-Fetch-Site: same-origin\r\nContent-Length: 0\r\nConnection: close\r\n";
        stream.write_all(format!("{method} {path} HTTP/1.1\r\nHost: x\r\n{cookie}{from}\r\n").as_bytes())?;
        let mut all = String::new();
        stream.read_to_string(&mut all)?;
        let (head, body) = all.split_once("\r\n\r\n").ok_or_else(|| io::Error::other(format!("cut: {all:?}")))?;
        if !head.starts_with("HTTP/1.1 200") {
            return Err(io::Error::other(head.lines().next().unwrap_or_default().to_owned()));
        }
        let set =
            head.lines().find_map(|line| line.to_ascii_lowercase().starts_with("set-cookie: ").then(|| &line[12..]));
        if let Some(set) = set {
            set.split(';').next().unwrap().clone_into(&mut self.cookie);
        }
        Ok(body.to_owned())
    }

    fn get(&mut self, server: &Server, path: &str) -> String {
        self.ask(server, "GET", path).unwrap_or_else(|error| panic!("GET {path}: {error}; {}", server.errors()))
    }

    pub(crate) fn post(&mut self, server: &Server, path: &str) -> String {
        self.ask(server, "POST", path).unwrap_or_else(|error| panic!("POST {path}: {error}; {}", server.errors()))
    }
}

fn process(answer: &str) -> i32 {
    answer.rsplit(' ').next().unwrap().parse().unwrap()
}

/// Sends visits from `clients` clients at a time in one session, and none is lost. Returns the processes that took
/// part.
fn visit_from_many(server: &Server, browser: &Browser, clients: usize, each: usize) -> HashSet<i32> {
    thread::scope(|threads| {
        let visit = || {
            let mut browser = browser.clone();
            (0..each).map(|_| process(&browser.post(server, "/session/visit"))).collect::<Vec<_>>()
        };
        let all: Vec<_> = (0..clients).map(|_| threads.spawn(visit)).collect();
        all.into_iter().flat_map(|client| client.join().unwrap()).collect()
    })
}

fn sessions_of_many_processes_are_in_one_file() {
    for each in ["0", "1"] {
        let requests = format!("requests_per_worker={each}");
        let arguments = ["--mpm", "prefork", "--workers", "3", "--set", "max_workers=4", "--set", &requests];
        let folder = folder();
        let data = format!("data={}", folder.join("data").display());
        let mut server = Server::start(&[&arguments[..], &["--set", &data]].concat());
        let (mut ann, mut bob) = (Browser::default(), Browser::default());
        ann.post(&server, "/session/log-in/ann");
        bob.post(&server, "/session/log-in/bob");
        let processes = visit_from_many(&server, &ann, 4, 8);
        assert!(processes.len() >= if each == "1" { 32 } else { 2 }, "{requests}: {processes:?}");
        assert_eq!(ann.get(&server, "/session/who"), "ann 32", "{requests}");
        assert_eq!(bob.get(&server, "/session/who"), "bob 0", "{requests}");
        // One of them dies while it writes, or soon after; all that was answered is there.
        for _ in 0..5 {
            let victim = process(&ann.post(&server, "/session/visit"));
            kill(victim, Signal::KILL);
            server.wait_until("it is gone", |_| !is_there(victim));
        }
        assert_eq!(ann.get(&server, "/session/who"), "ann 37", "{requests}");
        drop(server);
        // Threads of another process, after a restart.
        let server = Server::start(&["--workers", "2", "--set", &data]);
        assert_eq!(ann.get(&server, "/session/who"), "ann 37", "{requests}");
        visit_from_many(&server, &ann, 4, 8);
        assert_eq!(ann.get(&server, "/session/who"), "ann 69", "{requests}");
        ann.post(&server, "/session/log-out-everywhere/ann");
        assert_eq!((&*ann.get(&server, "/session/who"), &*bob.get(&server, "/session/who")), ("- 0", "bob 0"));
        drop(server);
        fs::remove_dir_all(folder).unwrap();
    }
}

/// A file that a server makes for itself would stay when that is killed, and nobody would know whose it was.
fn what_is_kept_by_default_is_in_no_folder() {
    for each in ["0", "1"] {
        let requests = format!("requests_per_worker={each}");
        let server = Server::start(&["--mpm", "prefork", "--workers", "2", "--set", &requests]);
        let mut browser = Browser::default();
        let wrote = process(&browser.post(&server, "/note/ann/hello"));
        let start = Instant::now();
        loop {
            let answer = browser.get(&server, "/note/ann");
            assert!(answer.starts_with("hello "), "{requests}: {answer}");
            if process(&answer) != wrote {
                break;
            }
            assert!(start.elapsed() < Duration::from_secs(20), "{requests}: {wrote} answers everything");
        }
        let parent = server.worker();
        let maps: String = descendants(server.pid())
            .into_iter()
            .filter_map(|process| fs::read_to_string(format!("/proc/{process}/maps")).ok())
            .collect();
        let of_parent = fs::read_to_string(format!("/proc/{parent}/maps")).unwrap();
        assert!(of_parent.contains("/memfd:skep-cache"), "{of_parent}");
        let temporary = std::env::temp_dir();
        for place in ["/dev/shm/", "skep-cache-", &format!("{}/", temporary.display())] {
            let wrong = |line: &&str| line.contains("rw-s") && line.contains(place);
            assert_eq!(maps.lines().find(wrong), None, "{requests}");
        }
    }
}

/// One with threads, one with a process for each request: whichever a request comes to, its session is there.
fn machines_share_their_sessions_on_redis() {
    let redis = Backend::redis();
    let toml = format!("[cache.sessions]\ntiers = [\"redis:unix:{}\"]\n", redis.socket.display());
    let threads = serve(&toml, &["--workers", "2"]);
    let processes = serve(
        &toml,
        &["--mpm", "prefork", "--workers", "2", "--set", "max_workers=4", "--set", "requests_per_worker=1"],
    );
    let (mut ann, mut phone, mut bob) = (Browser::default(), Browser::default(), Browser::default());
    ann.post(&threads, "/session/log-in/ann");
    phone.post(&processes, "/session/log-in/ann");
    bob.post(&processes, "/session/log-in/bob");
    assert_eq!((&*ann.get(&processes, "/session/who"), &*bob.get(&threads, "/session/who")), ("ann 0", "bob 0"));
    // Both machines at once, in one session.
    let seen = thread::scope(|both| {
        let here = both.spawn(|| visit_from_many(&threads, &ann, 2, 10));
        let there = visit_from_many(&processes, &ann, 2, 10);
        (here.join().unwrap(), there)
    });
    assert_eq!((seen.0.len(), seen.1.len()), (1, 20), "a process with threads, and one for each request");
    assert_eq!(ann.get(&threads, "/session/who"), "ann 40");
    assert_eq!(ann.get(&processes, "/session/who"), "ann 40");
    phone.post(&processes, "/session/log-out-everywhere/ann");
    assert_eq!((&*ann.get(&threads, "/session/who"), &*bob.get(&threads, "/session/who")), ("- 0", "bob 0"));
    // Without the store nobody is logged out, and nobody is let in.
    drop(redis);
    let refused = bob.ask(&threads, "GET", "/session/who").unwrap_err().to_string();
    assert!(refused.starts_with("HTTP/1.1 503"), "{refused}");
}

fn a_file_holds_sessions_up_to_the_limit() {
    let server = Server::start(&["--mpm", "prefork", "--workers", "2", "--set", "limits.sessions=16"]);
    let mut browsers = vec![Browser::default(); 40];
    for browser in &mut browsers {
        browser.post(&server, "/session/visit");
        // Which one was used last, the file knows to the millisecond.
        thread::sleep(Duration::from_millis(2));
    }
    let kept: Vec<usize> = (0..40).filter(|at| browsers[*at].clone().get(&server, "/session/who") == "- 1").collect();
    // One place has the epoch by which the cache is cleared.
    assert_eq!(kept, (25..40).collect::<Vec<_>>(), "the last ones");
}

/// Start-up work asks the servers before the fork; each process that is forked asks on a connection of its own.
fn forked_processes_have_connections_of_their_own() {
    let (redis, memcached) = (Backend::redis(), Backend::memcached());
    let toml = format!(
        "[cache.pages]\ntiers = [\"memory:1MiB bound=1h\", \"redis:unix:{}\"]\n\
         [cache.notes]\ntiers = [\"memcached:{}\"]\n[cache.marks]\ntiers = [\"redis:unix:{}\"]\n",
        redis.socket.display(),
        memcached.socket.display(),
        redis.socket.display()
    );
    for each in ["0", "1"] {
        let requests = format!("requests_per_worker={each}");
        let server =
            serve(&toml, &["--mpm", "prefork", "--workers", "3", "--set", "max_workers=3", "--set", &requests]);
        let mut anybody = Browser::default();
        let made: HashSet<String> = (0..20).map(|_| anybody.get(&server, "/cached/news")).collect();
        assert_eq!(made.len(), 1, "{requests}: made once for all: {made:?}");
        anybody.post(&server, "/cached/news");
        // Tiers that hold a copy receive the change.
        let before = made.into_iter().next().unwrap();
        let start = Instant::now();
        while (0..10).any(|_| anybody.get(&server, "/cached/news") == before) {
            assert!(start.elapsed() < Duration::from_secs(10), "{requests}: what is old is still shown");
        }
        // Many at a time: an answer that is another's would be seen, were a connection used by two.
        let processes = thread::scope(|threads| {
            let note = |client: usize| {
                let (server, mut browser) = (&server, Browser::default());
                move || {
                    let mut processes = HashSet::new();
                    for round in 0..10 {
                        browser.post(server, &format!("/note/n{client}/text{client}-{round}"));
                        let noted = browser.get(server, &format!("/note/n{client}"));
                        assert!(noted.starts_with(&format!("text{client}-{round} ")), "{noted}");
                        processes.insert(process(&noted));
                    }
                    processes
                }
            };
            let all: Vec<_> = (0..6).map(|client| threads.spawn(note(client))).collect();
            all.into_iter().flat_map(|client| client.join().unwrap()).collect::<HashSet<i32>>()
        });
        if each == "0" {
            assert!(processes.len() > 1, "{processes:?}");
            assert!(memcached.of_memcached() >= processes.len(), "{} connections", memcached.of_memcached());
            assert!(redis.of_redis() >= processes.len(), "{} connections", redis.of_redis());
        } else {
            assert_eq!(processes.len(), 60, "a process for each request");
        }
        assert!(!server.errors().contains("crashed"), "{}", server.errors());
    }
}

fn machines_share_their_pages_on_redis() {
    let redis = Backend::redis();
    let folder = folder();
    // What is kept belongs to a site: machines that share it agree in the folder for data.
    let data = format!("data={}", folder.join("data").display());
    let machine = |number: u32, mpm: &str| {
        let toml = format!(
            "control = \"control{number}\"\n[cache.pages]\ntiers = [\"memory:1MiB bound=1h\", \"redis:unix:{}\"]\n",
            redis.socket.display()
        );
        serve(&toml, &["--mpm", mpm, "--workers", "2", "--set", &data])
    };
    let (one, other) = (machine(1, "thread"), machine(2, "prefork"));
    let mut anybody = Browser::default();
    let made = anybody.get(&one, "/cached/shared");
    assert_eq!(anybody.get(&other, "/cached/shared"), made, "one makes it for both");
    for (teller, hearer) in [(&one, &other), (&other, &one)] {
        let before = anybody.get(teller, "/cached/shared");
        anybody.post(teller, "/cached/shared");
        let start = Instant::now();
        // All processes of the other machine, though time alone would end their copies in an hour.
        while (0..10).any(|_| anybody.get(hearer, "/cached/shared") == before) {
            assert!(start.elapsed() < Duration::from_secs(10), "an invalidated page is still shown");
        }
    }
    drop((one, other));
    fs::remove_dir_all(folder).unwrap();
}

fn a_server_of_caches_that_dies_costs_time_and_no_page() {
    for mpm in ["thread", "prefork"] {
        let redis = Backend::redis();
        let toml = format!("[cache.pages]\ntiers = [\"redis:unix:{}\"]\n", redis.socket.display());
        let server = serve(&toml, &["--mpm", mpm, "--workers", "2"]);
        let mut anybody = Browser::default();
        let first = anybody.get(&server, "/cached/a");
        assert_eq!(anybody.get(&server, "/cached/a"), first);
        drop(redis);
        let made: HashSet<String> = (0..5).map(|_| anybody.get(&server, "/cached/a")).collect();
        assert!(made.len() == 5 && !made.contains(&first), "{mpm}: made again each time: {made:?}");
    }
}

/// A server with a database and these tiers.
pub(crate) fn tallies(data: &Path, toml: &str, arguments: &[&str]) -> Server {
    let folder = folder();
    deploy(&folder.join("app"), "tallies");
    fs::write(folder.join("skep.toml"), format!("data = \"{}\"\n{toml}", data.display())).unwrap();
    Server::start_in(folder, arguments)
}

/// For some time, or as many seconds as `INVALIDATION_SECONDS` says, clients of these servers count up, and others look
/// whether any page shows less than what was answered before they asked, or this long before.
fn count_and_look(servers: &[&Server], time: Duration, lag: Duration) {
    const KEYS: usize = 6;
    let path = |key: usize| format!("/tally/{}/{}", key % 2 == 1, key / 2);
    // What was answered for each key, and when.
    let answered: [Mutex<Vec<(Instant, i64)>>; KEYS] = std::array::from_fn(|_| Mutex::default());
    let latest = |key: usize, until: Instant| {
        let answered = answered[key].lock().unwrap();
        answered.iter().filter(|(at, _)| *at <= until).map(|(_, value)| *value).max().unwrap_or(0)
    };
    let time =
        std::env::var("INVALIDATION_SECONDS").map_or(time, |seconds| Duration::from_secs(seconds.parse().unwrap()));
    let end = Instant::now() + time;
    let count = |mut random: usize| {
        let mut browser = Browser::default();
        while Instant::now() < end {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (key, server) = ((random >> 33) % KEYS, servers[(random >> 40) % servers.len()]);
            let path = format!("{}?transaction={}", path(key), (random >> 50) % 2 == 1);
            let value = browser.post(server, &path).parse().unwrap();
            answered[key].lock().unwrap().push((Instant::now(), value));
            thread::sleep(Duration::from_millis(2));
        }
    };
    let look = |mut random: usize| {
        let (mut browser, mut looked, mut pages) = (Browser::default(), 0, HashSet::new());
        while Instant::now() < end {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let (key, server) = ((random >> 33) % KEYS, servers[(random >> 40) % servers.len()]);
            let floor = Instant::now().checked_sub(lag).map_or(0, |until| latest(key, until));
            let page = browser.get(server, &path(key));
            let value: i64 = page.split(' ').next().unwrap().parse().unwrap();
            assert!(value >= floor, "{page} was served after {floor} was committed");
            looked += 1;
            pages.insert(page);
        }
        (looked, pages.len())
    };
    let (looked, pages) = thread::scope(|threads| {
        let writers: Vec<_> = (0..2).map(|nth| threads.spawn(move || count(nth))).collect();
        let readers: Vec<_> = (5..8).map(|nth| threads.spawn(move || look(nth))).collect();
        for writer in writers {
            writer.join().unwrap();
        }
        let seen = readers.into_iter().map(|reader| reader.join().unwrap());
        seen.fold((0, 0), |sum, seen| (sum.0 + seen.0, sum.1 + seen.1))
    });
    thread::sleep(lag);
    let values: [i64; KEYS] = std::array::from_fn(|key| latest(key, Instant::now()));
    let counted: i64 = values.iter().sum();
    println!("{counted} writes, {looked} reads of {pages} pages in {time:?}");
    assert!(counted > 20 && looked > 20 && pages < looked, "{counted} writes, {looked} reads of {pages} pages");
    // They agree on one page, which is stored.
    for (key, last) in values.into_iter().enumerate() {
        let pages: HashSet<String> =
            (0..12).map(|nth| Browser::default().get(servers[nth % servers.len()], &path(key))).collect();
        assert_eq!(pages.len(), 1, "{pages:?}");
        let value = pages.into_iter().next().unwrap().split(' ').next().unwrap().parse::<i64>().unwrap();
        assert_eq!(value, last);
    }
}

/// Four processes on one cache, and then each with a tier of its own in front.
fn no_page_is_older_than_what_was_committed() {
    let prefork = ["--mpm", "prefork", "--workers", "4", "--set", "max_workers=4", "--set", "requests_per_worker=0"];
    for tiers in ["", "[cache.pages]\ntiers = [\"memory:1MiB\", \"shared:4MiB path=none\"]\n"] {
        let data = folder();
        let server = tallies(&data, tiers, &prefork);
        count_and_look(&[&server], Duration::from_millis(1500), Duration::ZERO);
        drop(server);
        fs::remove_dir_all(data).unwrap();
    }
}

/// One process with two threads on each kind of tiers: it knows its own writes at once, and others later.
fn no_page_of_its_own_process_is_older_than_what_was_committed() {
    let (of_redis, of_memcached, folder_of_file) = (Backend::redis(), Backend::memcached(), folder());
    let redis = format!("redis:unix:{}", of_redis.socket.display());
    let memcached = format!("memcached:{}", of_memcached.socket.display());
    let file = format!("file:16MiB path={}", folder_of_file.display());
    let sqlite = format!("sqlite:{}", folder_of_file.join("cache.db").display());
    for tiers in [vec![&*redis], vec![&*memcached], vec![&*file], vec![&*sqlite], vec!["memory:1MiB", &*redis]] {
        let data = folder();
        let server = tallies(&data, &format!("[cache.pages]\ntiers = {tiers:?}\n"), &["--workers", "2"]);
        count_and_look(&[&server], Duration::from_millis(1500), Duration::ZERO);
        drop(server);
        fs::remove_dir_all(data).unwrap();
    }
    fs::remove_dir_all(folder_of_file).unwrap();
}

/// Two servers with one database and one Redis. Each hears of the other's writes by a message from Redis, and without
/// one after the cache's `invalidation_lag`, which is 1 s; how long a busy machine takes for both is added.
fn no_page_of_a_machine_is_older_than_what_was_committed() {
    let (redis, data) = (Backend::redis(), folder());
    let toml = format!("[cache.pages]\ntiers = [\"redis:unix:{}\"]\n", redis.socket.display());
    let servers = [tallies(&data, &toml, &["--workers", "2"]), tallies(&data, &toml, &["--workers", "2"])];
    count_and_look(&[&servers[0], &servers[1]], Duration::from_secs(4), Duration::from_millis(1500));
    drop(servers);
    fs::remove_dir_all(data).unwrap();
}
