//! Unit tests of `respond::direct`.

use http::header::CONTENT_LENGTH;

use super::*;

fn unpack(status: u16, fields: &[(&str, &str)], kind: u8) -> Result<(Response, bool), String> {
    let mut out = Writer::with_capacity(64);
    out.u16(status);
    out.u32(u32::try_from(fields.len()).unwrap());
    for (name, value) in fields {
        out.bytes(name.as_bytes());
        out.bytes(value.as_bytes());
    }
    out.u8(kind);
    out.rest(if kind == WHOLE { b"body" } else { b"" });
    unpacked(&out.finish().into())
}

fn length(status: u16, lengths: &[&str], kind: u8, is_head: bool) -> Option<String> {
    let fields: Vec<_> = lengths.iter().map(|length| ("content-length", *length)).collect();
    let (mut answer, _) = unpack(status, &fields, kind).unwrap();
    // As for every response that the server sends.
    answer.settle(is_head);
    answer.headers().get(CONTENT_LENGTH).map(|length| length.to_str().unwrap().to_owned())
}

#[test]
fn a_guest_does_not_decide_where_its_response_ends() {
    for (status, lengths, kind, is_head, expected) in [
        (200, &["1"][..], WHOLE, false, Some("4")),
        (200, &["4"], WHOLE, false, Some("4")),
        (200, &["x", "4"], WHOLE, false, Some("4")),
        (200, &["9"], WHOLE, true, Some("4")),
        (200, &["9"], EMPTY, true, Some("9")),
        (204, &["1"], WHOLE, false, None),
        (204, &["1"], FOLLOWS, false, None),
        (205, &["1"], WHOLE, false, None),
        (304, &["9"], WHOLE, false, None),
    ] {
        let about = format!("{status} {lengths:?} {kind} {is_head}");
        assert_eq!(length(status, lengths, kind, is_head).as_deref(), expected, "{about}");
    }
}

#[test]
fn each_field_keeps_its_place() {
    let names = ["a", "content-length", "b", "c", "d"];
    for length in ["4", "5", "x"] {
        let fields = names.map(|name| (name, if name == "content-length" { length } else { "1" }));
        let (mut answer, _) = unpack(200, &fields, WHOLE).unwrap();
        answer.settle(false);
        assert_eq!(answer.headers().keys().map(HeaderName::as_str).collect::<Vec<_>>(), names, "{length}");
        assert_eq!(answer.headers()[CONTENT_LENGTH], "4");
    }
}

#[test]
fn a_guest_does_not_control_the_connection() {
    let fields = [("transfer-encoding", "chunked"), ("Connection", "x"), ("keep-alive", "1"), ("x", "y")];
    let (answer, _) = unpack(200, &fields, 1).unwrap();
    assert_eq!(answer.headers().len(), 1);
    for status in [0, 99, 100, 101, 103, 1000] {
        assert!(unpack(status, &[], 1).unwrap_err().contains("no status of a response"), "{status}");
    }
}

#[test]
fn a_hint_for_compression_is_for_the_host_alone() {
    let fields = [("a", "b"), ("skep-compression", "private"), ("c", "d")];
    let (answer, _) = unpack(200, &fields, 1).unwrap();
    assert_eq!(answer.headers().keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["a", "c"]);
}

#[test]
fn a_head_is_bounded() {
    let many = vec![("a", ""); 40_000];
    assert!(unpack(200, &many, 1).unwrap_err().contains("more than 131072 bytes"));
    let large = "x".repeat(FIELDS);
    assert!(unpack(200, &[("x", &large)], 1).unwrap_err().contains("more than 131072 bytes"));
    assert!(unpack(200, &[("x", "a\r\nb: c")], 1).unwrap_err().contains("its field x"));
    assert!(unpack(200, &[("a b", "c")], 1).is_err());
}
