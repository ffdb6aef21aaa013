//! Unit tests of `log::layout`: what an event looks like, from the macro to the bytes.

use std::os::unix::net::UnixDatagram;
use std::sync::Arc;

use skep::log::Category;

use crate::log::EventOutput;
use crate::log::buffer::{Capacity, Destination, Writer};
use crate::log::events::{Events, Output, take_line};
use crate::log::mask::Mask;
use crate::log::sink::{Address, Sink, Socket};

/// What an output of this description has after some events.
fn written(description: &str, log: impl FnOnce()) -> String {
    written_by(&[description], 0, log).remove(0)
}

fn written_by(descriptions: &[&str], repeats: u32, log: impl FnOnce()) -> Vec<String> {
    let writer = Arc::new(Writer::default());
    let sinks: Vec<_> = descriptions.iter().map(|_| Arc::new(Sink::Test(std::sync::Mutex::default()))).collect();
    let outputs = descriptions.iter().zip(&sinks).map(|(description, sink)| {
        let EventOutput { layout, filter, .. } = EventOutput::parse(description).unwrap();
        let to =
            Destination { name: "test".into(), description: String::new(), sink: Arc::clone(sink), end: layout.end() };
        Output { filter, layout, buffer: writer.buffer(to, Capacity { usual: 1 << 20, reserve: 1 << 20 }) }
    });
    let mask = Mask::new(&["password".into(), "token".into()]);
    let events = Events::new(outputs.collect(), mask, repeats, false, 200);
    tracing::subscriber::with_default(events, log);
    let text = |sink: &Arc<Sink>| {
        let Sink::Test(state) = &**sink else { unreachable!() };
        String::from_utf8(state.lock().unwrap().1.clone()).unwrap()
    };
    sinks.iter().map(text).collect()
}

/// The datagrams that a socket of this test gets from an output of this description.
fn sent(description: &str, log: impl FnOnce()) -> Vec<String> {
    let path = std::env::temp_dir().join(format!("skep-{}-{description}.sock", std::process::id()));
    let receiver = UnixDatagram::bind(&path).unwrap();
    receiver.set_nonblocking(true).unwrap();
    let EventOutput { layout, filter, .. } = EventOutput::parse(description).unwrap();
    let sink = Sink::Datagrams(Socket::new(Address::Unix(path.clone())));
    let to = Destination { name: "test".into(), description: String::new(), sink: Arc::new(sink), end: layout.end() };
    let output = Output {
        filter,
        layout,
        buffer: Arc::new(Writer::default()).buffer(to, Capacity { usual: 1 << 20, reserve: 0 }),
    };
    let mask = Mask::new(&[]);
    tracing::subscriber::with_default(Events::new(vec![output], mask, 0, false, 200), log);
    std::fs::remove_file(path).unwrap();
    let mut bytes = [0; 4096];
    std::iter::from_fn(|| {
        receiver.recv(&mut bytes).ok().map(|count| String::from_utf8(bytes[..count].to_vec()).unwrap())
    })
    .collect()
}

/// Without the time at the beginning.
fn without_time(line: &str) -> &str {
    line.split_once('Z').unwrap().1
}

fn forged() {
    let (name, password) = ("x admin=true\n\u{1b}[31m2026 ERROR forged\u{2028}", "geheim");
    tracing::warn!(target: "blog::search", name, hits = 3_u64, ok = true, password, "one\r\ntwo \"{}\" token=abc", 'ü');
}

#[test]
fn no_value_ends_a_line_or_passes_for_another_field() {
    let hostile = "\"x admin=true\\u{a}\\u{1b}[31m2026 ERROR forged\\u{2028}\"";
    let text = written("stderr layout=text", forged);
    let expected = format!(
        " WARN blog::search: one\\u{{d}}\\u{{a}}two \\\"ü\\\" token=*** name={hostile} hits=3 ok=true password=***\n"
    );
    assert_eq!(without_time(&text), expected);
    let logfmt = written("stderr layout=logfmt", forged);
    assert!(logfmt.contains(&format!(" name={hostile} hits=3 ok=true password=***\n")), "{logfmt}");
    for layout in ["text", "colour", "logfmt", "json", "ecs"] {
        let line = written(&format!("stderr layout={layout}"), forged);
        let breaks = |letter: char| letter.is_control() && (letter != '\u{1b}' || layout != "colour");
        assert!(line.ends_with('\n') && !line.trim_end_matches('\n').contains(breaks), "{layout}: {line:?}");
        assert!(!line.contains("geheim") && !line.contains("abc"), "{layout}: {line}");
    }
    for description in ["syslog", "journald"] {
        let line = written(description, forged);
        assert!(!line.contains("geheim") && !line.contains('\r') && !line.contains('\u{1b}'), "{line:?}");
    }
}

