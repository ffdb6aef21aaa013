//! The log of whole processes.

use std::fs;
use std::io::{BufRead, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use skep::log::Log;
use skep::prelude::*;

use super::Test;
use super::server::{Server, command, folder, wait_until};

pub(crate) const TESTS: &[Test] = &[
    ("a_level_is_changed_for_one_category_and_outlives_a_swap", a_level_is_changed_for_one_category),
    ("a_token_raises_the_level_of_its_request_only", a_token_raises_one_request),
    ("a_user_or_an_address_is_raised_for_a_while", a_user_or_an_address_is_raised_for_a_while),
    ("an_upgrade_keeps_changed_levels_and_their_remaining_time", an_upgrade_keeps_changed_levels),
    ("a_failed_request_tells_what_led_to_it", a_failed_request_tells_what_led_to_it),
    ("a_full_disk_and_rotated_files_cost_no_request", a_full_disk_and_rotated_files),
    ("a_token_in_an_address_is_in_no_log_and_on_no_status_page", tokens_are_masked),
    ("a_log_that_is_not_read_costs_no_request_and_no_error", a_log_that_is_not_read),
    ("a_fifo_that_is_not_read_stops_neither_start_nor_request", a_fifo_that_is_not_read),
    ("forked_processes_rotate_one_file", forked_processes_rotate_one_file),
    ("a_killed_worker_loses_no_line", a_killed_worker_loses_no_line),
    ("no_response_is_without_its_line_though_workers_are_killed", no_response_is_without_its_line),
];

pub(crate) const SERVICES: skep::Services = skep::services![Careful, Mine, Last, Numbered, Invited];

/// Says what it does at the level `debug`, and fails if it is asked to.
#[derive(Service, Log)]
#[service(GET "/log/{failing}")]
#[log(category = "logs.careful")]
pub(crate) struct Careful {
    failing: bool,
}

impl Handle for Careful {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        self.log().debug("beginning").field("failing", self.failing);
        if self.failing { Err(Error::internal("on purpose")) } else { Ok(Response::text("done")) }
    }
}

/// Says what it does at the level `debug`, for the user in the field `From`.
#[derive(Service, Log)]
#[service(GET "/log/of-user")]
#[log(category = "logs.careful")]
pub(crate) struct Mine;

impl Handle for Mine {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        self.log().debug("before the guard");
        let user = cx.header(&http::header::FROM).unwrap_or("nobody").to_owned();
        cx.set_user(user);
        self.log().debug("beginning");
        Ok(Response::text("done"))
    }
}

/// Logs this many lines, and is killed at once, as if by the kernel that is out of memory.
#[derive(Service, Log)]
#[service(GET "/log/last/{lines}")]
#[log(category = "logs.last")]
pub(crate) struct Last {
    lines: u32,
}

impl Handle for Last {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        for number in 0..self.lines {
            self.log().info("line").field("number", number);
        }
        super::server::kill(std::process::id().cast_signed(), Signal::KILL);
        std::future::pending().await
    }
}

#[derive(Service, Log)]
#[service(GET "/log/numbered/{number}")]
#[log(category = "logs.numbered")]
pub(crate) struct Numbered {
    number: u32,
}

impl Handle for Numbered {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        self.log().info("line").field("number", self.number);
        Ok(Response::text("done"))
    }
}

/// Fails, or takes longer than a request should.
#[derive(Service)]
#[service(GET "/log/invited/{token}")]
pub(crate) struct Invited {
    token: skep::param::Token,
    code: Option<skep::param::Token>,
}

impl Handle for Invited {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        if self.code.is_some() {
            return Err(Error::internal("on purpose"));
        }
        tokio::time::sleep(Duration::from_millis(700)).await;
        Ok(Response::text(self.token.len().to_string()))
    }
}

