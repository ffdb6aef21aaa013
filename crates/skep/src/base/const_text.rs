//! Texts in constants, which have neither `String` nor `==`.

/// A message that the compiler puts together.
pub(crate) struct ConstText {
    bytes: [u8; Self::ROOM],
    len: usize,
}

impl ConstText {
    const ROOM: usize = 768;

    /// The text of a template, in which `{0}` is the first of the parts. Other braces stay.
    pub(crate) const fn filled(template: &str, parts: &[&str]) -> Self {
        let mut text = Self { bytes: [0; Self::ROOM], len: 0 };
        let (bytes, mut at, mut start) = (template.as_bytes(), 0, 0);
        while at + 2 < bytes.len() {
            if bytes[at] == b'{' && bytes[at + 1].is_ascii_digit() && bytes[at + 2] == b'}' {
                text.push(template.split_at(at).0.split_at(start).1);
                text.push(parts[(bytes[at + 1] - b'0') as usize]);
                start = at + 3;
                at += 2;
            }
            at += 1;
        }
        text.push(template.split_at(start).1);
        text
    }

    /// A part for which there is no room is left out, so that it stays a text.
    const fn push(&mut self, part: &str) {
        let bytes = part.as_bytes();
        if self.len + bytes.len() <= Self::ROOM {
            self.bytes.split_at_mut(self.len).1.split_at_mut(bytes.len()).0.copy_from_slice(bytes);
            self.len += bytes.len();
        }
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
