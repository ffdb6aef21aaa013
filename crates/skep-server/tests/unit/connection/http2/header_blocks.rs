//! Unit tests of `connection::http2::header_blocks`.

use super::super::traffic::Traffic;
use super::*;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// What is passed on, if it comes in pieces of this length.
fn passed(sent: &[u8], step: usize) -> Vec<u8> {
    let (mut traffic, mut out) = (Traffic::new(u32::MAX, 0), Vec::new());
    for piece in sent.chunks(step) {
        assert!(traffic.receive(piece, 0, |bytes| out.extend_from_slice(bytes)));
    }
    out.extend(traffic.take_held());
    out
}

const PREFACE_TEXT: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// `:method: GET`, `:scheme: http`, `:path: /`.
const GET: &[u8] = &[0x82, 0x86, 0x84];
/// The same with `:path: /#`, which enters the table.
const GET_FRAGMENT: &[u8] = &[0x82, 0x86, 0x44, 2, b'/', b'#'];
/// `a: b`.
const FIELD: &[u8] = &[0, 1, b'a', 1, b'b'];

fn steps() -> impl Iterator<Item = usize> {
    [1, 2, 3, 5, 8, 9, 10, 13, 21, 1 << 20].into_iter()
}

#[test]
fn what_is_well_formed_is_passed_on_as_it_is() {
    let end_stream = 1;
    let sent = [
        PREFACE_TEXT.to_vec(),
        frame(4, 0, 0, &[]),
        frame(HEADERS, END_HEADERS | end_stream, 1, GET),
        frame(HEADERS, END_HEADERS | PADDED | PRIORITY, 3, &[&[2, 0, 0, 0, 0, 9][..], GET, &[0, 0]].concat()),
        frame(0, 0, 3, &[7; 1000]),
        frame(HEADERS, END_HEADERS | end_stream, 3, FIELD),
        frame(HEADERS, 0, 5, &GET[..1]),
        frame(CONTINUATION, 0, 5, &[]),
        frame(CONTINUATION, END_HEADERS, 5, &GET[1..]),
        frame(8, 0, 0, &[0, 0, 0, 9]),
        frame(0xbe, 0xff, 77, b"unknown"),
    ]
    .concat();
    for step in steps() {
        assert!(passed(&sent, step) == sent, "{step}");
    }
    // A block on a stream that has ended is no trailers: hyper has another error for it.
    for ended in [
        frame(HEADERS, END_HEADERS | end_stream, 5, GET),
        [frame(HEADERS, END_HEADERS, 5, GET), frame(DATA, end_stream, 5, &[])].concat(),
        [frame(HEADERS, END_HEADERS, 5, GET), frame(RST_STREAM, 0, 5, &[0, 0, 0, 8])].concat(),
        [frame(HEADERS, END_HEADERS, 5, GET), frame(HEADERS, END_HEADERS | end_stream, 5, FIELD)].concat(),
        frame(HEADERS, END_HEADERS | end_stream, 7, GET),
    ] {
        let sent = [PREFACE_TEXT, &ended, &frame(HEADERS, END_HEADERS | end_stream, 5, GET)].concat();
        assert!(passed(&sent, 6) == sent);
    }
    // A part of a frame is held until the rest comes, and not kept at the end.
    for length in 0..sent.len() {
        assert!(passed(&sent[..length], 7) == sent[..length], "{length}");
    }
}

/// Where they are an error, hyper says so.
#[test]
fn empty_pieces_are_dropped_on_streams_that_have_more() {
    let post = |stream| frame(HEADERS, END_HEADERS, stream, GET);
    let empty = |flags, stream| frame(DATA, flags, stream, &[]);
    let last = frame(DATA, END_STREAM, 1, b"x");
    for (between, is_dropped) in [
        (empty(0, 1).repeat(500), true),
        (empty(END_STREAM, 1), false),
        (empty(PADDED, 1), false),
        (frame(DATA, PADDED, 1, &[0]), false),
        (empty(0, 0), false),
        (empty(0, 3), false),
        ([frame(HEADERS, 0, 3, GET), empty(0, 1)].concat(), false),
        ([last.clone(), empty(0, 1)].concat(), false),
    ] {
        let sent = |between: &[u8]| [PREFACE_TEXT, &post(1), between, &last].concat();
        let expected = if is_dropped { sent(&[]) } else { sent(&between) };
        for step in steps() {
            assert!(passed(&sent(&between), step) == expected, "{between:?} {step}");
        }
    }
}

