//! Metrics and the status page: what they show of workers, whatever becomes of those.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use rustix::process::Signal;

use super::Test;
use super::caches::{Browser, tallies};
use super::server::{Server, command, deploy, descendants, folder, kill, title};

pub(crate) const TESTS: &[Test] = &[
    ("requests_are_counted_across_deaths_swaps_and_upgrades", requests_are_counted_across_deaths_swaps_and_upgrades),
    ("forked_processes_count_in_one_place", forked_processes_count_in_one_place),
    (
        "the_status_page_shows_a_failed_swap_and_a_silent_worker",
        the_status_page_shows_a_failed_swap_and_a_silent_worker,
    ),
    (
        "a_status_process_that_dies_harms_no_request_and_comes_back",
        a_status_process_that_dies_harms_no_request_and_comes_back,
    ),
    ("an_upgrade_to_a_version_that_counts_in_another_way_counts_from_0", counts_in_another_way),
    ("a_request_that_hangs_is_shown_while_it_runs", a_request_that_hangs_is_shown_while_it_runs),
    ("the_status_page_is_for_this_machine_only", the_status_page_is_for_this_machine_only),
    ("one_plain_process_has_a_status_page_on_a_unix_socket", one_plain_process_has_a_status_page_on_a_unix_socket),
    ("connections_to_the_database_of_all_processes_are_shown", connections_to_the_database_are_shown),
    ("promtool_finds_nothing_wrong", promtool_finds_nothing_wrong),
    ("prometheus_scrapes_and_queries", prometheus_scrapes_and_queries),
];

/// What runs promtool or Prometheus itself: only `cargo xtask test --all` does.
pub(crate) const NEED_PROMTOOL: &[&str] = &["promtool_finds_nothing_wrong", "prometheus_scrapes_and_queries"];

const STATUS: [&str; 2] = ["--set", "status.listen=127.0.0.1:0"];

fn start(more: &[&str]) -> Server {
    Server::start(&[&STATUS, more].concat())
}

/// The address of the status page.
fn address(server: &Server) -> String {
    let (_, json) = server.control("status json");
    let url = json.split("\"status_url\":\"http://").nth(1).and_then(|rest| rest.split('"').next());
    url.unwrap_or_else(|| panic!("no address of the status page in {json}")).to_owned()
}

fn exchange(mut stream: impl Read + Write, path: &str, more: &str) -> String {
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{more}\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

pub(crate) fn page(server: &Server, path: &str) -> String {
    exchange(TcpStream::connect(address(server)).unwrap(), path, "")
}

/// Requests of a service with this class of status.
fn counted(server: &Server, service: &str, code: &str) -> u64 {
    let metrics = page(server, "/-/metrics");
    let series = format!("skep_http_requests_total{{service=\"{service}\",code=\"{code}\"}} ");
    let line = metrics.lines().find_map(|line| line.strip_prefix(&series));
    line.map_or(0, |number| number.parse().unwrap())
}

fn get_times(server: &Server, times: usize) {
    for _ in 0..times {
        assert_eq!(server.get("/").unwrap(), "Hello, world!");
    }
}

fn requests_are_counted_across_deaths_swaps_and_upgrades() {
    let folder = folder();
    deploy(&folder.join("app"), "one");
    let mut server = Server::start_in(folder.clone(), &STATUS);
    get_times(&server, 5);
    assert!(server.get("/nowhere").is_err());
    server.wait_until("they are counted", |server| counted(server, "Hello", "2xx") == 5);
    server.wait_until("so is what nobody answers", |server| counted(server, "none", "4xx") == 1);
    kill(server.worker(), Signal::KILL);
    get_times(&server, 5);
    server.wait_until("the old worker's count, too", |server| counted(server, "Hello", "2xx") == 10);
    deploy(&folder.join("app"), "two");
    assert!(server.control("swap").0);
    get_times(&server, 5);
    server.wait_until("a swap changes nothing", |server| counted(server, "Hello", "2xx") == 15);
    let page = page(&server, "/-/metrics");
    for line in ["skep_worker_crashes_total 1", "skep_swaps_total 1", "skep_up 1", "skep_workers{state=\"ready\"} 1"] {
        assert!(page.lines().any(|found| found == line), "no {line} in {page}");
    }
    let before = address(&server);
    assert!(server.control("upgrade").0);
    server.wait_until("it says so", |server| server.errors().contains("the supervisor runs version"));
    get_times(&server, 5);
    server.wait_until("nor does an upgrade", |server| counted(server, "Hello", "2xx") == 20);
    assert_eq!(address(&server), before);
    let text = self::page(&server, "/-/status.json");
    for part in ["\"swaps\":2", "\"swap_succeeded\":true", "\"crashes\":1", "\"previous\":\""] {
        assert!(text.contains(part), "no {part} in {text}");
    }
}

/// What a supervisor of a version with another layout has: its first word says so.
fn pretend_another_layout(server: &Server) {
    let files = std::fs::read_dir(format!("/proc/{}/fd", server.pid())).unwrap().map(|file| file.unwrap().path());
    let is_memory = |file: &std::path::PathBuf| {
        std::fs::read_link(file).is_ok_and(|to| to.to_string_lossy().starts_with("/memfd:skep-metrics"))
    };
    let memory = std::fs::OpenOptions::new().write(true).open(files.filter(is_memory).last().unwrap()).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&memory, &[9; 8], 0).unwrap();
}

