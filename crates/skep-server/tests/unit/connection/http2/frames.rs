//! Unit tests of `connection::http2::frames`.

use super::*;

/// Each part, with the payload of a frame in one.
fn parts(frames: &mut Frames, bytes: &[u8], size: usize) -> Vec<(Option<FrameHead>, Vec<u8>)> {
    let mut all = vec![(None, Vec::new())];
    for mut piece in bytes.chunks(size) {
        while let Some(part) = frames.next(&mut piece) {
            match part {
                FramePart::Head(head) => all.push((Some(head), Vec::new())),
                FramePart::Payload(payload) => {
                    assert!(!payload.is_empty());
                    all.last_mut().unwrap().1.extend_from_slice(payload);
                }
            }
        }
    }
    all
}

#[test]
fn frames_are_found_however_they_arrive() {
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let expected = [(4, 0, 0, 0_u32), (HEADERS, 5, 3, 1), (DATA, 0, 300, 0x7fff_ffff), (6, 0, 8, 0), (DATA, 1, 0, 1)];
    let payload = |length| (0..length).map(|place: u32| u8::try_from(place % 251).unwrap()).collect::<Vec<_>>();
    let mut bytes = preface.to_vec();
    for (kind, flags, length, stream) in expected {
        // The first bit of the stream is nobody's.
        let [_, a, b, c] = u32::to_be_bytes(length);
        bytes.extend([&[a, b, c, kind, flags], &(stream | 1 << 31).to_be_bytes()[..], &payload(length)].concat());
    }
    for size in 1..=bytes.len() {
        let mut frames = Frames::of_client();
        let found = parts(&mut frames, &bytes, size);
        assert_eq!(found[0], (None, preface.to_vec()), "{size} at a time");
        assert_eq!(found.len(), 1 + expected.len(), "{size} at a time");
        for ((head, found), (kind, flags, length, stream)) in found[1..].iter().zip(expected) {
            let head = head.unwrap();
            assert_eq!((head.kind(), head.length(), head.stream()), (kind, length as usize, stream));
            assert!((0..8).all(|bit| head.has(1 << bit) == (flags & 1 << bit != 0)));
            assert_eq!(*found, payload(length), "{size} at a time");
        }
        assert!(frames.is_between() && frames.begun().is_empty());
    }
    let mut frames = Frames::default();
    assert_eq!(parts(&mut frames, &[0, 0, 1, 6], 4).len(), 1);
    assert!(!frames.is_between() && frames.begun() == [0, 0, 1, 6]);
    parts(&mut frames, &[0; 5], 5);
    assert!(!frames.is_between() && frames.begun().is_empty());
}