/// The response to a request with another header field.
pub(crate) fn get(server: &Server, path: &str, field: &str) -> String {
    let mut stream = TcpStream::connect(&*server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{field}\r\n").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

fn beginnings(server: &mut Server) -> usize {
    server.errors().matches("DEBUG logs.careful: beginning").count()
}

/// Asks until there are more lines; workers learn of a new level in a moment.
fn more_lines_come(server: &mut Server, ask: impl Fn(&Server)) {
    let before = beginnings(server);
    server.wait_until("a debug line", |server| {
        ask(server);
        beginnings(server) > before
    });
}

/// Asks until it brings no more lines.
fn no_more_lines_come(server: &mut Server, ask: impl Fn(&Server)) {
    server.wait_until("no debug line", |server| {
        // What was said before is written.
        std::thread::sleep(Duration::from_millis(200));
        let before = beginnings(server);
        (0..10).for_each(|_| ask(server));
        std::thread::sleep(Duration::from_millis(200));
        beginnings(server) == before
    });
}

fn a_level_is_changed_for_one_category() {
    let mut server = Server::start(&[]);
    let ask = |server: &Server| assert!(get(server, "/log/false", "").ends_with("done"));
    no_more_lines_come(&mut server, ask);
    let (good, text) = server.control("log logs::careful debug");
    assert!(good && text == "log level of logs::careful set to DEBUG\n", "{text}");
    more_lines_come(&mut server, ask);
    let worker = server.worker();
    server.signal(Signal::HUP);
    server.wait_until("the successor serves", |server| server.worker() != worker);
    more_lines_come(&mut server, ask);
    assert!(!server.errors().contains("DEBUG skep"), "{}", server.errors());
    assert!(server.control("log logs.careful inherit").0);
    no_more_lines_come(&mut server, ask);
    get(&server, "/log/true", "");
    server.wait_until("the failure is logged", |server| server.errors().contains("on purpose"));
    assert!(!server.errors().contains("beginning failing=true"), "{}", server.errors());
}

fn a_token_raises_one_request() {
    let folder = folder();
    let mut server = Server::start_in(folder.clone(), &[]);
    let output = command(&folder, &["--log-token", "debug 1h"]).output().unwrap();
    let token = String::from_utf8(output.stdout).unwrap();
    get(&server, "/log/false", "");
    get(&server, "/log/false", "Skep-Log: forged\r\n");
    get(&server, "/log/false", &format!("Cookie: a=b; skep-log={}\r\n", token.trim()));
    get(&server, "/log/false", &format!("Skep-Log: {}\r\n", token.trim()));
    get(&server, "/log/false", "");
    get(&server, "/log/true", "");
    server.wait_until("the failure is logged", |server| server.errors().contains("on purpose"));
    assert_eq!(beginnings(&mut server), 2, "{}", server.errors());
}

/// From `set_user` on; others are not affected, neither are they when the time is over; new workers know it.
fn a_user_or_an_address_is_raised_for_a_while() {
    for model in [&["--workers", "2"][..], &["--mpm", "prefork", "--workers", "2"]] {
        let mut server = Server::start(model);

        let both = |server: &Server| {
            get(server, "/log/of-user", "From: Anna Lena\r\n");
            get(server, "/log/of-user", "From: bob\r\n");
        };
        let (good, text) = server.control("log user Anna Lena debug 1h");
        assert!(good && text == "log level raised for user Anna Lena: DEBUG for 1h\n", "{text}");
        let (_, status) = server.control("status");
        assert!(status.contains("log level raised: user Anna Lena: DEBUG for "), "{status}");
        let worker = server.worker();
        server.control("drain 1");
        server.wait_until("the successor serves", |server| server.worker() != worker);
        more_lines_come(&mut server, both);
        assert!(server.control("log user Anna Lena inherit").0);
        assert!(server.control("log address 10.0.0.0/8 debug").0);
        no_more_lines_come(&mut server, both);
        let errors = server.errors();
        assert!(!errors.contains("bob") && !errors.contains("before the guard"), "{model:?}: {errors}");
        assert!(server.control("log address 127.0.0.0/8 debug").0);
        server.wait_until("an address is known from the beginning", |server| {
            both(server);
            server.errors().contains("user=bob") && server.errors().contains("before the guard")
        });
        assert!(server.control("log address 127.0.0.0/8 debug 1s").0);
        no_more_lines_come(&mut server, both);
        assert!(!server.errors().contains("DEBUG skep::"), "{}", server.errors());
    }
}

/// The new supervisor knows what its predecessor was told, and tells the workers that it starts.
fn an_upgrade_keeps_changed_levels() {
    let mut server = Server::start(&[]);
    assert!(server.control("log logs::careful debug").0);
    assert!(server.control("log user Anna Lena trace 1h").0);
    let raised = |server: &Server| {
        let (_, status) = server.control("status");
        status.lines().find_map(|line| line.strip_prefix("log level raised: ").map(ToOwned::to_owned))
    };
    server.wait_until("a second has passed", |server| raised(server).is_some_and(|raise| !raise.ends_with("1h")));
    let (good, text) = server.control("upgrade");
    assert!(good, "{text}");
    server.wait_until("the supervisor is upgraded", |server| server.errors().contains("the supervisor runs version"));
    let raise = raised(&server).unwrap_or_default();
    assert!(raise.starts_with("user Anna Lena: TRACE for ") && !raise.ends_with("1h"), "{raise}");
    let worker = server.worker();
    server.control("drain 2");
    server.wait_until("a worker of the new supervisor serves", |server| server.worker() != worker);
    get(&server, "/log/false", "");
    server.wait_until("a debug line", |server| beginnings(server) == 1);
}

fn a_failed_request_tells_what_led_to_it() {
    let mut server = Server::start(&["--set", "log.recorder=4KiB", "--set", "log.slow=0"]);
    get(&server, "/log/false", "");
    get(&server, "/log/true", "");
    server.wait_until("the failure is logged", |server| server.errors().contains("on purpose"));
    let errors = server.errors();
    let lines: Vec<&str> =
        errors.lines().filter(|line| line.contains("beginning") || line.contains("on purpose")).collect();
    let [led, failed] = lines.as_slice() else { panic!("{errors}") };
    let id = led.split("request=").nth(1).unwrap();
    assert!(led.contains("DEBUG logs.careful: beginning failing=true"), "{errors}");
    assert!(failed.contains("ERROR skep::request") && failed.contains(&format!("id={id} ")), "{errors}");
}

fn a_full_disk_and_rotated_files() {
    let folder = folder();
    let log = folder.join("all.log");
    let outputs =
        format!("stderr; file:/dev/full; file:{} layout=json rotate=1KiB keep=100 compress=yes", log.display());
    let access = format!("file:{}/access.log layout=combined; file:/dev/full", folder.display());
    let settings = [format!("log.outputs={outputs}"), format!("log.access_outputs={access}")];
    let access = ["--set", "log.access=true", "--set", &settings[1]];
    let arguments = [&["--set", &settings[0], "--set", "log.levels=logs=debug"], &access[..]].concat();
    let mut server = Server::start_in(folder.clone(), &arguments);
    // One after the other, so that files are rotated between them.
    for number in 1..=20 {
        assert!(get(&server, "/log/false", "Referer: /from\r\n").starts_with("HTTP/1.1 200"));
        server.wait_until("its line is written", |_| {
            fs::read_to_string(folder.join("access.log")).is_ok_and(|lines| lines.lines().count() == number)
        });
    }
    server.wait_until("it says that the disk is full", |server| server.errors().contains("a log cannot be written"));
    server.control("stop");
    assert_eq!(server.wait().code(), Some(0));
    let access = fs::read_to_string(folder.join("access.log")).unwrap();
    assert_eq!(access.matches("\"GET /log/false HTTP/1.1\" 200 4 \"/from\" \"-\"\n").count(), 20, "{access}");
    let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    let rotated = names.iter().filter(|name| name.to_string_lossy().starts_with("all.log.2")).count();
    assert!(rotated > 1, "{names:?}");
    let last = fs::read_to_string(&log).unwrap_or_else(|error| panic!("{error}: {names:?}"));
    assert!(last.lines().all(|line| line.starts_with("{\"time\":\"") && line.ends_with('}')), "{last}");
}

/// In each layout, whatever becomes of the request.
fn tokens_are_masked() {
    const TOKEN: &str = "q8JmX0cY";
    let folder = folder();
    let path = |name: &str| folder.join(name).display().to_string();
    let layouts = ["text", "json", "combined", "common"];
    let access: Vec<String> = layouts.iter().map(|layout| format!("file:{} layout={layout}", path(layout))).collect();
    let access = format!("log.access_outputs={}", access.join("; "));
    let outputs =
        format!("log.outputs=stderr; file:{} layout=json; file:{} layout=logfmt; ring:100", path("j"), path("l"));
    let more =
        ["log.access=true", &access, &outputs, "log.level=debug", "status.listen=127.0.0.1:0", "status.slow=1ms"];
    let set: Vec<&str> = more.iter().flat_map(|setting| ["--set", *setting]).collect();
    let mut server = Server::start_in(folder.clone(), &set);
    let referer = format!("Referer: http://localhost/log/invited/{TOKEN}?code={TOKEN}\r\n");
    for (target, status) in [
        (format!("/log/invited/{TOKEN}"), 200),
        (format!("/log/invited/{TOKEN}?code=c{TOKEN}"), 500),
        (format!("/log/invited/{TOKEN}/"), 308),
        (format!("//log/./invited/{TOKEN}"), 404),
        (format!("/log/invited/{TOKEN}/more?code={TOKEN}"), 404),
        (format!("/log/%69nvited/%71{TOKEN}?code=1"), 500),
    ] {
        let answer = get(&server, &target, &referer);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{target}: {answer}");
        // An error page says what is wrong, and not where.
        assert!(status == 308 || !answer.contains(TOKEN), "{target}: {answer}");
    }
    // As a person who looks while it runs.
    let slow = std::thread::scope(|scope| {
        let asking = scope.spawn(|| get(&server, &format!("/log/invited/{TOKEN}"), ""));
        let mut seen = String::new();
        while !asking.is_finished() {
            seen += &server.control("metrics").1;
            std::thread::sleep(Duration::from_millis(20));
        }
        seen
    });
    let status = [slow, server.control("metrics").1, server.control("status").1, server.control("status json").1];
    assert!(status.iter().all(|text| !text.contains(TOKEN)), "{status:?}");
    assert!(status[1].contains("/log/invited/***"), "the slow request: {}", status[1]);
    server.control("stop");
    assert_eq!(server.wait().code(), Some(0));
    assert!(!server.errors().contains(TOKEN), "{}", server.errors());
    assert!(server.errors().contains("path=/log/invited/***"), "{}", server.errors());
    for name in layouts.iter().chain(&["j", "l"]) {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        assert!(!text.contains(TOKEN), "{name}: {text}");
        assert!(text.contains("/log/invited/***"), "{name}: {text}");
    }
}

/// How the line of a failed request begins, behind the time.
const FAILED: &str = "ERROR skep::request";

/// Standard error is a pipe that nobody reads for a while: a terminal that was stopped, or a disk behind it that is
/// slow.
fn a_log_that_is_not_read() {
    let folder = folder();
    let socket = folder.join("app.sock");
    let listen = format!("unix:{}", socket.display());
    let plain = ["--set", "supervise=false", "--listen", &listen, "--set", "log.access=false"];
    let logs = ["--set", "log.levels=logs=debug", "--set", "log.repeats=0", "--set", "log.buffer=4KiB"];
    let mut process = command(&folder, &[&plain[..], &logs].concat()).spawn().unwrap();
    let ask = |path: &str| -> std::io::Result<String> {
        let mut stream = UnixStream::connect(&socket)?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut response = String::new();
        stream.read_to_string(&mut response)?;
        Ok(response)
    };
    wait_until(|| "it does not start".to_owned(), || ask("/").is_ok());
    let flooded = Instant::now();
    let mut slowest = Duration::ZERO;
    for number in 0..2000 {
        let start = Instant::now();
        let (fails, status) = if number % 4 == 0 { (true, 500) } else { (false, 200) };
        assert!(ask(&format!("/log/{fails}")).unwrap().starts_with(&format!("HTTP/1.1 {status}")));
        slowest = slowest.max(start.elapsed());
    }
    assert!(flooded.elapsed() < Duration::from_secs(15), "lines wait for the reader: {:?}", flooded.elapsed());
    assert!(slowest < Duration::from_secs(1), "an error waits for the reader: {slowest:?}");
    // It stands still for some seconds in all.
    std::thread::sleep(Duration::from_secs(3).saturating_sub(flooded.elapsed()));
    let errors = std::io::BufReader::new(process.stderr.take().unwrap());
    let failed = AtomicUsize::new(0);
    let text = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let noted = |line: &String| _ = failed.fetch_add(line.matches(FAILED).count(), Ordering::SeqCst);
            errors.lines().map(Result::unwrap).inspect(noted).map(|line| line + "\n").collect::<String>()
        });
        let all = || failed.load(Ordering::SeqCst) >= 500;
        wait_until(|| format!("only {} errors were read", failed.load(Ordering::SeqCst)), all);
        super::server::kill(process.id().try_into().unwrap(), Signal::TERM);
        assert!(process.wait().unwrap().success());
        reader.join().unwrap()
    });
    let _ = fs::remove_dir_all(folder);
    assert_eq!(text.matches(FAILED).count(), 500, "no error is lost: {text}");
    let kept = text.matches("DEBUG logs.careful: beginning").count();
    let dropped = text.lines().filter(|line| line.contains("lines dropped"));
    let dropped =
        dropped.filter_map(|line| line.split("lines=").nth(1)?.split_whitespace().next()?.parse::<usize>().ok());
    let dropped: usize = dropped.sum();
    assert!(kept < 2000 && kept + dropped == 2000, "{kept} kept, {dropped} dropped");
}

