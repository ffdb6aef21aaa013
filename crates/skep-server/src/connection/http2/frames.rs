//! Frames of HTTP/2 as they pass by: where each begins and of what kind it is (RFC 9113, 4.1).

/// The length of the preface, which comes before the first frame of a client (RFC 9113, 3.4).
const PREFACE: usize = 24;

/// The length of a frame's header.
pub(super) const HEADER: usize = 9;

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const RST_STREAM: u8 = 3;

pub(super) const END_STREAM: u8 = 0x1;

/// Finds frames in a stream of bytes.
#[derive(Debug, Default)]
pub(super) struct Frames {
    /// Bytes before the next header.
    skip: usize,
    /// What has come of it.
    header: [u8; HEADER],
    known: usize,
}

/// The header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameHead(pub(super) [u8; HEADER]);

/// A part of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FramePart<'b> {
    Head(FrameHead),
    /// Of the payload of the last frame, or of the preface. It is not empty.
    Payload(&'b [u8]),
}

impl Frames {
    /// In what a client sends.
    pub(super) fn of_client() -> Self {
        Self { skip: PREFACE, ..Self::default() }
    }

    /// Takes the next part of these bytes. `None` once all are taken.
    pub(super) fn next<'b>(&mut self, bytes: &mut &'b [u8]) -> Option<FramePart<'b>> {
        let wanted = if self.skip > 0 { self.skip } else { HEADER - self.known };
        let (now, rest) = bytes.split_at(wanted.min(bytes.len()));
        *bytes = rest;
        if self.skip > 0 {
            self.skip -= now.len();
            return (!now.is_empty()).then_some(FramePart::Payload(now));
        }
        self.header[self.known..self.known + now.len()].copy_from_slice(now);
        self.known += now.len();
        if self.known < HEADER {
            return None;
        }
        let head = FrameHead(self.header);
        (self.known, self.skip) = (0, head.length());
        Some(FramePart::Head(head))
    }

    /// The beginning of a header.
    pub(super) fn begun(&self) -> &[u8] {
        &self.header[..self.known]
    }

    pub(super) fn is_between(&self) -> bool {
        self.skip == 0 && self.known == 0
    }
}

impl FrameHead {
    /// Of the payload.
    pub(super) fn length(self) -> usize {
        let [a, b, c, ..] = self.0.map(usize::from);
        a << 16 | b << 8 | c
    }

    pub(super) fn kind(self) -> u8 {
        self.0[3]
    }

    pub(super) fn has(self, flag: u8) -> bool {
        self.0[4] & flag != 0
    }

    pub(super) fn stream(self) -> u32 {
        let [_, _, _, _, _, stream @ ..] = self.0;
        u32::from_be_bytes(stream) & 0x7fff_ffff
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/connection/http2/frames.rs"]
mod tests;
