//! Who a request is from, and which host it is for: proxies, the PROXY protocol, allowed hosts.

use std::io::Read;

use super::http2::{self, block_on, connect, get};
use super::support::{Answer, Raw, address, server};
use skep_server::Running;

/// What the application sees of a request with these fields.
fn ask(server: &Running, fields: &str) -> Answer {
    Raw::connect(server).say(format!("GET /sender HTTP/1.1\r\nHost: a.example\r\n{fields}\r\n")).answer()
}

fn text(server: &Running, fields: &str) -> String {
    ask(server, fields).text().to_owned()
}

/// The fields of proxies that the application sees.
fn seen(server: &Running, fields: &str) -> String {
    ask(server, fields).field("x-seen").unwrap_or_default().to_owned()
}

const ALL: &str = "X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: b.example\r\n\
                   X-Forwarded-Port: 99\r\nX-Forwarded-Prefix: /x\r\nForwarded: for=192.0.2.1;host=c.example\r\n";

#[test]
fn fields_of_a_client_are_ignored_and_removed() {
    for settings in [&[("proxies.trusted", "10.0.0.0/8; unix")][..], &[], &[("proxies.fields", "forwarded")]] {
        let server = server(settings);
        let answer = ask(&server, ALL);
        let text = answer.text();
        assert!(text.starts_with("127.0.0.1:") && text.ends_with(" http://a.example"), "{text}");
        assert_eq!(answer.field("x-seen"), Some(""), "{}", answer.head);
    }
}

#[test]
fn fields_of_a_trusted_proxy_are_the_client() {
    let trusted = ("proxies.trusted", "127.0.0.1; 10.0.0.0/8");
    let usual = server(&[trusted]);
    let list = "X-Forwarded-For: 6.6.6.6, 192.0.2.1, 10.1.1.1\r\nX-Forwarded-Proto: https\r\n";
    let answer = ask(&usual, list);
    assert_eq!(answer.text(), "192.0.2.1:0 https://a.example");
    assert!(answer.field("set-cookie").unwrap().ends_with("; Secure"), "{}", answer.head);
    assert_eq!(text(&usual, ALL), "192.0.2.1:0 https://a.example", "what the proxy passes on is the client's");
    assert_eq!(seen(&usual, ALL), "x-forwarded-for x-forwarded-proto");
    assert!(!ask(&usual, "").field("set-cookie").unwrap().contains("Secure"));

    let standard = server(&[trusted, ("proxies.fields", "forwarded")]);
    let forwarded = "Forwarded: for=\"[2001:db8::1]:7\";proto=https;host=d.example,\r\n";
    assert_eq!(text(&standard, forwarded), "[2001:db8::1]:7 https://d.example");
    assert_eq!(text(&standard, ALL), "192.0.2.1:0 http://c.example");
    assert_eq!(seen(&standard, ALL), "forwarded");
    assert_eq!(ask(&standard, "Forwarded: for=\"6.6.6.6, for=192.0.2.1\r\n").status, 400);

    let all = "x-forwarded-for; x-forwarded-proto; x-forwarded-host; x-forwarded-port";
    let all = server(&[trusted, ("proxies.fields", all)]);
    assert_eq!(text(&all, ALL), "192.0.2.1:0 https://b.example:99");
    for (port, origin) in [("443", "https://a.example"), ("8443", "https://a.example:8443")] {
        assert_eq!(
            text(&all, &format!("X-Forwarded-Proto: https\r\nX-Forwarded-Port: {port}\r\n")).split(' ').nth(1),
            Some(origin)
        );
    }
    for host in ["b.example:8443", "[2001:db8::1]:8443"] {
        let both = format!("X-Forwarded-Host: {host}\r\nX-Forwarded-Port: 99\r\n");
        assert_eq!(text(&all, &both).split(' ').nth(1), Some(&*format!("http://{host}")), "the port that it has");
    }
    assert_eq!(ask(&all, "X-Forwarded-Port: x\r\n").status, 400);
    assert_eq!(ask(&all, "X-Forwarded-Host: a@b\r\n").status, 400);

    let none = server(&[trusted, ("proxies.fields", "")]);
    assert!(text(&none, ALL).starts_with("127.0.0.1:") && seen(&none, ALL).is_empty());
}

