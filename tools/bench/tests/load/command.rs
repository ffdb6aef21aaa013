//! The words of the command, called as a library: exit codes and files.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use skep_bench::compare::Measure;
use skep_bench::record::Record;

use crate::server::Server;

fn run(line: &[&str]) -> String {
    format!("{:?}", skep_bench::run(line.iter().map(Into::into).collect()))
}

fn code(code: u8) -> String {
    format!("{:?}", ExitCode::from(code))
}

#[test]
fn a_load_writes_every_kind_of_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let server = Server::delayed(|_| Duration::from_millis(1));
    let (json, csv, md, html, svg) = (at("a.json"), at("a.csv"), at("a.md"), at("a.html"), at("plots"));
    let hdr = at("hdr");
    let flags = [
        "-d", "1s", "-w", "0s", "-c", "4", "-q", "--busy", "--json", &json, "--csv", &csv, "--md", &md, "--html",
        &html, "--svg", &svg, "--hdr", &hdr,
    ];
    let own = std::process::id().to_string();
    let url = server.url();
    assert_eq!(run(&[&[url.as_str(), "--pid", &own], &flags[..]].concat()), code(0));
    let record = Record::read(Path::new(&json)).unwrap();
    assert_eq!((record.settings["busy"].as_str(), record.settings["drain"].as_str()), ("true", "false"));
    let rounds = &record.experiments[0];
    for measure in [Measure::Rate, Measure::P9999, Measure::Cpu, Measure::Memory, Measure::Switches] {
        assert!(rounds.median(0, measure).unwrap() > 0.0, "{measure:?}");
    }
    let read = |path: &str| fs::read_to_string(path).unwrap();
    assert!(read(&csv).contains(",rate,") && read(&md).contains("| per second |"));
    let files = fs::read_dir(&hdr).unwrap().map(|entry| entry.unwrap().path());
    let percentiles = files.filter(|path| path.extension().is_some_and(|ending| ending == "hgrm"));
    let percentiles = read(percentiles.map(|path| path.display().to_string()).collect::<Vec<_>>()[0].as_str());
    assert!(percentiles.contains("Total count") && read(&at("hdr/latency.hlog")).contains("HISTFAAA"));
    assert!(read(&html).contains("<svg") && read(&at("plots/latency.svg")).starts_with("<svg"));
    assert_eq!(run(&["show", &json]), code(0));
    assert_eq!(run(&["show", &json, &json]), code(0));
}

/// One server is a hundred times slower than the other, so that no busy machine makes them equal.
#[test]
fn a_comparison_finds_the_slower_one_and_a_gate_fails() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("a.json").display().to_string();
    let (fast, slow) = (Server::delayed(|_| Duration::from_millis(1)), Server::delayed(|_| Duration::from_millis(100)));
    let (fast, slow) = (format!("fast={}", fast.url()), format!("slow={}", slow.url()));
    let flags =
        ["compare", &fast, &slow, "-R", "6", "-d", "300ms", "-w", "0s", "-c", "2", "-q", "--json", &json, "--no-pin"];
    let with = |gates: &[&str]| run(&[&flags[..], gates].concat());
    assert_eq!(with(&["--gate", "fast>=1.5*slow"]), code(0));
    let record = Record::read(Path::new(&json)).unwrap();
    let rounds = &record.experiments[0];
    assert_eq!(rounds.control(), Some(("fast", "fast (again)")));
    let interval = rounds.interval("slow", "fast", Measure::Rate, 0.99).unwrap();
    assert!(interval.shows_a_difference() && interval.ratio < 0.5, "{interval:?}");
    assert_eq!(with(&["--gate", "slow>=0.97*fast"]), code(1));
    assert_eq!(with(&["--gate", "p50:slow<=1.1*fast"]), code(1));
}

/// Two rounds are too few for an interval, so that they decide nothing.
#[test]
fn a_gate_that_is_open_does_not_pass() {
    let (one, other) = (Server::delayed(|_| Duration::ZERO), Server::delayed(|_| Duration::ZERO));
    let (one, other) = (format!("one={}", one.url()), format!("other={}", other.url()));
    let line = ["compare", &one, &other, "-R", "2", "-d", "100ms", "-w", "0s", "-q", "--no-pin", "--no-control"];
    assert_eq!(run(&[&line[..], &["--gate", "one>=other", "--gate", "one<=other"]].concat()), code(3));
}

#[test]
fn variants_that_answer_otherwise_are_not_compared() {
    let hello = Server::delayed(|_| Duration::ZERO);
    let other = crate::server::serve(|stream| {
        while crate::server::read_request(stream) {
            let _ = std::io::Write::write_all(
                stream,
                b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nhi",
            );
        }
    });
    let (hello, other) = (format!("a={}", hello.url()), format!("b=http://{other}/"));
    let line = ["compare", &hello, &other, "-R", "1", "-d", "50ms", "-w", "0s", "-q", "--no-pin", "--no-control"];
    assert_eq!(run(&line), code(1));
    assert_eq!(run(&[&line[..], &["--may-differ"]].concat()), code(0));
}

#[test]
fn lines_that_are_wrong_have_exit_code_2() {
    for line in [
        &["compaer", "a=http://x/"][..],
        &["http://x/", "--conections", "3"],
        &["http://x/", "-c", "0"],
        &["ftp://x/"],
        &["http://x/", "http://y/"],
        &["http://x/", "--urls", "/nowhere"],
        &["http://x/", "--speed", "2"],
        &["http://x/", "-t", "33"],
        &["http://x/", "--load-core", "0,1"],
        &["http://x/", "--busy", "--http", "2"],
        &["http://x/", "--json", "/nowhere/a.json"],
        &["compare", "a=http://x/", "--html", "/"],
        &["http://x/", "--start", "./a {port}"],
        &["compare"],
        &["compare", "http://x/"],
        &["compare", "a=./a {port}", "a=./b {port}"],
        &["compare", "a=http://x/", "--gate", "a>=b"],
        &["compare", "a=./server"],
        &["show"],
        &["cold", "a=./server"],
    ] {
        assert_eq!(run(line), code(2), "{line:?}");
    }
    assert_eq!(run(&["http://127.0.0.1:1/", "-q"]), code(1));
    let missing = crate::server::serve(|stream| {
        while crate::server::read_request(stream) {
            let _ = std::io::Write::write_all(stream, b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
        }
    });
    assert_eq!(run(&[&format!("http://{missing}/"), "-q", "-d", "200ms", "-w", "0s"]), code(1));
    assert_eq!(run(&["show", "/nowhere.json"]), code(1));
    for word in ["load", "compare", "show", "cold"] {
        assert_eq!(run(&[word, "--help"]), code(0));
    }
}
