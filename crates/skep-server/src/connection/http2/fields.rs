//! Header blocks of HTTP/2, read as far as is needed to know what hyper does not say.
//!
//! The crate `h2` drops pseudo-header fields of trailers, and cuts a fragment off the path. Both make a request
//! malformed (RFC 9113, 8.1 and 8.3.1), and HTTP/1 refuses them too. So each block is looked at on its way to hyper:
//! which fields it has, not what they say. That takes the table of the compression (RFC 7541, 2.3.2), of which this
//! keeps lengths; a text is decoded only as far as its length, when it enters the table.
//!
//! Start reading at [`Blocks::read`].

use std::collections::VecDeque;

use Stop::{Broken, Missing};

/// What a connection's blocks are read with.
#[derive(Debug)]
pub(super) struct Blocks {
    /// The fields that later blocks may refer to, the newest first.
    table: VecDeque<Entry>,
    /// As RFC 7541, 4.1 counts it, and the most of it.
    size: usize,
    most: usize,
    /// What is left of a fragment: the beginning of a field, and how much is missing at least until it is worth another
    /// look.
    begun: Vec<u8>,
    missing: usize,
}

/// A field of the table.
#[derive(Clone, Copy, Debug)]
struct Entry {
    kind: Kind,
    name: usize,
    size: usize,
}

/// What matters of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Usual,
    /// `:method` and its like.
    Pseudo,
    /// `:path`, and its value has a fragment.
    Fragment,
}

/// Why there is no value.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The block is no such thing, which hyper will say.
    Broken,
    /// At least this many bytes have not come.
    Missing(usize),
}

/// The default of `SETTINGS_HEADER_TABLE_SIZE`, which this server does not change.
const TABLE: usize = 4096;

/// The longest beginning of a field that is kept: hyper has given up before.
const MOST_BEGUN: usize = 1 << 20;

/// The lengths of the names in the static table (RFC 7541, appendix A), from index 1 on. The first fourteen are
/// pseudo-header fields.
const NAMES: [u8; 61] = [
    10, 7, 7, 5, 5, 7, 7, 7, 7, 7, 7, 7, 7, 7, 14, 15, 15, 13, 6, 27, 3, 5, 13, 13, 19, 16, 16, 14, 16, 13, 12, 6, 4,
    4, 6, 7, 4, 4, 8, 17, 13, 8, 19, 13, 4, 8, 12, 18, 19, 5, 7, 7, 11, 6, 10, 25, 17, 10, 4, 3, 16,
];
const PSEUDO: usize = 14;
const PATH: [usize; 2] = [4, 5];

/// A value, and what is left behind it.
type Taken<'b, T> = Result<(T, &'b [u8]), Stop>;

impl Default for Blocks {
    fn default() -> Self {
        Self { table: VecDeque::new(), size: 0, most: TABLE, begun: Vec::new(), missing: 0 }
    }
}

impl Blocks {
    /// Reads a fragment of a block, and tells of each field that is complete. With the last one, all of them are.
    pub(super) fn read(&mut self, fragment: &[u8], is_last: bool, mut see: impl FnMut(Kind)) -> Result<(), Stop> {
        let mut begun = std::mem::take(&mut self.begun);
        let is_new = begun.is_empty();
        begun.extend_from_slice(if is_new { &[] } else { fragment });
        let (block, mut used) = (if is_new { fragment } else { &begun }, 0);
        self.missing = self.missing.saturating_sub(fragment.len());
        // Else a client would have the same bytes read for each of a thousand fragments.
        while used < block.len() && self.missing == 0 {
            match self.field(&block[used..]) {
                Ok((kind, rest)) => {
                    kind.into_iter().for_each(&mut see);
                    used = block.len() - rest.len();
                }
                Err(Missing(bytes)) => self.missing = bytes,
                Err(Broken) => return Err(Broken),
            }
        }
        if used == block.len() {
            return Ok(());
        }
        if is_new {
            begun.extend_from_slice(&fragment[used..]);
        } else {
            begun.drain(..used);
        }
        self.begun = begun;
        if is_last || self.begun.len() > MOST_BEGUN { Err(Broken) } else { Ok(()) }
    }

    /// The field at the beginning (RFC 7541, 6), or none where the table gets another size. Nothing of it is decoded
    /// before all of it is there.
    fn field<'b>(&mut self, block: &'b [u8]) -> Taken<'b, Option<Kind>> {
        #[cfg(test)]
        tests::LOOKS.set(tests::LOOKS.get() + 1);
        let (prefix, is_added) = match block[0] {
            0x80.. => {
                let (index, rest) = integer(block, 7)?;
                return Ok((Some(self.entry(index)?.kind), rest));
            }
            0x40.. => (6, true),
            0x20.. => {
                let (size, rest) = integer(block, 5)?;
                self.most = size;
                self.evict(0);
                return Ok((None, rest));
            }
            _ => (4, false),
        };
        let (index, rest) = integer(block, prefix)?;
        let (own, rest) =
            if index == 0 { Text::take(rest).map(|(own, rest)| (Some(own), rest))? } else { (None, rest) };
        let (value, rest) = Text::take(rest)?;
        let (mut kind, is_path, name) = if let Some(own) = own {
            let kind = if own.is_pseudo() { Kind::Pseudo } else { Kind::Usual };
            (kind, own.is_path(), if is_added { own.length()? } else { 0 })
        } else {
            let entry = self.entry(index)?;
            // A path whose value is another one, whatever that of the entry is.
            let is_path = PATH.contains(&index) || entry.kind != Kind::Usual && entry.name == 5;
            let kind = if entry.kind == Kind::Usual { Kind::Usual } else { Kind::Pseudo };
            (kind, is_path, entry.name)
        };
        if is_path && value.has_number_sign()? {
            kind = Kind::Fragment;
        }
        if is_added {
            self.add(Entry { kind, name, size: 32 + name + value.length()? });
        }
        Ok((Some(kind), rest))
    }

    fn entry(&self, index: usize) -> Result<Entry, Stop> {
        match index.checked_sub(1).ok_or(Broken)? {
            place if place < NAMES.len() => {
                let kind = if index <= PSEUDO { Kind::Pseudo } else { Kind::Usual };
                Ok(Entry { kind, name: usize::from(NAMES[place]), size: 0 })
            }
            place => self.table.get(place - NAMES.len()).copied().ok_or(Broken),
        }
    }

    fn add(&mut self, entry: Entry) {
        self.evict(entry.size);
        // One that is larger than the table empties it, and that is all (RFC 7541, 4.4).
        if entry.size <= self.most {
            self.size += entry.size;
            self.table.push_front(entry);
        }
    }

    /// Makes room for this much.
    fn evict(&mut self, room: usize) {
        while self.size + room > self.most
            && let Some(oldest) = self.table.pop_back()
        {
            self.size -= oldest.size;
        }
    }
}

