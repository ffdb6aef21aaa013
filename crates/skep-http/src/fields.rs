//! The header fields of a request.
//!
//! A server of HTTP/1 leaves them where they lie in the head of the message and notes where that is: most requests are
//! answered without a look at most of their fields, and a map of all of them would cost more than the rest of a small
//! request. What comes as a map stays one: HTTP/2, and what layers of tower hand on. The map of the others is made for
//! who asks for it, once.

pub mod list;

use std::cell::{Cell, OnceCell};
use std::mem::take;

use bytes::Bytes;
use http::header::{AsHeaderName, HeaderMap, HeaderName, HeaderValue, ValueIter};

/// The header fields of a request, as `Cx::fields` lends them. Names are compared without regard
/// to case.
///
/// ```
/// use skep::request::Fields;
///
/// let mut map = skep::HeaderMap::new();
/// map.append("accept-language", skep::HeaderValue::from_static("cy"));
/// let fields = Fields::from(map);
/// assert_eq!(fields.get(skep::header::ACCEPT_LANGUAGE).unwrap().to_str(), Ok("cy"));
/// assert!(!fields.contains_key("cookie"));
/// ```
#[derive(Clone, Debug)]
pub struct Fields(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Lines(Lines),
    Map(Box<HeaderMap>),
}

/// Fields in the head of a message.
#[derive(Clone, Debug, Default)]
struct Lines {
    head: Vec<u8>,
    places: Vec<FieldPosition>,
    /// The bits of [`bit`] for all names: what is not here is not searched for.
    names: u64,
    /// The same for first letters alone.
    initials: u32,
    map: OnceCell<Box<HeaderMap>>,
}

/// Where the fields of a head lie in it, for a server that finds them.
#[derive(Debug, Default)]
pub struct FieldPositions(Lines);

thread_local! {
    /// The memory of a request that is over, for the next one.
    static SPARE: Cell<(Vec<u8>, Vec<FieldPosition>)> = const { Cell::new((Vec::new(), Vec::new())) };
}

/// The largest head whose memory is kept for another one, in bytes.
const MOST_SPARE: usize = 64 << 10;

/// Room for as many fields as most requests have.
const USUAL: usize = 16;

/// Positions of bytes: from where to where.
type Range = (u32, u32);

#[derive(Clone, Copy, Debug)]
struct FieldPosition {
    name: Range,
    value: Range,
}

/// The value of one field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value<'f>(&'f [u8]);

/// The value of a field is not visible ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotText;

/// All values of one name, in their order.
#[derive(Debug)]
pub struct Values<'f>(ValuesKind<'f>);

#[derive(Debug)]
enum ValuesKind<'f> {
    None,
    Lines { lines: &'f Lines, rest: &'f [FieldPosition], name: &'f [u8] },
    Map(ValueIter<'f, HeaderValue>),
}

/// One of 64 bits by length and first letter. Names that share one are compared.
#[inline]
fn bit(name: &[u8]) -> u64 {
    let first = name.first().map_or(0, |first| usize::from(first | 0x20));
    1 << ((name.len() * 5 + first) & 63)
}

#[inline]
fn initial(name: &[u8]) -> u32 {
    1 << (name.first().map_or(0, |first| first & 31))
}

#[inline]
fn part(head: &[u8], range: Range) -> &[u8] {
    head.get(range.0 as usize..range.1 as usize).unwrap_or_default()
}

impl FieldPositions {
    /// Drops what is here, for the memory of a request before, with room for as many fields as most requests have.
    pub fn reserve(&mut self) {
        (self.0.head, self.0.places) = SPARE.take();
        self.0.places.reserve(USUAL);
    }

    /// How many fields there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.places.len()
    }

    /// True if there are no fields.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.places.is_empty()
    }

    /// Adds a field with this name, which begins at a position of the head, and a value from there to there, without
    /// the spaces around it. Positions are below 4 GiB: a larger one is taken modulo that, and finds other bytes.
    #[inline]
    pub fn push(&mut self, name: &[u8], at: usize, (from, to): (usize, usize)) {
        debug_assert!(u32::try_from(to).is_ok(), "a head is not longer than its limit, which fits");
        #[expect(clippy::cast_possible_truncation, reason = "see above")]
        let position = |at: usize| at as u32;
        self.0.names |= bit(name);
        self.0.initials |= initial(name);
        self.0.places.push(FieldPosition {
            name: (position(at), position(at + name.len())),
            value: (position(from), position(to)),
        });
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        let (mut head, mut places) = (take(&mut self.head), take(&mut self.places));
        let size = head.capacity().max(places.capacity() * size_of::<FieldPosition>());
        if (1..=MOST_SPARE).contains(&size) {
            head.clear();
            places.clear();
            // At the end of a thread there is no next request.
            let _ = SPARE.try_with(|spare| spare.set((head, places)));
        }
    }
}

