//! Header blocks of HTTP/2 on their way from the client to hyper.
//!
//! A block that makes its message malformed is sent on with two more fields, a path twice, for which hyper resets the
//! stream with `PROTOCOL_ERROR` (RFC 9113, 8.1.1): the state of the compression, which all streams share, stays right.

use std::collections::VecDeque;
use std::ops::Range;

use super::fields::{Blocks, Kind};
use super::frames::{DATA, END_STREAM, FrameHead, HEADERS, RST_STREAM};

/// The blocks that a client has sent.
#[derive(Debug, Default)]
pub(super) struct HeaderBlocks {
    blocks: Blocks,
    /// The frame of a block whose payload is not complete, and what has come of that.
    head: Option<FrameHead>,
    held: Vec<u8>,
    /// The last stream that was opened, and those that neither the client has ended nor the server has reset: a block
    /// on one of them is trailers. On another one it is an error that hyper knows.
    last_stream: u32,
    unended: VecDeque<u32>,
    /// The block that goes on in the next frame.
    open: Option<Block>,
    /// The connection is not what this understands; hyper will end it.
    is_broken: bool,
}

/// A block of which a part has come.
#[derive(Clone, Copy, Debug)]
struct Block {
    is_trailers: bool,
    is_malformed: bool,
}

/// The longest payload, in bytes (RFC 9113, 4.2).
const MOST: usize = 16 << 10;

const CONTINUATION: u8 = 9;

const END_HEADERS: u8 = 0x4;
const PADDED: u8 = 0x8;
const PRIORITY: u8 = 0x20;

/// More streams than a client has at a time.
const MOST_UNENDED: usize = 1000;

/// `:path: /`, twice, as an index of the static table.
const TWO_PATHS: [u8; 2] = [0x84, 0x84];

impl HeaderBlocks {
    /// The last stream that the client has opened.
    pub(super) fn last_stream(&self) -> u32 {
        self.last_stream
    }

    /// Begins a frame. That of a block is held until its payload is complete.
    pub(super) fn begin(&mut self, head: FrameHead, mut pass_on: impl FnMut(&[u8])) {
        let is_block = matches!(head.kind(), HEADERS | CONTINUATION);
        self.is_broken |= is_block && head.length() > MOST;
        if self.is_broken || !is_block {
            if head.kind() == RST_STREAM || head.kind() == DATA && head.has(END_STREAM) {
                self.end(head.stream());
            }
            if !self.is_nothing(head) {
                pass_on(&head.0);
            }
            return;
        }
        self.head = Some(head);
        if head.length() == 0 {
            self.push(&[], pass_on);
        }
    }

    /// True for a piece of a body without a byte, on a stream that has more. `h2` ends a connection after a hundred of
    /// them, although the setting `limits.http2_control_frames` counts them, too.
    fn is_nothing(&self, head: FrameHead) -> bool {
        let is_empty = head.kind() == DATA && head.length() == 0 && !head.has(END_STREAM | PADDED);
        is_empty && !self.is_broken && self.open.is_none() && self.unended.contains(&head.stream())
    }

    /// A stream ends: the client sends nothing more on it, or the server has reset it.
    pub(super) fn end(&mut self, stream: u32) {
        self.unended.retain(|unended| *unended != stream);
    }

    /// A part of the payload of the frame that has begun, or of the preface.
    pub(super) fn push(&mut self, payload: &[u8], mut pass_on: impl FnMut(&[u8])) {
        let Some(head) = self.head else { return pass_on(payload) };
        // Most come whole, and are not copied.
        if self.held.is_empty() && payload.len() == head.length() {
            self.head = None;
            return self.frame(head, payload, pass_on);
        }
        self.held.extend_from_slice(payload);
        if self.held.len() == head.length() {
            self.head = None;
            let payload = std::mem::take(&mut self.held);
            self.frame(head, &payload, pass_on);
        }
    }

    /// What is held, once nothing more comes.
    pub(super) fn take_held(&mut self) -> Vec<u8> {
        let head = self.head.take().map_or(Vec::new(), |head| head.0.to_vec());
        [head, std::mem::take(&mut self.held)].concat()
    }

    fn frame(&mut self, head: FrameHead, payload: &[u8], mut pass_on: impl FnMut(&[u8])) {
        let read = self.block(head, payload);
        self.is_broken = read.is_none();
        let Some((Block { is_malformed: true, .. }, end)) = read.filter(|_| head.has(END_HEADERS)) else {
            pass_on(&head.0);
            return pass_on(payload);
        };
        // A frame that becomes too long by it ends the connection.
        let length = (payload.len() + TWO_PATHS.len()).to_be_bytes();
        let mut longer = head.0;
        longer[..3].copy_from_slice(&length[size_of::<usize>() - 3..]);
        for part in [&longer, &payload[..end], &TWO_PATHS, &payload[end..]] {
            pass_on(part);
        }
    }

    /// Reads the block of a frame, or its part of one, and says where it ends. `None` for what hyper ends the
    /// connection for.
    fn block(&mut self, head: FrameHead, payload: &[u8]) -> Option<(Block, usize)> {
        let (stream, is_last) = (head.stream(), head.has(END_HEADERS));
        let opened = Block { is_trailers: self.unended.contains(&stream), is_malformed: false };
        let (mut block, fragment) = match (head.kind(), self.open.take()) {
            (CONTINUATION, Some(block)) => (block, 0..payload.len()),
            (HEADERS, None) => (opened, fragment(head, payload)?),
            _ => return None,
        };
        let end = fragment.end;
        if head.kind() == HEADERS {
            self.note_stream(stream, head.has(END_STREAM));
        }
        let malformed = if block.is_trailers { [Kind::Pseudo, Kind::Fragment] } else { [Kind::Fragment; 2] };
        let read =
            self.blocks.read(&payload[fragment], is_last, |kind| block.is_malformed |= malformed.contains(&kind));
        read.ok()?;
        self.open = Some(block).filter(|_| !is_last);
        Some((block, end))
    }

    fn note_stream(&mut self, stream: u32, is_ended: bool) {
        if is_ended {
            self.end(stream);
        } else if stream > self.last_stream {
            self.unended.truncate(MOST_UNENDED - 1);
            self.unended.push_front(stream);
        }
        self.last_stream = self.last_stream.max(stream);
    }
}

/// Where the fragment of a HEADERS frame is (RFC 9113, 6.2).
fn fragment(head: FrameHead, payload: &[u8]) -> Option<Range<usize>> {
    let padding = if head.has(PADDED) { usize::from(*payload.first()?) } else { 0 };
    let start = usize::from(head.has(PADDED)) + if head.has(PRIORITY) { 5 } else { 0 };
    let end = payload.len().checked_sub(padding)?;
    (start <= end).then_some(start..end)
}

#[cfg(test)]
#[path = "../../../tests/unit/connection/http2/header_blocks.rs"]
mod tests;