#[test]
fn json_is_json() {
    let line = written("stderr layout=json", forged);
    let start = line.find("\"level\"").unwrap();
    assert_eq!(
        &line[start..],
        "\"level\":\"warn\",\"category\":\"blog::search\",\"message\":\"one\\u000d\\ntwo \\\"ü\\\" token=***\",\
         \"fields\":{\"name\":\"x admin=true\\n\\u001b[31m2026 ERROR forged\\u2028\",\"hits\":3,\"ok\":true,\"password\":\"***\"}}\n"
    );
    let bare = written("stderr layout=json", || tracing::info!(target: "a", "hello"));
    assert!(bare.ends_with("\"category\":\"a\",\"message\":\"hello\"}\n"), "{bare}");
    let ecs = written("stderr layout=ecs", || tracing::info!(target: "a", n = -1.5, "hello"));
    assert!(ecs.starts_with("{\"@timestamp\":\"20") && ecs.ends_with(",\"labels\":{\"n\":-1.5}}\n"), "{ecs}");
}

#[test]
fn a_pattern_has_the_letters_of_log4perl() {
    let log = || tracing::warn!(target: "blog::search::index", user = "ann", "found {}", 3);
    for (pattern, expected) in [
        ("%-5p|%p{1}|%7p|%.2p", "WARN |W|   WARN|RN\n"),
        ("%c %c{1} %c{2} %c{9}", "blog::search::index index search::index blog::search::index\n"),
        ("[%m]%n", "[found 3 user=ann]\n"),
        ("%X{user} %X{trace} %x %%", "ann - - %\n"),
    ] {
        assert_eq!(written(&format!("stderr pattern=\"{pattern}\""), log), expected, "{pattern}");
    }
    let dated = written("stderr pattern=\"%d{yyyy-MM-dd HH:mm:ss,SSS}\"", log);
    assert!(dated.len() == "2026-11-21 07:30:00,123\n".len() && dated.starts_with("20"), "{dated}");
    let place = written("stderr pattern=\"%F:%L %l\"", log);
    assert!(place.contains("layout.rs:"), "{place}");
}

#[test]
fn syslog_and_journald_have_their_formats() {
    let log = || tracing::error!(target: "blog", n = 1, "broken");
    let line = written("syslog facility=local0", log);
    let (head, rest) = line.split_once(' ').unwrap();
    assert_eq!(head, "<131>1", "local0 is 16, and an error 3");
    assert!(
        rest.ends_with(" - - blog: broken n=1\n") && rest.split(' ').nth(3) == Some(&std::process::id().to_string())
    );
    let message = written("journald", log);
    let fields: Vec<&str> = message.strip_suffix("\n\0").unwrap().split('\n').collect();
    assert!(fields.contains(&"PRIORITY=3") && fields.contains(&"F_N=1") && fields.contains(&"MESSAGE=broken"));
    assert!(fields.iter().any(|field| field.starts_with("SYSLOG_IDENTIFIER=")));
}

#[test]
fn each_entry_is_a_datagram_of_the_protocol_of_journald() {
    let entries = sent("journald", || {
        tracing::error!(target: "blog", path = "/a\nPRIORITY=0", "two\nlines");
        tracing::info!(target: "blog", "fine");
    });
    assert_eq!(entries.len(), 2, "{entries:?}");
    for entry in &entries {
        // Without a line break in a value, each field is NAME=VALUE and a line; the form with a length is never needed.
        for field in entry.strip_suffix('\n').unwrap().split('\n') {
            let name = field.split_once('=').unwrap_or_else(|| panic!("{entry:?}")).0;
            let is_valid = |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
            assert!((1..=64).contains(&name.len()) && name.chars().all(is_valid) && !name.starts_with('_'), "{name}");
        }
        assert_eq!(entry.matches("\nMESSAGE=").count(), 1, "{entry:?}");
    }
    let first: Vec<&str> = entries[0].lines().collect();
    assert!(first.contains(&"PRIORITY=3") && first.contains(&"MESSAGE=two\\u{a}lines"), "{first:?}");
    assert!(first.contains(&"F_PATH=/a\\u{a}PRIORITY=0"), "a value forges no field: {first:?}");
}

#[test]
fn each_line_is_a_datagram_of_syslog_without_its_end() {
    let lines = sent("syslog", || {
        tracing::warn!(target: "blog", "one");
        tracing::info!(target: "blog", "two\nlines");
    });
    assert_eq!(lines.len(), 2, "{lines:?}");
    // RFC 5424, 6: <PRI>VERSION TIMESTAMP HOSTNAME APP-NAME PROCID MSGID STRUCTURED-DATA MSG
    for (line, (priority, message)) in lines.iter().zip([("<28>1", "blog: one"), ("<30>1", "blog: two\\u{a}lines")]) {
        let [head, time, _host, _program, process, id, data, said] = line.splitn(8, ' ').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        assert_eq!((head, id, data, said), (priority, "-", "-", message));
        assert_eq!(process, std::process::id().to_string());
        assert!(time.len() <= 32 && time.ends_with('Z') && time.as_bytes()[10] == b'T', "{time}");
    }
}