#[test]
fn streams_that_the_server_has_reset_are_not_kept() {
    let (mut traffic, mut out) = (Traffic::new(u32::MAX, 0), Vec::new());
    let trailers = frame(HEADERS, END_HEADERS | END_STREAM, 1, &[0x82]);
    let mut receive = |traffic: &mut Traffic, bytes: &[u8]| {
        out.clear();
        assert!(traffic.receive(bytes, 0, |bytes| out.extend_from_slice(bytes)));
        out.clone()
    };
    receive(&mut traffic, PREFACE_TEXT);
    receive(&mut traffic, &frame(HEADERS, END_HEADERS, 1, GET));
    for stream in (3..5003).step_by(2) {
        receive(&mut traffic, &frame(HEADERS, END_HEADERS, stream, GET));
        assert!(traffic.send(&frame(RST_STREAM, 0, stream, &[0, 0, 0, 7]), 0));
    }
    let marked = frame(HEADERS, END_HEADERS | END_STREAM, 1, &[&[0x82][..], &TWO_PATHS].concat());
    assert_eq!(receive(&mut traffic, &trailers), marked);
}

#[test]
fn a_malformed_block_gets_two_paths() {
    const LAST: u8 = END_HEADERS | 1;
    let request = || frame(HEADERS, END_HEADERS, 1, GET);
    let with = |block: &[u8]| [block, &TWO_PATHS].concat();
    let trailers = |block: &[u8]| [request(), frame(HEADERS, LAST, 1, block)].concat();
    let (of_path, late) = ([&[0x44, 2][..], b"/x"].concat(), [FIELD, &[0x88]].concat());
    let padded =
        |block: &[u8]| frame(HEADERS, LAST | PADDED | PRIORITY, 1, &[&[3, 0, 0, 0, 0, 9], block, &[0; 3]].concat());
    let parts =
        |flags, last: &[u8]| [request(), frame(HEADERS, 1, 1, &[0x41]), frame(CONTINUATION, flags, 1, last)].concat();
    for (sent, expected) in [
        (frame(HEADERS, LAST, 1, GET_FRAGMENT), frame(HEADERS, LAST, 1, &with(GET_FRAGMENT))),
        (trailers(&[0x82]), trailers(&with(&[0x82]))),
        (trailers(&[0x88]), trailers(&with(&[0x88]))),
        (trailers(&of_path), trailers(&with(&of_path))),
        (trailers(&late), trailers(&with(&late))),
        (parts(END_HEADERS, &[1, b'x']), parts(END_HEADERS, &with(&[1, b'x']))),
        (padded(GET_FRAGMENT), padded(&with(GET_FRAGMENT))),
    ] {
        let (sent, expected) = ([PREFACE_TEXT, &sent].concat(), [PREFACE_TEXT, &expected].concat());
        for step in steps() {
            assert_eq!(passed(&sent, step), expected, "{step}");
        }
    }
    // What a request left in the table is what it was.
    let from_table = [0x82, 0x86, 0x80 | 0x3e];
    let both = |first: &[u8], second: &[u8]| {
        [PREFACE_TEXT, &frame(HEADERS, LAST, 1, first), &frame(HEADERS, LAST, 3, second)].concat()
    };
    assert_eq!(passed(&both(GET_FRAGMENT, &from_table), 4), both(&with(GET_FRAGMENT), &with(&from_table)));
}

#[test]
fn what_nobody_understands_is_left_to_hyper() {
    for sent in [
        frame(CONTINUATION, END_HEADERS, 1, GET),
        frame(HEADERS, END_HEADERS, 1, &[0x80]),
        frame(HEADERS, END_HEADERS | PADDED, 1, &[9, 0x82]),
        frame(HEADERS, END_HEADERS | PRIORITY, 1, &[0, 0]),
        frame(HEADERS, END_HEADERS, 1, &vec![0x82; MOST + 1]),
        [frame(HEADERS, 0, 1, GET), frame(HEADERS, END_HEADERS, 3, GET)].concat(),
    ] {
        let sent = [PREFACE_TEXT, &sent, &frame(HEADERS, END_HEADERS, 5, GET_FRAGMENT)].concat();
        for step in steps() {
            assert!(passed(&sent, step) == sent, "{step}");
        }
    }
}
