//! Unit tests of `proxies::forwarded`.

use super::*;
use http::{HeaderMap, HeaderValue};

type Read = (String, Option<bool>, String);

const LEGACY: [&str; 4] = ["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "x-forwarded-port"];

fn fields(names: &[&str]) -> Fields {
    Fields::parse(&names.iter().copied().map(str::to_owned).collect::<Vec<_>>()).unwrap()
}

fn trusted() -> Trusted {
    Trusted::parse(&["10.0.0.0/8".to_owned(), "fd00::/8".to_owned()]).unwrap()
}

fn headers(lines: &[(&'static str, &str)]) -> request::Fields {
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        headers.append(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    headers.into()
}

/// Reads the kind of field that the first line is of.
fn read(lines: &[(&'static str, &str)]) -> Result<Read, NotForwarded> {
    let kind = if lines[0].0 == "forwarded" { fields(&["forwarded"]) } else { fields(&LEGACY) };
    let found = Forwarded::read(&headers(lines), &trusted(), &kind)?;
    let address = found.address.map(|address| address.to_string()).unwrap_or_default();
    Ok((address, found.https, found.host.unwrap_or_default()))
}

fn address(name: &'static str, value: &str) -> String {
    read(&[(name, value)]).unwrap().0
}

#[test]
fn the_rightmost_address_that_is_not_a_proxy_is_the_client() {
    for (list, client) in [
        ("192.0.2.1", "192.0.2.1:0"),
        ("6.6.6.6, 192.0.2.1", "192.0.2.1:0"),
        ("6.6.6.6,192.0.2.1\t,\t10.0.0.1", "192.0.2.1:0"),
        ("6.6.6.6, 192.0.2.1, 10.0.0.1, 10.0.0.2", "192.0.2.1:0"),
        ("192.0.2.1:4711, 10.0.0.1", "192.0.2.1:4711"),
        ("192.0.2.1:_http", "192.0.2.1:0"),
        ("192.0.2.1, 10.0.0.1:_secret", "192.0.2.1:0"),
        ("192.0.2.1:99999", ""),
        ("192.0.2.1:http", ""),
        ("192.0.2.1:", ""),
        ("2001:db8::1, fd00::1", "[2001:db8::1]:0"),
        ("2001:db8::1, [fd00::1]:443", "[2001:db8::1]:0"),
        ("[2001:db8::1]", "[2001:db8::1]:0"),
        ("[2001:db8::1]:80", "[2001:db8::1]:80"),
        ("[2001:db8::1]:_p", "[2001:db8::1]:0"),
        ("[192.0.2.1]", ""),
        ("[2001:db8::1", ""),
        ("\"[2001:db8::1]:4711\"", "[2001:db8::1]:4711"),
        ("\"192.0.2.1\"", "192.0.2.1:0"),
        ("::ffff:192.0.2.1", "192.0.2.1:0"),
        ("[::ffff:192.0.2.1]:7", "192.0.2.1:7"),
        ("192.0.2.1, ::ffff:10.0.0.1", "192.0.2.1:0"),
        ("10.0.0.3, 10.0.0.1", "10.0.0.3:0"),
        ("192.0.2.1, unknown, 10.0.0.1", "10.0.0.1:0"),
        ("192.0.2.1, _hidden, 10.0.0.1", "10.0.0.1:0"),
        ("\u{e9}, 192.0.2.1, 10.0.0.1", "192.0.2.1:0"),
        ("\"6.6.6.6, 192.0.2.1", "192.0.2.1:0"),
        ("6.6.6.6 192.0.2.1", ""),
        ("nonsense", ""),
        ("", ""),
        (",", ""),
    ] {
        assert_eq!(address("x-forwarded-for", list), client, "{list}");
    }
    for (list, client) in [
        ("for=192.0.2.60;proto=http;by=203.0.113.43", "192.0.2.60:0"),
        ("For=\"[2001:db8:cafe::17]:4711\"", "[2001:db8:cafe::17]:4711"),
        ("for=\"[2001:db8::1]:_x\"", "[2001:db8::1]:0"),
        ("for=\"192.0.2.1:8080\"", "192.0.2.1:8080"),
        ("for=\"\\192.0.2.1\"", "192.0.2.1:0"),
        ("for=6.6.6.6, for=192.0.2.1, for=10.0.0.1", "192.0.2.1:0"),
        ("for=192.0.2.1;;proto=https; , for=10.0.0.1", "192.0.2.1:0"),
        ("for=192.0.2.1, for=_hidden", ""),
        ("for=192.0.2.1, for=unknown", ""),
        ("for=192.0.2.1, proto=https", ""),
        ("for=\"192.0.2.1, 6.6.6.6\"", ""),
        ("for=192.0.2.1;extension=\"a,b;c\"", "192.0.2.1:0"),
    ] {
        assert_eq!(address("forwarded", list), client, "{list}");
    }
}

#[test]
fn a_proxy_has_sixteen_parameters_at_the_most_and_none_twice() {
    let with = |count: usize| (1..count).fold(String::new(), |list, number| format!("{list};a{number}=b"));
    let read = |more: &str| read(&[("forwarded", &*format!("for=192.0.2.1{more}, for=10.0.0.1"))]).map(|found| found.0);
    assert_eq!(read(&with(16)), Ok("192.0.2.1:0".to_owned()));
    assert_eq!(read(&(with(16) + ";;")), Ok("192.0.2.1:0".to_owned()));
    for more in [&*with(17), &*with(10_000), ";For=192.0.2.1", ";a=b;A=c"] {
        assert!(read(more).is_err(), "{more:.99}");
    }
}

#[test]
fn empty_elements_and_several_lines_hide_nobody() {
    for (name, one, other) in
        [("x-forwarded-for", "192.0.2.1", "10.0.0.1"), ("forwarded", "for=192.0.2.1", "for=10.0.0.1")]
    {
        let spellings = ["{}", "{},", ",{}", " , {} , ,", "{},\t,", ",,{},,"];
        for spelling in spellings {
            let line = spelling.replace("{}", one);
            assert_eq!(address(name, &line), "192.0.2.1:0", "{line}");
            let line = spelling.replace("{}", &format!("{one} , ,, {other}"));
            assert_eq!(address(name, &line), "192.0.2.1:0", "{line}");
            for lines in [vec![one, spelling], vec![one, other, ""], vec!["", one, ","], vec![one, "", other]] {
                let lines: Vec<_> = lines.into_iter().map(|line| (name, line)).collect();
                let lines: Vec<_> = lines.iter().map(|(name, line)| (*name, line.replace("{}", other))).collect();
                let lines: Vec<_> = lines.iter().map(|(name, line)| (*name, line.as_str())).collect();
                assert_eq!(read(&lines).unwrap().0, "192.0.2.1:0", "{lines:?}");
            }
        }
    }
}

#[test]
fn scheme_and_host_are_those_of_the_hop_that_saw_the_client() {
    let standard = [(
        "forwarded",
        "for=6.6.6.6;host=evil.example, for=192.0.2.1;proto=https;host=example.org, for=10.0.0.1;proto=http",
    )];
    assert_eq!(read(&standard), Ok(("192.0.2.1:0".to_owned(), Some(true), "example.org".to_owned())));
    let legacy = [
        ("x-forwarded-for", "192.0.2.1, 10.0.0.1"),
        ("x-forwarded-proto", "https"),
        ("x-forwarded-host", "evil.example, example.org"),
    ];
    assert_eq!(read(&legacy), Ok(("192.0.2.1:0".to_owned(), Some(true), "example.org".to_owned())));
    let without_address = [("x-forwarded-proto", "https"), ("x-forwarded-host", "example.org:8443")];
    assert_eq!(read(&without_address), Ok((String::new(), Some(true), "example.org:8443".to_owned())));
}

#[test]
fn a_list_of_schemes_is_read_from_the_right_hop() {
    for (addresses, protos, https) in [
        ("192.0.2.1", "https", Some(true)),
        ("192.0.2.1, 10.0.0.1", "https, http", Some(true)),
        ("192.0.2.1, 10.0.0.1", "http, https", Some(false)),
        ("192.0.2.1, 10.0.0.1", "https", Some(true)),
        ("192.0.2.1, 10.0.0.1", "https,", Some(true)),
        // The client wrote what is in front.
        ("192.0.2.1", "https, http", Some(false)),
        ("6.6.6.6, 192.0.2.1", "https, http", Some(false)),
        ("6.6.6.6, 192.0.2.1, 10.0.0.1", "http, https, http", Some(true)),
        ("192.0.2.1, unknown", "https, http", Some(false)),
        ("", "http, https", Some(true)),
        ("192.0.2.1", "\"https\"", Some(true)),
        ("192.0.2.1", "WSS", Some(true)),
        ("192.0.2.1", "gopher", None),
        ("192.0.2.1, 10.0.0.1", "https, gopher", Some(true)),
    ] {
        let found = read(&[("x-forwarded-for", addresses), ("x-forwarded-proto", protos)]).unwrap();
        assert_eq!(found.1, https, "{addresses} | {protos}");
        let lines: Vec<_> = protos.split(',').map(|proto| ("x-forwarded-proto", proto)).collect();
        let lines = [&[("x-forwarded-for", addresses)][..], &lines].concat();
        assert_eq!(read(&lines).unwrap().1, https, "{lines:?}");
    }
}

#[test]
fn only_fields_that_the_proxy_writes_are_read_and_the_others_are_removed() {
    let all = [
        ("forwarded", "for=6.6.6.6;host=evil.example;proto=http"),
        ("x-forwarded-for", "192.0.2.1"),
        ("x-forwarded-proto", "https"),
        ("x-forwarded-host", "evil.example"),
        ("x-forwarded-port", "99"),
        ("x-forwarded-prefix", "/evil"),
        ("x-forwarded-server", "evil"),
        ("accept", "*/*"),
    ];
    let left = |read: Option<&Fields>| {
        let mut headers = headers(&all);
        assert!(remove_unread(&mut headers, read) && !remove_unread(&mut headers, read));
        let mut names: Vec<String> = headers.map().keys().map(ToString::to_string).collect();
        names.sort();
        names.join(" ")
    };
    let usual = Fields::default();
    assert_eq!(usual, fields(&["x-forwarded-for", "X-Forwarded-Proto"]));
    let found = Forwarded::read(&headers(&all), &trusted(), &usual).unwrap();
    assert_eq!((found.https, found.host, found.port), (Some(true), None, None));
    assert_eq!(found.address, "192.0.2.1:0".parse().ok());
    assert_eq!(left(Some(&usual)), "accept x-forwarded-for x-forwarded-proto");
    assert_eq!(left(Some(&fields(&["forwarded"]))), "accept forwarded");
    assert_eq!([left(None), left(Some(&fields(&[])))], ["accept", "accept"]);
    assert_eq!(Forwarded::read(&headers(&all), &trusted(), &fields(&[])), Ok(Forwarded::default()));
    for (names, problem) in [
        (&["forwarded", "x-forwarded-for"][..], "name those that the proxy writes"),
        (&["x-forwarded-host", "Forwarded"], "name those that the proxy writes"),
        (&["forwarded", "x-forwarded-port"], "name those that the proxy writes"),
        (&["x-real-ip"], "is not one of forwarded, "),
        (&["x-forwarded-prefix"], "is not one of forwarded, "),
    ] {
        let names: Vec<String> = names.iter().copied().map(str::to_owned).collect();
        assert!(Fields::parse(&names).unwrap_err().contains(problem), "{names:?}");
    }
}

#[test]
fn a_forwarded_port_is_a_port_or_the_request_is_refused() {
    let port = |value: &str| {
        Forwarded::read(&headers(&[("x-forwarded-port", value)]), &trusted(), &fields(&LEGACY)).map(|found| found.port)
    };
    assert_eq!([port("8443"), port("1, 8443,"), port(" ")], [Ok(Some(8443)), Ok(Some(8443)), Ok(None)]);
    for wrong in ["65536", "-1", "+443", "443x", "84 43", "0x1"].map(|wrong| format!("80, {wrong}")) {
        assert!(port(&wrong).is_err(), "{wrong}");
    }
}

#[test]
fn malformed_fields_are_refused() {
    for wrong in [
        "for=\"192.0.2.1",
        "for=192.0.2.1;for=6.6.6.6",
        "for=192.0.2.1;FOR=6.6.6.6",
        "for",
        "for=",
        "=x",
        "for=\"a\"b\"",
        "for=\"a\\\"",
        "for=a b",
        "for=\"6.6.6.6, for=192.0.2.1",
        "\u{e9}, for=192.0.2.1",
        "host=a@b",
    ] {
        assert!(read(&[("forwarded", wrong)]).is_err(), "{wrong}");
    }
    assert!(read(&[("x-forwarded-host", "a@b")]).is_err());
}

#[test]
fn no_field_makes_the_reader_panic() {
    let pieces =
        ["for=", "\"", "\\", ",", ";", "[::1]", "10.0.0.1", ":80", "_x", "proto=https", "host=", "\u{e9}", " ", "="];
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..20_000 {
        let text: String = (0..random.usize(0..9)).map(|_| pieces[random.usize(0..pieces.len())]).collect();
        let lines = ["forwarded", LEGACY[0], LEGACY[1], LEGACY[2], LEGACY[3]].map(|name| (name, text.as_str()));
        for kind in [fields(&["forwarded"]), fields(&LEGACY), fields(&LEGACY[..3])] {
            if let Ok(found) = Forwarded::read(&headers(&lines), &trusted(), &kind) {
                assert!(found.host.is_none_or(|host| authority::is_valid(host.as_bytes())));
            }
        }
    }
}
