//! The answer to a GET or HEAD of something that exists: whole, in part, or not at all.
//!
//! Directory and executable share it, so both keep the same rules.

use std::ops::Range;
use std::time::SystemTime;

use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, RANGE, VARY};
use http::{HeaderValue, Method, StatusCode};

use super::conditional::{Verdict, evaluate, range_counts};
use super::multipart::byteranges;
use super::range::{Wanted, wanted};
use super::resource::Variant;
use crate::body::Body;
use crate::request::Fields;
use crate::response::coding::Whole;
use crate::{Error, Response, Result};

/// Answers with `variant`, as the preconditions and the `Range` of the request say.
pub(super) fn reply(method: &Method, headers: &Fields, variant: &Variant) -> Result {
    Ok(match choose(method, headers, variant)? {
        Choice::NotModified => not_modified(variant),
        Choice::Fields => with_fields(Body::empty(), variant),
        Choice::Whole => with_fields(variant.content.part(0..variant.len), variant),
        Choice::Parts(parts) => partial(variant, &parts),
    })
}

/// The same without the body, for a variant whose content is elsewhere, and which bytes the body is to be. Several
/// ranges are answered with all of it (RFC 9110, 14.2).
pub(super) fn reply_without_body(
    method: &Method,
    headers: &Fields,
    variant: &Variant,
) -> Result<(Response, Range<u64>)> {
    let whole = || (with_fields(Body::empty(), variant), 0..variant.len);
    Ok(match choose(method, headers, variant)? {
        Choice::NotModified => (not_modified(variant), 0..0),
        Choice::Fields => (with_fields(Body::empty(), variant), 0..0),
        Choice::Whole => whole(),
        Choice::Parts(parts) => match &*parts {
            [part] => (one_part(variant, part, Body::empty()), part.clone()),
            _ => whole(),
        },
    })
}

/// What a request gets.
enum Choice {
    NotModified,
    /// To HEAD.
    Fields,
    Whole,
    Parts(Vec<Range<u64>>),
}

fn choose(method: &Method, headers: &Fields, variant: &Variant) -> Result<Choice> {
    match evaluate(headers, variant.validators()) {
        Verdict::Failed => return Err(Error::new(StatusCode::PRECONDITION_FAILED)),
        Verdict::NotModified => return Ok(Choice::NotModified),
        Verdict::Proceed => {}
    }
    // RFC 9110, 14.2: Range is for GET alone, and comes after the preconditions.
    if method != Method::GET {
        return Ok(Choice::Fields);
    }
    match range(headers, variant) {
        Wanted::Whole => Ok(Choice::Whole),
        Wanted::Parts(parts) => Ok(Choice::Parts(parts)),
        Wanted::Unsatisfiable => Err(unsatisfiable(variant.len)),
    }
}

fn range(headers: &Fields, variant: &Variant) -> Wanted {
    let mut fields = headers.get_all(RANGE);
    match (fields.next(), fields.next()) {
        (Some(field), None) if range_counts(headers, variant.validators(), SystemTime::now()) => {
            wanted(field.as_bytes(), variant.len)
        }
        _ => Wanted::Whole,
    }
}

/// What a cache updates its copy by, and nothing else (RFC 9110, 15.4.5).
fn not_modified(variant: &Variant) -> Response {
    let mut response = Response::empty(StatusCode::NOT_MODIFIED);
    for name in [ETAG, CACHE_CONTROL, VARY] {
        if let Some(value) = variant.fields.get(&name) {
            response.headers_mut().insert(name, value.clone());
        }
    }
    response.set_whole(Whole::of(&variant.fields, Some(variant.len)));
    response
}

fn partial(variant: &Variant, parts: &[Range<u64>]) -> Response {
    if let [part] = parts {
        return one_part(variant, part, variant.content.part(part.clone()));
    }
    let mut response = with_fields(Body::empty(), variant).with_status(StatusCode::PARTIAL_CONTENT);
    let (content_type, body) = byteranges(&variant.content, variant.len, &variant.fields[CONTENT_TYPE], parts);
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response.headers_mut().insert(CONTENT_LENGTH, body.len().unwrap_or_default().into());
    *response.body_mut() = body;
    response.set_whole(Whole::of(&variant.fields, Some(variant.len)));
    response
}

fn one_part(variant: &Variant, part: &Range<u64>, body: Body) -> Response {
    let mut response = with_fields(body, variant).with_status(StatusCode::PARTIAL_CONTENT);
    let value = format!("bytes {}-{}/{}", part.start, part.end - 1, variant.len);
    response.headers_mut().insert(CONTENT_RANGE, HeaderValue::try_from(value).expect("numbers are ASCII"));
    response.headers_mut().insert(CONTENT_LENGTH, (part.end - part.start).into());
    response.set_whole(Whole::of(&variant.fields, Some(variant.len)));
    response
}

/// RFC 9110, 15.5.17: says how long it is.
fn unsatisfiable(len: u64) -> Error {
    let value = HeaderValue::try_from(format!("bytes */{len}")).expect("numbers are ASCII");
    Error::new(StatusCode::RANGE_NOT_SATISFIABLE).with_header(CONTENT_RANGE, value)
}

fn with_fields(body: Body, variant: &Variant) -> Response {
    let mut response = Response::new(body);
    response.headers_mut().clone_from(&variant.fields);
    response
}