/// A number with a prefix of this many bits (RFC 7541, 5.1).
fn integer(bytes: &[u8], prefix: u32) -> Taken<'_, usize> {
    let most = (1 << prefix) - 1;
    let first = usize::from(bytes[0]) & most;
    if first < most {
        return Ok((first, &bytes[1..]));
    }
    let mut number = first;
    for (place, byte) in bytes[1..].iter().enumerate() {
        // No block has larger ones.
        if place == 4 {
            return Err(Broken);
        }
        number += usize::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Ok((number, &bytes[place + 2..]));
        }
    }
    Err(Missing(1))
}

/// A text as it is sent (RFC 7541, 5.2).
#[derive(Clone, Copy)]
struct Text<'b> {
    bytes: &'b [u8],
    is_huffman: bool,
}

impl<'b> Text<'b> {
    fn take(bytes: &'b [u8]) -> Taken<'b, Self> {
        let first = bytes.first().ok_or(Missing(1))?;
        let (length, rest) = integer(bytes, 7)?;
        let (bytes, rest) = rest.split_at_checked(length).ok_or_else(|| Missing(length - rest.len()))?;
        Ok((Self { bytes, is_huffman: first & 0x80 != 0 }, rest))
    }

    /// It begins with a colon: in the code, with these seven bits.
    fn is_pseudo(self) -> bool {
        self.bytes.first().is_some_and(|first| if self.is_huffman { first >> 1 == 0x5c } else { *first == b':' })
    }

    fn is_path(self) -> bool {
        self.bytes == if self.is_huffman { &[0xb9, 0x58, 0xd3, 0x3f][..] } else { b":path" }
    }

    /// In bytes, once it is decoded.
    fn length(self) -> Result<usize, Stop> {
        if !self.is_huffman {
            return Ok(self.bytes.len());
        }
        let mut length = 0;
        huffman(self.bytes, |_| length += 1)?;
        Ok(length)
    }

    fn has_number_sign(self) -> Result<bool, Stop> {
        if !self.is_huffman {
            return Ok(self.bytes.contains(&b'#'));
        }
        let mut found = false;
        huffman(self.bytes, |code| found |= code == (12, 0xffa))?;
        Ok(found)
    }
}

/// The code of RFC 7541, appendix B: its lengths, the first code of each, and how many there are. Those of a length
/// follow each other.
const CODES: [(u32, u32, u32); 21] = [
    (5, 0, 10),
    (6, 0x14, 26),
    (7, 0x5c, 32),
    (8, 0xf8, 6),
    (10, 0x3f8, 5),
    (11, 0x7fa, 3),
    (12, 0xffa, 2),
    (13, 0x1ff8, 6),
    (14, 0x3ffc, 2),
    (15, 0x7ffc, 3),
    (19, 0x7_fff0, 3),
    (20, 0xf_ffe6, 8),
    (21, 0x1f_ffdc, 13),
    (22, 0x3f_ffd2, 26),
    (23, 0x7f_ffd8, 29),
    (24, 0xff_ffea, 12),
    (25, 0x1ff_ffec, 4),
    (26, 0x3ff_ffe0, 15),
    (27, 0x7ff_ffde, 19),
    (28, 0xfff_ffe2, 29),
    (30, 0x3fff_fffc, 4),
];

/// The last code, which no text has (5.2).
const END: (u32, u32) = (30, 0x3fff_ffff);

/// Tells of each code in a text: its length and itself.
fn huffman(bytes: &[u8], mut see: impl FnMut((u32, u32))) -> Result<(), Stop> {
    #[cfg(test)]
    tests::DECODED.set(tests::DECODED.get() + bytes.len());
    let (mut bits, mut count) = (0_u64, 0_u32);
    let mut bytes = bytes.iter();
    loop {
        while count <= 32
            && let Some(byte) = bytes.next()
        {
            bits = bits << 8 | u64::from(*byte);
            count += 8;
        }
        let found = CODES.iter().find_map(|&(length, first, many)| {
            let code = u32::try_from(bits >> count.checked_sub(length)? & ((1 << length) - 1)).ok()?;
            (code < first + many).then_some((length, code))
        });
        match found {
            Some((length, code)) if (length, code) != END => {
                see((length, code));
                count -= length;
                bits &= (1 << count) - 1;
            }
            // The rest is filled with ones.
            None if count < 8 && bits == (1 << count) - 1 => return Ok(()),
            _ => return Err(Broken),
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/connection/http2/fields.rs"]
mod tests;
