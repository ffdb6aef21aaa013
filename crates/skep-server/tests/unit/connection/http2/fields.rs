//! Unit tests of `connection::http2::fields`.

use std::cell::Cell;

use super::*;

thread_local! {
    /// How often the beginning of a field was looked at, and how many bytes were decoded.
    pub(super) static LOOKS: Cell<usize> = const { Cell::new(0) };
    pub(super) static DECODED: Cell<usize> = const { Cell::new(0) };
}

/// Letters of the code by their lengths, in the order of RFC 7541, appendix B.
const LETTERS: [(u32, &str); 7] = [
    (5, "012aceiost"),
    (6, " %-./3456789=A_bdfghlmnpru"),
    (7, ":BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz"),
    (8, "&*,;XZ"),
    (10, "!\"()?"),
    (11, "'+|"),
    (12, "#>"),
];

pub(crate) fn huffman_text(text: &str) -> Vec<u8> {
    let mut bits = String::new();
    for letter in text.chars() {
        let (length, place) = LETTERS
            .iter()
            .find_map(|(length, letters)| Some((*length, letters.find(letter)?)))
            .expect("a known letter");
        let (_, first, _) = CODES.iter().find(|(known, ..)| *known == length).unwrap();
        bits.extend([format!("{:0width$b}", first + u32::try_from(place).unwrap(), width = length as usize)]);
    }
    while !bits.len().is_multiple_of(8) {
        bits.push('1');
    }
    bits.as_bytes().chunks(8).map(|byte| u8::from_str_radix(std::str::from_utf8(byte).unwrap(), 2).unwrap()).collect()
}

fn number(first: u8, prefix: u32, value: usize, out: &mut Vec<u8>) {
    let most = (1 << prefix) - 1;
    if value < most {
        return out.push(first | u8::try_from(value).unwrap());
    }
    out.push(first | u8::try_from(most).unwrap());
    let mut rest = value - most;
    while rest >= 0x80 {
        out.push(u8::try_from(rest & 0x7f).unwrap() | 0x80);
        rest >>= 7;
    }
    out.push(u8::try_from(rest).unwrap());
}

pub(crate) fn text(text: &str, is_huffman: bool, out: &mut Vec<u8>) {
    let bytes = if is_huffman { huffman_text(text) } else { text.as_bytes().to_vec() };
    number(u8::from(is_huffman) << 7, 7, bytes.len(), out);
    out.extend(bytes);
}

/// All that is seen of one block.
fn seen(blocks: &mut Blocks, block: &[u8]) -> Result<Vec<Kind>, Stop> {
    let mut kinds = Vec::new();
    blocks.read(block, true, |kind| kinds.push(kind))?;
    Ok(kinds)
}

#[test]
fn the_code_is_that_of_the_standard() {
    // RFC 7541, C.4.
    assert_eq!(
        huffman_text("www.example.com"),
        [0xf1, 0xe3, 0xc2, 0xe5, 0xf2, 0x3a, 0x6b, 0xa0, 0xab, 0x90, 0xf4, 0xff]
    );
    assert_eq!(huffman_text("no-cache"), [0xa8, 0xeb, 0x10, 0x64, 0x9c, 0xbf]);
    assert_eq!(huffman_text(":path"), [0xb9, 0x58, 0xd3, 0x3f]);
    // The lengths are the first codes of each other: the code has no gap.
    for pair in CODES.windows(2) {
        let ((length, first, many), (next_length, next, _)) = (pair[0], pair[1]);
        assert_eq!(next, (first + many) << (next_length - length));
    }
    assert_eq!(CODES.iter().map(|(.., many)| many).sum::<u32>(), 257);
    assert_eq!(CODES[20].1 + CODES[20].2, 1 << 30);
    let length = |bytes: &[u8]| Text { bytes, is_huffman: true }.length();
    assert_eq!((length(&huffman_text("/a#?>!,:Z")), length(b"")), (Ok(9), Ok(0)));
    assert_eq!(length(&[0xff; 8]), Err(Broken), "more than the rest of a byte is no filling");
}

#[test]
fn a_pseudo_field_and_a_fragment_are_seen_in_each_representation() {
    use Kind::{Fragment, Pseudo, Usual};
    for is_huffman in [false, true] {
        for first in [0x00, 0x10, 0x40] {
            let prefix = if first == 0x40 { 6 } else { 4 };
            let named = |name: &str, value: &str| {
                let mut out = vec![first];
                text(name, is_huffman, &mut out);
                text(value, is_huffman, &mut out);
                out
            };
            let indexed = |index: usize, value: &str| {
                let mut out = Vec::new();
                number(first, prefix, index, &mut out);
                text(value, is_huffman, &mut out);
                out
            };
            for (block, kind) in [
                (named("x-field", "a#b"), Usual),
                (named(":method", "GET"), Pseudo),
                (named(":status", "200"), Pseudo),
                (named(":odd", "x"), Pseudo),
                (named(":path", "/a"), Pseudo),
                (named(":path", "/a#b"), Fragment),
                (named("x:path", "/a#b"), Usual),
                (indexed(4, "/a?b=c"), Pseudo),
                (indexed(4, "/#"), Fragment),
                (indexed(5, "#"), Fragment),
                (indexed(1, "a#b"), Pseudo),
                (indexed(14, "299"), Pseudo),
                (indexed(15, "#"), Usual),
                (indexed(58, "agent #1"), Usual),
            ] {
                let mut blocks = Blocks::default();
                assert_eq!(seen(&mut blocks, &block), Ok(vec![kind]), "{first:x} {is_huffman} {block:x?}");
                // From the table, if it went there.
                let again = seen(&mut blocks, &[0x80 | 0x3e]);
                assert_eq!(again, if first == 0x40 { Ok(vec![kind]) } else { Err(Broken) });
            }
        }
    }
    for (index, kind) in [(1, Pseudo), (14, Pseudo), (15, Usual), (61, Usual)] {
        assert_eq!(seen(&mut Blocks::default(), &[0x80 | index]), Ok(vec![kind]));
    }
}

