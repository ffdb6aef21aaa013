//! The frames of a connection. What is in them is hyper's.
//!
//! Frames that carry nothing, such as pings, cost a client next to nothing, and the server an answer. [`Traffic`]
//! counts them.

use super::frames::{DATA, END_STREAM, FrameHead, FramePart, Frames, HEADER, HEADERS, RST_STREAM};
use super::header_blocks::HeaderBlocks;

/// Frames that are granted for each HEADERS or DATA frame of a response: clients tell the priority of a request, and of
/// each piece of a body that they have room again, on its stream and on the connection.
const GRANTED: u32 = 4;

/// Frames that a client may send although they carry nothing: `most` at once, and a tenth of them each second.
#[derive(Debug)]
struct ControlBudget {
    most: u32,
    left: u32,
    /// When it was refilled, in milliseconds.
    since: u64,
}

/// The frames of a connection, in both directions.
#[derive(Debug)]
pub(crate) struct Traffic {
    received: Frames,
    sent: Frames,
    blocks: HeaderBlocks,
    budget: ControlBudget,
}

impl FrameHead {
    /// True if no part of a request or a body is in it.
    fn is_control(self) -> bool {
        match self.kind() {
            DATA => self.length() == 0 && !self.has(END_STREAM),
            HEADERS => false,
            _ => true,
        }
    }
}

impl ControlBudget {
    /// `now` in milliseconds.
    fn new(most: u32, now: u64) -> Self {
        Self { most, left: most, since: now }
    }

    /// Counts a frame of the client. False if it is one too many.
    fn receive(&mut self, frame: FrameHead, now: u64) -> bool {
        !frame.is_control() || self.take(now)
    }

    /// Counts a frame of the server. False if it resets one stream too many: that of a request which is refused, since
    /// there are too many at a time, has no response.
    fn send(&mut self, frame: FrameHead, now: u64) -> bool {
        match frame.kind() {
            DATA | HEADERS => self.left = self.left.saturating_add(GRANTED).min(self.most),
            RST_STREAM => return self.take(now),
            _ => {}
        }
        true
    }

    fn take(&mut self, now: u64) -> bool {
        let more = now.saturating_sub(self.since).saturating_mul(self.most.into()) / 10_000;
        if more > 0 {
            self.left = self.left.saturating_add(u32::try_from(more).unwrap_or(u32::MAX)).min(self.most);
            self.since = now;
        }
        let left = self.left.checked_sub(1);
        self.left = left.unwrap_or(0);
        left.is_some()
    }
}

impl Traffic {
    /// Of a connection whose client may send `most` control frames; `now` in milliseconds.
    pub(crate) fn new(most: u32, now: u64) -> Self {
        let (received, sent) = (Frames::of_client(), Frames::default());
        Self { received, sent, blocks: HeaderBlocks::default(), budget: ControlBudget::new(most, now) }
    }

    /// Counts the frames that the client has sent, and passes on what can be passed on; the rest is held until more
    /// comes. False if there are too many.
    pub(crate) fn receive(&mut self, mut bytes: &[u8], now: u64, mut pass_on: impl FnMut(&[u8])) -> bool {
        while let Some(part) = self.received.next(&mut bytes) {
            match part {
                FramePart::Head(frame) if !self.budget.receive(frame, now) => return false,
                FramePart::Head(frame) => self.blocks.begin(frame, &mut pass_on),
                FramePart::Payload(payload) => self.blocks.push(payload, &mut pass_on),
            }
        }
        true
    }

    /// What is held, once nothing more comes.
    pub(crate) fn take_held(&mut self) -> Vec<u8> {
        [&self.blocks.take_held(), self.received.begun()].concat()
    }

    /// Counts the frames that the server has sent. False if the client makes it send too many.
    pub(super) fn send(&mut self, mut bytes: &[u8], now: u64) -> bool {
        let mut is_fine = true;
        while let Some(part) = self.sent.next(&mut bytes) {
            if let FramePart::Head(frame) = part {
                if frame.kind() == RST_STREAM {
                    self.blocks.end(frame.stream());
                }
                is_fine &= self.budget.send(frame, now);
            }
        }
        is_fine
    }

    /// The last frame for a client that sent too many: GOAWAY with `ENHANCE_YOUR_CALM` (RFC 9113, 6.8 and 7). `None`
    /// within another frame.
    pub(super) fn go_away(&self) -> Option<[u8; HEADER + 8]> {
        let [a, b, c, d] = self.blocks.last_stream().to_be_bytes();
        self.sent.is_between().then_some([0, 0, 8, 7, 0, 0, 0, 0, 0, a, b, c, d, 0, 0, 0, 11])
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/connection/http2/traffic.rs"]
mod tests;