fn counts_in_another_way() {
    let folder = folder();
    deploy(&folder.join("app"), "one");
    let mut server = Server::start_in(folder.clone(), &STATUS);
    get_times(&server, 3);
    server.wait_until("they are counted", |server| counted(server, "Hello", "2xx") == 3);
    pretend_another_layout(&server);
    deploy(&folder.join("app"), "two");
    let (swapped, said) = server.control("swap");
    assert!(swapped, "a version is not refused for how it counts: {said}");
    get_times(&server, 3);
    server.wait_until("it is said", |server| server.errors().contains("requests are not counted: the supervisor's"));
    assert_eq!(server.get("/version").unwrap(), "two");
    assert!(server.control("upgrade").0);
    server.wait_until("it counts from 0", |server| {
        server.get("/").is_ok_and(|text| text == "Hello, world!") && counted(server, "Hello", "2xx") > 0
    });
    assert!(server.errors().contains("requests are counted from 0 again"), "{}", server.errors());
}

fn forked_processes_count_in_one_place() {
    for more in [&["--set", "requests_per_worker=1"][..], &["--workers", "2", "--set", "requests_per_worker=3"]] {
        let mut server = start(&[&["--mpm", "prefork"], more].concat());
        get_times(&server, 12);
        server.wait_until("all are counted", |server| counted(server, "Hello", "2xx") == 12);
    }
}

fn the_status_page_shows_a_failed_swap_and_a_silent_worker() {
    let folder = folder();
    deploy(&folder.join("app"), "one");
    let mut server = Server::start_in(folder.clone(), &STATUS);
    std::fs::write(folder.join("app.new"), "this is no program").unwrap();
    std::fs::rename(folder.join("app.new"), folder.join("app")).unwrap();
    assert!(!server.control("swap").0);
    server.wait_until("the page says so", |server| page(server, "/-/status").contains("The last swap failed"));
    let text = page(&server, "/-/status");
    assert!(text.starts_with("HTTP/1.1 200") && text.contains("drill 1.2.3") && text.contains("CPU time"), "{text}");
    for field in ["content-security-policy: default-src 'none'", "cache-control: no-store"] {
        assert!(text.contains(field), "no {field} in {text}");
    }
    // It is no worker, so it is there while no worker can be.
    kill(server.worker(), Signal::STOP);
    server.wait_until("it says that the worker does not", |server| {
        page(server, "/-/status").contains("did not report in time")
    });
    kill(server.worker(), Signal::CONT);
}

