//! A supervisor, one worker of threads: life, death, signals, words.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::Test;
use super::server::{Server, command, deploy, descendants, folder, is_there, kill, memory, nothing_is_lost, title};
use skep_drill::Load;

pub(crate) const TESTS: &[Test] = &[
    ("a_supervisor_is_small_and_its_worker_serves", a_supervisor_is_small_and_its_worker_serves),
    ("a_supervisor_never_makes_the_application", a_supervisor_never_makes_the_application),
    ("term_finishes_what_runs_and_quit_does_not", term_finishes_what_runs_and_quit_does_not),
    ("a_dead_worker_is_replaced_at_once", a_dead_worker_is_replaced_at_once),
    ("workers_do_not_outlive_their_supervisor", workers_do_not_outlive_their_supervisor),
    ("an_application_that_refuses_to_start_says_why", an_application_that_refuses_to_start_says_why),
    (
        "forgotten_services_are_named_before_an_address_is_taken",
        forgotten_services_are_named_before_an_address_is_taken,
    ),
    ("words_are_answered", words_are_answered),
    ("a_status_query_does_not_delay_other_commands", a_status_query_does_not_delay_other_commands),
    ("a_silent_control_client_delays_nobody", a_silent_control_client_delays_nobody),
    ("the_status_has_what_the_application_says", the_status_has_what_the_application_says),
    ("each_process_says_how_the_application_is", each_process_says_how_the_application_is),
    ("a_thread_is_added_without_loss", a_thread_is_added_without_loss),
    ("log_files_are_opened_again", log_files_are_opened_again),
    ("systemd_is_notified", systemd_is_notified),
    ("a_database_that_cannot_be_written_is_named", a_database_that_cannot_be_written),
    ("privileges_are_given_up", privileges_are_given_up),
    ("root_follows_no_link_of_the_user", root_follows_no_link_of_the_user),
    ("a_worker_is_replaced_when_it_had_its_share", a_worker_is_replaced_when_it_had_its_share),
    ("health_checks_are_answered_and_not_counted", health_checks_are_answered_and_not_counted),
    ("one_plain_process_if_wanted", one_plain_process_if_wanted),
];

fn a_supervisor_is_small_and_its_worker_serves() {
    let server = Server::start(&["--workers", "2", "--set", "pid_file=pid"]);
    assert_eq!(server.get("/").unwrap(), "Hello, world!");
    let family = server.family();
    assert_eq!(family.len(), 1, "one worker");
    assert_eq!(title(family[0]), "skep: worker 1, ready");
    assert_eq!(std::fs::read_to_string(server.folder.join("pid")).unwrap(), format!("{}\n", server.pid()));
    println!("  supervisor {} KiB, worker {} KiB", memory(server.pid()), memory(family[0]));
    // It waits for nothing on the sockets that it holds: all that it waits for is one `poll`.
    let threads = std::fs::read_dir(format!("/proc/{}/task", server.pid())).unwrap().count();
    assert_eq!(threads, 1, "a supervisor has one thread");
    if !cfg!(debug_assertions) {
        assert!(memory(server.pid()) <= 1536, "{} KiB", memory(server.pid()));
    }
}

