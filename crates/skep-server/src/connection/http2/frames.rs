//! Frames of HTTP/2 on their way from the client to hyper.
//!
//! Frames with a header block are looked at; of the others, only where they end. A block that makes its message malformed is sent on with two
//! more fields, a path twice, for which hyper resets the stream with `PROTOCOL_ERROR` (RFC 9113, 8.1.1): the state of the compression, which all
//! streams share, stays right.

use std::collections::VecDeque;
use std::ops::Range;

use super::fields::{Blocks, Kind};

/// What a client has sent, frame by frame.
#[derive(Debug)]
pub(super) struct Frames {
    blocks: Blocks,
    /// Bytes of the preface, or of the payload of another frame, that come next.
    pass: usize,
    /// A frame with a header block, or the beginning of a frame, that is not complete.
    held: Vec<u8>,
    /// The last stream that was opened, and those that the client has not ended: a block on one of them is trailers. On another one it is an
    /// error that hyper knows.
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

/// In bytes (RFC 9113, 3.4, 4.1 and 4.2).
const PREFACE: usize = 24;
const HEAD: usize = 9;
const MOST: usize = 16 << 10;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const CONTINUATION: u8 = 9;

const END_STREAM: u8 = 0x1;
const END_HEADERS: u8 = 0x4;
const PADDED: u8 = 0x8;
const PRIORITY: u8 = 0x20;

/// More streams than a client has: those that the server has reset are never ended.
const MOST_UNENDED: usize = 1000;

/// `:path: /`, twice, as an index of the static table.
const TWO_PATHS: [u8; 2] = [0x84, 0x84];

impl Default for Frames {
    fn default() -> Self {
        Self {
            blocks: Blocks::default(),
            pass: PREFACE,
            held: Vec::new(),
            last_stream: 0,
            unended: VecDeque::new(),
            open: None,
            is_broken: false,
        }
    }
}

impl Frames {
    /// Passes on what can be passed on. The rest is held until more comes.
    pub(super) fn push(&mut self, mut bytes: &[u8], mut pass_on: impl FnMut(&[u8])) {
        while !bytes.is_empty() {
            if self.is_broken {
                return pass_on(bytes);
            }
            if self.pass > 0 {
                let (now, rest) = bytes.split_at(self.pass.min(bytes.len()));
                self.pass -= now.len();
                bytes = rest;
                pass_on(now);
                continue;
            }
            let wanted = self.wanted(bytes);
            // Most frames come whole, and are not copied.
            if self.held.is_empty() && wanted <= bytes.len() {
                let (frame, rest) = bytes.split_at(wanted);
                bytes = rest;
                self.frame(frame, &mut pass_on);
                continue;
            }
            let (now, rest) = bytes.split_at((wanted - self.held.len()).min(bytes.len()));
            self.held.extend_from_slice(now);
            bytes = rest;
            if self.held.len() == wanted && self.wanted(&[]) == wanted {
                let frame = std::mem::take(&mut self.held);
                self.frame(&frame, &mut pass_on);
            }
        }
    }

    /// What is held, once nothing more comes.
    pub(super) fn take_held(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }

    /// How many bytes are to be seen at once: the head of a frame, and a header block with it, unless it is too long for a frame.
    fn wanted(&self, next: &[u8]) -> usize {
        let begun = if self.held.is_empty() { next } else { &self.held };
        match begun {
            [_, _, _, HEADERS | CONTINUATION, ..] if begun.len() >= HEAD => match HEAD + length(begun) {
                frame if frame <= HEAD + MOST => frame,
                _ => HEAD,
            },
            _ => HEAD,
        }
    }

    /// A frame with a header block, or the head of another one.
    fn frame(&mut self, frame: &[u8], pass_on: &mut impl FnMut(&[u8])) {
        let (kind, flags) = (frame[3], frame[4]);
        let stream = u32::from_be_bytes([frame[5] & 0x7f, frame[6], frame[7], frame[8]]);
        if !matches!(kind, HEADERS | CONTINUATION) {
            if kind == RST_STREAM || kind == DATA && flags & END_STREAM != 0 {
                self.unended.retain(|unended| *unended != stream);
            }
            self.pass = length(frame);
            return pass_on(frame);
        }
        if frame.len() != HEAD + length(frame) {
            self.is_broken = true;
            return pass_on(frame);
        }
        let is_last = flags & END_HEADERS != 0;
        let Some((block, end)) = self.block(frame, stream, is_last) else {
            self.is_broken = true;
            return pass_on(frame);
        };
        if !(is_last && block.is_malformed) {
            return pass_on(frame);
        }
        // A frame that becomes too long by it ends the connection.
        let mut head = [0; HEAD];
        head.copy_from_slice(&frame[..HEAD]);
        let length = length(frame) + TWO_PATHS.len();
        head[..3].copy_from_slice(&length.to_be_bytes()[size_of::<usize>() - 3..]);
        for part in [&head, &frame[HEAD..end], &TWO_PATHS, &frame[end..]] {
            pass_on(part);
        }
    }

    /// Reads the block of a frame, or its part of one, and says where it ends. `None` for what hyper ends the connection for.
    fn block(&mut self, frame: &[u8], stream: u32, is_last: bool) -> Option<(Block, usize)> {
        let is_trailers = self.unended.contains(&stream);
        let opened = Block { is_trailers, is_malformed: false };
        let (mut block, fragment) = match (frame[3], self.open.take()) {
            (CONTINUATION, Some(block)) => (block, HEAD..frame.len()),
            (HEADERS, None) => (opened, fragment(frame)?),
            _ => return None,
        };
        let end = fragment.end;
        let is_opened = frame[3] == HEADERS && stream > self.last_stream;
        self.note_stream(stream, is_opened, frame[3] == HEADERS && frame[4] & END_STREAM != 0);
        let malformed = if block.is_trailers { [Kind::Pseudo, Kind::Fragment] } else { [Kind::Fragment; 2] };
        let read = self.blocks.read(&frame[fragment], is_last, |kind| block.is_malformed |= malformed.contains(&kind));
        read.ok()?;
        self.open = Some(block).filter(|_| !is_last);
        Some((block, end))
    }
}

impl Frames {
    fn note_stream(&mut self, stream: u32, is_opened: bool, is_ended: bool) {
        self.last_stream = self.last_stream.max(stream);
        if is_ended {
            self.unended.retain(|unended| *unended != stream);
        } else if is_opened {
            self.unended.truncate(MOST_UNENDED - 1);
            self.unended.push_front(stream);
        }
    }
}

/// The length of a frame's payload.
fn length(head: &[u8]) -> usize {
    usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2])
}

/// Where the fragment of a HEADERS frame is (RFC 9113, 6.2).
fn fragment(frame: &[u8]) -> Option<Range<usize>> {
    let flags = frame[4];
    let (mut start, mut padding) = (HEAD, 0);
    if flags & PADDED != 0 {
        padding = usize::from(*frame.get(start)?);
        start += 1;
    }
    if flags & PRIORITY != 0 {
        start += 5;
    }
    let end = frame.len().checked_sub(padding)?;
    (start <= end).then_some(start..end)
}

#[cfg(test)]
#[path = "../../../tests/unit/connection/http2/frames.rs"]
mod tests;