impl Lines {
    #[inline]
    fn name(&self, place: &FieldPosition) -> &[u8] {
        part(&self.head, place.name)
    }

    #[inline]
    fn value(&self, place: &FieldPosition) -> Value<'_> {
        Value(part(&self.head, place.value))
    }

    /// The position of the first field of this name.
    #[inline]
    fn find(&self, name: &[u8]) -> Option<usize> {
        if self.names & bit(name) == 0 { None } else { self.search(name) }
    }

    /// Not inlined, as [`find`](Self::find) is: most names that are asked for are not there.
    fn search(&self, name: &[u8]) -> Option<usize> {
        self.places.iter().position(|place| self.name(place).eq_ignore_ascii_case(name))
    }

    fn make_map(&self) -> HeaderMap {
        let mut map = HeaderMap::with_capacity(self.places.len());
        let head = Bytes::copy_from_slice(&self.head);
        for place in &self.places {
            let value = head.slice_ref(part(&head, place.value));
            let (name, value) = (HeaderName::from_bytes(self.name(place)), HeaderValue::from_maybe_shared(value));
            // The server has refused what is neither.
            if let (Ok(name), Ok(value)) = (name, value) {
                map.append(name, value);
            }
        }
        map
    }
}

impl Fields {
    /// For a server: the fields of this head, which it has checked. Of what lies elsewhere or is no field, nothing is
    /// found.
    #[doc(hidden)]
    #[must_use]
    pub fn in_head(head: &[u8], positions: FieldPositions) -> Self {
        let mut lines = positions.0;
        lines.head.extend_from_slice(head);
        Self(Kind::Lines(lines))
    }

