//! Which bytes of something a client wants (RFC 9110, 14).

use std::ops::Range;

/// More ranges than this in one request, and all of them are ignored (RFC 9110, 14.2 and 17.15).
pub(super) const MAX_RANGES: usize = 32;

/// Ranges that lie this near to each other are sent as one: a part of its own has headers about as long
/// (RFC 9110, 15.3.7.2).
const GAP: u64 = 80;

/// What the `Range` field comes to for `len` bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// All of it, status 200: the field is no byte range, is malformed, or asks for too much trouble.
    Whole,
    /// These, none empty, none touching another; at least one. In the order asked for.
    Parts(Vec<Range<u64>>),
    /// 416: nothing of what is asked for exists.
    Unsatisfiable,
}

/// Reads the value of a `Range` field.
pub(super) fn wanted(field: &[u8], len: u64) -> Wanted {
    let Some(specs) = byte_ranges(field) else { return Wanted::Whole };
    let mut parts = Vec::new();
    let mut count = 0;
    for spec in specs.split(',').map(|spec| spec.trim_matches([' ', '\t'])).filter(|spec| !spec.is_empty()) {
        count += 1;
        let Some(spec) = Spec::parse(spec) else { return Wanted::Whole };
        if count > MAX_RANGES || spec.covers_nothing_sendable(len) {
            return Wanted::Whole;
        }
        if let Some(range) = spec.resolve(len) {
            add(&mut parts, range);
        }
    }
    match (count, parts.is_empty()) {
        (0, _) => Wanted::Whole,
        (_, true) => Wanted::Unsatisfiable,
        (_, false) => Wanted::Parts(parts),
    }
}

fn byte_ranges(field: &[u8]) -> Option<&str> {
    let (unit, specs) = std::str::from_utf8(field).ok()?.split_once('=')?;
    unit.trim().eq_ignore_ascii_case("bytes").then_some(specs)
}

/// One member of the list.
#[derive(Clone, Copy)]
enum Spec {
    From(u64),
    Between(u64, u64),
    Last(u64),
}

impl Spec {
    /// `None` if it is malformed, or ends before it begins.
    fn parse(spec: &str) -> Option<Self> {
        match spec.split_once('-')? {
            ("", last) => Some(Self::Last(number(last)?)),
            (first, "") => Some(Self::From(number(first)?)),
            (first, last) => {
                let (first, last) = (number(first)?, number(last)?);
                (first <= last).then_some(Self::Between(first, last))
            }
        }
    }

    /// The last five bytes of nothing are nothing, which `Content-Range` cannot say, though the range is satisfiable.
    fn covers_nothing_sendable(self, len: u64) -> bool {
        len == 0 && matches!(self, Self::Last(1..))
    }

    fn resolve(self, len: u64) -> Option<Range<u64>> {
        let range = match self {
            Self::From(first) => first..len,
            Self::Between(first, last) => first..len.min(last.saturating_add(1)),
            Self::Last(count) => len.saturating_sub(count)..len,
        };
        (range.start < range.end).then_some(range)
    }
}

/// A number too large for us is larger than any file.
fn number(digits: &str) -> Option<u64> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(u64::MAX))
}

/// Joins `range` with all that overlap or nearly touch it, at the place of the first of them.
fn add(parts: &mut Vec<Range<u64>>, mut range: Range<u64>) {
    let mut place = parts.len();
    while let Some(at) = parts.iter().position(|part| are_near(part, &range)) {
        let part = parts.remove(at);
        range = part.start.min(range.start)..part.end.max(range.end);
        place = place.min(at);
    }
    parts.insert(place.min(parts.len()), range);
}

fn are_near(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start <= b.end.saturating_add(GAP) && b.start <= a.end.saturating_add(GAP)
}
