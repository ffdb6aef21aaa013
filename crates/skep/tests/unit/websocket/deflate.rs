//! Tests of `websocket::deflate`.

use super::*;

/// Numbers without a pattern, the same in each run (Marsaglia's xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u8 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u8::try_from((self.0 >> 16) % most).unwrap()
    }

    fn bytes(&mut self, count: usize, most: u64) -> Vec<u8> {
        (0..count).map(|_| self.below(most)).collect()
    }
}

fn code(error: &Error) -> u16 {
    match error.0 {
        super::super::Kind::Violation(code, _) => code.0,
        ref other => panic!("{other:?}"),
    }
}

/// RFC 7692, 7.2.3: one block, one that is not compressed, the last one of a stream, two blocks.
#[test]
fn the_examples_of_the_standard_are_read() {
    for payload in [
        &[0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00][..],
        &[0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00],
        &[0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00],
        &[0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9, 0x07, 0x00],
    ] {
        assert_eq!(inflated(payload, 5).unwrap(), b"Hello", "{payload:x?}");
    }
    assert_eq!(inflated(&[0], 5).unwrap(), b"", "an empty message");
    assert_eq!(inflated(&[], 5).unwrap(), b"");
}

#[test]
fn what_is_compressed_is_what_it_was_and_no_message_knows_another() {
    let mut random = Random(7);
    for size in [1, 10, 300, 4_000, 70_000, 1 << 20] {
        for message in ["bees ".repeat(size / 5 + 1).into_bytes(), random.bytes(size, 16)] {
            let Some(smaller) = deflated(&message) else { continue };
            assert!(smaller.len() < message.len());
            assert_eq!(inflated(&smaller, message.len()).unwrap(), message);
            assert_eq!(deflated(&message).unwrap(), smaller, "twice the same");
        }
    }
    let noise = random.bytes(5_000, 256);
    assert!(deflated(&noise).is_none() && deflated(b"x").is_none());
    assert!(deflated(&"bees ".repeat(1_000).into_bytes()).is_some());
}

#[test]
fn a_message_is_refused_before_it_takes_more_than_it_may() {
    let bomb = deflated(&vec![0; 64 << 20]).unwrap();
    assert!(bomb.len() < 1 << 20);
    assert_eq!(code(&inflated(&bomb, 1 << 20).unwrap_err()), 1009);
    assert_eq!(inflated(&bomb, 64 << 20).unwrap().len(), 64 << 20);
}

#[test]
fn what_is_not_compressed_so_closes_with_its_code() {
    for payload in [&b"Hello"[..], &[0xff; 20], &[0x06, 0x00]] {
        assert_eq!(code(&inflated(payload, 1_000).unwrap_err()), 1007, "{payload:x?}");
    }
    let mut random = Random(9);
    for _ in 0..20_000 {
        let length = random.below(40).into();
        let payload = random.bytes(length, 256);
        _ = inflated(&payload, 10_000);
    }
    assert_eq!(inflated(&[0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00], 5).unwrap(), b"Hello", "after all that");
}

#[test]
fn an_offer_is_accepted_that_asks_for_what_there_is() {
    for (offers, expected) in [
        (&["permessage-deflate"][..], true),
        (&["permessage-deflate; client_max_window_bits"], true),
        (&["Permessage-Deflate;client_max_window_bits=\"10\" ; server_no_context_takeover"], true),
        (&["permessage-deflate; server_max_window_bits=10", "permessage-deflate"], true),
        (&["permessage-deflate; server_max_window_bits=10"], false),
        (&["permessage-deflate; server_max_window_bits=15"], true),
        (&["permessage-deflate; client_max_window_bits=16"], false),
        (&["permessage-deflate; client_max_window_bits=09"], false),
        (&["permessage-deflate; server_no_context_takeover=1"], false),
        (&["permessage-deflate; client_no_context_takeover; client_no_context_takeover"], false),
        (&["permessage-deflate; unknown"], false),
        (&["x-webkit-deflate-frame", ""], false),
        (&[], false),
    ] {
        assert_eq!(is_offered(offers.iter().copied()), expected, "{offers:?}");
    }
}