#[test]
fn outputs_take_what_they_ask_for() {
    let outputs = [
        "stderr pattern=%m",
        "stderr pattern=%m level=warn except=mail",
        "stderr pattern=%m only=blog.search additive=no",
        "stderr pattern=%m most=info match=quer",
    ];
    let written = written_by(&outputs, 0, || {
        tracing::info!(target: "blog", "query");
        tracing::warn!(target: "blog", "warning");
        tracing::warn!(target: "mail::queue", "full");
        tracing::warn!(target: "blog::search::index", "query of search");
    });
    assert_eq!(written, ["query\nwarning\nfull\n", "warning\n", "query of search\n", "query\n"]);
}

#[test]
fn lines_that_repeat_are_counted() {
    let written = written_by(&["stderr pattern=%m"], 2, || {
        (0..7).for_each(|_| tracing::warn!(target: "blog", "again"));
        tracing::warn!(target: "blog", "other");
    });
    // A subscriber of a scope does not see events of its own, such as the report.
    assert_eq!(written, ["again\nagain\nother\n"]);
}

#[test]
fn long_lines_are_cut() {
    let line = written("stderr pattern=%m", || tracing::info!(target: "a", long = "é".repeat(300), more = 1, "text"));
    let expected = format!("text long=\"{}... (404 bytes cut off: log.line)\" more=1\n", "é".repeat(98));
    assert_eq!(line, expected);
}

#[test]
fn all_lines_of_a_request_carry_its_id_trace_and_user() {
    use skep::prelude::*;

    #[derive(Service)]
    #[service(GET "/")]
    struct Index;
    impl Handle for Index {
        async fn handle(self, cx: &mut Cx<'_>) -> Result {
            cx.set_user("ann");
            tracing::info!(target: "blog", "first");
            cx.offload(|| tracing::info!(target: "blog", "elsewhere")).await?;
            Err(Error::internal("broken"))
        }
    }

    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let text = written("stderr layout=text", || {
        let client = skep::test::Client::new(App::new().serve(services![Index]));
        let request =
            client.request(skep::Method::GET, "/").header("traceparent", &format!("00-{trace}-00f067aa0ba902b7-01"));
        assert_eq!(request.send().status(), 500);
        tracing::info!(target: "blog", "after");
    });
    let lines: Vec<&str> = text.lines().collect();
    let id = lines[0].split("request=").nth(1).unwrap().split(' ').next().unwrap();
    assert_eq!(id.len(), 16);
    assert!(lines[0].ends_with(&format!(" INFO blog: first request={id} trace={trace} user=ann")), "{text}");
    assert!(lines[1].ends_with(&format!(" INFO blog: elsewhere request={id} trace={trace} user=ann")), "{text}");
    assert!(
        lines[2].contains(&format!("id={id} method=GET path=/ user=ann")) && !lines[2].contains("request="),
        "{text}"
    );
    assert!(lines[2].contains(trace) && lines[3].ends_with("blog: after"), "{text}");
}

#[test]
fn a_line_of_a_category_looks_like_an_event_of_a_macro() {
    static SEARCH: Category = Category::new("blog.search");
    skep::log::install_line_writer(take_line);
    for layout in ["json", "ecs", "text", "logfmt"] {
        let both = written(&format!("stderr layout={layout}"), || {
            let (word, nothing) = ("a \"b\"\n", None::<u64>);
            tracing::info!(
                target: "blog.search",
                word,
                password = 7,
                whole = 3_u64,
                below = -3_i64,
                part = 1.5,
                none = f64::NAN,
                on = true,
                shown = %"token=1",
                seen = ?[1, 2],
                nothing,
                "said {}",
                "token=1"
            );
            SEARCH
                .info(format_args!("said {}", "token=1"))
                .field("word", word)
                .field("password", 7_u8)
                .field("whole", 3_u64)
                .field("below", -3_i64)
                .field("part", 1.5)
                .field("none", f64::NAN)
                .field("on", true)
                .display("shown", &"token=1")
                .debug("seen", &[1, 2])
                .field("nothing", nothing);
        });
        // The macro's event knows the place in the program, too.
        let lines: Vec<&str> = both.lines().map(without_time).collect();
        let place = lines[0].find(",\"log.origin.file.name\"").zip(lines[0].find(",\"labels\""));
        let expected =
            place.map_or_else(|| lines[0].to_owned(), |(from, to)| lines[0][..from].to_owned() + &lines[0][to..]);
        assert_eq!((lines.len(), lines[1]), (2, &*expected), "{layout}");
    }
}