fn a_fifo_that_is_not_read() {
    for model in ["thread", "prefork"] {
        let folder = folder();
        let path = folder.join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        let outputs = format!("log.outputs=stderr level=error; file:{}", path.display());
        let levels = ["--set", &outputs, "--set", "log.levels=logs=debug", "--mpm", model];
        let mut server = Server::start_in(folder, &levels);
        assert!(get(&server, "/log/false", "").starts_with("HTTP/1.1 200"));
        server.wait_until("it says what is missing", |server| {
            let errors = server.errors();
            errors.contains("a log cannot be written") && errors.contains("it is a FIFO that no process reads")
        });
        let (sender, lines) = std::sync::mpsc::channel();
        let reader = std::thread::spawn(move || {
            let text = std::io::BufReader::new(fs::File::open(path).unwrap());
            text.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let until = |text: &str| while !lines.recv_timeout(Duration::from_secs(20)).unwrap().contains(text) {};
        until("DEBUG logs.careful: beginning failing=false");
        until("a log is written again");
        server.control("stop");
        assert_eq!(server.wait().code(), Some(0));
        drop(lines);
        let _ = reader.join().unwrap();
    }
}

fn forked_processes_rotate_one_file() {
    let folder = folder();
    let output = format!("log.outputs=stderr level=warn; file:{}/all.log rotate=1KiB keep=1000", folder.display());
    let prefork = ["--mpm", "prefork", "--workers", "3", "--set", "requests_per_worker=7"];
    let logs = ["--set", &output, "--set", "log.levels=logs=debug", "--set", "log.repeats=0"];
    let mut server = Server::start_in(folder.clone(), &[&prefork[..], &logs].concat());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..40 {
                    assert!(get(&server, "/log/false", "").starts_with("HTTP/1.1 200"));
                }
            });
        }
    });
    server.control("stop");
    assert_eq!(server.wait().code(), Some(0));
    let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<_> =
        files.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("all.log")).collect();
    let logs: Vec<String> = files.iter().map(|path| fs::read_to_string(path).unwrap_or_default()).collect();
    let lines: Vec<&str> = logs.iter().flat_map(|log| log.lines()).collect();
    let beginnings = lines.iter().filter(|line| line.contains("DEBUG logs.careful: beginning failing=false")).count();
    assert_eq!(beginnings, 120, "none is lost, whichever process rotates");
    assert!(lines.iter().all(|line| line.starts_with("20")), "none is torn: {lines:?}");
    assert!(files.len() > 5, "{files:?}");
}

