//! Whole servers: jobs that run as soon as they are committed, processes that are killed, and servers that end.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use crate::application::{LONG_LEASE, ODD, app, ask, encoded};
use rustix::process::Signal;
use skep::Setup;
use skep::test::Client;
use skep_drill::{Server, Subject, descendants, folder, kill};

crate::tests![
    a_job_starts_with_the_commit,
    a_job_of_another_process_starts_with_the_commit,
    a_queue_runs_as_many_jobs_at_once_as_it_has_slots,
    no_end_of_a_job_keeps_its_slot,
    a_job_whose_process_is_killed_has_its_effect_once,
    a_job_that_kills_its_process_twice_is_a_dead_letter,
    a_job_that_failed_by_a_clock_that_was_ahead_is_tried_again_in_time,
    jobs_of_processes_that_live_shorter_than_a_lease_run_again_at_once,
    jobs_under_a_killer_have_their_effect_exactly_once,
    a_job_that_runs_when_the_server_ends_is_finished,
    a_job_that_takes_longer_than_the_server_waits_runs_again,
    a_new_version_goes_on_with_the_jobs,
    nothing_is_done_while_there_are_no_jobs,
];

/// A supervisor and its workers.
struct Running(Server);

impl Running {
    fn start(arguments: &[&str]) -> Self {
        Self::start_in(folder().unwrap(), arguments)
    }

    fn start_in(folder: std::path::PathBuf, arguments: &[&str]) -> Self {
        Self(Server::start_in(&Subject::ours().unwrap(), folder, arguments).unwrap())
    }

    fn post(&self, path: &str) -> String {
        send(&self.0.address, path)
    }

    fn ask(&self, sql: &str) -> String {
        self.0.get(&format!("/ask?sql={}", encoded(sql))).unwrap_or_default()
    }

    fn count(&self, of: &str) -> u64 {
        self.ask(&format!("select cast(count(*) as text) from {of}")).trim().parse().unwrap_or(u64::MAX)
    }

    fn wait_until(&mut self, what: &str, is_so: impl Fn(&Self) -> bool) {
        skep_drill::wait_until(|| format!("{what}: {}", self.0.errors()), || is_so(self));
    }

    /// The process that runs the application, under the supervisor.
    fn workers(&self) -> Vec<i32> {
        descendants(self.0.pid())
    }
}

/// What a server answers. One that is killed answers nothing, and a test that needs the answer looks at it.
pub(crate) fn send(address: &str, path: &str) -> String {
    exchange(address, &post(address, path))
}

/// What a server answers to this, before it closes. Without a worker, a supervisor lets clients wait.
pub(crate) fn exchange(address: &str, request: &str) -> String {
    exchange_within(address, request, Duration::from_secs(30))
}

pub(crate) fn exchange_within(address: &str, request: &str, time: Duration) -> String {
    let mut answer = String::new();
    let sent = TcpStream::connect(address).and_then(|mut stream| {
        stream.set_read_timeout(Some(time))?;
        stream.write_all(request.as_bytes())?;
        stream.read_to_string(&mut answer)
    });
    drop(sent);
    answer
}

fn post(address: &str, path: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nSec-Fetch-Site: same-origin\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    )
}

fn a_job_starts_with_the_commit() {
    starts_with_the_commit(&[]);
}

/// Workers of prefork run no jobs: another process does.
fn a_job_of_another_process_starts_with_the_commit() {
    starts_with_the_commit(&["--set", "mpm=prefork"]);
}

/// Nobody would look for a minute.
fn starts_with_the_commit(arguments: &[&str]) {
    let mut server = Running::start(arguments);
    for number in 1..=5 {
        let start = Instant::now();
        server.post("/notes/a");
        server.wait_until("the job is done", |server| server.count("effect") == number);
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    }
}