/// Neither at its start, nor when it looks after workers, nor after an upgrade.
fn a_supervisor_never_makes_the_application() {
    for model in ["thread", "prefork"] {
        let folder = folder();
        super::server::deploy(&folder.join("app"), "noted");
        let mut server = Server::start_in(folder, &["--mpm", model]);
        assert!(server.output().contains("drill 1.2.3 listens on"), "its name is known: {}", server.output());
        let mut makers = vec![server.worker()];
        kill(makers[0], Signal::KILL);
        // Processes that it has forked still answer, for a moment.
        server.wait_until("its death is known", |server| server.status("crashes") == "1");
        server.wait_until("another serves", |server| server.get("/").is_ok());
        makers.push(server.worker());
        let (good, text) = server.control("upgrade");
        assert!(good, "{text}");
        server.wait_until("it says so", |server| server.errors().contains("the supervisor runs version"));
        makers.push(server.worker());
        let noted = std::fs::read_to_string(server.folder.join(skep_drill::NOTES)).unwrap();
        let noted: Vec<i32> = noted.lines().map(|line| line.parse().unwrap()).collect();
        // Besides the workers, one child process looked for unmounted services, and one of the new file printed its
        // settings.
        let (answering, checked): (Vec<i32>, Vec<i32>) = noted.iter().partition(|process| makers.contains(process));
        assert_eq!(answering, makers, "{model}");
        assert_eq!(checked.len(), 2, "{model}: {noted:?}");
        assert!(checked.iter().all(|process| *process != server.pid() && !is_there(*process)), "{model}: {noted:?}");
        assert_eq!(server.status("name"), "drill 1.2.3");
    }
}

fn term_finishes_what_runs_and_quit_does_not() {
    for (signal, code, answered) in [(Signal::TERM, 0, true), (Signal::INT, 0, true), (Signal::QUIT, 131, false)] {
        let mut server = Server::start(&[]);
        let mut busy = TcpStream::connect(&server.address).unwrap();
        busy.write_all(b"GET /slow/300 HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        server.wait_until("it has the request", |server| server.status("requests") == "1");
        server.signal(signal);
        let mut answer = String::new();
        let _ = busy.read_to_string(&mut answer);
        assert_eq!(answer.ends_with("at last"), answered, "{signal:?}: {answer}");
        assert_eq!(answer.to_ascii_lowercase().contains("connection: close"), answered, "{answer}");
        let family = server.family();
        assert_eq!(server.wait().code(), Some(code));
        assert!(!family.iter().any(|pid| is_there(*pid)), "a worker is left");
        assert!(TcpStream::connect(&server.address).is_err());
    }
}

fn a_thread_is_added_without_loss() {
    let mut server = Server::start(&["--workers", "1"]);
    let load = Load::new(&server.address).start();
    load.go_on_for(50).unwrap();
    let threads = |server: &Server| server.control("status json").1.matches("\"thread\":").count();
    assert_eq!(threads(&server), 1);
    assert_eq!(server.control("add"), (true, "adding a thread: a new worker takes over\n".to_owned()));
    // One worker, and each of its two threads has its own queue.
    server.wait_until("the old worker is gone", |server| server.family().len() == 1 && threads(server) == 2);
    load.go_on_for(50).unwrap();
    server.signal(Signal::USR2);
    server.wait_until("there are three", |server| server.family().len() == 1 && threads(server) == 3);
    load.go_on_for(50).unwrap();
    nothing_is_lost(load);
}

fn a_dead_worker_is_replaced_at_once() {
    let mut server = Server::start(&[]);
    let first = server.worker();
    let start = Instant::now();
    kill(first, Signal::KILL);
    // The queue is kept: this waits there for the successor.
    assert_eq!(server.get("/").unwrap(), "Hello, world!");
    println!("  {:?} from its death to an answer of its successor", start.elapsed());
    assert_ne!(server.worker(), first);
    let errors = server.errors();
    assert!(errors.contains("crashed: signal 9 (KILL"), "{errors}");
    assert!(server.get("/crash/abort").is_err());
    assert_eq!(server.get("/").unwrap(), "Hello, world!");
    server.wait_until("the log names the signal", |server| server.errors().contains("crashed: signal 6 (ABRT"));
    assert!(server.get("/crash/exit").is_err());
    assert_eq!(server.get("/").unwrap(), "Hello, world!");
    server.wait_until("the log names the exit code", |server| server.errors().contains("crashed: exit code 3"));
    assert_eq!(server.status("crashes"), "3");
}

fn workers_do_not_outlive_their_supervisor() {
    let mut server = Server::start(&[]);
    let mut busy = TcpStream::connect(&server.address).unwrap();
    busy.write_all(b"GET /slow/300 HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    server.wait_until("it has the request", |server| server.status("requests") == "1");
    let family = server.family();
    server.signal(Signal::KILL);
    let mut answer = String::new();
    busy.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("at last"), "what had begun was not finished: {answer}");
    server.wait_until("the worker is gone", |_| !family.iter().any(|pid| is_there(*pid)));
    let again = Server::start(&["--listen", &server.address]);
    assert_eq!(again.get("/").unwrap(), "Hello, world!");
}

fn an_application_that_refuses_to_start_says_why() {
    let folder = folder();
    super::server::deploy(&folder.join("app"), "refuses");
    let output = command(&folder, &["--listen", "127.0.0.1:0"]).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("this version does not want to start"), "{errors}");
    assert!(output.stdout.is_empty());
}

