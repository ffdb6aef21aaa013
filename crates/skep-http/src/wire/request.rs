//! A request in one buffer: the host writes it, and a component reads it (`wit/skep.wit`, interface `handler`).
//!
//! First the [`Head`], then the [fields](write_fields), then how the body comes.

use http::{HeaderMap, HeaderName, HeaderValue};

use super::{Hint, Reader, Short, Writer};

/// What stands before the fields of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head<'a> {
    /// The number of the request, for logs and error pages.
    pub id: u64,
    /// Chance for its instance, which begins with the memory of all others.
    pub seed: (u64, u64),
    /// The client encrypts.
    pub tls: bool,
    /// `GET`.
    pub method: &'a str,
    /// Path and query.
    pub target: &'a str,
    /// Of HTTP/2; empty where there is only a field `Host`.
    pub authority: &'a str,
    /// The client's, or empty.
    pub address: &'a str,
}

/// There is no body.
pub const EMPTY: u8 = 0;
/// The body is what is left.
pub const WHOLE: u8 = 1;
/// The body is read piece by piece.
pub const FOLLOWS: u8 = 2;

impl<'a> Head<'a> {
    /// Appends it.
    pub fn write(&self, out: &mut Writer) {
        out.u64(self.id);
        out.u64(self.seed.0);
        out.u64(self.seed.1);
        out.u8(u8::from(self.tls));
        for text in [self.method, self.target, self.authority, self.address] {
            out.bytes(text.as_bytes());
        }
    }

    /// Takes it from the front.
    #[inline]
    pub fn read(reader: &mut Reader<'a>) -> Result<Self, Short> {
        Ok(Self {
            id: reader.u64()?,
            seed: (reader.u64()?, reader.u64()?),
            tls: reader.u8()? == 1,
            method: reader.text()?,
            target: reader.text()?,
            authority: reader.text()?,
            address: reader.text()?,
        })
    }

    /// The path alone, as logs show it.
    #[must_use]
    pub fn path(&self) -> &'a str {
        self.target.split('?').next().unwrap_or_default()
    }
}

/// Appends all fields, behind their number, with the one of a hint where it belongs. `more`: how many will follow that
/// are not in the map.
///
/// # Panics
/// Never: a map has 32768 fields at most.
pub fn write_fields(out: &mut Writer, fields: &HeaderMap, more: usize, hint: Option<&Hint>) {
    let count = fields.len() + more + usize::from(hint.is_some());
    out.u32(u32::try_from(count).expect("a header map has 32768 fields at most"));
    let mut names = 0;
    let mut last = None;
    let mut hint = hint;
    for (name, value) in fields {
        if last.replace(name) != Some(name) {
            write_hint(out, hint.take_if(|hint| hint.before == names));
            names += 1;
        }
        out.bytes(name.as_str().as_bytes());
        out.bytes(value.as_bytes());
    }
    write_hint(out, hint);
}

fn write_hint(out: &mut Writer, hint: Option<&Hint>) {
    if let Some(hint) = hint {
        out.bytes(Hint::FIELD.as_bytes());
        out.bytes(hint.text().as_bytes());
    }
}

/// Takes all fields from the front.
pub fn read_fields(reader: &mut Reader<'_>) -> Result<HeaderMap, Short> {
    let count = reader.u32()? as usize;
    let mut fields = HeaderMap::with_capacity(count.min(256));
    for _ in 0..count {
        let name = HeaderName::from_bytes(reader.bytes()?).map_err(|_| Short)?;
        let value = HeaderValue::from_bytes(reader.bytes()?).map_err(|_| Short)?;
        fields.try_append(name, value).map_err(|_| Short)?;
    }
    Ok(fields)
}
