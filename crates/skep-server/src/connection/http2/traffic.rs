//! The frames of HTTP/2 as they pass by: where each begins, and of what kind it is (RFC 9113, 4.1). What is in them is
//! hyper's.
//!
//! Frames that carry nothing, such as pings, cost a client next to nothing, and the server an answer. [`Traffic`]
//! counts them.

/// The length of the preface, which comes before the first frame of a client.
const PREFACE: usize = 24;

/// The length of a frame's header.
const HEADER: usize = 9;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;

const END_STREAM: u8 = 1;

/// Frames that are granted for each HEADERS or DATA frame of a response: clients tell the priority of a request, and of
/// each piece of a body that they have room again, on its stream and on the connection.
const GRANTED: u32 = 4;

/// Finds frames in a stream of bytes.
#[derive(Debug, Default)]
struct Frames {
    /// Bytes before the next header.
    skip: usize,
    /// What has come of it.
    header: [u8; HEADER],
    known: usize,
}

/// The header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FrameHead {
    length: usize,
    kind: u8,
    flags: u8,
    stream: u32,
}

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
pub(super) struct Traffic {
    received: Frames,
    sent: Frames,
    budget: ControlBudget,
    /// The last stream that the client has begun.
    last: u32,
}

impl Frames {
    /// For bytes that begin with `skip` others.
    fn after(skip: usize) -> Self {
        Self { skip, ..Self::default() }
    }

    /// The next frame that begins in these bytes, which are taken as far as its header goes.
    fn next(&mut self, bytes: &mut &[u8]) -> Option<FrameHead> {
        let skipped = self.skip.min(bytes.len());
        self.skip -= skipped;
        *bytes = &bytes[skipped..];
        let count = (HEADER - self.known).min(bytes.len());
        self.header[self.known..self.known + count].copy_from_slice(&bytes[..count]);
        self.known += count;
        *bytes = &bytes[count..];
        if self.known < HEADER {
            return None;
        }
        self.known = 0;
        let [a, b, c, kind, flags, stream @ ..] = self.header;
        let length = usize::from(a) << 16 | usize::from(b) << 8 | usize::from(c);
        self.skip = length;
        Some(FrameHead { length, kind, flags, stream: u32::from_be_bytes(stream) & 0x7fff_ffff })
    }
}

impl FrameHead {
    /// True if no part of a request or a body is in it.
    fn is_control(self) -> bool {
        match self.kind {
            DATA => self.length == 0 && self.flags & END_STREAM == 0,
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
        match frame.kind {
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
    pub(super) fn new(most: u32, now: u64) -> Self {
        let budget = ControlBudget::new(most, now);
        Self { received: Frames::after(PREFACE), sent: Frames::default(), budget, last: 0 }
    }

    /// Counts the frames that the client has sent. False if there are too many.
    pub(super) fn receive(&mut self, mut bytes: &[u8], now: u64) -> bool {
        while let Some(frame) = self.received.next(&mut bytes) {
            if frame.kind == HEADERS {
                self.last = self.last.max(frame.stream);
            }
            if !self.budget.receive(frame, now) {
                return false;
            }
        }
        true
    }

    /// Counts the frames that the server has sent. False if the client makes it send too many.
    pub(super) fn send(&mut self, mut bytes: &[u8], now: u64) -> bool {
        let mut is_fine = true;
        while let Some(frame) = self.sent.next(&mut bytes) {
            is_fine &= self.budget.send(frame, now);
        }
        is_fine
    }

    /// The last frame for a client that sent too many: GOAWAY with `ENHANCE_YOUR_CALM` (RFC 9113, 6.8 and 7). `None`
    /// within another frame.
    pub(super) fn go_away(&self) -> Option<[u8; HEADER + 8]> {
        let [a, b, c, d] = self.last.to_be_bytes();
        let is_between = self.sent.skip == 0 && self.sent.known == 0;
        is_between.then_some([0, 0, 8, 7, 0, 0, 0, 0, 0, a, b, c, d, 0, 0, 0, 11])
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/connection/http2/traffic.rs"]
mod tests;