fn forgotten_services_are_named_before_an_address_is_taken() {
    // Another socket has the address already: a server that tried to bind it would say so.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let told = |version: &str, arguments: &[&str]| {
        let folder = folder();
        super::server::deploy(&folder.join("app"), version);
        let output = command(&folder, arguments).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(output.stdout.is_empty());
        errors
    };
    for model in ["thread", "prefork"] {
        let errors = told("forgets", &["--mpm", model, "--listen", &address]);
        assert!(errors.contains("is never mounted: add it to `App::serve`"), "{errors}");
        assert_eq!(
            errors.matches("tests/processes/").count(),
            errors.lines().count(),
            "once, and nothing else: {errors}"
        );
        // Who takes long to be made does not keep every start waiting.
        let errors = told("forgets late", &["--mpm", model, "--listen", &address]);
        assert!(errors.contains("in use"), "{errors}");
        let errors = told("forgets late", &["--mpm", model, "--listen", "127.0.0.1:0"]);
        assert!(errors.contains("is never mounted"), "{errors}");
    }
}

fn words_are_answered() {
    let mut server = Server::start(&["--workers", "2"]);
    server.get("/").unwrap();
    let (good, text) = server.control("status");
    assert!(good && text.contains(&format!("listens on http://{}", server.address)), "{text}");
    assert!(text.contains("worker 1: process ") && text.contains("1 requests"), "{text}");
    assert_eq!(text.matches("\n  1.").count(), 2, "{text}");
    let (good, text) = server.control("dance");
    assert!(!good && text.contains("unknown command \"dance\": expected one of status"), "{text}");
    let (good, text) = server.control("log debug");
    assert!(good && text == "log level set to DEBUG\n", "{text}");
    // Workers learn of it in a moment.
    server.wait_until("a debug line came", |server| {
        server.get("/nowhere").is_err() && server.errors().contains("DEBUG skep::request: 404")
    });
    let (good, _) = server.control("stop");
    assert!(good);
    assert_eq!(server.wait().code(), Some(0));
    let (good, text) = server.control("status");
    assert!(!good && text.contains("no server listens on"), "{text}");
}

fn the_status_has_what_the_application_says() {
    let server = Server::start(&[]);
    let (good, text) = server.control("status");
    assert!(good && text.ends_with("\nnotes\n  they are \"kept\"\n  and nobody reads them\n"), "{text}");
    let json = server.control("status json").1;
    assert!(
        json.ends_with(",\"application\":[{\"name\":\"notes\",\"kept\":3,\"where\":\"here \\\"and\\\" there\"}]}\n"),
        "{json}"
    );
    // A stopped worker delays the reply by a timeout only, and its late report does not answer a later query.
    kill(server.worker(), Signal::STOP);
    assert!(server.control("status").1.ends_with("\napplication: no status report in time\n"));
    assert!(server.control("status json").1.ends_with(",\"application\":null}\n"));
    kill(server.worker(), Signal::CONT);
    assert!(server.control("status json").1.contains("\"application\":[{\"name\""));
}

