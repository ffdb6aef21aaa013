//! Sizes in bytes: `1500`, `64KiB`, `1.5GB`.

use crate::InvalidValue;
use crate::number::{self, Unit};

/// In bytes. Binary units come first, so that sizes are written in them.
const UNITS: &[Unit] = &[
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1000),
    ("B", 1),
];

/// Reads a number of bytes. A number without a unit is bytes.
///
/// ```
/// assert_eq!(skep_units::parse_size("64KiB"), Ok(65_536));
/// assert_eq!(skep_units::parse_size("64 kb"), Ok(64_000));
/// ```
pub fn parse_size(text: &str) -> Result<u64, InvalidValue> {
    parse(text.trim())
        .ok_or_else(|| InvalidValue::new("size", text.trim(), "a number and a unit, such as 1500B, 64KiB, 2MiB"))
}

fn parse(text: &str) -> Option<u64> {
    let (number, name) = number::split(text);
    let unit = match name {
        "" => 1,
        name => UNITS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?.1,
    };
    u64::try_from(number::scale(number, unit)?).ok()
}

/// Writes a size in the largest unit in which it is whole, such as `1MiB`. [`parse_size`] reads it back.
pub fn format_size(bytes: u64) -> String {
    number::format(bytes.into(), UNITS)
}
