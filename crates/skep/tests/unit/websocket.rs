//! Tests of frames and messages: in any pieces, and against the rules of RFC 6455.

use super::frame::Header;
use super::*;

/// A frame as a client sends it.
fn frame(is_last: bool, opcode: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    push_frame(&mut out, Opcode::Text, payload);
    let header = out.len() - payload.len();
    out[0] = u8::from(is_last) << 7 | opcode;
    out[1] |= 0x80;
    let mask = [0x11, 0x22, 0x33, 0x44];
    for (byte, mask) in out[header..].iter_mut().zip(mask.into_iter().cycle()) {
        *byte ^= mask;
    }
    out.splice(header..header, mask);
    out
}

/// What these bytes are, if they arrive in pieces of this size; or the close code for them.
fn events(bytes: &[u8], size: usize) -> Result<Vec<Event>, u16> {
    read(Incoming::new(100_000, false), bytes, size)
}

fn read(mut incoming: Incoming, bytes: &[u8], size: usize) -> Result<Vec<Event>, u16> {
    let mut events = Vec::new();
    let code = |error: Error| match error.0 {
        Kind::Violation(code, _) => code.0,
        other => panic!("{other:?}"),
    };
    for piece in bytes.chunks(size) {
        incoming.extend(piece);
        while let Some(event) = incoming.next().map_err(code)? {
            events.push(event);
        }
    }
    Ok(events)
}

fn same_in_all_pieces(bytes: &[u8]) -> Result<Vec<Event>, u16> {
    let whole = events(bytes, usize::MAX);
    for size in [1, 2, 3, 7, 8, 9, 100] {
        assert_eq!(events(bytes, size), whole, "in pieces of {size}");
    }
    whole
}

#[test]
fn messages_are_the_same_in_any_pieces() {
    let long = "bees ".repeat(14_000);
    let frames = [
        frame(true, 1, "Grüße".as_bytes()),
        // Between two bytes of a character.
        frame(false, 1, &"ü".as_bytes()[..1]),
        frame(true, 9, b"ping"),
        frame(false, 0, b""),
        frame(true, 0, &"ü".as_bytes()[1..]),
        frame(true, 2, &[0xff; 200]),
        frame(true, 1, long.as_bytes()),
        frame(true, 10, b""),
        frame(true, 8, &[0x03, 0xe9, b'x']),
    ];
    let expected = vec![
        Event::Message("Grüße".into()),
        Event::Ping(b"ping".to_vec()),
        Event::Message("ü".into()),
        Event::Message(vec![0xff; 200].into()),
        Event::Message(long.into()),
        Event::Pong,
        Event::Close(Some(CloseCode::GOING_AWAY)),
    ];
    assert_eq!(same_in_all_pieces(&frames.concat()), Ok(expected));
}

#[test]
fn what_breaks_the_protocol_has_its_close_code() {
    let cases: [(&str, Vec<u8>, u16); 14] = [
        ("an unknown opcode", frame(true, 3, b""), 1002),
        ("a reserved bit", frame(true, 0x41, b""), 1002),
        ("no mask", vec![0x81, 0x01, b'x'], 1002),
        ("a long ping", frame(true, 9, &[0; 126]), 1002),
        ("a ping in fragments", frame(false, 9, b""), 1002),
        ("a continuation of nothing", frame(true, 0, b"x"), 1002),
        ("a message in a message", [frame(false, 1, b"x"), frame(true, 2, b"x")].concat(), 1002),
        ("half a close code", frame(true, 8, &[3]), 1002),
        ("a close code of nobody", frame(true, 8, &1005_u16.to_be_bytes()), 1002),
        ("a close reason that is no text", frame(true, 8, &[3, 0xe8, 0xff]), 1007),
        ("no text", frame(true, 1, &[0xff]), 1007),
        ("the beginning of no text", frame(false, 1, &[0xce, 0xba, 0xf4, 0x90]), 1007),
        ("the half of a character", frame(true, 1, &[0xce]), 1007),
        (
            "too large in fragments",
            [frame(false, 2, &vec![0; 60_000]), frame(true, 0, &vec![0; 60_000])].concat(),
            1009,
        ),
    ];
    for (what, bytes, code) in cases {
        assert_eq!(same_in_all_pieces(&bytes), Err(code), "{what}");
    }
}

