//! Whole processes: what the command line does, what is printed, how signals end it.
//!
//! The executable under test is this very test, started again to play the application's part.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::process::{Pid, Signal, kill_process};

use skep::prelude::*;

use super::support::app;
use super::{fairness, framing, full_disk, limits, rules, websocket};

const PART: &str = "SERVER_TEST_ARGUMENTS";

/// Set, the application does not say that [`Forgotten`] is left out on purpose.
const FORGET: &str = "SERVER_TEST_FORGET";

#[derive(Service)]
#[service(GET "/forgotten/{page}")]
struct Forgotten {
    page: u8,
}

impl Handle for Forgotten {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.page.to_string()))
    }
}

/// Not a test: the application, when a test below starts this executable.
#[test]
#[ignore = "child process: the application of the other tests here"]
fn child_process() {
    let arguments = std::env::var(PART).unwrap();
    let app = || {
        let app = app()
            .task("say", "prints its words", |_site, words| {
                println!("said: {}", words.join(" "));
                println!("user: {}", rustix::process::geteuid().as_raw());
                if words.is_empty() { Err(Error::conflict("no words")) } else { Ok(()) }
            })
            .allow_unmounted(framing::SERVICES, "they are an application of their own")
            .allow_unmounted(rules::SERVICES, "they are another one")
            .allow_unmounted(fairness::SERVICES, "so are these")
            .allow_unmounted(full_disk::SERVICES, "they are an application of their own")
            .allow_unmounted(services![limits::SessionAndHang, websocket::Words], "one test serves each");
        if std::env::var_os(FORGET).is_some() { app } else { app.allow_unmounted(services![Forgotten], "for a test") }
    };
    let server = skep_server::Server::new(app).fix("mpm", "thread");
    // `run` would read the test's own command line.
    let code = server.run_with(arguments.split('\n').filter(|argument| !argument.is_empty()));
    // There is no other way to hand on an `ExitCode` from a test.
    std::process::exit(i32::from(
        u8::try_from(
            format!("{code:?}").chars().filter(char::is_ascii_digit).collect::<String>().parse::<u16>().unwrap(),
        )
        .unwrap(),
    ));
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["process::child_process", "--ignored", "--exact", "--nocapture"]);
    command.env(PART, arguments.join("\n")).current_dir(folder());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn folder() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("skep-server-process-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn output(arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command(arguments).output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

/// A process that serves.
struct Process {
    child: Serving,
    lines: BufReader<std::process::ChildStdout>,
    address: String,
}

impl Process {
    fn start(arguments: &[&str]) -> Self {
        let mut child = command(&[&["--listen", "127.0.0.1:0", "--workers", "2"], arguments].concat()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("listens on") {
            line.clear();
            assert!(lines.read_line(&mut line).unwrap() > 0, "the server did not start");
        }
        let address = line.split("http://").nth(1).unwrap().split(' ').next().unwrap().to_owned();
        assert!(line.ends_with(&format!("test 1.2.3 listens on http://{address} (2 threads)\n")), "{line}");
        Self { child: Serving(child), lines, address }
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child.0), signal).unwrap();
    }

    /// Sends a request and waits for all of the answer.
    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        Write::write_all(
            &mut stream,
            format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").as_bytes(),
        )
        .unwrap();
        let mut all = String::new();
        stream.read_to_string(&mut all).unwrap();
        all
    }

    fn finish(mut self) -> (Option<i32>, String) {
        let mut rest = String::new();
        self.lines.read_to_string(&mut rest).unwrap();
        (self.child.0.wait().unwrap().code(), rest)
    }
}

#[test]
fn a_request_is_a_line_and_the_log_is_complete_at_the_end() {
    let process = Process::start(&[]);
    assert!(process.get("/?token=hush&a=b").ends_with("Hello, world!"));
    assert!(process.get("/bytes/stream/2500").contains("chunked"));
    process.signal(Signal::TERM);
    let (code, rest) = process.finish();
    assert_eq!(code, Some(0));
    let lines: Vec<Vec<&str>> = rest.lines().map(|line| line.split(' ').collect()).collect();
    let find =
        |path: &str| lines.iter().find(|line| line.get(3) == Some(&path)).unwrap_or_else(|| panic!("{path} in {rest}"));
    let line = find("/?token=***&a=b");
    assert_eq!(line[1..6], ["127.0.0.1", "GET", "/?token=***&a=b", "200", "13"]);
    assert!(line[0].ends_with('Z') && line[6].parse::<u64>().is_ok(), "{line:?}");
    assert_eq!(find("/bytes/stream/2500")[4..6], ["200", "2500"]);
}

