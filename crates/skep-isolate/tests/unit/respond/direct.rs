//! Unit tests of `respond::direct`.

use super::*;

fn unpack(status: u16, fields: &[(&str, &str)], kind: u8, is_head: bool) -> Result<(Response, bool), String> {
    let mut out = Writer::with_capacity(64);
    out.u16(status);
    out.u32(u32::try_from(fields.len()).unwrap());
    for (name, value) in fields {
        out.bytes(name.as_bytes());
        out.bytes(value.as_bytes());
    }
    out.u8(kind);
    out.rest(b"body");
    unpacked(&out.finish().into(), is_head)
}

fn length(status: u16, lengths: &[&str], kind: u8, is_head: bool) -> Option<String> {
    let fields: Vec<_> = lengths.iter().map(|length| ("content-length", *length)).collect();
    let (answer, _) = unpack(status, &fields, kind, is_head).unwrap();
    answer.headers().get(CONTENT_LENGTH).map(|length| length.to_str().unwrap().to_owned())
}

#[test]
fn a_guest_does_not_decide_where_its_response_ends() {
    assert_eq!(length(200, &["1"], 1, false), None, "the body is here");
    assert_eq!(length(204, &["1"], 1, false), None);
    assert_eq!(length(200, &["9"], 1, true).as_deref(), Some("9"), "HEAD");
    assert_eq!(length(304, &["9"], 1, false).as_deref(), Some("9"));
    assert_eq!(length(200, &["9"], 2, false).as_deref(), Some("9"), "the body follows");
    for wrong in [&["1", "9"][..], &["+9"], &["1, 9"], &[""]] {
        assert_eq!(length(200, wrong, 2, false), None, "{wrong:?}");
    }
}

#[test]
fn a_guest_does_not_control_the_connection() {
    let fields = [("transfer-encoding", "chunked"), ("Connection", "x"), ("keep-alive", "1"), ("x", "y")];
    let (answer, _) = unpack(200, &fields, 1, false).unwrap();
    assert_eq!(answer.headers().len(), 1);
    for status in [0, 99, 100, 101, 103, 1000] {
        assert!(unpack(status, &[], 1, false).unwrap_err().contains("no status of a response"), "{status}");
    }
}

#[test]
fn a_hint_for_compression_is_for_the_host_alone() {
    let fields = [("a", "b"), ("skep-compression", "private"), ("c", "d")];
    let (answer, _) = unpack(200, &fields, 1, false).unwrap();
    assert_eq!(answer.headers().keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["a", "c"]);
}

#[test]
fn a_head_is_bounded() {
    let many = vec![("a", ""); 40_000];
    assert!(unpack(200, &many, 1, false).unwrap_err().contains("more than 131072 bytes"));
    let large = "x".repeat(FIELDS);
    assert!(unpack(200, &[("x", &large)], 1, false).unwrap_err().contains("more than 131072 bytes"));
    assert!(unpack(200, &[("x", "a\r\nb: c")], 1, false).unwrap_err().contains("its field x"));
    assert!(unpack(200, &[("a b", "c")], 1, false).is_err());
}