/// RFC 7692, 6: the bit is of the first frame of a message, and of no control frame.
#[test]
fn a_message_is_compressed_in_fragments_as_well_as_whole() {
    let hello = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00];
    let deflates = |bytes: &[u8]| {
        let whole = read(Incoming::new(100, true), bytes, usize::MAX);
        assert_eq!(read(Incoming::new(100, true), bytes, 1), whole);
        whole
    };
    let frames = [
        frame(true, 0x41, &hello),
        frame(false, 0x42, &hello[..3]),
        frame(true, 9, b""),
        frame(true, 0, &hello[3..]),
        frame(true, 1, b"plain"),
    ];
    let expected = vec![
        Event::Message("Hello".into()),
        Event::Ping(Vec::new()),
        Event::Message(b"Hello".to_vec().into()),
        Event::Message("plain".into()),
    ];
    assert_eq!(deflates(&frames.concat()), Ok(expected));
    for (what, bytes, code) in [
        ("a control frame", frame(true, 0x49, b""), 1002),
        ("a continuation", [frame(false, 0x41, &hello[..3]), frame(true, 0x40, &hello[3..])].concat(), 1002),
        ("another bit", frame(true, 0x21, &hello), 1002),
        ("no compression", frame(true, 0x41, b"Hello"), 1007),
        // 0xff, compressed.
        ("no text", frame(true, 0x41, &deflate::deflated(&[0xff; 90], Agreed::default()).unwrap()), 1007),
        ("too large", frame(true, 0x41, &deflate::deflated(&[b'x'; 101], Agreed::default()).unwrap()), 1009),
    ] {
        assert_eq!(deflates(&bytes), Err(code), "{what}");
    }
    assert_eq!(events(&frame(true, 0x41, &hello), 9), Err(1002), "it was not agreed on");
}

#[test]
fn a_length_that_is_too_large_is_refused_before_its_payload_arrives() {
    let mut bytes = vec![0x82, 0x80 | 127];
    bytes.extend_from_slice(&(1_u64 << 62).to_be_bytes());
    bytes.extend_from_slice(&[0; 4]);
    assert_eq!(same_in_all_pieces(&bytes), Err(1009));
}

/// RFC 6455, 5.2: the least number of bytes must be used, and the highest bit of eight is 0.
#[test]
fn a_length_that_is_not_in_its_shortest_form_breaks_the_protocol() {
    let header = |opcode: u8, code: u8, length: &[u8]| [&[0x80 | opcode, 0x80 | code], length, &[0; 4]].concat();
    let two = |length: u16| length.to_be_bytes();
    let eight = |length: u64| length.to_be_bytes();
    for opcode in [1, 2, 8, 9, 10] {
        for length in [0, 1, 5, 124, 125] {
            let bytes = [header(opcode, 126, &two(length)), vec![0; length.into()]].concat();
            assert_eq!(same_in_all_pieces(&bytes), Err(1002), "{opcode} {length}");
        }
        for length in [0, 5, 125, 126, 65_535, 1 << 63, (1 << 63) + 5, u64::MAX] {
            let bytes = [header(opcode, 127, &eight(length)), vec![0; 5]].concat();
            assert_eq!(same_in_all_pieces(&bytes), Err(1002), "{opcode} {length}");
        }
    }
    for good in [
        frame(true, 2, &[1; 125]),
        frame(true, 2, &[1; 126]),
        frame(true, 2, &vec![1; 65_535]),
        frame(true, 2, &vec![1; 65_536]),
    ] {
        assert!(same_in_all_pieces(&good).is_ok());
    }
}

#[test]
fn a_header_is_as_long_as_its_length_needs() {
    for (length, header) in [(0, 6), (125, 6), (126, 8), (65_535, 8), (65_536, 14)] {
        let bytes = frame(true, 2, &vec![0; length]);
        let (parsed, taken) = Header::parse(&bytes).unwrap().unwrap();
        assert_eq!((parsed.length, taken), (length as u64, header));
    }
}