fn a_queue_runs_as_many_jobs_at_once_as_it_has_slots() {
    let mut server = Running::start(&[]);
    for _ in 0..6 {
        server.post("/slow/150");
    }
    server.wait_until("all are done", |server| server.count("run where ended is not null") == 6);
    // How many ran when one began, itself among them.
    let most = "select cast(max((select count(*) from run b where b.began <= a.began and b.ended > a.began)) as text) from run a";
    assert_eq!(server.ask(most).trim(), "2");
}

/// Their queue has one.
fn no_end_of_a_job_keeps_its_slot() {
    let mut server = Running::start(&[]);
    server.post(&format!("/change?sql={}", encoded(ODD)));
    server.post("/notes/look");
    server.wait_until("all have ended", |server| server.count("skep_job where state <> 1 and error is not null") == 5);
}

fn a_job_whose_process_is_killed_has_its_effect_once() {
    let mut server = Running::start(&[]);
    server.post("/kill/false");
    server.wait_until("the job is done", |server| server.count("effect") == 1);
    assert_eq!(server.ask("select note from effect").trim(), "after");
    server.wait_until("it is noted", |server| server.count("skep_job") == 0);
}

fn a_job_that_kills_its_process_twice_is_a_dead_letter() {
    let mut server = Running::start(&[]);
    server.post("/kill/true");
    server.wait_until("it is a dead letter", |server| server.count("skep_job where state = 2 and crashes = 2") == 1);
    // Other jobs run.
    server.post("/notes/a");
    server.wait_until("the other one is done", |server| server.count("effect") == 1);
}

/// What is put off stays so: nobody knows for how long it was.
fn a_job_that_failed_by_a_clock_that_was_ahead_is_tried_again_in_time() {
    let mut server = Running::start(&[]);
    server.post("/notes/fail");
    server.post("/notes/snooze");
    server.wait_until("they have run", |server| server.count("skep_job where at > created and state = 0") == 2);
    server.post(&format!("/change?sql={}", encoded("update skep_job set at = at + 3600000")));
    // Another runner does not know by which clock they wait.
    server.workers().into_iter().for_each(|worker| kill(worker, Signal::KILL));
    let is_late = "at > created + 1800000 and error is";
    server.wait_until("the failed one is due soon", |server| {
        server.count(&format!("skep_job where {is_late} not null")) == 0
    });
    assert_eq!(server.count(&format!("skep_job where {is_late} null")), 1);
}

/// The lease is longer than this test waits. Files of processes that were killed are removed.
fn jobs_of_processes_that_live_shorter_than_a_lease_run_again_at_once() {
    let (subject, place) = (Subject::ours().unwrap(), folder().unwrap());
    // Of a start before, or of another machine.
    std::fs::create_dir_all(place.join("data/jobs.running/other")).unwrap();
    std::fs::write(place.join("data/jobs.running/other/7"), "").unwrap();
    let mut command = subject.command(&place, &["--listen", "127.0.0.1:0", "--set", "log.access=false"]);
    command.env(LONG_LEASE, "");
    let mut server = Running(Server::start_command(&subject, command, place.clone()).unwrap());
    for number in 1..=3 {
        server.post("/kill/false");
        server.wait_until("the job is done", |server| server.count("effect where note = 'after'") == number);
        server.workers().into_iter().for_each(|worker| kill(worker, Signal::KILL));
        server.wait_until("another one is there", |server| server.count("skep_job_runner") == 0);
    }
    // A folder for each start of the kernel.
    let folders = || std::fs::read_dir(place.join("data/jobs.running")).unwrap();
    assert_eq!(folders().count(), 1);
    let files = || std::fs::read_dir(folders().next().unwrap().unwrap().path()).unwrap().count();
    // Its own, and that of the process before, whose lease was there when it tidied up.
    assert!(files() <= 2, "{}", files());
    server.0.signal(Signal::TERM);
    assert!(server.0.wait().unwrap().success());
    assert!(files() <= 1, "{}", files());
}