#[test]
fn the_first_signal_lets_requests_finish_and_the_second_does_not() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130)] {
        let process = Process::start(&["--set", "log.access=false"]);
        let address = process.address.clone();
        let mut busy = TcpStream::connect(&address).unwrap();
        let head = "GET / HTTP/1.1\r\nHost: x\r\n\r\nGET /slow/600000 HTTP/1.1\r\nHost: x\r\n\r\n";
        Write::write_all(&mut busy, head.as_bytes()).unwrap();
        assert!(busy.read(&mut [0; 1000]).unwrap() > 0);
        process.signal(signal);
        // Nobody is let in any more, so the first signal has been heard.
        while TcpStream::connect(&address).is_ok() {
            std::thread::yield_now();
        }
        process.signal(signal);
        assert_eq!(process.finish().0, Some(code));
    }
}

#[test]
fn quit_ends_at_once() {
    let process = Process::start(&["--set", "log.access=false"]);
    process.signal(Signal::QUIT);
    assert_eq!(process.finish().0, Some(131));
}

#[test]
fn a_busy_port_is_named_with_its_holder() {
    let process = Process::start(&[]);
    let (code, _, error) = output(&["--listen", &process.address]);
    assert_eq!(code, Some(1));
    let port = process.address.rsplit(':').next().unwrap();
    assert!(error.contains(&format!("cannot listen on {}: port {port} is in use by", process.address)), "{error}");
    assert!(error.contains(&format!("(process {})", process.child.0.id())), "{error}");
    process.signal(Signal::TERM);
    process.finish();
}

#[test]
fn questions_are_answered_without_serving() {
    let (code, out, _) = output(&["--version"]);
    assert!(code == Some(0) && out.contains("test 1.2.3\n"), "{out}");
    let (code, out, _) = output(&["--help"]);
    assert!(code == Some(0) && out.contains("--listen ADDR") && out.contains("limits.header_time"), "{out}");
    let (code, out, _) = output(&["--routes"]);
    assert!(code == Some(0) && out.contains("POST    /length") | out.contains("POST  /length"), "{out}");
    let (code, out, _) = output(&["--routes", "--sql"]);
    assert!(code == Some(0) && out.contains("\nnot listed: statements of `query(...)`"), "{out}");
    let (code, _, error) = output(&["--check", "--sql"]);
    assert!(code != Some(0) && error.contains("--sql stands with --routes only"), "{error}");
    let (code, out, _) = output(&["--routes", "--json"]);
    // The test program says something, too.
    let line = out.lines().find(|line| line.starts_with('[')).unwrap();
    let routes: Vec<serde_json::Value> = serde_json::from_str(line).unwrap();
    let is_service = |route: &&serde_json::Value| route["path"] == "/length" && route["method"] == "POST";
    let service = routes.iter().find(is_service).unwrap();
    assert!(code == Some(0) && service["line"].as_u64().is_some_and(|line| line > 0), "{service}");
    let (code, _, error) = output(&["--routes", "--sql", "--json"]);
    assert!(code != Some(0) && error.contains("--json stands with --routes only"), "{error}");
    let (code, out, _) = output(&["--print-config", "--set", "grace=3s"]);
    assert!(code == Some(0), "{out}");
    assert!(out.lines().any(|line| line.starts_with("grace = 3s ") && line.ends_with("# --set")), "{out}");
    assert!(
        out.lines().any(|line| line.starts_with("mpm = thread ") && line.ends_with("# fixed by the program")),
        "{out}"
    );
    let (code, out, _) = output(&["--check"]);
    assert!(code == Some(0) && out.contains("no problems found: 13 services are mounted\n"), "{out}");
    assert!(out.contains("left out on purpose: Forgotten (GET /forgotten/{page}): for a test\n"), "{out}");
}

#[test]
fn a_task_runs_in_place_of_the_server() {
    let (code, out, _) = output(&["--run"]);
    assert!(code == Some(0) && out.contains("say  prints its words\n"), "{out}");
    let (code, out, error) = output(&["--data", "here", "--run", "say", "--listen", "me"]);
    assert!(code == Some(0) && out.contains("said: --listen me\n"), "{out}{error}");
    let (code, _, error) = output(&["--run", "say"]);
    assert!(code == Some(1) && error.contains("the task say has failed: 409 Conflict: no words"), "{error}");
    if rustix::process::geteuid().is_root() {
        let data = folder().join("of-user");
        let arguments = ["--data", data.to_str().unwrap(), "--set", "user=nobody", "--run", "say", "it"];
        let (code, out, error) = output(&arguments);
        assert!(code == Some(0) && out.contains("said: it\nuser: 65534\n"), "{out}{error}");
    }
    let (code, _, error) = output(&["--run", "sai"]);
    assert!(code == Some(2) && error.contains("no task \"sai\"; did you mean say?"), "{error}");
}