#[test]
fn what_is_no_block_is_refused() {
    for block in
        [&[0x80][..], &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], &[0x80 | 0x3e], &[0x40], &[0x40, 5, b'a'], &[0x44]]
    {
        assert_eq!(seen(&mut Blocks::default(), block), Err(Broken), "{block:x?}");
    }
}

/// A client may send 900 empty fragments behind a name of 16 KB that is not complete.
#[test]
fn a_block_costs_the_same_in_however_many_fragments_it_comes() {
    let mut block = vec![0x40];
    text(&"x".repeat(16_000), true, &mut block);
    text("12345678", true, &mut block);
    let mut long = vec![0x40];
    text("x-a", false, &mut long);
    text(&"Z".repeat(100_000), true, &mut long);
    let cost = |fragments: &[&[u8]]| {
        let (looks, decoded) = (LOOKS.get(), DECODED.get());
        let (mut blocks, mut kinds) = (Blocks::default(), Vec::new());
        for (number, fragment) in fragments.iter().enumerate() {
            blocks.read(fragment, number + 1 == fragments.len(), |kind| kinds.push(kind)).unwrap();
        }
        (LOOKS.get() - looks, DECODED.get() - decoded, kinds)
    };
    // Seven bits each for `x`, five or six for digits.
    assert_eq!(cost(&[&block]), (1, 14_000 + 6, vec![Kind::Usual]));
    assert_eq!(cost(&[&long]), (1, 100_000, vec![Kind::Usual]));
    for (whole, cuts) in [(&block, [10_000, block.len() - 2]), (&long, [6, 99_000])] {
        let (_, decoded, kinds) = cost(&[whole]);
        for cut in cuts {
            let empty = std::iter::repeat_n(&[][..], 900);
            let many: Vec<&[u8]> = [&whole[..cut]].into_iter().chain(empty).chain([&whole[cut..]]).collect();
            assert_eq!(cost(&many), (2, decoded, kinds.clone()), "{cut}");
        }
        for size in [1, 18, 1000] {
            let (looks, again, of_pieces) = cost(&whole.chunks(size).collect::<Vec<_>>());
            assert!(looks <= 12 && again == decoded && of_pieces == kinds, "{size}: {looks} looks, {again} decoded");
        }
    }
}

/// The table as RFC 7541 describes it, with all texts.
#[derive(Default)]
struct Model {
    table: Vec<(String, String)>,
    most: usize,
}

impl Model {
    fn trim(&mut self) {
        let size = |table: &[(String, String)]| table.iter().map(|(a, b)| 32 + a.len() + b.len()).sum::<usize>();
        while size(&self.table) > self.most {
            self.table.pop();
        }
    }
}

#[test]
fn the_table_is_that_of_the_client_whatever_it_does() {
    const NAMES: [&str; 6] = ["x-a", "cookie", ":path", ":authority", "x-long-name-of-a-field", ":method"];
    let mut chance = 88_172_645_463_325_252_u64;
    let mut below = move |most: usize| {
        chance ^= chance << 13;
        chance ^= chance >> 7;
        chance ^= chance << 17;
        usize::try_from(chance % most as u64).unwrap()
    };
    let (mut blocks, mut model) = (Blocks::default(), Model { most: TABLE, ..Model::default() });
    for round in 0..3000 {
        let (mut block, mut expected) = (Vec::new(), Vec::new());
        if below(40) == 0 {
            model.most = [0, 100, 1000, TABLE][below(4)];
            number(0x20, 5, model.most, &mut block);
            model.trim();
        }
        for _ in 0..below(8) {
            let is_huffman = below(2) == 0;
            let kind = |(name, value): &(String, String)| match (name.starts_with(':'), name == ":path") {
                (true, true) if value.contains('#') => Kind::Fragment,
                (true, _) => Kind::Pseudo,
                _ => Kind::Usual,
            };
            if !model.table.is_empty() && below(2) == 0 {
                let place = below(model.table.len());
                number(0x80, 7, 62 + place, &mut block);
                expected.push(kind(&model.table[place]));
                continue;
            }
            let most = if below(30) == 0 { 500 } else { 9 };
            let value = ["/", "/a#b", "Zz,;&*>", "1234567890"][below(4)].repeat(1 + below(most));
            let known = (!model.table.is_empty() && below(3) == 0).then(|| below(model.table.len()));
            let name = known.map_or(NAMES[below(6)].to_owned(), |place| model.table[place].0.clone());
            let is_added = below(3) > 0;
            let (first, prefix) = if is_added { (0x40, 6) } else { (0x10, 4) };
            number(first, prefix, known.map_or(0, |place| 62 + place), &mut block);
            if known.is_none() {
                text(&name, is_huffman, &mut block);
            }
            text(&value, is_huffman, &mut block);
            expected.push(kind(&(name.clone(), value.clone())));
            if is_added {
                model.table.insert(0, (name, value));
                model.trim();
            }
        }
        let mut kinds = Vec::new();
        let cut = below(block.len() + 1);
        for (fragment, is_last) in [(&block[..cut], false), (&block[cut..], true)] {
            blocks.read(fragment, is_last, |kind| kinds.push(kind)).unwrap();
        }
        assert_eq!(kinds, expected, "{round}");
        assert_eq!(blocks.table.len(), model.table.len(), "{round}");
    }
}
