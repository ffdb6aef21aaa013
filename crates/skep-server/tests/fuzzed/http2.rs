//! Frames of HTTP/2: what becomes of them depends neither on how their header blocks are written nor on how they
//! arrive.
#![allow(unreachable_pub, reason = "as a module of a test nobody reaches it")]

use std::collections::VecDeque;

use skep_server::fuzz;

use super::draw::Draw;

/// The header compression of a client (RFC 7541), with the texts that the server has only the lengths of.
struct Compression {
    /// The newest first.
    table: VecDeque<(String, String)>,
    most: usize,
}

/// Fields of the static table, by their index.
const STATIC: [(usize, &str, &str); 8] = [
    (1, ":authority", ""),
    (2, ":method", "GET"),
    (4, ":path", "/"),
    (5, ":path", "/index.html"),
    (7, ":scheme", "https"),
    (8, ":status", "200"),
    (15, "accept-charset", ""),
    (61, "www-authenticate", ""),
];

/// How many entries it has.
const STATICS: usize = 61;

const NAMES: [&str; 8] = [":path", ":path", ":path", ":method", ":a", "a", "path", "a:path"];

/// Values are repetitions of these letters, by their codes (appendix B): the length in bits, and the bits.
const LETTERS: [(char, u32, u32); 9] = [
    ('/', 6, 0x18),
    ('a', 5, 0x3),
    ('h', 6, 0x27),
    ('p', 6, 0x2b),
    ('t', 5, 0x9),
    (':', 7, 0x5c),
    ('#', 12, 0xffa),
    ('{', 15, 0x7ffc),
    ('Z', 8, 0xfd),
];

impl Compression {
    fn size(&self) -> usize {
        self.table.iter().map(|(name, value)| 32 + name.len() + value.len()).sum()
    }

    fn evict(&mut self) {
        while self.size() > self.most {
            self.table.pop_back();
        }
    }

    /// An entry of either table, with its index.
    fn entry(&self, draw: &mut Draw<'_>) -> (usize, String, String) {
        // The oldest one is there, or not, by the size of all.
        let all = STATIC.len() + self.table.len();
        let place = if draw.bool() { all - 1 } else { draw.below(all) };
        if let Some(place) = place.checked_sub(STATIC.len()) {
            let (name, value) = self.table[place].clone();
            return (STATICS + 1 + place, name, value);
        }
        let (index, name, value) = STATIC[place];
        (index, name.to_owned(), value.to_owned())
    }

    /// Appends a field.
    fn write(&mut self, draw: &mut Draw<'_>, out: &mut Vec<u8>) -> (String, String) {
        if draw.below(4) == 0 {
            let (index, name, value) = self.entry(draw);
            integer(0x80, 7, index, out);
            return (name, value);
        }
        let (first, prefix) = draw.one_of(&[(0x40, 6), (0x40, 6), (0, 4), (0x10, 4)]);
        let name = if draw.bool() {
            let (index, name, _) = self.entry(draw);
            integer(first, prefix, index, out);
            name
        } else {
            out.push(first);
            let name = draw.one_of(&NAMES).to_owned();
            text(&name, draw.bool(), out);
            name
        };
        let letters: Vec<char> = (0..=draw.below(3)).map(|_| draw.one_of(&LETTERS).0).collect();
        let value: String = letters.iter().cycle().take(draw.below(64)).collect();
        text(&value, draw.bool(), out);
        if first == 0x40 {
            self.table.push_front((name.clone(), value.clone()));
            self.evict();
        }
        (name, value)
    }

    /// Appends a block: true if it is malformed as what it is.
    fn block(&mut self, draw: &mut Draw<'_>, is_trailers: bool, out: &mut Vec<u8>) -> bool {
        if draw.below(4) == 0 {
            self.most = draw.below(32) * 16;
            self.evict();
            integer(0x20, 5, self.most, out);
        }
        let fields: Vec<_> = (0..draw.below(6)).map(|_| self.write(draw, out)).collect();
        fields
            .iter()
            .any(|(name, value)| is_trailers && name.starts_with(':') || name == ":path" && value.contains('#'))
    }
}

/// RFC 7541, 5.1.
fn integer(first: u8, prefix: u32, value: usize, out: &mut Vec<u8>) {
    let most = (1 << prefix) - 1;
    out.push(first | u8::try_from(value.min(most)).expect("a prefix"));
    let Some(mut rest) = value.checked_sub(most) else { return };
    while rest >= 0x80 {
        out.push(0x80 | u8::try_from(rest % 0x80).expect("seven bits"));
        rest /= 0x80;
    }
    out.push(u8::try_from(rest).expect("seven bits"));
}