/// With `prefork`, what an application knows is spread over its processes, and each says its own.
fn each_process_says_how_the_application_is() {
    let mut server = Server::start(&["--mpm", "prefork", "--workers", "2"]);
    let says = |process: i32| format!("{{\"process\":{process},\"name\":\"notes\",\"kept\":3,\"where\":");
    let those_who_serve = |server: &Server| {
        let title = |process: &i32| title(*process).contains("ready") && *process != server.worker();
        descendants(server.pid()).into_iter().filter(title).collect::<Vec<i32>>()
    };
    server.wait_until("both serve", |server| those_who_serve(server).len() == 2);
    let processes = those_who_serve(&server);
    server.wait_until("both say how it is", |server| {
        let json = server.control("status json").1;
        processes.iter().all(|process| json.contains(&says(*process)))
            && json.matches("\"name\":\"notes\"").count() == 2
    });
    let text = server.control("status").1;
    for process in &processes {
        let said = format!("\nprocess {process}:\n  notes\n    they are \"kept\"\n    and nobody reads them\n");
        assert!(text.contains(&said), "{text}");
    }
    // Who stands still keeps nobody waiting for long, and the others are heard.
    kill(processes[0], Signal::STOP);
    let (text, json) = (server.control("status").1, server.control("status json").1);
    assert!(text.ends_with(&format!("process {}: no status report in time\n", processes[0])), "{text}");
    assert!(text.contains(&format!("\nprocess {}:\n", processes[1])), "{text}");
    assert!(json.ends_with(&format!(",{{\"process\":{},\"name\":null}}]}}\n", processes[0])), "{json}");
    kill(processes[0], Signal::CONT);
    server.wait_until("it says so again", |server| server.control("status json").1.contains(&says(processes[0])));
    // Where each request has a process of its own, one more is made, which serves nobody.
    let server = Server::start(&["--mpm", "prefork", "--set", "requests_per_worker=1"]);
    for _ in 0..3 {
        let json = server.control("status json").1;
        let (slots, application) = json.split_once("],\"application\":").unwrap();
        assert_eq!(application.matches("\"name\":\"notes\"").count(), 1, "{json}");
        let process = application.strip_prefix("[{\"process\":").unwrap().split_once(',').unwrap().0;
        assert!(!slots.contains(&format!("\"process\":{process},\"thread\"")), "{json}");
    }
}

/// Sends a command, and leaves its reply to be read.
fn send(server: &Server, command: &str) -> UnixStream {
    let mut client = UnixStream::connect(server.folder.join("data/control")).unwrap();
    client.write_all(format!("{command}\n").as_bytes()).unwrap();
    client
}

fn a_status_query_does_not_delay_other_commands() {
    let folder = folder();
    super::server::deploy(&folder.join("app"), "one");
    let mut server = Server::start_in(folder, &[]);
    let worker = server.worker();
    kill(worker, Signal::STOP);
    server.wait_until("the worker is stopped", |_| {
        std::fs::read_to_string(format!("/proc/{worker}/stat")).unwrap().contains(") T ")
    });
    // The status waits for a report that does not come; meanwhile a swap is tried, and its outcome is part of the
    // status.
    super::server::deploy_bytes(&server.folder.join("app"), b"not an executable");
    let (mut status, mut swap) = (send(&server, "status"), send(&server, "swap"));
    let (mut text, mut outcome) = (String::new(), String::new());
    swap.read_to_string(&mut outcome).unwrap();
    status.read_to_string(&mut text).unwrap();
    kill(worker, Signal::CONT);
    assert!(outcome.starts_with("not swapped: "), "{outcome}");
    assert!(text.contains("last swap: FAILED") && text.ends_with("application: no status report in time\n"), "{text}");
}

fn a_silent_control_client_delays_nobody() {
    let server = Server::start(&[]);
    let mut silent = UnixStream::connect(server.folder.join("data/control")).unwrap();
    assert!(server.control("status").0);
    // It is still connected: nobody had to wait until it was given up.
    silent.write_all(b"log debug\n").unwrap();
    let mut reply = String::new();
    silent.read_to_string(&mut reply).unwrap();
    assert_eq!(reply, "log level set to DEBUG\n");
}