/// All lines of files whose names begin like this, the oldest first.
fn lines_of(folder: &std::path::Path, name: &str) -> Vec<String> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> =
        files.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with(name)).collect();
    // Old files have the time behind their names.
    files.sort_by_key(|path| (path.extension().is_some_and(|extension| extension == "log"), path.clone()));
    files
        .iter()
        .flat_map(|path| fs::read_to_string(path).unwrap().lines().map(ToOwned::to_owned).collect::<Vec<_>>())
        .collect()
}

fn numbers(lines: &[String]) -> Vec<u32> {
    lines.iter().filter_map(|line| line.split("number=").nth(1)?.split(' ').next()?.parse().ok()).collect()
}

fn a_killed_worker_loses_no_line() {
    for model in [&["--workers", "2"][..], &["--mpm", "prefork", "--workers", "1"]] {
        let folder = folder();
        let outputs = format!(
            "log.outputs=stderr except=logs.last; file:{}/all.log only=logs.last rotate=64KiB",
            folder.display()
        );
        let access = format!("log.access_outputs=file:{}/access.log", folder.display());
        let logs = ["--set", &outputs, "--set", "log.access=true", "--set", &access];
        let mut server = Server::start_in(folder.clone(), &[model, &logs].concat());
        for (round, lines) in [1, 3000].into_iter().enumerate() {
            assert!(get(&server, &format!("/log/numbered/{round}"), "").ends_with("done"));
            assert_eq!(get(&server, &format!("/log/last/{lines}"), ""), "", "it is killed");
            server.wait_until("the last lines are written", |server| {
                server.errors().matches("crashed: signal 9").count() == round + 1
            });
        }
        let errors = server.errors();
        let expected: Vec<u32> = (0..1).chain(0..3000).collect();
        assert_eq!(numbers(&lines_of(&folder, "all.log")), expected, "{model:?}: {errors}");
        let access = lines_of(&folder, "access.log");
        assert!(access.iter().filter(|line| line.contains("/log/numbered/")).count() == 2, "{model:?}: {access:?}");
        let marked = errors.lines().filter(|line| line.contains("the last lines of a process that has ended"));
        assert!(marked.clone().any(|line| line.contains("all.log")), "{model:?}: {errors}");
        assert!(errors.find("the last lines").unwrap() < errors.find("crashed: signal 9").unwrap(), "{errors}");
        server.control("stop");
        assert_eq!(server.wait().code(), Some(0));
    }
}

