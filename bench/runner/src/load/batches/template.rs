//! An answer that all others must equal, but for the date.

use std::ops::Range;

use crate::Result;
use crate::http::{Answer, find};

/// The bytes of an answer.
pub(crate) struct Template {
    bytes: Vec<u8>,
    /// Where they may differ.
    date: Range<usize>,
}

impl Template {
    /// An answer of another length would shift all that follow, so the length must be fixed.
    pub(crate) fn of(answer: &Answer) -> Result<Self> {
        if answer.status != 200 || !answer.sized {
            return Err("a pipelined answer must be 200 and have a Content-Length".into());
        }
        let head = answer.head.to_ascii_lowercase();
        let date = find(&head, b"\r\ndate:").map_or(0..0, |start| {
            let end = find(&head[start + 2..], b"\r\n").map_or(head.len(), |length| start + 2 + length);
            start + 2..end
        });
        Ok(Self { bytes: [&answer.head[..], &answer.body[..]].concat(), date })
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether these bytes may follow `offset` bytes of answers.
    pub(crate) fn matches(&self, mut offset: usize, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            let start = offset % self.len();
            let length = bytes.len().min(self.len() - start);
            if !self.piece_matches(start, &bytes[..length]) {
                return false;
            }
            offset += length;
            bytes = &bytes[length..];
        }
        true
    }

    /// The same of a piece of one answer.
    fn piece_matches(&self, start: usize, piece: &[u8]) -> bool {
        let end = start + piece.len();
        let same = |from: usize, to: usize| from >= to || piece[from - start..to - start] == self.bytes[from..to];
        same(start, end.min(self.date.start)) && same(start.max(self.date.end), end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template() -> (Template, Vec<u8>) {
        let head = b"HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\ncontent-length: 2\r\n\r\n".to_vec();
        let answer = Answer { status: 200, head, body: b"Hi".to_vec(), sized: true };
        let bytes = [&answer.head[..], &answer.body[..]].concat();
        (Template::of(&answer).unwrap(), bytes)
    }

    #[test]
    fn the_same_answers_match_wherever_they_are_cut() {
        let (template, bytes) = template();
        let three = bytes.repeat(3);
        for cut in 0..three.len() {
            assert!(template.matches(0, &three[..cut]) && template.matches(cut, &three[cut..]), "cut at {cut}");
        }
    }

    #[test]
    fn only_the_date_may_differ() {
        let (template, bytes) = template();
        for place in 0..bytes.len() {
            let mut other = bytes.clone();
            other[place] ^= 1;
            let in_date = (17..52).contains(&place);
            assert_eq!(template.matches(0, &other), in_date, "byte {place}");
        }
    }

    #[test]
    fn an_answer_without_a_length_is_no_template() {
        let chunked = Answer { status: 200, head: Vec::new(), body: Vec::new(), sized: false };
        assert!(Template::of(&chunked).is_err());
    }
}
