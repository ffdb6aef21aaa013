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

const ANY: Agreed = Agreed { window: None };

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
            let Some(smaller) = deflated(&message, ANY) else { continue };
            assert!(smaller.len() < message.len());
            assert_eq!(inflated(&smaller, message.len()).unwrap(), message);
            assert_eq!(deflated(&message, ANY).unwrap(), smaller, "twice the same");
        }
    }
    let noise = random.bytes(5_000, 256);
    assert!(deflated(&noise, ANY).is_none() && deflated(b"x", ANY).is_none());
    assert!(deflated(&"bees ".repeat(1_000).into_bytes(), ANY).is_some());
}

#[test]
fn a_message_is_refused_before_it_takes_more_than_it_may() {
    let bomb = deflated(&vec![0; 64 << 20], ANY).unwrap();
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

/// Each time the memory of a stream is made again.
#[test]
fn a_message_has_few_streams_for_its_size() {
    // An empty block, the last of its stream.
    let (empty, block) = ([0x03, 0x00], [0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]);
    assert_eq!(inflated(&[&empty[..], &[0]].concat(), 5).unwrap(), b"");
    assert_eq!(code(&inflated(&empty.repeat(1_000), 5).unwrap_err()), 1007);
    assert_eq!(code(&inflated(&block.repeat(3), 100).unwrap_err()), 1007);
    let noise = [&[0x01, 70, 0, !70, 0xff][..], &[b'x'; 70]].concat();
    assert_eq!(inflated(&noise.repeat(50), 3_500).unwrap(), [b'x'; 3_500], "streams of 75 bytes");
}

#[test]
fn no_more_room_is_made_than_a_message_may_take() {
    let message = vec![0; 70_000];
    let smaller = deflated(&message, ANY).unwrap();
    assert!(inflated(&smaller, message.len()).unwrap().capacity() <= message.len() + 1);
    assert_eq!(code(&inflated(&smaller, message.len() - 1).unwrap_err()), 1009);
    assert_eq!(code(&inflated(&smaller, 0).unwrap_err()), 1009);
}

/// A client with a smaller window cannot read what refers to bytes further back.
#[test]
fn the_window_is_as_small_as_a_client_asks() {
    let mut random = Random(3);
    let start = random.bytes(600, 256);
    let message = [&start[..], &[b' '; 500], &start].concat();
    for bits in 9..=15 {
        let smaller = deflated(&message, Agreed { window: Some(bits) }).unwrap();
        assert_eq!(inflated(&smaller, message.len()).unwrap(), message, "{bits}");
        // The second time is far back: 1,100 bytes.
        assert_eq!(smaller.len() < 1_000, bits > 10, "{bits}: {}", smaller.len());
        let mut plain = Vec::new();
        let mut reader = flate2::Decompress::new_with_window_bits(false, bits);
        plain.reserve(message.len() + 1);
        reader.decompress_vec(&smaller, &mut plain, FlushDecompress::Sync).unwrap();
        assert_eq!(plain, message, "{bits}");
    }
}

#[test]
fn an_offer_is_accepted_that_asks_for_what_there_is() {
    let any = Some(ANY);
    let window = |bits| Some(Agreed { window: Some(bits) });
    for (offers, expected) in [
        (&["permessage-deflate"][..], any),
        (&["permessage-deflate; client_max_window_bits"], any),
        (&["Permessage-Deflate;client_max_window_bits=\"10\" ; server_no_context_takeover"], any),
        (&["permessage-deflate; server_max_window_bits=8", "permessage-deflate"], any),
        (&["permessage-deflate; server_max_window_bits=8"], None),
        (&["permessage-deflate; server_max_window_bits=12; client_max_window_bits=12"], window(12)),
        (&["permessage-deflate; server_max_window_bits=\"9\"", "permessage-deflate"], window(9)),
        (&["permessage-deflate; server_max_window_bits=15"], window(15)),
        (&["permessage-deflate; server_max_window_bits=16"], None),
        (&["permessage-deflate; server_max_window_bits"], None),
        (&["permessage-deflate; client_max_window_bits=16"], None),
        (&["permessage-deflate; client_max_window_bits=09"], None),
        (&["permessage-deflate; server_no_context_takeover=1"], None),
        (&["permessage-deflate; client_no_context_takeover; client_no_context_takeover"], None),
        (&["permessage-deflate; unknown"], None),
        (&["x-webkit-deflate-frame", ""], None),
        (&[], None),
    ] {
        assert_eq!(Agreed::of(offers.iter().copied()), expected, "{offers:?}");
    }
    let always = "permessage-deflate; server_no_context_takeover; client_no_context_takeover";
    assert_eq!(ANY.response(), always);
    assert_eq!(window(15).unwrap().response(), format!("{always}; server_max_window_bits=15"));
}
