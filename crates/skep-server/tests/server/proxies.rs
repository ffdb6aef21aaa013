//! Who a request is from, and which host it is for: proxies, the PROXY protocol, allowed hosts.

use std::io::Read;

use super::support::{Answer, Raw, address, server};
use skep_server::Running;

/// What the application sees of a request with these fields.
fn ask(server: &Running, fields: &str) -> Answer {
    Raw::connect(server).say(format!("GET /sender HTTP/1.1\r\nHost: a.example\r\n{fields}\r\n")).answer()
}

fn text(server: &Running, fields: &str) -> String {
    ask(server, fields).text().to_owned()
}

#[test]
fn fields_of_a_client_are_ignored() {
    let server = server(&[("proxies.trusted", "10.0.0.0/8; unix")]);
    let fields = "X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: b.example\r\nForwarded: for=192.0.2.1\r\n";
    let text = text(&server, fields);
    assert!(text.starts_with("127.0.0.1:") && text.ends_with(" http://a.example"), "{text}");
}

#[test]
fn fields_of_a_trusted_proxy_are_the_client() {
    let server = server(&[("proxies.trusted", "127.0.0.1; 10.0.0.0/8")]);
    let fields =
        "X-Forwarded-For: 6.6.6.6, 192.0.2.1, 10.1.1.1\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: b.example\r\n";
    let answer = ask(&server, fields);
    assert_eq!(answer.text(), "192.0.2.1:0 https://b.example");
    assert!(answer.field("set-cookie").unwrap().ends_with("; Secure"), "{}", answer.head);
    assert_eq!(
        text(&server, "Forwarded: for=\"[2001:db8::1]:7\";proto=https\r\n"),
        "[2001:db8::1]:7 https://a.example"
    );
    assert!(!ask(&server, "").field("set-cookie").unwrap().contains("Secure"));
    let contradiction = ask(&server, "Forwarded: for=6.6.6.6\r\nX-Forwarded-For: 192.0.2.1\r\n");
    assert_eq!(contradiction.status, 400, "{contradiction:?}");
}

#[test]
fn a_proxy_header_names_the_client() {
    let server = server(&[("proxies.trusted", "127.0.0.1"), ("proxies.protocol", "true")]);
    let request = "GET /sender HTTP/1.1\r\nHost: a.example\r\n\r\n";
    let mut raw = Raw::connect(&server);
    let answer = raw.say(format!("PROXY TCP4 192.0.2.1 127.0.0.1 4711 80\r\n{request}")).answer();
    assert_eq!(answer.text(), "192.0.2.1:4711 http://a.example");
    assert_eq!(
        raw.say(request).answer().text(),
        "192.0.2.1:4711 http://a.example",
        "for all requests of the connection"
    );
    let mut binary = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x02\x7f\0\0\x01\0\x07\0P".to_vec();
    binary.extend_from_slice(request.as_bytes());
    assert_eq!(Raw::connect(&server).say(binary).answer().text(), "192.0.2.2:7 http://a.example");
    let mut without = Raw::connect(&server);
    // With unread input, the close may arrive as a reset.
    assert!(!without.say(request).stream.read(&mut [0; 16]).is_ok_and(|count| count > 0));
}

#[test]
fn without_trust_a_proxy_header_is_no_request() {
    let server = server(&[("proxies.protocol", "true")]);
    let answer = Raw::connect(&server).say("PROXY TCP4 192.0.2.1 127.0.0.1 4711 80\r\n").answer();
    assert_eq!(answer.status, 400);
}

#[test]
fn hosts_that_are_not_ours_are_refused() {
    let status = |server: &Running, target: &str, host: &str| {
        Raw::connect(server).say(format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n")).answer().status
    };
    let open = server(&[]);
    assert_eq!(status(&open, "/", "evil.example"), 200);
    let site = server(&[("base_url", "https://example.org")]);
    let own = address(&site);
    for (target, host, expected) in [
        ("/", "example.org", 200),
        ("/", "example.org:8443", 200),
        ("/", "localhost", 200),
        ("/", own.as_str(), 200),
        ("/", "evil.example", 421),
        ("/-/live", "10.0.0.7", 200),
        ("http://example.org/", "evil.example", 200),
        ("http://evil.example/", "example.org", 421),
    ] {
        assert_eq!(status(&site, target, host), expected, "{target} {host}");
    }
    let development = server(&[("development", "true")]);
    assert_eq!(status(&development, "/", "evil.example"), 421, "DNS rebinding");
    assert_eq!(status(&development, "/", "192.168.7.7:8800"), 200);
    let listed = server(&[("hosts", "*.example.net; a.example")]);
    assert_eq!([status(&listed, "/", "b.example.net"), status(&listed, "/", "localhost")], [200, 421]);
}

#[test]
fn a_request_has_one_authority() {
    let server = server(&[]);
    let origin = |target: &str, host: &str| {
        let answer = Raw::connect(&server).say(format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n\r\n")).answer();
        (answer.status, answer.text().split(' ').nth(1).unwrap_or_default().to_owned())
    };
    assert_eq!(origin("http://tenant-a/sender", "tenant-b"), (200, "http://tenant-a".to_owned()));
    assert_eq!(origin("http://tenant-a/sender", ""), (200, "http://tenant-a".to_owned()));
    for (target, host) in
        [("http://a@b/sender", "b"), ("/sender", ""), ("/sender", "a:b"), ("/sender", "[::1"), ("/sender", "a:99999")]
    {
        assert_eq!(origin(target, host).0, 400, "{target} {host}");
    }
}

#[test]
fn cookies_can_always_be_secure() {
    let server = server(&[("cookies.secure", "always")]);
    assert!(ask(&server, "").field("set-cookie").unwrap().ends_with("; Secure"));
}

#[test]
fn who_reaches_an_https_site_without_tls_by_way_of_a_proxy_is_sent_to_it() {
    let server = server(&[("proxies.trusted", "127.0.0.1"), ("base_url", "https://a.example")]);
    let answer = ask(&server, "X-Forwarded-Proto: http\r\n");
    assert_eq!((answer.status, answer.field("location")), (308, Some("https://a.example/sender")));
    // A proxy that says nothing of TLS would be sent here for ever.
    assert_eq!(ask(&server, "").status, 200);
    let answer = ask(&server, "X-Forwarded-Proto: https\r\n");
    assert_eq!(answer.status, 200);
    assert!(answer.field("strict-transport-security").is_some(), "{}", answer.head);
}
