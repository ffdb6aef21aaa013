//! Conditional requests (RFC 9110, 13): whether to send, not to send, or to refuse.
//!
//! Pure arithmetic over header fields and two validators; nothing here knows of files.

use std::time::{Duration, SystemTime};

use http::header::{IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE};
use http::{HeaderMap, HeaderName};

/// What identifies the state of what would be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Validators<'a> {
    /// The strong entity tag, with its quotes.
    pub(super) tag: &'a [u8],
    /// The last change in whole seconds, where it is known.
    pub(super) modified: Option<SystemTime>,
}

/// What the preconditions of a GET or HEAD say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Answer as if there were none.
    Proceed,
    /// 304: the client has it.
    NotModified,
    /// 412: the client wants something else.
    Failed,
}

/// Evaluates the preconditions of a GET or HEAD in their order of precedence (RFC 9110, 13.2.2).
pub(super) fn evaluate(headers: &HeaderMap, validators: Validators<'_>) -> Verdict {
    if headers.contains_key(IF_MATCH) {
        if !matches(headers, &IF_MATCH, validators.tag, Comparison::Strong) {
            return Verdict::Failed;
        }
    } else if is_modified_since(headers, &IF_UNMODIFIED_SINCE, validators) == Some(true) {
        return Verdict::Failed;
    }
    let unchanged = if headers.contains_key(IF_NONE_MATCH) {
        matches(headers, &IF_NONE_MATCH, validators.tag, Comparison::Weak)
    } else {
        is_modified_since(headers, &IF_MODIFIED_SINCE, validators) == Some(false)
    };
    if unchanged { Verdict::NotModified } else { Verdict::Proceed }
}

/// True if the client has what has this strong tag: a 304 is enough.
pub(crate) fn is_unchanged(headers: &HeaderMap, tag: &[u8]) -> bool {
    headers.contains_key(IF_NONE_MATCH) && matches(headers, &IF_NONE_MATCH, tag, Comparison::Weak)
}

/// True if `If-Match` names other versions than the one with this strong tag (RFC 9110, 13.1.1): that is a 412.
pub(crate) fn is_other_wanted(headers: &HeaderMap, tag: &[u8]) -> bool {
    headers.contains_key(IF_MATCH) && !matches(headers, &IF_MATCH, tag, Comparison::Strong)
}

/// Whether `Range` counts (RFC 9110, 13.1.5): there is no `If-Range`, or it names what is there now.
pub(super) fn range_counts(headers: &HeaderMap, validators: Validators<'_>, now: SystemTime) -> bool {
    let mut fields = headers.get_all(IF_RANGE).iter();
    let (Some(field), None) = (fields.next(), fields.next()) else { return !headers.contains_key(IF_RANGE) };
    let value = field.as_bytes();
    if value.starts_with(b"\"") || value.starts_with(b"W/") {
        // Strong comparison: our tag is strong, so equal bytes are all it takes.
        return value == validators.tag;
    }
    // The date must be the very one, and strong: its second must be over (RFC 9110, 8.8.2.2).
    let date = field.to_str().ok().and_then(|text| httpdate::parse_http_date(text).ok());
    let is_strong = |date| now.duration_since(date).is_ok_and(|age| age >= Duration::from_secs(1));
    date.is_some_and(|date| validators.modified == Some(date) && is_strong(date))
}

/// `None` where the condition is to be ignored: absent, more than one, not a date, or nothing to compare it with.
fn is_modified_since(headers: &HeaderMap, name: &HeaderName, validators: Validators<'_>) -> Option<bool> {
    let modified = validators.modified?;
    let mut fields = headers.get_all(name).iter();
    let (Some(field), None) = (fields.next(), fields.next()) else { return None };
    let date = httpdate::parse_http_date(field.to_str().ok()?).ok()?;
    Some(modified > date)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Strong,
    Weak,
}

/// Whether a list of entity tags, or `*`, names the strong `tag` (RFC 9110, 8.8.3.2).
fn matches(headers: &HeaderMap, name: &HeaderName, tag: &[u8], comparison: Comparison) -> bool {
    headers.get_all(name).iter().any(|field| {
        let field = field.as_bytes().trim_ascii();
        field == b"*"
            || Tags { rest: field }.any(|(weak, opaque)| opaque == tag && !(weak && comparison == Comparison::Strong))
    })
}

/// The entity tags of one field: whether each is weak, and its opaque part with the quotes.
///
/// Ends at the first thing that is no entity tag: what follows cannot be distinguished from garbage.
struct Tags<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Tags<'a> {
    type Item = (bool, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        // Lists may have empty members (RFC 9110, 5.6.1.2).
        let start = self.rest.iter().position(|byte| !matches!(byte, b',' | b' ' | b'\t'))?;
        let item = &self.rest[start..];
        let (weak, item) = item.strip_prefix(b"W/").map_or((false, item), |opaque| (true, opaque));
        let inner = item.strip_prefix(b"\"")?;
        let end = inner.iter().position(|&byte| byte == b'"')? + 2;
        let (tag, rest) = item.split_at(end);
        let is_separated = rest.trim_ascii_start().first().is_none_or(|&byte| byte == b',');
        self.rest = if is_separated { rest } else { &[] };
        is_separated.then_some((weak, tag))
    }
}
