//! Unit tests of `memcached::protocol`.

use super::*;

fn text(append: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    append(&mut out);
    String::from_utf8(out).unwrap()
}

#[test]
fn requests_are_the_lines_of_the_protocol() {
    assert_eq!(text(|out| get(&WireKey::new(b"post:1"), true, None, out)), "mg post:1 v c\r\n");
    assert_eq!(text(|out| get(&WireKey::new(b"a"), false, Some(7), out)), "mg a v q O7\r\n");
    assert_eq!(
        text(|out| set(&WireKey::new(b"a"), [b"he", b"llo"], 60, If::Cas(5), None, out)),
        "ms a 5 T60 C5\r\nhello\r\n"
    );
    assert_eq!(text(|out| set(&WireKey::new(b"a"), [b"", b""], 0, If::Absent, None, out)), "ms a 0 T0 ME\r\n\r\n");
    assert_eq!(text(|out| delete(&WireKey::new(b"a"), Some(9), out)), "md a C9\r\n");
}

#[test]
fn a_key_with_blanks_is_sent_as_base64() {
    assert_eq!(text(|out| delete(&WireKey::new(b"a b"), None, out)), "md YSBi b\r\n");
    assert_eq!(text(|out| delete(&WireKey::new(b"a b!"), None, out)), "md YSBiIQ== b\r\n");
    assert_eq!(text(|out| delete(&WireKey::new("é b".as_bytes()), None, out)), "md w6kgYg== b\r\n");
    assert_eq!(text(|out| set(&WireKey::new(b"\0"), [b"", b"x"], 0, If::Always, None, out)), "ms AA== 1 b T0\r\nx\r\n");
}

#[test]
fn a_key_longer_than_the_limit_as_sent_becomes_a_digest() {
    let sent = |key: &[u8]| text(|out| delete(&WireKey::new(key), None, out));
    assert!(sent(&[b'k'; 250]).starts_with("md kkk"));
    assert!(sent(&[0; 186]).starts_with("md AAA"));
    for key in [&[b'k'; 251][..], &[0; 189], b""] {
        assert!(sent(key).starts_with("md sha256:"), "{key:?}");
    }
}

#[test]
fn a_ttl_over_30_days_becomes_an_absolute_time() {
    assert!(text(|out| ttl(2_592_000, out)).ends_with("T2592000"));
    let moment: u64 = text(|out| ttl(2_592_001, out)).trim_start_matches(" T").parse().unwrap();
    assert!(moment > 1_700_000_000, "{moment}");
}

fn parse(input: &[u8], size: usize) -> Result<Vec<Reply>, String> {
    let (mut parser, mut replies, mut buffer) = (Parser::new(1000), Vec::new(), Vec::new());
    for piece in input.chunks(size) {
        buffer.extend_from_slice(piece);
        loop {
            let (used, reply) = parser.take(&buffer)?;
            buffer.drain(..used);
            let nothing = used == 0 && reply.is_none();
            replies.extend(reply);
            if nothing {
                break;
            }
        }
    }
    Ok(replies)
}

#[test]
fn replies_are_parsed_from_pieces_of_any_size() {
    let input = b"VA 5 c12 W\r\nhe\r\no\r\nEN\r\nHD O3 X Z\r\nVA 0\r\n\r\nSERVER_ERROR out of memory\r\nMN\r\n";
    for size in 1..input.len() {
        let replies = parse(input, size).unwrap();
        assert_eq!(replies.len(), 6, "pieces of {size}");
        assert_eq!((&replies[0].value[..], replies[0].cas), (&b"he\r\no"[..], Some(12)));
        assert_eq!(replies[1].code, Code::En);
        assert_eq!((replies[2].code.clone(), replies[2].opaque), (Code::Hd, Some(3)));
        assert_eq!((replies[3].code.clone(), replies[3].value.len()), (Code::Va, 0));
        assert_eq!(replies[4].code, Code::Error("out of memory".to_owned()));
        assert_eq!(replies[5].code, Code::Mn);
    }
}

#[test]
fn garbage_is_refused() {
    for input in [
        &b"HTTP/1.1 400 Bad Request\r\n"[..],
        b"VA many\r\n",
        b"VA 3\r\nabcdef",
        b"VA 99999999999\r\n",
        b"VA 1001\r\n",
        b"HD cabc\r\n",
        b"\xff\xfe\r\n",
        b"HD\n",
        &[b'x'; 3000],
    ] {
        for size in [1, 7, 5000] {
            assert!(parse(input, size).is_err(), "{}", excerpt(input));
        }
    }
}
