//! Conditional requests (RFC 9110, 13): whether to send, not to send, or to refuse.
//!
//! Arithmetic over header fields and two validators: those of a file, a page of the cache, or a handler's response.

use std::time::{Duration, SystemTime};

use http::header::{
    CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE,
    LAST_MODIFIED,
};
use http::{HeaderName, HeaderValue, Method, StatusCode};

use crate::body::Body;
use crate::error::Error;
use crate::ext::ResponseExt as _;
use crate::request::Fields;
use crate::response::coding::Whole;
use crate::response::{Response, Result};

/// What identifies the state of what would be sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Validators<'a> {
    /// The entity tag, as it is in its field. Without one, no condition names it.
    pub(super) tag: Option<&'a [u8]>,
    /// The last change in whole seconds, where it is known.
    pub(super) modified: Option<SystemTime>,
}

/// What the preconditions of a GET or HEAD say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Ignore the conditions.
    Proceed,
    /// 304: the client has it.
    NotModified,
    /// 412: the client wants something else.
    Failed,
}

/// Evaluates the preconditions of a GET or HEAD in their order of precedence (RFC 9110, 13.2.2).
pub(super) fn evaluate(headers: &Fields, validators: Validators<'_>) -> Verdict {
    if let Some(tag) = validators.tag.filter(|_| headers.contains_key(IF_MATCH)) {
        if !matches(headers, &IF_MATCH, tag, Comparison::Strong) {
            return Verdict::Failed;
        }
    } else if is_modified_since(headers, &IF_UNMODIFIED_SINCE, validators) == Some(true) {
        return Verdict::Failed;
    }
    let unchanged = if headers.contains_key(IF_NONE_MATCH) {
        validators.tag.is_some_and(|tag| matches(headers, &IF_NONE_MATCH, tag, Comparison::Weak))
    } else {
        is_modified_since(headers, &IF_MODIFIED_SINCE, validators) == Some(false)
    };
    if unchanged { Verdict::NotModified } else { Verdict::Proceed }
}

/// Evaluates the preconditions of a request against the validators that a response has. Only a 200 to GET or HEAD is in
/// question (RFC 9110, 13.2.1): another method has done what it does.
pub fn verdict_on(response: &Response, method: &Method, headers: &Fields) -> Verdict {
    if response.status() != StatusCode::OK || !matches!(*method, Method::GET | Method::HEAD) {
        return Verdict::Proceed;
    }
    let Some(own) = response.map() else { return Verdict::Proceed };
    let tag = own.get(ETAG).map(HeaderValue::as_bytes).filter(|tag| parse_tag(tag).is_some());
    let modified = own.get(LAST_MODIFIED).and_then(|date| httpdate::parse_http_date(date.to_str().ok()?).ok());
    if tag.is_none() && modified.is_none() {
        return Verdict::Proceed;
    }
    evaluate(headers, Validators { tag, modified })
}

/// What a handler responded with, or a 304 or 412 in its place.
pub fn conditional(response: Response, method: &Method, headers: &Fields) -> Result {
    match verdict_on(&response, method, headers) {
        Verdict::Proceed => Ok(response),
        Verdict::NotModified => {
            let size = response.body().len();
            Ok(not_modified(response, size))
        }
        Verdict::Failed => Err(Error::new(StatusCode::PRECONDITION_FAILED)),
    }
}

/// 304 in place of a 200 with a body of this size: with the same fields, but for those of the body (RFC 9110, 15.4.5).
pub fn not_modified(mut response: Response, size: Option<u64>) -> Response {
    response.set_whole(Whole::of(response.headers(), size));
    *response.body_mut() = Body::empty();
    for name in [CONTENT_TYPE, CONTENT_LENGTH] {
        response.headers_mut().remove(name);
    }
    response.with_status(StatusCode::NOT_MODIFIED)
}

/// True if a list of entity tags has this very one, weak or strong.
#[cfg(feature = "compression")]
pub(crate) fn names_tag(headers: &Fields, name: &HeaderName, tag: &[u8]) -> bool {
    let tag = parse_tag(tag);
    tag.is_some() && headers.get_all(name).any(|field| Tags { rest: field.as_bytes() }.any(|one| Some(one) == tag))
}

/// Whether `Range` counts (RFC 9110, 13.1.5): there is no `If-Range`, or it names what is there now.
pub(super) fn range_counts(headers: &Fields, validators: Validators<'_>, now: SystemTime) -> bool {
    let mut fields = headers.get_all(IF_RANGE);
    let (Some(field), None) = (fields.next(), fields.next()) else { return !headers.contains_key(IF_RANGE) };
    let value = field.as_bytes();
    if value.starts_with(b"\"") || value.starts_with(b"W/") {
        // Strong comparison: our tag is strong, so equal bytes are all it takes.
        return validators.tag == Some(value);
    }
    // The date must be the very one, and strong: its second must be over (RFC 9110, 8.8.2.2).
    let date = field.to_str().ok().and_then(|text| httpdate::parse_http_date(text).ok());
    let is_strong = |date| now.duration_since(date).is_ok_and(|age| age >= Duration::from_secs(1));
    date.is_some_and(|date| validators.modified == Some(date) && is_strong(date))
}

/// `None` where the condition is to be ignored: absent, more than one, not a date, or nothing to compare it with.
fn is_modified_since(headers: &Fields, name: &HeaderName, validators: Validators<'_>) -> Option<bool> {
    let modified = validators.modified?;
    let mut fields = headers.get_all(name);
    let (Some(field), None) = (fields.next(), fields.next()) else { return None };
    let date = httpdate::parse_http_date(field.to_str().ok()?).ok()?;
    Some(modified > date)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Strong,
    Weak,
}

/// Whether a list of entity tags, or `*`, names `tag` (RFC 9110, 8.8.3.2).
fn matches(headers: &Fields, name: &HeaderName, tag: &[u8], comparison: Comparison) -> bool {
    let Some((is_weak, tag)) = parse_tag(tag) else { return false };
    headers.get_all(name).any(|field| {
        let field = field.as_bytes().trim_ascii();
        let fits = |weak: bool| comparison == Comparison::Weak || !weak && !is_weak;
        field == b"*" || Tags { rest: field }.any(|(weak, opaque)| opaque == tag && fits(weak))
    })
}

/// An entity tag alone: whether it is weak, and its opaque part with the quotes.
fn parse_tag(tag: &[u8]) -> Option<(bool, &[u8])> {
    let mut tags = Tags { rest: tag };
    let one = tags.next()?;
    tags.rest.is_empty().then_some(one)
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
