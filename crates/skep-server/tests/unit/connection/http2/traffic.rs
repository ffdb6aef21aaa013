//! Unit tests of `connection::http2::traffic`.

use super::*;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const HEADERS_END: (u8, u8, usize) = (HEADERS, 5, 3);
const PING: (u8, u8, usize) = (6, 0, 8);

/// Frames of a kind, with these flags and this length.
fn frames(frames: &[(u8, u8, usize)]) -> Vec<u8> {
    let one = |(kind, flags, length): &(u8, u8, usize)| {
        let [.., a, b] = u32::try_from(*length).unwrap().to_be_bytes();
        [&[0, a, b, *kind, *flags, 0, 0, 0, 1][..], &vec![0xff; *length]].concat()
    };
    frames.iter().flat_map(one).collect()
}

fn of_client(budget: u32) -> Traffic {
    let mut traffic = Traffic::new(budget, 0);
    assert!(traffic.receive(PREFACE, 0, |_| {}));
    traffic
}

/// Whatever a flood is made of.
#[test]
fn a_flood_of_any_frame_that_carries_nothing_is_too_much() {
    let floods = [
        ("ping", PING),
        ("its acknowledgement", (6, 1, 8)),
        ("settings", (4, 0, 6)),
        ("empty settings", (4, 0, 0)),
        ("their acknowledgement", (4, 1, 0)),
        ("priority", (2, 0, 5)),
        ("window update", (8, 0, 4)),
        ("reset", (RST_STREAM, 0, 4)),
        ("empty data", (DATA, 0, 0)),
        ("continuation", (9, 0, 0)),
        ("go away", (7, 0, 8)),
        ("priority update", (16, 0, 5)),
        ("a kind that nobody knows", (200, 0, 0)),
    ];
    for (name, frame) in floods {
        let mut traffic = of_client(100);
        let count = (0..1000).take_while(|_| traffic.receive(&frames(&[frame]), 0, |_| {})).count();
        assert_eq!(count, 100, "{name}");
        assert!(traffic.receive(&frames(&[frame]), 100, |_| {}), "{name}: a tenth each second");
        let together = frames(&vec![frame; 101]);
        assert!(
            !of_client(100).receive(&together, 0, |_| {}) && of_client(101).receive(&together, 0, |_| {}),
            "{name}"
        );
    }
    let mut traffic = of_client(100);
    assert!((0..1000).all(|_| traffic.receive(&frames(&[HEADERS_END]), 0, |_| {})), "requests are limited otherwise");
    let count = (0..1000).take_while(|_| traffic.send(&frames(&[(RST_STREAM, 0, 4)]), 0)).count();
    assert_eq!(count, 100, "requests that are refused because there are too many");
}

#[test]
fn who_is_served_may_send_what_belongs_to_it() {
    let mut traffic = of_client(10);
    for second in 0..1000 {
        // Priority, two acknowledgements of room, an answer to our ping; and a body of any length upwards.
        assert!(traffic.receive(&frames(&[HEADERS_END, (2, 0, 5), (DATA, 0, 200), (8, 0, 4)]), 0, |_| {}), "{second}");
        assert!(traffic.send(&frames(&[(HEADERS, 4, 20), (DATA, 1, 13)]), 0));
        assert!(traffic.receive(&frames(&[(8, 0, 4), (8, 0, 4), (6, 1, 8)]), 0, |_| {}), "{second}");
    }
    let mut download = of_client(10);
    for _ in 0..1000 {
        assert!(
            download.send(&frames(&[(DATA, 0, 16_384)]), 0) && download.receive(&frames(&[(8, 0, 4); 2]), 0, |_| {})
        );
    }
    // A ping each 10 ms without any request: more than gRPC sends.
    let mut idle = of_client(1000);
    assert!((0..10_000).all(|number| idle.receive(&frames(&[PING]), number * 10, |_| {})));
}

#[test]
fn the_last_word_is_between_two_frames_and_names_the_last_request() {
    let mut traffic = of_client(10);
    assert!(traffic.receive(&[&[0, 0, 0, HEADERS, 5, 0x80, 0, 1, 3][..]].concat(), 0, |_| {}));
    assert_eq!(traffic.go_away(), Some([0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 1, 3, 0, 0, 0, 11]));
    let frame = frames(&[(DATA, 0, 5)]);
    assert!(traffic.send(&frame[..12], 0) && traffic.go_away().is_none());
    assert!(traffic.send(&frame[12..], 0) && traffic.go_away().is_some());
}
