//! Texts in constants, which have neither `String` nor `==`.

/// A message that the compiler puts together.
pub(crate) struct ConstText {
    bytes: [u8; Self::ROOM],
    len: usize,
}

impl ConstText {
    const ROOM: usize = 768;

    /// A part for which there is no room is left out, so that it stays a text.
    pub(crate) const fn of(parts: &[&str]) -> Self {
        let mut text = Self { bytes: [0; Self::ROOM], len: 0 };
        let mut part = 0;
        while part < parts.len() {
            let bytes = parts[part].as_bytes();
            if text.len + bytes.len() <= Self::ROOM {
                text.bytes.split_at_mut(text.len).1.split_at_mut(bytes.len()).0.copy_from_slice(bytes);
                text.len += bytes.len();
            }
            part += 1;
        }
        text
    }

    pub(crate) const fn text(&self) -> &str {
        match str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => unreachable!(),
        }
    }
}

pub(crate) const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}