fn a_status_process_that_dies_harms_no_request_and_comes_back() {
    let mut server = start(&[]);
    let status = |server: &Server| {
        descendants(server.pid()).into_iter().find(|pid| title(*pid).starts_with("skep: status")).unwrap_or(0)
    };
    server.wait_until("it runs", |server| status(server) != 0);
    let first = status(&server);
    kill(first, Signal::KILL);
    get_times(&server, 3);
    server.wait_until("another one runs", |server| ![0, first].contains(&status(server)));
    server.wait_until("it knows what the first one knew", |server| counted(server, "Hello", "2xx") == 3);
    assert!(server.errors().contains("the process of the status page crashed: signal 9"), "{}", server.errors());
    let second = status(&server);
    server.signal(Signal::TERM);
    assert_eq!(server.wait().code(), Some(0));
    super::server::wait_until(|| "it outlives the supervisor".to_owned(), || !super::server::is_there(second));
}

fn a_request_that_hangs_is_shown_while_it_runs() {
    let mut server = start(&["--workers", "1"]);
    let mut busy = TcpStream::connect(&server.address).unwrap();
    busy.write_all(b"GET /slow/60000 HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let running = "\"request\":\"GET /slow/60000\"";
    server.wait_until("it is shown", |server| page(server, "/-/status.json").contains(running));
    assert!(page(&server, "/-/metrics").contains("skep_http_requests_in_flight 1\n"));
    assert!(server.control("metrics").1.contains(running), "{}", server.control("metrics").1);
    drop(busy);
    server.wait_until("it is gone", |server| !page(server, "/-/status.json").contains(running));
    server.wait_until("it is counted", |server| counted(server, "Slow", "closed") == 1);
    let mut lost = TcpStream::connect(&server.address).unwrap();
    lost.write_all(b"GET /slow/60000 HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    server.wait_until("another one is shown", |server| server.control("metrics").1.contains(running));
    kill(server.worker(), Signal::KILL);
    server.wait_until("it died with its worker", |server| !page(server, "/-/status.json").contains(running));
    assert!(!server.control("metrics").1.contains(running));
}

fn the_status_page_is_for_this_machine_only() {
    for address in ["0.0.0.0:0", ":0", "[::]:0", "fd:3", "192.0.2.1:80"] {
        let folder = folder();
        let output = command(&folder, &["--set", &format!("status.listen={address}")]).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{address}: {text}");
        assert!(text.contains("expected an address that only this machine reaches"), "{address}: {text}");
        let _ = std::fs::remove_dir_all(folder);
    }
    let server = start(&[]);
    // The public address has none of it, and a name that leads here gets none.
    for path in ["/-/metrics", "/-/status"] {
        assert!(server.get(path).is_err());
    }
    let mut stranger = TcpStream::connect(address(&server)).unwrap();
    stranger.write_all(b"GET /-/status HTTP/1.1\r\nHost: rebound.example\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stranger.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 421"), "{answer}");
    let unset = Server::start(&[]);
    assert!(unset.control("metrics").1.starts_with("not counted: "));
    assert!(!descendants(unset.pid()).into_iter().any(|pid| title(pid).starts_with("skep: status")));
}

fn one_plain_process_has_a_status_page_on_a_unix_socket() {
    let folder = folder();
    let socket = folder.join("status.sock");
    let listen = format!("status.listen=unix:{}", socket.display());
    let mut server = Server::start_in(folder, &["--set", "supervise=false", "--set", &listen]);
    get_times(&server, 4);
    let metrics = |path| exchange(UnixStream::connect(&socket).unwrap(), path, "");
    let line = "skep_http_requests_total{service=\"Hello\",code=\"2xx\"} 4\n";
    server.wait_until("they are counted", |_| metrics("/-/metrics").contains(line));
    assert!(metrics("/-/status").contains("drill 1.2.3"));
    server.signal(Signal::TERM);
    assert_eq!(server.wait().code(), Some(0));
    assert!(!socket.exists(), "the socket is left");
}

fn connections_to_the_database_are_shown() {
    for model in ["thread", "prefork"] {
        let data = folder();
        let mut server = tallies(&data, "", &[&STATUS[..], &["--mpm", model, "--workers", "2"]].concat());
        Browser::default().post(&server, "/tally/false/1?transaction=true");
        let open = "skep_sql_connections{pool=\"writer\"} ";
        server.wait_until("the metrics have them", |server| {
            let metrics = page(server, "/-/metrics");
            let number = metrics.lines().find_map(|line| line.strip_prefix(open)?.parse::<u64>().ok());
            number.is_some_and(|number| number > 0)
        });
        let html = page(&server, "/-/status");
        assert!(html.contains("Database connections") && html.contains("requests waiting"), "{html}");
        // What a worker reports may be from before the end of the transaction.
        server.wait_until("the connection is given back", |server| {
            page(server, "/-/status.json").contains("\"pools\":[{\"busy\":0,\"connections\":")
        });
        for text in [&html, &page(&server, "/-/metrics")] {
            assert!(!text.contains("pool writer"), "the application says nothing of them: {text}");
        }
        drop(server);
        std::fs::remove_dir_all(data).unwrap();
    }
}

fn promtool_finds_nothing_wrong() {
    let data = folder();
    let server = tallies(&data, "", &STATUS);
    get_times(&server, 3);
    assert!(server.get("/nowhere").is_err());
    let answer = page(&server, "/-/metrics");
    let (_, metrics) = answer.split_once("\r\n\r\n").unwrap();
    let mut promtool = Command::new("promtool");
    promtool.args(["check", "metrics"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut promtool = promtool.spawn().unwrap();
    promtool.stdin.take().unwrap().write_all(metrics.as_bytes()).unwrap();
    let output = promtool.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.is_empty(), "{said}");
    drop(server);
    std::fs::remove_dir_all(data).unwrap();
}

fn prometheus_scrapes_and_queries() {
    /// Ends with the test.
    struct Prometheus(std::process::Child);
    impl Drop for Prometheus {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
    let mut server = start(&[]);
    get_times(&server, 3);
    let scrape = "{scrape_interval: 250ms, scrape_timeout: 250ms}";
    let target = format!("static_configs: [{{targets: [\"{}\"]}}]", address(&server));
    let file = server.folder.join("prometheus.yml");
    let job = format!("{{job_name: skep, metrics_path: /-/metrics, {target}}}");
    std::fs::write(&file, format!("global: {scrape}\nscrape_configs: [{job}]\n")).unwrap();
    // Free a moment ago: Prometheus takes no port 0.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let mut command = Command::new("prometheus");
    command.arg(format!("--config.file={}", file.display())).arg(format!("--web.listen-address={free}"));
    command.arg(format!("--storage.tsdb.path={}", server.folder.join("tsdb").display()));
    let _prometheus = Prometheus(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
    let query = |query: &str| match TcpStream::connect(&free) {
        Ok(stream) => exchange(stream, &format!("/api/v1/query?query={query}"), ""),
        Err(_) => String::new(),
    };
    server.wait_until("it is scraped", |_| query("up").contains("\"1\"]"));
    let requests = "skep_http_requests_total%7Bservice=%22Hello%22,code=%222xx%22%7D";
    server.wait_until("requests are there", |_| query(requests).contains("\"3\"]"));
    let within = "skep_http_request_duration_seconds_bucket%7Bservice=%22Hello%22,le=%22%2BInf%22%7D";
    server.wait_until("so is the histogram", |_| query(within).contains("\"3\"]"));
}