/// Each effect is in a transaction with its job. A job that ran twice when its process died is a dead letter, and is
/// tried again here.
fn jobs_under_a_killer_have_their_effect_exactly_once() {
    let mut server = Running::start(&[]);
    for _ in 0..8 {
        assert!(server.post("/many/300").ends_with("enqueued"), "the worker is there");
        // Their transaction is committed, and they run.
        for worker in server.workers() {
            kill(worker, Signal::KILL);
        }
        server.wait_until("it is back", |server| server.count("skep_job") != u64::MAX);
    }
    let is_over = |server: &Running| {
        let retry = "update skep_job set state = 0, crashes = 0 where state = 2";
        server.post(&format!("/change?sql={}", encoded(retry)));
        server.post("/notes/look");
        server.count("skep_job") == 0
    };
    server.wait_until("all are done", is_over);
    assert_eq!(server.count("effect where note = 'many'"), 2400);
    assert_eq!(server.ask("select cast(count(distinct job) as text) from effect where note = 'many'").trim(), "2400");
}

fn a_job_that_runs_when_the_server_ends_is_finished() {
    let place = folder().unwrap();
    let mut server = Running::start_in(place.clone(), &[]);
    // The slots are taken, so none of the others begins before the end, nor while a request makes the server wait.
    for _ in 0..5 {
        server.post("/slow/700");
    }
    let mut request = TcpStream::connect(&server.0.address).unwrap();
    request.write_all(format!("GET /wait/2500 HTTP/1.1\r\nHost: {}\r\n\r\n", server.0.address).as_bytes()).unwrap();
    server.wait_until("they run", |server| server.count("run") == 2 && server.count("effect") == 1);
    server.0.signal(Signal::TERM);
    assert!(server.0.wait().unwrap().success());
    let mut setup = Setup::default();
    setup.data = place.join("data");
    let after = Client::with_setup(app(), setup);
    assert_eq!(ask(&after, "select count(*) || ' ' || count(ended) from run"), "2 2");
    assert_eq!(ask(&after, "select count(*) || ' ' || sum(state + attempt + crashes) from skep_job"), "3 0");
}

fn a_job_that_takes_longer_than_the_server_waits_runs_again() {
    let place = folder().unwrap();
    let mut server = Running::start_in(place.clone(), &["--set", "grace=500ms"]);
    server.post("/slow/3000");
    server.wait_until("it runs", |server| server.count("run") == 1);
    server.0.signal(Signal::TERM);
    assert!(server.0.wait().unwrap().success());
    assert!(server.0.errors().contains("1 jobs were cut off"), "{}", server.0.errors());
    // At once: it does not wait for a lease to end.
    let mut server = Running::start_in(place, &[]);
    server.wait_until("it is done", |server| server.count("skep_job") == 0);
    assert_eq!(server.count("run"), 2);
}

fn a_new_version_goes_on_with_the_jobs() {
    let mut server = Running::start(&[]);
    // Longer than its lease.
    server.post("/slow/2000");
    for _ in 0..7 {
        server.post("/slow/200");
    }
    server.wait_until("it runs", |server| server.count("run") > 0);
    server.0.signal(Signal::HUP);
    server.wait_until("all are done", |server| server.count("skep_job") == 0);
    assert_eq!(server.count("run where ended is not null"), 8);
    assert_eq!(server.count("run"), 8, "none ran twice");
}

fn nothing_is_done_while_there_are_no_jobs() {
    let mut server = Running::start(&[]);
    server.post("/notes/a");
    server.wait_until("it is done", |server| server.count("skep_job") == 0);
    // What follows a job is done, and then nothing may happen.
    thread::sleep(Duration::from_millis(300));
    let used = |server: &Running| server.workers().into_iter().map(skep_drill::cpu_time).sum::<Duration>();
    let before = used(&server);
    thread::sleep(Duration::from_secs(2));
    let spent = used(&server).saturating_sub(before);
    assert!(spent < Duration::from_millis(60), "{spent:?} in two idle seconds");
}
