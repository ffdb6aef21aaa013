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

#[test]
fn a_comparison_finds_the_slower_one_and_a_gate_fails() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("a.json").display().to_string();
    let (fast, slow) = (Server::delayed(|_| Duration::from_millis(4)), Server::delayed(|_| Duration::from_millis(20)));
    let (fast, slow) = (format!("fast={}", fast.url()), format!("slow={}", slow.url()));
    let flags = [
        "compare", &fast, &slow, "-R", "8", "-d", "200ms", "-w", "100ms", "-c", "2", "-q", "--json", &json, "--no-pin",
    ];
    let with = |gate: &'static str| run(&[&flags[..], &["--gate", gate]].concat());
    // A machine that is busy with other tests may stand still for a whole turn, which is no figure at all.
    let holds = (0..3).any(|_| with("fast>=1.5*slow") == code(0));
    assert!(holds);
    let record = Record::read(Path::new(&json)).unwrap();
    let rounds = &record.experiments[0];
    assert_eq!(rounds.control(), Some(("fast", "fast (again)")));
    let interval = rounds.interval("slow", "fast", Measure::Rate, 0.99).unwrap();
    assert!(interval.shows_a_difference() && (0.1..0.5).contains(&interval.ratio), "{interval:?}");
    assert_eq!(with("slow>=0.97*fast"), code(1));
    assert_eq!(with("p50:slow<=1.1*fast"), code(1));
    // One that is not decided does not pass, and does not hide one that is broken.
    let again = |gates: &[&str]| run(&[&flags[..], gates].concat());
    let equal = |sign: &str| format!("fast{sign}1.0*fast (again)");
    // One comparison of equals in a hundred shows a difference, and more while other tests disturb it.
    assert!((0..3).any(|_| again(&["--gate", &equal(">="), "--gate", &equal("<=")]) == code(3)));
    assert_eq!(again(&["--gate", &equal(">="), "--gate", &equal("<="), "--gate", "slow>=fast"]), code(1));
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
        &["cache", "--ratios", "10"],
        &["log", "loud"],
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
    for word in ["compare", "show", "cold", "cache", "log"] {
        assert_eq!(run(&[word, "--help"]), code(0));
    }
}

#[test]
fn micro_benches_write_records() {
    let folder = tempfile::tempdir().unwrap();
    let json = folder.path().join("a.json").display().to_string();
    let line = ["cache", "--ratios", "1:1,1:10", "--sizes", "16", "-R", "2", "-d", "2ms", "-q", "--json", &json];
    assert_eq!(run(&line), code(0));
    let record = Record::read(Path::new(&json)).unwrap();
    assert_eq!(
        record.experiments.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(),
        ["stores:reads 1:1, 16 bytes", "stores:reads 1:10, 16 bytes"]
    );
    assert_eq!(run(&["log", "-R", "2", "-d", "2ms", "-q", "--json", &json]), code(0));
    assert_eq!(Record::read(Path::new(&json)).unwrap().experiments[0].variants.len(), 5);
}