#[test]
fn over_http2_the_same_fields_are_read_and_removed() {
    for (settings, expected, seen) in [
        (&[("proxies.trusted", "127.0.0.1")][..], "192.0.2.1:0 https://x", "x-forwarded-for x-forwarded-proto"),
        (
            &[("proxies.trusted", "127.0.0.1"), ("proxies.fields", "forwarded")],
            "192.0.2.1:0 http://c.example",
            "forwarded",
        ),
        (&[], "127.0.0.1", ""),
    ] {
        let server = server(settings);
        block_on(async {
            let mut request = get("/sender");
            for line in ALL.trim_end().split("\r\n") {
                let (name, value) = line.split_once(": ").unwrap();
                let name = skep::HeaderName::try_from(name).unwrap();
                request.headers_mut().append(name, skep::HeaderValue::from_str(value).unwrap());
            }
            let response = connect(&server).await.send_request(request).await.unwrap();
            assert_eq!(response.headers()["x-seen"], seen);
            let (_, body) = http2::text(response).await.unwrap();
            assert!(String::from_utf8(body).unwrap().starts_with(expected), "{expected}");
        });
    }
}

#[test]
fn kinds_of_fields_that_report_the_same_are_refused_at_the_start() {
    let both = [("proxies.fields", "x-forwarded-for; forwarded")];
    let error = skep_server::Server::new(skep::App::new).fix(both[0].0, both[0].1).start().unwrap_err().to_string();
    assert!(error.contains("proxies.fields") && error.contains("name those that the proxy writes"), "{error}");
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
fn behind_a_proxy_header_no_field_is_read() {
    let trusted = "127.0.0.1; 192.0.2.0/24";
    let server = server(&[("proxies.trusted", trusted), ("proxies.protocol", "true")]);
    let unix = [&b"\r\n\r\n\0\r\nQUIT\n\x21\x31\0\xd8"[..], &[0; 216]].concat();
    for header in [
        // The client's own address is of a network that is trusted.
        b"PROXY TCP4 192.0.2.1 127.0.0.1 4711 80\r\n".to_vec(),
        b"PROXY UNKNOWN\r\n".to_vec(),
        b"PROXY UNKNOWN 192.0.2.1 127.0.0.1 4711 80\r\n".to_vec(),
        b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0".to_vec(),
        unix,
    ] {
        let request = format!("GET /sender HTTP/1.1\r\nHost: a.example\r\n{ALL}\r\n");
        let peer = if header.starts_with(b"PROXY TCP4") { "192.0.2.1:4711 " } else { "127.0.0.1:" };
        let mut raw = Raw::connect(&server);
        for header in [&header[..], b""] {
            let answer = raw.say([header, request.as_bytes()].concat()).answer();
            let text = answer.text();
            assert!(text.starts_with(peer) && text.ends_with(" http://a.example"), "{text}");
            assert_eq!(answer.field("x-seen"), Some(""), "{}", answer.head);
        }
    }
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

/// Of a connection, the host of the last request is known; that says nothing of the next one.
#[test]
fn each_request_of_a_connection_is_for_the_host_that_it_names() {
    let fields = ("proxies.fields", "x-forwarded-for; x-forwarded-host");
    let server = server(&[("hosts", "a.example"), ("proxies.trusted", "127.0.0.1"), fields]);
    let evil = "X-Forwarded-Host: evil.example\r\n";
    let others = [
        ("http://evil.example/", "a.example", "", 421),
        ("/", "a.example", evil, 421),
        ("/", "evil.example", "X-Forwarded-Host: a.example\r\n", 200),
        ("/-/live", "a.example", "", 200),
        ("/-/live", "evil.example", "", 200),
        ("/", "evil.example", "", 421),
        ("/", "A.example", "", 200),
    ];
    for (target, host, more, expected) in others {
        let mut client = Raw::connect(&server);
        for (target, host, more, expected) in [
            ("/", "a.example", "", 200),
            ("/", "a.example", "", 200),
            (target, host, more, expected),
            ("/", "evil.example", "", 421),
            ("/", "a.example", "", 200),
            (target, host, more, expected),
            ("http://evil.example/", "a.example", "", 421),
        ] {
            let answer = client.say(format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n")).answer();
            assert_eq!(answer.status, expected, "{target} {host} {more}");
        }
    }
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

#[test]
fn a_client_of_ipv4_has_that_address_on_a_socket_of_ipv6() {
    let server = super::support::start(&[("listen", "[::]:0"), ("proxies.trusted", "192.0.2.0/24; ::ffff:127.0.0.2")]);
    let port = server.urls()[0].rsplit(':').next().unwrap().split(' ').next().unwrap().to_owned();
    let ask = |fields: &str| {
        let stream = std::net::TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
        Raw::over(stream)
            .say(format!("GET /sender HTTP/1.1\r\nHost: a.example\r\n{fields}\r\n"))
            .answer()
            .text()
            .to_owned()
    };
    assert!(ask("").starts_with("127.0.0.1:"), "{}", ask(""));
    assert!(ask(ALL).starts_with("127.0.0.1:"), "it is no proxy");
}
