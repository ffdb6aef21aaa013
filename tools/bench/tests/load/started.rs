//! Servers that the bench starts itself: this very program, executed again, with where to serve in its environment.

use std::env;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use skep_bench::compare::Measure;
use skep_bench::record::Record;

use crate::server::{HELLO, read_request};

/// Not a test of its own: the server. It serves at the port that its environment names, and answers at a control socket
/// as a Skep server does.
#[test]
fn serve() {
    let Ok(port) = env::var("SERVE_AT") else { return };
    if let Ok(folder) = env::var("SERVE_CONTROL") {
        let control = UnixListener::bind(Path::new(&folder).join("control")).unwrap();
        thread::spawn(move || {
            for mut stream in control.incoming().flatten() {
                let mut word = String::new();
                stream.read_to_string(&mut word).unwrap();
                let process = std::process::id();
                let answer = match word.trim() {
                    "swap" => "swapped: from 1 to 2\n".to_owned(),
                    _ => format!("{{\"process\":{process}}}\n"),
                };
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
    }
    let most: Option<usize> = env::var("SERVE_CONNECTIONS").ok().map(|most| most.parse().unwrap());
    let listener = TcpListener::bind(format!("127.0.0.1:{port}")).unwrap();
    for (number, mut stream) in listener.incoming().flatten().enumerate() {
        if most == Some(number) {
            eprintln!("no more memory");
            std::process::exit(3);
        }
        thread::spawn(move || while read_request(&mut stream) && stream.write_all(HELLO).is_ok() {});
    }
}

/// The command of a server, with more of its environment.
fn command(more: &str) -> String {
    format!("SERVE_AT={{port}} {more} '{}' started::serve --exact --nocapture", env::current_exe().unwrap().display())
}

fn run(line: &[&str]) -> String {
    format!("{:?}", skep_bench::run(line.iter().map(Into::into).collect()))
}

fn code(code: u8) -> String {
    format!("{:?}", ExitCode::from(code))
}

#[test]
fn cold_starts_and_swaps_are_timed() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("a.json").display().to_string();
    let variant = format!("a={}", command("SERVE_CONTROL={dir}"));
    assert_eq!(run(&["cold", &variant, "-R", "2", "--swap", "-q", "--json", &json]), code(0));
    let record = Record::read(Path::new(&json)).unwrap();
    let rounds = &record.experiments[0];
    for measure in [Measure::Start, Measure::Swap, Measure::AfterSwap] {
        assert!(rounds.median(0, measure).unwrap() > 0.0, "{measure:?}");
    }
    assert_eq!(rounds.variants[0].answer.as_deref(), Some("200, 13 bytes"));
    // Without a control socket there is nothing to swap.
    assert_eq!(run(&["cold", &format!("a={}", command("")), "-R", "1", "--swap", "-q"]), code(1));
}

#[test]
fn a_comparison_of_commands_measures_what_they_take() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("a.json").display().to_string();
    let variant = format!("a={}", command(""));
    let line =
        ["compare", &variant, "-R", "2", "-d", "200ms", "-w", "50ms", "-c", "2", "-q", "--no-pin", "--json", &json];
    assert_eq!(run(&line), code(0));
    let record = Record::read(Path::new(&json)).unwrap();
    for place in 0..2 {
        for measure in [Measure::Rate, Measure::Cpu, Measure::Memory, Measure::Switches] {
            assert!(record.experiments[0].median(place, measure).unwrap() > 0.0, "{measure:?}");
        }
    }
}

#[test]
fn a_server_that_dies_in_a_comparison_leaves_the_rounds_before() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("a.json").display().to_string();
    let (lasting, dying) = (format!("a={}", command("")), format!("b={}", command("SERVE_CONNECTIONS=20")));
    let line = [
        "compare", &lasting, &dying, "-R", "1000", "-d", "100ms", "-w", "0s", "-c", "2", "-q", "--no-pin", "--json",
        &json,
    ];
    assert_eq!(run(&line), code(1));
    let rounds = Record::read(Path::new(&json)).unwrap().experiments[0].rounds.len();
    // Each round takes two connections of it or more.
    assert!((1..=10).contains(&rounds), "{rounds} rounds");
}

#[test]
fn one_server_is_started_or_found_by_its_control_socket() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("a.json").display().to_string();
    let flags = ["-d", "300ms", "-w", "0s", "-c", "2", "-q", "--json", &json];
    let start = command(&format!("SERVE_CONTROL={}", folder.path().display()));
    assert_eq!(run(&[&["http://127.0.0.1:{port}/", "--start", &start][..], &flags].concat()), code(0));
    let cpu = || Record::read(Path::new(&json)).unwrap().experiments[0].median(0, Measure::Cpu).unwrap();
    assert!(cpu() > 0.0);
    // The same again, but started by somebody else and found by its socket.
    fs::remove_file(folder.path().join("control")).unwrap();
    let launch: skep_bench::server::Launch = start.parse().unwrap();
    let mut server = skep_bench::server::Started::spawn(&launch, None).unwrap();
    let port = server.port();
    server.wait(Duration::from_secs(20), || std::net::TcpStream::connect(("127.0.0.1", port))).unwrap();
    let (url, control) = (format!("http://127.0.0.1:{port}/"), folder.path().join("control").display().to_string());
    assert_eq!(run(&[&[url.as_str(), "--control", &control][..], &flags].concat()), code(0));
    assert!(cpu() > 0.0);
    assert_eq!(run(&[&[url.as_str(), "--control", "/nowhere/control"][..], &flags].concat()), code(1));
}

#[test]
fn the_highest_rate_is_looked_for() {
    let server = crate::server::Server::delayed(|_| Duration::from_millis(5));
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("a.json").display().to_string();
    // Two connections of 5 ms each: 400 a second at the very most.
    let url = server.url();
    let line =
        [url.as_str(), "--find", "p90<5s", "-r", "50", "-c", "2", "-d", "400ms", "-w", "0s", "-q", "--json", &json];
    assert_eq!(run(&line), code(0));
    let record = Record::read(Path::new(&json)).unwrap();
    let rate = record.experiments[0].median(0, Measure::Rate).unwrap();
    assert!((1.0..420.0).contains(&rate) && record.settings["pace"].starts_with("the highest rate"), "{rate}");
}
