//! Unit tests of `log::output`.

use std::time::Duration;

use super::*;

fn problem(text: &str) -> String {
    EventOutput::parse(text).unwrap_err()
}

#[test]
fn an_output_is_a_place_with_options() {
    let output =
        EventOutput::parse("file:/var/log/blog.log rotate=1MiB every=1d keep=7 compress=yes level=warn").unwrap();
    let rotation =
        Rotation { size: Some(1 << 20), every: Some(Duration::from_hours(24)), keep: Some(7), compress: true };
    assert_eq!(output.target, Target::File("/var/log/blog.log".into(), rotation));
    assert_eq!(output.filter.level, LevelFilter::WARN);
    let target = |text: &str| EventOutput::parse(text).unwrap().target;
    assert_eq!(target("syslog"), Target::Datagrams(Address::Unix("/dev/log".into())));
    assert_eq!(target("syslog:tcp:logs:601"), Target::Connection("logs:601".into()));
    assert_eq!(target("syslog:udp:logs:514"), Target::Datagrams(Address::Udp("logs:514".into())));
    assert_eq!(target("journald:/tmp/j"), Target::Datagrams(Address::Unix("/tmp/j".into())));
    assert_eq!(target("ring:7 level=error"), Target::Ring(7));
}

#[test]
fn a_place_is_described_to_another_process() {
    for text in [
        "stdout",
        "stderr",
        "\"file:/var/log/a \\\"b\\\" \\\\.log\" rotate=1000B every=90m keep=7 compress=yes",
        "file:blog.log",
        "syslog",
        "syslog:udp:logs:514",
        "syslog:tcp:[::1]:601",
        "journald:/tmp/j",
        "otlp",
    ] {
        let target = Target::of_description(text).unwrap();
        assert_eq!(Target::of_description(&target.describe()), Ok(target), "{text}");
    }
    assert_eq!(Target::Ring(7).describe(), "", "it is in the memory of its process");
}

#[test]
fn words_may_be_quoted() {
    let words = Words::split("stderr pattern=\"%d \\\"%m\\\"\"  level=info", &OPTIONS).unwrap();
    assert_eq!((words.kind.as_str(), words.get("pattern")), ("stderr", Some("%d \"%m\"")));
    assert_eq!(words.get("level"), Some("info"));
}

#[test]
fn what_is_wrong_is_named() {
    assert!(problem("stderr levl=info").ends_with("did you mean level?"), "{}", problem("stderr levl=info"));
    assert!(problem("strerr").starts_with("\"strerr\": expected stdout"));
    assert_eq!(problem("stderr rotate=1MiB"), "rotate, every, keep and compress are for files");
    assert_eq!(problem("stderr additive=no"), "additive=no needs only=CATEGORY: other outputs do not get these");
    assert_eq!(problem("syslog layout=json"), "syslog has a layout of its own");
    assert_eq!(problem("stderr pattern=\"%y\""), "there is no %y: expected one of c C d F H l L m M n p P r x X %");
    assert_eq!(problem("stderr pattern=\"a"), "a quote is not closed");
    assert_eq!(problem("file:x compress=maybe"), "\"maybe\": expected yes or no");
}
