//! Tests of compression: streams, turns, media types.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use http_body::Frame;

use super::*;
use crate::body::BodyError;
use crate::quota::Quota;

/// Gives what is there, and then waits.
struct Live(VecDeque<&'static [u8]>);

impl http_body::Body for Live {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        self.0.pop_front().map_or(Poll::Pending, |piece| Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(piece))))))
    }
}

/// All that a body has to give for now.
fn at_hand(body: &mut Body) -> Vec<u8> {
    let mut all = Vec::new();
    let mut waits = 0;
    // It waits after each piece for others to have their turn, and then for its source.
    while waits < 3 {
        match http_body::Body::poll_frame(Pin::new(body), &mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Some(frame)) => {
                all.extend_from_slice(&frame.unwrap().into_data().unwrap());
                waits = 0;
            }
            Poll::Ready(None) => break,
            Poll::Pending => waits += 1,
        }
    }
    all
}

#[test]
fn a_stream_is_sent_as_far_as_it_has_come() {
    for coding in Coding::ALL.into_iter().filter(|coding| coding.is_built_in()) {
        let live = Live(VecDeque::from([&b"first "[..], b"second"]));
        let mut body = Pieces::body(Body::stream(live), Encoder::new(coding, 4, None), Quota::default().share());
        let sent = at_hand(&mut body);
        assert_eq!(beginning(coding, &sent), b"first second", "{coding:?}");
    }
}

/// What a client makes of the beginning of a body.
fn beginning(coding: Coding, sent: &[u8]) -> Vec<u8> {
    let mut seen = Vec::new();
    match coding {
        Coding::Brotli => {
            let mut decoder = brotli::DecompressorWriter::new(&mut seen, 64);
            decoder.write_all(sent).unwrap();
            decoder.flush().unwrap();
            drop(decoder);
        }
        #[cfg(feature = "zstd")]
        Coding::Zstd => {
            let mut decoder = zstd::stream::write::Decoder::new(&mut seen).unwrap();
            decoder.write_all(sent).unwrap();
            decoder.flush().unwrap();
        }
        _ => {
            let mut buffer = [0; 100];
            let count = flate2::read::GzDecoder::new(sent).read(&mut buffer).unwrap();
            seen.extend_from_slice(&buffer[..count]);
        }
    }
    seen
}

#[test]
fn a_body_that_is_compressed_in_pieces_holds_what_it_held_and_gives_others_their_turn() {
    let page = vec![b'a'; 3 * PIECE];
    let share = Quota::default().share();
    let mut body = Pieces::body(page.into(), Encoder::new(Coding::Gzip, 5, None), share);
    assert_eq!((body.held(), body.len()), (3 * PIECE, None));
    let mut turns = 0;
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        match http_body::Body::poll_frame(Pin::new(&mut body), &mut cx) {
            Poll::Ready(None) => break,
            Poll::Ready(Some(_)) => {}
            Poll::Pending => turns += 1,
        }
    }
    assert_eq!(turns, 3);
}

#[test]
fn media_types_that_gain_by_it() {
    let yes = ["text/html; charset=utf-8", "TEXT/CSS", "application/json", "application/problem+json", "image/svg+xml"];
    let no = ["text/event-stream", "image/png", "application/octet-stream", "application/zip", "video/mp4", "", "text"];
    assert!(yes.iter().all(|kind| is_compressible(kind.as_bytes())));
    assert!(!no.iter().any(|kind| is_compressible(kind.as_bytes())));
}
