//! Character encodings of what multipart forms bring (RFC 7578, 4.5 and 4.6), by the labels of the WHATWG's Encoding
//! Standard.
//!
//! Browsers send UTF-8. Older programs send what Windows calls Latin-1, or UTF-16; all else is refused by name.

/// A known encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Charset {
    Utf8,
    /// Also where ASCII or ISO 8859-1 is said: the latter has control characters in the places of letters and quotes.
    Windows1252,
    Utf16 {
        is_big: bool,
    },
}

impl Charset {
    pub(super) fn of(label: &str) -> Option<Self> {
        Some(match &*label.trim().to_ascii_lowercase() {
            "utf-8" | "utf8" | "unicode-1-1-utf-8" => Self::Utf8,
            "windows-1252" | "cp1252" | "x-cp1252" | "iso-8859-1" | "iso8859-1" | "iso_8859-1" | "latin1" | "l1"
            | "us-ascii" | "ascii" => Self::Windows1252,
            "utf-16" | "utf-16le" => Self::Utf16 { is_big: false },
            "utf-16be" => Self::Utf16 { is_big: true },
            _ => return None,
        })
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Utf8 => "UTF-8",
            Self::Windows1252 => "Windows-1252",
            Self::Utf16 { .. } => "UTF-16",
        }
    }

    /// `None` for bytes that stand for no text.
    pub(super) fn decode(self, bytes: Vec<u8>) -> Option<String> {
        match self {
            Self::Utf8 => String::from_utf8(bytes).ok(),
            Self::Windows1252 => Some(bytes.into_iter().map(of_windows_1252).collect()),
            Self::Utf16 { is_big } => {
                let (pairs, []) = bytes.as_chunks::<2>() else { return None };
                let (is_big, pairs) = match pairs {
                    [[0xfe, 0xff], rest @ ..] => (true, rest),
                    [[0xff, 0xfe], rest @ ..] => (false, rest),
                    all => (is_big, all),
                };
                let unit = |pair: &[u8; 2]| if is_big { u16::from_be_bytes(*pair) } else { u16::from_le_bytes(*pair) };
                char::decode_utf16(pairs.iter().map(unit)).collect::<Result<_, _>>().ok()
            }
        }
    }
}

/// What stands in the place of the control characters of ISO 8859-1, from 0x80 on. Five of them are still control
/// characters.
const FROM_80: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

fn of_windows_1252(byte: u8) -> char {
    match byte {
        0x80..=0x9f => FROM_80[usize::from(byte - 0x80)],
        byte => char::from(byte),
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/form/charset.rs"]
mod tests;