fn log_files_are_opened_again() {
    let folder = folder();
    let log = folder.join("errors.log");
    let file = std::fs::File::create(&log).unwrap();
    let mut command = command(&folder, &["--listen", "127.0.0.1:0", "--set", "log.level=debug"]);
    // The errors go to a file; what this test reads of them is empty.
    command.stderr(file);
    let mut server = Server::start_command(command, folder.clone());
    std::fs::rename(&log, folder.join("errors.log.1")).unwrap();
    server.signal(Signal::USR1);
    server.wait_until("there is a new file", |_| log.exists());
    let mut written = String::new();
    server.wait_until("lines go there", |server| {
        let _ = server.get("/nowhere");
        written = std::fs::read_to_string(&log).unwrap();
        written.contains("DEBUG skep::request: 404")
    });
}

fn systemd_is_notified() {
    let folder = folder();
    let socket = UnixDatagram::bind(folder.join("notify")).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut command = command(&folder, &["--listen", "127.0.0.1:0"]);
    command.env("NOTIFY_SOCKET", folder.join("notify")).env("WATCHDOG_USEC", "1000000");
    let server = Server::start_command(command, folder);
    let hear = || {
        let mut buffer = [0; 512];
        let count = socket.recv(&mut buffer).unwrap();
        String::from_utf8_lossy(&buffer[..count]).into_owned()
    };
    let first = hear();
    assert!(first.starts_with(&format!("READY=1\nMAINPID={}\n", server.pid())), "{first}");
    assert_eq!(hear(), "WATCHDOG=1");
    server.signal(Signal::HUP);
    let mut heard = Vec::new();
    while heard.iter().filter(|line: &&String| line.starts_with("READY=1")).count() == 0 {
        heard.push(hear());
    }
    assert!(heard.iter().any(|line| line.starts_with("RELOADING=1\nMONOTONIC_USEC=")), "{heard:?}");
    server.signal(Signal::TERM);
    while !hear().starts_with("STOPPING=1") {}
}

fn privileges_are_given_up() {
    if !rustix::process::getuid().is_root() {
        println!("  left out: this needs to be started as root");
        return;
    }
    let server = Server::start(&["--set", "user=nobody"]);
    assert_eq!(server.get("/").unwrap(), "Hello, world!");
    for pid in [server.pid(), server.worker()] {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let line = |name: &str| status.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
        assert!(!line("Uid:").split_whitespace().any(|id| id == "0"), "{status}");
        assert!(line("NoNewPrivs:").ends_with('1'), "{status}");
    }
    let (good, text) = server.control("status");
    assert!(good, "{text}");
}

/// A compromised worker can put links wherever its user may write. Root follows none of them.
fn root_follows_no_link_of_the_user() {
    const NOBODY: u32 = 65534;
    if !rustix::process::getuid().is_root() {
        println!("  left out: this needs to be started as root");
        return;
    }
    let folder = folder();
    let (home, victim) = (folder.join("home"), folder.join("victim"));
    std::fs::create_dir_all(&home).unwrap();
    std::fs::create_dir(&victim).unwrap();
    std::fs::write(victim.join("file"), "precious").unwrap();
    for (link, to) in [("data", &victim), ("pid", &victim.join("file")), ("control", &victim.join("file"))] {
        std::os::unix::fs::symlink(to, home.join(link)).unwrap();
    }
    chown(&home, Some(NOBODY), Some(NOBODY)).unwrap();
    let refused = |setting: &str, path: &Path| {
        let setting_of_path = format!("{setting}={}", path.display());
        let output = command(&folder, &["--set", "user=nobody", "--set", &setting_of_path]).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{setting}");
        String::from_utf8(output.stderr).unwrap()
    };
    let data = refused("data", &home.join("data"));
    assert!(data.contains("is not writable"), "{data}");
    let pid = refused("pid_file", &home.join("pid"));
    assert!(pid.contains("is not a regular file"), "{pid}");
    let control = refused("control", &home.join("control"));
    assert!(control.contains("is not a socket"), "{control}");
    let socket = refused("listen", Path::new(&format!("unix:{}", home.join("socket").display())));
    assert!(socket.contains("choose a folder of root"), "{socket}");
    for path in [&victim, &victim.join("file")] {
        assert_eq!(std::fs::metadata(path).unwrap().uid(), 0, "{}", path.display());
    }
    assert_eq!(std::fs::read_to_string(victim.join("file")).unwrap(), "precious");
}