#[test]
fn a_check_for_deployment_names_what_is_missing() {
    let (code, out, _) = output(&["--check", "--deploy", "--listen", "0.0.0.0:0", "--set", "log.access=false"]);
    assert_eq!(code, Some(1), "{out}");
    for line in ["base_url is not set: ", "hosts is empty: ", "no TLS: ", "log.access = false: "] {
        assert!(out.lines().any(|said| said.starts_with(line)), "{line}: {out}");
    }
    assert!(!out.contains("tls.self_signed"), "{out}");
    let data = folder().join("data");
    let complete = [
        ["--base-url", "https://example.org"],
        ["--set", "proxies.trusted=127.0.0.1"],
        ["--set", "user=nobody"],
        ["--data", data.to_str().unwrap()],
    ];
    let (code, out, error) = output(&[&["--check", "--deploy"][..], complete.as_flattened()].concat());
    assert!(code == Some(0) && out.contains("no problems found"), "{out}{error}");
    for (settings, line) in [
        (&["proxies.fields=forwarded"][..], "proxies.fields is set, but proxies.trusted is empty"),
        (
            &["proxies.trusted=unix", "proxies.fields=x-forwarded-proto"],
            "proxies.fields has neither x-forwarded-for nor",
        ),
        (&["proxies.trusted=unix", "proxies.fields="], "proxies.fields has neither x-forwarded-for nor"),
        (&["proxies.protocol=true"], "proxies.protocol = true, but proxies.trusted is empty"),
        (
            &["proxies.trusted=unix", "proxies.protocol=true", "proxies.fields=forwarded"],
            "proxies.fields is set, but with",
        ),
        (&["proxies.trusted=0.0.0.0/0"], "proxies.trusted includes every address"),
        (&["proxies.trusted=::/0"], "proxies.trusted includes every address"),
    ] {
        let set: Vec<&str> = settings.iter().flat_map(|setting| ["--set", *setting]).collect();
        let (code, out, error) = output(&[&["--check", "--deploy"][..], &set].concat());
        assert!(code == Some(1) && out.lines().any(|said| said.starts_with(line)), "{line}: {out}{error}");
    }
    let exposed = [
        ["--listen", "127.0.0.1:0"],
        ["--set", "cache.pages.tiers=redis:cache1"],
        ["--set", "cache.sessions.tiers=redis:127.0.0.1"],
    ];
    let (code, out, error) = output(&[&["--check"][..], exposed.as_flattened()].concat());
    assert!(
        code == Some(0) && out.contains("no problems found\nwarning: cache.pages: a tier is on another machine"),
        "{out}{error}"
    );
    assert!(!out.contains("cache.sessions"), "{out}");
    let (code, _, error) = output(&["--deploy"]);
    assert!(code == Some(2) && error.contains("--check --deploy"), "{error}");
}