fn no_response_is_without_its_line() {
    let folder = folder();
    let outputs = format!("log.outputs=stderr level=warn; file:{}/all.log rotate=16KiB", folder.display());
    let mut server = Server::start_in(folder.clone(), &["--workers", "2", "--set", &outputs]);
    let (number, done) = (std::sync::atomic::AtomicU32::new(0), AtomicUsize::new(0));
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let address = server.address.clone();
    let client = || {
        let mut answered = Vec::new();
        while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
            let number = number.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let ask = || -> std::io::Result<String> {
                let mut stream = TcpStream::connect(&*address)?;
                write!(stream, "GET /log/numbered/{number} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
                let mut response = String::new();
                stream.read_to_string(&mut response)?;
                Ok(response)
            };
            if ask().is_ok_and(|response| response.ends_with("done")) {
                answered.push(number);
                done.fetch_add(1, Ordering::SeqCst);
            }
        }
        answered
    };
    let mut answered = std::thread::scope(|scope| {
        let clients = [scope.spawn(client), scope.spawn(client)];
        for _ in 0..4 {
            let before = done.load(Ordering::SeqCst);
            wait_until(|| "no client is answered".to_owned(), || done.load(Ordering::SeqCst) > before + 50);
            super::server::kill(server.worker(), Signal::KILL);
        }
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        clients.map(|client| client.join().unwrap()).concat()
    });
    server.wait_until("all of them are reaped", |server| server.errors().matches("crashed: signal 9").count() == 4);
    server.control("stop");
    assert_eq!(server.wait().code(), Some(0));
    let lines = lines_of(&folder, "all.log");
    assert!(lines.iter().all(|line| line.starts_with("20")), "torn: {lines:?}");
    let mut logged = numbers(&lines);
    let count = logged.len();
    logged.sort_unstable();
    logged.dedup();
    assert_eq!(logged.len(), count, "none is written twice");
    answered.retain(|number| logged.binary_search(number).is_err());
    assert_eq!(answered, [0; 0], "they have no line: {}", server.errors());
}
