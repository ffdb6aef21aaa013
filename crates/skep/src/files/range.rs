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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::single_range_in_vec_init, reason = "one range is what is meant")]
    fn the_field_is_read_as_rfc_9110_14_says() {
        let parts = |ranges: &[Range<u64>]| Wanted::Parts(ranges.to_vec());
        for (field, expected) in [
            // 14.1.2: int ranges and suffix ranges.
            ("bytes=0-0", parts(&[0..1])),
            ("bytes=0-499", parts(&[0..500])),
            ("bytes=9500-", parts(&[9500..10_000])),
            ("bytes=-500", parts(&[9500..10_000])),
            ("bytes=-20000", parts(&[0..10_000])),
            ("bytes=9999-10000", parts(&[9999..10_000])),
            ("bytes=0-18446744073709551615", parts(&[0..10_000])),
            ("bytes=0-99999999999999999999999999", parts(&[0..10_000])),
            ("BYTES=0-1", parts(&[0..2])),
            // Lists: order kept, blanks and empty members allowed, what does not exist left out.
            ("bytes=0-0,-1", parts(&[0..1, 9999..10_000])),
            ("bytes=5000-5001, 0-1", parts(&[5000..5002, 0..2])),
            ("bytes=,0-1 ,\t,", parts(&[0..2])),
            ("bytes=0-1,20000-", parts(&[0..2])),
            // 15.3.7.2: what overlaps or nearly touches is one.
            ("bytes=0-10,5-20", parts(&[0..21])),
            ("bytes=0-10,11-20", parts(&[0..21])),
            ("bytes=0-10,91-100", parts(&[0..101])),
            ("bytes=0-10,92-100", parts(&[0..11, 92..101])),
            ("bytes=0-0,200-200,100-100,40-160", parts(&[0..201])),
            ("bytes=500-600,0-10,300-450", parts(&[300..601, 0..11])),
            // 15.5.17.
            ("bytes=10000-", Wanted::Unsatisfiable),
            ("bytes=99999999999999999999999999-", Wanted::Unsatisfiable),
            ("bytes=-0", Wanted::Unsatisfiable),
            ("bytes=10000-10001,-0", Wanted::Unsatisfiable),
            // 14.2: invalid or unknown is ignored.
            ("bytes=5-4", Wanted::Whole),
            ("bytes=0-1,5-4", Wanted::Whole),
            ("bytes=", Wanted::Whole),
            ("bytes=,", Wanted::Whole),
            ("bytes=-", Wanted::Whole),
            ("bytes=a-b", Wanted::Whole),
            ("bytes=+1-2", Wanted::Whole),
            ("bytes=1--2", Wanted::Whole),
            ("bytes 0-1", Wanted::Whole),
            ("lines=0-1", Wanted::Whole),
            ("", Wanted::Whole),
        ] {
            assert_eq!(wanted(field.as_bytes(), 10_000), expected, "{field}");
        }
    }

    #[test]
    fn of_an_empty_file_there_is_no_part() {
        assert_eq!(wanted(b"bytes=0-", 0), Wanted::Unsatisfiable);
        assert_eq!(wanted(b"bytes=-0", 0), Wanted::Unsatisfiable);
        assert_eq!(wanted(b"bytes=-5", 0), Wanted::Whole);
    }

    #[test]
    fn too_many_ranges_are_ignored() {
        let many = |count: u64| {
            let specs: Vec<String> = (0..count).map(|at| format!("{0}-{0}", at * 1000)).collect();
            wanted(format!("bytes={}", specs.join(",")).as_bytes(), u64::MAX)
        };
        assert!(matches!(many(32), Wanted::Parts(parts) if parts.len() == 32));
        assert_eq!(many(33), Wanted::Whole);
    }

    #[test]
    fn parts_never_touch_whatever_is_asked() {
        let mut seed = 7_u64;
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for _ in 0..2000 {
            let specs: Vec<(u64, u64)> = (0..=next(20)).map(|_| (next(4000), next(300))).collect();
            let field =
                specs.iter().map(|(first, more)| format!("{first}-{}", first + more)).collect::<Vec<_>>().join(",");
            let Wanted::Parts(parts) = wanted(format!("bytes={field}").as_bytes(), 4200) else { panic!("{field}") };
            for (at, part) in parts.iter().enumerate() {
                assert!(part.start < part.end && part.end <= 4200, "{field}: {parts:?}");
                assert!(parts[at + 1..].iter().all(|other| !are_near(part, other)), "{field}: {parts:?}");
            }
            for (first, more) in specs {
                let covers = |part: &&Range<u64>| part.start <= first && part.end > (first + more).min(4199);
                assert!(parts.iter().any(|part| covers(&part)), "{field}: {parts:?}");
            }
        }
    }
}