/// Whatever `--check` passes, the start does not refuse.
#[test]
fn a_check_refuses_what_the_start_would() {
    let held = TcpListener::bind("127.0.0.1:0").unwrap();
    let (taken, folder) = (held.local_addr().unwrap().to_string(), folder());
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let at = |name: &str| format!("unix:{}", path(name));
    std::fs::write(folder.join("file"), "no socket").unwrap();
    let _listening = std::os::unix::net::UnixListener::bind(folder.join("live")).unwrap();
    let long = "x".repeat(120);
    for (settings, problem) in [
        (&[format!("listen={taken}")][..], "is in use by"),
        (&["listen=192.0.2.1:8080".into()], "this machine has no such address"),
        (&["listen=127.0.0.1:0; 192.0.2.1:0".into()], "this machine has no such address"),
        (&["listen=unix:/nonexistent/dir/sock".into()], "/nonexistent/dir: No such file"),
        (&[format!("listen={}", at("file/sock"))], "file: not a directory"),
        (&[format!("listen={}", at("file"))], "the file exists, and is not a socket"),
        (&[format!("listen={}", at("live"))], "another process listens on it"),
        (&[format!("listen={}", at(&long))], "cannot listen on unix:"),
        (&[format!("listen={} group=no-such-group", at("new"))], "there is no such group"),
        (&["status.listen=unix:/nonexistent/status".into()], "/nonexistent: No such file"),
        (&[format!("status.listen={taken}")], "is in use by"),
        (&[format!("log.outputs=file:{}", path("file/a.log"))], "log.outputs: "),
        (&[format!("log.access_outputs=file:{}", path("file/a.log"))], "log.access_outputs: "),
        (&["control=/nonexistent/control".into()], "/nonexistent is no folder that exists"),
        (&[format!("pid_file={}", path("file/pid"))], "is no folder that exists"),
        (&[format!("cache.pages.tiers=file:1MiB path={}", path("file/pages"))], "cache.pages.tiers: "),
        (&[format!("cache.pages.tiers=sqlite:{}", path("file/pages.db"))], "cache.pages.tiers: "),
        (
            &["tls.certificate=/nonexistent.crt".into(), "tls.key=/nonexistent.key".into()],
            "cannot read /nonexistent.crt",
        ),
    ] {
        let free = (!settings[0].starts_with("listen=")).then_some("listen=127.0.0.1:0");
        let set = settings.iter().map(String::as_str).chain(free).flat_map(|setting| ["--set", setting]);
        let set: Vec<&str> = set.collect();
        let (code, out, error) = output(&[&["--check"][..], &set].concat());
        assert!(code == Some(1) && error.contains(problem), "{settings:?}: {out}{error}");
    }
    assert!(!folder.join("new").exists());
    let stale = at("stale");
    drop(std::os::unix::net::UnixListener::bind(folder.join("stale")).unwrap());
    for listen in ["127.0.0.1:0", "localhost:0", &stale, "fd:3"] {
        let (code, out, error) = output(&["--check", "--listen", listen]);
        assert!(code == Some(0) && out.contains("no problems found"), "{listen}: {out}{error}");
    }
    assert!(folder.join("stale").exists(), "nothing is changed");
}

#[test]
fn a_check_makes_no_data_directory() {
    let wrong = folder().join("wrong");
    let data = wrong.join("data");
    let (code, out, error) = output(&["--check", "--listen", "127.0.0.1:0", "--data", data.to_str().unwrap()]);
    assert!(code == Some(0) && !wrong.exists(), "{out}{error}");
    if rustix::process::getuid().is_root() {
        // As the start would make it for this user.
        let more = ["--data", "/skep-test-wrong/data", "--set", "user=nobody"];
        let (code, out, error) = output(&[&["--check", "--listen", "127.0.0.1:0"][..], &more].concat());
        assert!(code == Some(0) && !PathBuf::from("/skep-test-wrong").exists(), "{out}{error}");
    }
}

#[test]
fn too_small_limits_of_the_process_are_named_with_what_is_needed() {
    for (limit, text) in [("-n 64", "this process may open 64 files"), ("-v 300000", "(ulimit -v)")] {
        for more in [&["--check"][..], &["--set", "supervise=false"], &[]] {
            let mut limited = Command::new("sh");
            limited.arg("-c").arg(format!("ulimit {limit}; exec \"$0\" \"$@\"")).arg(std::env::current_exe().unwrap());
            limited.args(["process::child_process", "--ignored", "--exact", "--nocapture"]);
            let arguments = [&["--listen", "127.0.0.1:0"], more].concat();
            limited.env(PART, arguments.join("\n")).current_dir(folder()).stdin(Stdio::null());
            let Output { status, stdout, stderr } = limited.output().unwrap();
            let error = String::from_utf8(stderr).unwrap();
            assert!(status.code() == Some(1) && error.contains(text), "{more:?} {status}: {error}");
            assert!(error.contains("and needs ") || error.contains("a worker needs "), "{error}");
            assert!(!String::from_utf8(stdout).unwrap().contains("listens on"));
        }
    }
}

#[test]
fn a_service_that_was_never_mounted_is_named_before_anything_is_accepted() {
    let free = ["--listen", "127.0.0.1:0"];
    let alone = [&free[..], &["--set", "supervise=false"]].concat();
    for arguments in [&["--check"][..], &free, &alone] {
        let Output { status, stdout, stderr } = command(arguments).env(FORGET, "1").output().unwrap();
        let error = String::from_utf8(stderr).unwrap();
        assert_eq!(status.code(), Some(1), "{error}");
        assert!(
            error.contains("Forgotten (GET /forgotten/{page}, crates/skep-server/tests/server/process.rs:"),
            "{error}"
        );
        assert!(error.contains("is never mounted: add it to `App::serve`"), "{error}");
        assert!(!error.contains("Length"), "{error}");
        let said = String::from_utf8(stdout).unwrap();
        assert!(!said.contains("listens on"), "nothing is accepted: {said}");
    }
}

