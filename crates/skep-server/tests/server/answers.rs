//! Good requests get good answers: one after the other, all at once, slowly, and beside those that fail.

use super::support::{Raw, pattern, server};

const GOOD: &str = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

#[test]
fn an_answer_is_what_the_application_said() {
    let server = server(&[]);
    let mut client = Raw::connect(&server);
    let answer = client.say(GOOD).answer();
    assert_eq!((answer.status, answer.text()), (200, "Hello, world!"));
    assert_eq!(answer.field("content-type"), Some("text/plain; charset=utf-8"));
    assert_eq!(answer.field("connection"), None);
    assert_eq!(client.say(GOOD).answer().text(), "Hello, world!");
}

#[test]
fn requests_that_come_together_are_answered_in_their_order() {
    let server = server(&[]);
    let mut client = Raw::connect(&server);
    for round in 0..40 {
        client.say(format!("GET /slow/{} HTTP/1.1\r\nHost: x\r\n\r\n{GOOD}", round % 3));
    }
    for _ in 0..40 {
        assert_eq!(client.answer().text(), "at last");
        assert_eq!(client.answer().text(), "Hello, world!");
    }
}

#[test]
fn an_answer_does_not_wait_for_the_one_behind_it() {
    let server = server(&[]);
    let mut client = Raw::connect(&server);
    client.say(format!("{GOOD}GET /slow/600000 HTTP/1.1\r\nHost: x\r\n\r\n{GOOD}"));
    assert_eq!(client.answer().text(), "Hello, world!");
}

#[test]
fn large_answers_arrive_whole_and_leave_room_for_the_next() {
    let server = server(&[]);
    let mut client = Raw::connect(&server);
    for kind in ["whole", "file", "stream"] {
        for count in [1, 999, 16_384, 100_001, 6_000_000_u64] {
            let request = format!("GET /bytes/{kind}/{count} HTTP/1.1\r\nHost: x\r\n\r\n");
            client.say(format!("{request}{GOOD}{request}"));
            let expected = if kind == "stream" { vec![b'.'; usize::try_from(count).unwrap()] } else { pattern(count) };
            assert!(client.answer().body == expected, "{kind} {count}");
            assert_eq!(client.answer().text(), "Hello, world!");
            assert!(client.answer().body == expected, "{kind} {count}");
        }
    }
}

#[test]
fn a_panic_costs_its_request_and_not_the_connection() {
    let server = server(&[]);
    let mut client = Raw::connect(&server);
    client.say(format!("GET /panic HTTP/1.1\r\nHost: x\r\n\r\n{GOOD}"));
    assert_eq!(client.answer().status, 500);
    assert_eq!(client.answer().text(), "Hello, world!");
}

#[test]
fn a_file_that_becomes_shorter_breaks_off_and_is_not_made_up() {
    let server = server(&[]);
    let mut client = Raw::connect(&server);
    client.say("GET /bytes/short/100000 HTTP/1.1\r\nHost: x\r\n\r\n");
    let mut all = Vec::new();
    let _ = std::io::Read::read_to_end(&mut client.stream, &mut all);
    let head = all.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
    assert_eq!(all[head..], pattern(10));
}

#[test]
fn http_1_0_is_answered_and_closed_unless_it_asks_to_stay() {
    let server = server(&[]);
    let mut client = Raw::connect(&server);
    let answer = client.say("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").answer();
    assert_eq!((answer.text(), answer.field("connection")), ("Hello, world!", Some("keep-alive")));
    assert_eq!(client.say("GET / HTTP/1.0\r\n\r\n").answer().text(), "Hello, world!");
    client.closed();
}

#[test]
fn an_offer_to_change_the_protocol_is_not_taken_up() {
    let server = server(&[]);
    let mut client = Raw::connect(&server);
    let request = "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n";
    for _ in 0..3 {
        assert_eq!(client.say(request).answer().text(), "Hello, world!");
    }
}

#[test]
fn a_client_that_waits_for_permission_gets_it_or_the_reason_why_not() {
    let server = server(&[]);
    let head = |length: u64| {
        format!("POST /length HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: {length}\r\n\r\n")
    };
    let mut client = Raw::connect(&server);
    assert_eq!(client.say(head(5)).answer().status, 100);
    assert_eq!(client.say("hello").answer().text(), "5");
    // Too long as announced: no byte of it is wanted.
    let answer = client.say(head(2 << 20)).answer();
    assert_eq!((answer.status, answer.field("connection")), (413, Some("close")));
    client.closed();
}

#[test]
fn a_client_that_sends_too_much_sees_why_and_no_reset() {
    let server = server(&[]);
    let mut client = Raw::connect(&server);
    client.say("POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n");
    // More than the buffers of both sides hold would stop here; this fits, and must not turn the answer into a reset.
    client.say(vec![b'x'; 500_000]);
    assert_eq!(client.answer().status, 413);
    client.closed();
}

#[test]
fn what_a_handler_leaves_of_a_body_is_dropped_and_another_request_follows() {
    let server = server(&[("limits.unread_body", "1KiB")]);
    let head = |field: &str| format!("GET / HTTP/1.1\r\nHost: x\r\n{field}\r\n\r\n");
    let (chunked, known) = (head("Transfer-Encoding: chunked"), head("Content-Length: 1024"));
    let (chunks, bytes) = ("5\r\nhello\r\n3;a=b\r\nyou\r\n0\r\nA: b\r\n\r\n", "x".repeat(1024));
    let mut client = Raw::connect(&server);
    // It arrives with the head, after the response, and in pieces.
    client.say(format!("{chunked}{chunks}{chunked}{chunks}"));
    for _ in 0..2 {
        assert_eq!(client.answer().text(), "Hello, world!");
    }
    for (head, body) in [(&chunked, chunks), (&known, &*bytes)] {
        assert_eq!(client.say(head).answer().field("connection"), None, "{head}");
        client.spell(body);
        assert_eq!(client.say(head).answer().text(), "Hello, world!", "{head}");
        client.say(body);
    }
    assert_eq!(client.say("POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab").answer().text(), "2");
}

#[test]
fn a_rest_of_a_body_that_is_long_or_doubtful_ends_the_connection() {
    let server = server(&[("limits.unread_body", "1KiB")]);
    let head = |fields: &str| format!("GET / HTTP/1.1\r\nHost: x\r\n{fields}\r\n\r\n");
    // What is known is said with the response.
    for fields in ["Content-Length: 1025", "Content-Length: 5\r\nExpect: 100-continue"] {
        let mut client = Raw::connect(&server);
        assert_eq!(client.say(head(fields)).answer().field("connection"), Some("close"), "{fields}");
        client.closed();
    }
    let large = format!("400\r\n{}\r\n1\r\nx\r\n0\r\n\r\n", "x".repeat(1024));
    for rest in [&*large, "5\r\nhelloGET", "x\r\n"] {
        let mut client = Raw::connect(&server);
        let answer = client.say(head("Transfer-Encoding: chunked")).answer();
        assert_eq!((answer.text(), answer.field("connection")), ("Hello, world!", None));
        // No request is found in it.
        client.say(format!("{rest}{}", head("X: y")));
        client.closed();
    }
}