    /// The first value of this name.
    #[inline]
    #[must_use]
    pub fn get(&self, name: impl AsHeaderName + AsRef<str>) -> Option<Value<'_>> {
        match &self.0 {
            Kind::Lines(lines) => lines.find(name.as_ref().as_bytes()).map(|at| lines.value(&lines.places[at])),
            Kind::Map(map) => map.get(name).map(|value| Value(value.as_bytes())),
        }
    }

    /// All values of this name, in their order.
    #[must_use]
    pub fn get_all(&self, name: impl AsHeaderName + AsRef<str>) -> Values<'_> {
        Values(match &self.0 {
            Kind::Lines(lines) => match lines.find(name.as_ref().as_bytes()) {
                Some(at) => ValuesKind::Lines { lines, rest: &lines.places[at..], name: lines.name(&lines.places[at]) },
                None => ValuesKind::None,
            },
            Kind::Map(map) => ValuesKind::Map(map.get_all(name).into_iter()),
        })
    }

    /// True if there is a field of this name.
    #[inline]
    #[must_use]
    pub fn contains_key(&self, name: impl AsHeaderName + AsRef<str>) -> bool {
        match &self.0 {
            Kind::Lines(lines) => lines.find(name.as_ref().as_bytes()).is_some(),
            Kind::Map(map) => map.contains_key(name),
        }
    }

    /// How many fields there are; two of one name are two.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Kind::Lines(lines) => lines.places.len(),
            Kind::Map(map) => map.len(),
        }
    }

    /// True if there are no fields.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All fields as a map. The first call makes it, if they did not come as one.
    #[must_use]
    pub fn map(&self) -> &HeaderMap {
        match &self.0 {
            Kind::Lines(lines) => lines.map.get_or_init(|| Box::new(lines.make_map())),
            Kind::Map(map) => map,
        }
    }

    /// The fields as a map, to be changed.
    pub fn map_mut(&mut self) -> &mut HeaderMap {
        if let Kind::Lines(lines) = &mut self.0 {
            self.0 = Kind::Map(lines.map.take().unwrap_or_else(|| Box::new(lines.make_map())));
        }
        match &mut self.0 {
            Kind::Map(map) => map,
            Kind::Lines(_) => unreachable!("they are a map now"),
        }
    }

    /// False if no name begins with one of these letters.
    #[doc(hidden)]
    #[must_use]
    pub fn may_begin_with(&self, letters: &[u8]) -> bool {
        match &self.0 {
            Kind::Lines(lines) => letters.iter().any(|letter| lines.initials & initial(&[*letter]) != 0),
            Kind::Map(_) => true,
        }
    }

    /// Removes the fields whose names, as they were sent, are not to stay.
    #[doc(hidden)]
    pub fn retain(&mut self, mut stays: impl FnMut(&[u8]) -> bool) {
        match &mut self.0 {
            Kind::Lines(lines) => {
                lines.places.retain(|place| stays(part(&lines.head, place.name)));
                lines.map.take();
            }
            Kind::Map(map) => {
                let gone: Vec<HeaderName> =
                    map.keys().filter(|name| !stays(name.as_str().as_bytes())).cloned().collect();
                for name in gone {
                    map.remove(name);
                }
            }
        }
    }
}

impl Default for Fields {
    fn default() -> Self {
        Self(Kind::Lines(Lines::default()))
    }
}

impl From<HeaderMap> for Fields {
    fn from(map: HeaderMap) -> Self {
        Self(Kind::Map(Box::new(map)))
    }
}

impl From<Fields> for HeaderMap {
    fn from(mut fields: Fields) -> Self {
        take(fields.map_mut())
    }
}

impl<'f> Value<'f> {
    /// Its bytes.
    #[must_use]
    pub fn as_bytes(self) -> &'f [u8] {
        self.0
    }

    /// The value as a text.
    ///
    /// # Errors
    /// If it is not visible ASCII.
    pub fn to_str(self) -> Result<&'f str, NotText> {
        // Without an early return, for the compiler to look at many at once.
        let is_hidden = self.0.iter().fold(false, |hidden, byte| hidden | !matches!(byte, b' '..=b'~' | b'\t'));
        if is_hidden { Err(NotText) } else { std::str::from_utf8(self.0).map_err(|_| NotText) }
    }
}

impl PartialEq<str> for Value<'_> {
    fn eq(&self, other: &str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl From<Value<'_>> for HeaderValue {
    /// A copy, which keeps nothing of the request.
    fn from(value: Value<'_>) -> Self {
        Self::from_bytes(value.0).expect("the value of a header field")
    }
}

impl std::fmt::Display for NotText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the value of the header field is not visible ASCII")
    }
}

impl std::error::Error for NotText {}

impl<'f> Iterator for Values<'f> {
    type Item = Value<'f>;

    fn next(&mut self) -> Option<Value<'f>> {
        match &mut self.0 {
            ValuesKind::None => None,
            ValuesKind::Lines { lines, rest, name } => {
                let at = rest.iter().position(|place| lines.name(place).eq_ignore_ascii_case(name))?;
                let value = lines.value(&rest[at]);
                *rest = &rest[at + 1..];
                Some(value)
            }
            ValuesKind::Map(values) => values.next().map(|value| Value(value.as_bytes())),
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/fields.rs"]
mod tests;