#[test]
fn mistakes_are_explained() {
    for (arguments, problem) in [
        (&["--set", "limits.bdoy=1"][..], "--set: there is no setting \"limits.bdoy\"; did you mean limits.body?"),
        (&["--listen", "localhost"], "invalid address \"localhost\": expected a port, too, such as localhost:8800"),
        (&["--config", "no-such.toml"], "cannot read the settings in no-such.toml: No such file or directory"),
        (
            &["--check", "--tls-cert", "/no/such", "--tls-key", "/no/such"],
            "cannot read /no/such: No such file or directory",
        ),
        (&["--check", "--data", "/dev/null/x"], "data: /dev/null/x: /dev/null is not a folder"),
        (
            &["--check", "--data", "/dev/null"],
            "/dev/null is not a directory; choose another data directory with --data",
        ),
        (&["--check", "--data", "/tmp"], "every user may write to the data directory /tmp: chmod o-w /tmp, or choose"),
        (&["--set", "proxies.trusted=10.0.0/8"], "\"10.0.0/8\" is no network: write 10.0.0.0/8, 192.0.2.7"),
        (&["--set", "hosts=example.org:80"], "\"example.org:80\" is not a host: write example.org, *.example.org"),
        (&["--base-url", "blog.example"], "is not the address of a site: write https://blog.example"),
        (&["--listen", "9000"], "expected a host, too: 127.0.0.1:9000, or :9000 for every address"),
        (&["--check", "--set", "user=nobodyxx"], "user = nobodyxx: there is no such user in /etc/passwd"),
        (&["--check", "--set", "probe=nope"], "--set: probe = \"nope\": expected a path, such as / or /health"),
        (&["--listen", "99999"], "invalid address \"99999\": expected a port from 0 to 65535"),
    ] {
        let (code, _, error) = output(arguments);
        assert_eq!(code, Some(1), "{arguments:?}");
        assert!(error.contains(problem), "{arguments:?}: {error}");
    }
}

#[test]
fn a_wrong_command_line_has_an_exit_code_of_its_own() {
    for (arguments, problem) in [
        (&["--lisen", ":1"][..], "there is no flag --lisen; did you mean --listen?"),
        (&["serve"], "\"serve\" is not expected here; settings start with --"),
        (&["--listen"], "--listen"),
        (&["--log-token", "debug"], "expected a level and a duration"),
    ] {
        let (code, _, error) = output(arguments);
        assert!(code == Some(2) && error.contains(problem), "{arguments:?}: {code:?} {error}");
    }
}

#[test]
fn settings_come_from_file_and_environment() {
    let mut command = command(&["--print-config"]);
    let folder = folder();
    std::fs::write(folder.join("skep.toml"), "grace = \"1s\"\n[limits]\nurl = \"1KiB\"\n").unwrap();
    let output = command.current_dir(&folder).env("SKEP_GRACE", "2s").output().unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(out.lines().any(|line| line.starts_with("grace = 2s ") && line.ends_with("# SKEP_GRACE")), "{out}");
    assert!(out.lines().any(|line| line.starts_with("limits.url = 1KiB ") && line.ends_with("# skep.toml:3")), "{out}");
}

/// Starts the application with this listening socket as its descriptor `number`, after this line of shell.
fn with_socket(socket: &TcpListener, number: u8, line: &str, arguments: &[&str]) -> Serving {
    let script = format!(
        "exec {number}<&0 0</dev/null; {line} exec \"$0\" process::child_process --ignored --exact --nocapture"
    );
    let mut command = Command::new("sh");
    command.args(["-c", &script]).arg(std::env::current_exe().unwrap()).env(PART, arguments.join("\n"));
    command.stdin(OwnedFd::from(socket.try_clone().unwrap())).stdout(Stdio::null()).current_dir(folder());
    Serving(command.spawn().unwrap())
}

/// A process that ends with its test.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn answers_and_ends(socket: &TcpListener, mut process: Serving) {
    let mut stream = TcpStream::connect(socket.local_addr().unwrap()).unwrap();
    stream.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut all = String::new();
    stream.read_to_string(&mut all).unwrap();
    assert!(all.ends_with("Hello, world!"), "{all}");
    kill_process(Pid::from_child(&process.0), Signal::TERM).unwrap();
    assert_eq!(process.0.wait().unwrap().code(), Some(0));
}

#[test]
fn sockets_of_systemd_take_the_place_of_the_default() {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    // As systemd does: the socket is number 3, and it is meant for this process alone.
    answers_and_ends(&socket, with_socket(&socket, 3, "LISTEN_FDS=1 LISTEN_PID=$$", &[]));
}

#[test]
fn a_socket_that_was_handed_over_is_served() {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    answers_and_ends(&socket, with_socket(&socket, 5, "", &["--listen", "fd:5", "--workers", "1"]));
}