/// RFC 7541, 5.2.
fn text(text: &str, is_coded: bool, out: &mut Vec<u8>) {
    let codes: Option<Vec<_>> =
        text.chars().map(|letter| LETTERS.iter().find(|(known, ..)| *known == letter)).collect();
    let Some(codes) = codes.filter(|_| is_coded) else {
        integer(0, 7, text.len(), out);
        return out.extend(text.as_bytes());
    };
    let mut bits: Vec<bool> =
        codes.iter().flat_map(|(_, length, code)| (0..*length).rev().map(move |bit| code >> bit & 1 == 1)).collect();
    bits.resize(bits.len().next_multiple_of(8), true);
    integer(0x80, 7, bits.len() / 8, out);
    out.extend(bits.chunks(8).map(|byte| byte.iter().fold(0, |byte, bit| byte << 1 | u8::from(*bit))));
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).expect("a short frame").to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// What ends a block that is malformed.
const TWO_PATHS: [u8; 2] = [0x84, 0x84];

/// Appends the frames of a block, and what is expected of them.
fn frames(
    draw: &mut Draw<'_>,
    (stream, flags): (u32, u8),
    (block, is_malformed): (&[u8], bool),
    out: [&mut Vec<u8>; 2],
) {
    let cuts = draw.below(3);
    let mut rest = block;
    let pieces: Vec<&[u8]> = (0..=cuts)
        .map(|number| {
            let length = if number == cuts { rest.len() } else { draw.below(rest.len() + 1) };
            let piece;
            (piece, rest) = rest.split_at(length);
            piece
        })
        .collect();
    // In a frame with HEADERS only.
    let (padding, has_priority) = (draw.below(4), draw.bool());
    let [sent, expected] = out;
    for (number, piece) in pieces.iter().enumerate() {
        let end = if number == cuts { 4 } else { 0 };
        let write = |fragment: &[u8]| {
            if number > 0 {
                return frame(9, end, stream, fragment);
            }
            let priority: &[u8] = if has_priority { &[0, 0, 0, 0, 7] } else { &[] };
            let padded = if padding > 0 { vec![u8::try_from(padding).expect("a short one")] } else { Vec::new() };
            let payload = [&padded, priority, fragment, &vec![0; padding]].concat();
            let flags = flags | end | if padding > 0 { 8 } else { 0 } | if has_priority { 0x20 } else { 0 };
            frame(1, flags, stream, &payload)
        };
        sent.extend(write(piece));
        let is_last = number == cuts && is_malformed;
        expected.extend(write(&[*piece, if is_last { &TWO_PATHS } else { &[] }].concat()));
    }
}

/// Frames of a client reach hyper as they are, but for header blocks that make their message malformed: a fragment in
/// the path, pseudo-fields in trailers. These get two paths, however their fields are written, whatever of them is in
/// the table, and wherever they are cut.
///
/// # Panics
/// If that does not hold.
pub fn header_blocks(data: &[u8]) {
    let mut draw = Draw(data);
    let size = draw.below(64) + 1;
    let mut compression = Compression { table: VecDeque::new(), most: 4096 };
    let (mut sent, mut expected) = (PREFACE.to_vec(), PREFACE.to_vec());
    let mut stream = 1;
    while !draw.0.is_empty() {
        let is_whole = draw.bool();
        for (is_trailers, flags) in
            [(false, u8::from(is_whole)), (true, 1)].into_iter().take(if is_whole { 1 } else { 2 })
        {
            let mut block = Vec::new();
            let is_malformed = compression.block(&mut draw, is_trailers, &mut block);
            frames(&mut draw, (stream, flags), (&block, is_malformed), [&mut sent, &mut expected]);
            if !is_whole && !is_trailers {
                let between = frame(0, 0, stream, &[0x84; 40][..draw.below(40)]);
                sent.extend_from_slice(&between);
                // Without a byte it means nothing.
                expected.extend(Some(between).filter(|between| between.len() > 9).unwrap_or_default());
            }
        }
        stream += 2;
    }
    assert!(fuzz::http2(&[&sent]) == expected, "in one piece");
    let pieces: Vec<&[u8]> = sent.chunks(size).collect();
    assert!(fuzz::http2(&pieces) == expected, "in pieces of {size}");
}

/// Any bytes at all become the same wherever they are cut, and nothing of them is lost but DATA frames without a byte.
///
/// # Panics
/// If that does not hold.
pub fn frames_of_any_bytes(data: &[u8]) {
    let Some((size, bytes)) = data.split_first() else { return };
    let bytes = [PREFACE, bytes].concat();
    let pieces: Vec<&[u8]> = bytes.chunks(usize::from(*size) % 64 + 1).collect();
    let (whole, cut) = (fuzz::http2(&[&bytes]), fuzz::http2(&pieces));
    let most_empty = bytes.windows(4).filter(|head| *head == [0; 4]).count();
    assert!(whole == cut && whole.len() + 9 * most_empty >= bytes.len(), "{}", bytes.escape_ascii());
}
