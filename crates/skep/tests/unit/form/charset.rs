//! Unit tests of `form::charset`.

use super::*;

#[test]
fn a_text_is_read_in_the_encoding_that_it_has() {
    for (label, bytes, text) in [
        ("UTF-8", &b"\xc3\xa4\xe2\x82\xac"[..], Some("ä€")),
        ("utf8", b"\xe4", None),
        ("ISO-8859-1", b"\xe4\x80\x93", Some("ä€“")),
        (" latin1 ", b"\xff", Some("ÿ")),
        ("us-ascii", b"a", Some("a")),
        ("windows-1252", b"\x81\x9f", Some("\u{81}Ÿ")),
        ("utf-16", b"a\0\xac\x20", Some("a€")),
        ("utf-16", b"\xfe\xff\0a", Some("a")),
        ("utf-16be", b"\0a\x20\xac", Some("a€")),
        ("utf-16le", b"\xff\xfea\0", Some("a")),
        ("utf-16", b"a", None),
        ("utf-16le", b"\0\xd8", None),
        ("utf-16", b"", Some("")),
    ] {
        let decoded = Charset::of(label).unwrap().decode(bytes.to_vec());
        assert_eq!(decoded.as_deref(), text, "{label} {bytes:?}");
    }
    for unknown in ["", "shift_jis", "utf-7", "utf-32", "x-user-defined"] {
        assert_eq!(Charset::of(unknown), None, "{unknown}");
    }
}