/// The user of the server can read it only: `--check` says so, and a server that serves its pages is not ready.
fn a_database_that_cannot_be_written() {
    let user: &[&str] = if rustix::process::getuid().is_root() { &["--set", "user=nobody"] } else { &[] };
    let folder = folder();
    deploy(&folder.join("app"), "tallies");
    let mut server = Server::start_in(folder.clone(), user);
    let database = folder.join("data/database.sqlite");
    let check = || command(&folder, &[&["--check", "--listen", "127.0.0.1:0"], user].concat()).output().unwrap();
    let output = check();
    assert!(output.status.success(), "{output:?}");
    server.control("stop");
    server.wait();
    let mut mode = std::fs::metadata(&database).unwrap().permissions();
    mode.set_mode(0o444);
    std::fs::set_permissions(&database, mode).unwrap();
    if !user.is_empty() {
        chown(&database, Some(0), Some(0)).unwrap();
    }
    let output = check();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && error.contains("database.sqlite cannot be written"), "{error}");
    let mut server = Server::start_in(folder.clone(), user);
    assert_eq!(server.get("/").unwrap(), "Hello, world!");
    let answer = server.get("/-/ready").unwrap_err().to_string();
    assert!(answer.contains("503"), "{answer}");
    server.wait_until("the log says why", |server| {
        server.errors().contains("database.sqlite cannot be written: Permission denied")
            && server.errors().contains("not ready: ")
    });
}

fn a_worker_is_replaced_when_it_had_its_share() {
    let mut server = Server::start(&["--set", "requests_per_worker=20"]);
    let first = server.worker();
    (0..30).for_each(|_| assert_eq!(server.get("/").unwrap(), "Hello, world!"));
    server.wait_until("another serves", |server| server.worker() != first);
    assert!(server.errors().contains(": it has handled "), "{}", server.errors());
    drop(server);
    let mut server = Server::start(&["--set", "max_age=300ms"]);
    let first = server.worker();
    server.wait_until("another serves", |server| server.worker() != first);
    assert!(server.errors().contains("it is older than 300ms"), "{}", server.errors());
}

fn health_checks_are_answered_and_not_counted() {
    let mut server = Server::start(&[]);
    assert_eq!(server.get("/-/live").unwrap(), "live\n");
    assert_eq!(server.get("/-/ready").unwrap(), "ready\n");
    assert_eq!(server.get("/").unwrap(), "Hello, world!");
    assert_eq!(server.status("requests"), "1");
    std::fs::rename(server.folder.join("data"), server.folder.join("elsewhere")).unwrap();
    let answer = server.get("/-/ready").unwrap_err().to_string();
    assert!(answer.contains("503"), "{answer}");
    assert_eq!(server.get("/-/live").unwrap(), "live\n", "a restart would not help");
    server.wait_until("the log says why", |server| server.errors().contains("not ready: the data directory"));
    std::fs::rename(server.folder.join("elsewhere"), server.folder.join("data")).unwrap();
    assert_eq!(server.get("/-/ready").unwrap(), "ready\n");
}

fn one_plain_process_if_wanted() {
    let server = Server::start(&["--set", "supervise=false"]);
    assert_eq!(server.get("/").unwrap(), "Hello, world!");
    assert!(descendants(server.pid()).is_empty());
    let output = command(&server.folder, &["--set", "supervise=false", "--mpm", "prefork"]).output().unwrap();
    assert!(String::from_utf8(output.stderr).unwrap().contains("mpm = prefork needs a supervisor"));
}
