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
use crate::ext::ResponseExt as _;
use crate::request::Fields;
use crate::response::coding::Whole;
use crate::{Error, Response, Result};

/// Answers with `variant`, as the preconditions and the `Range` of the request say.
pub(super) fn reply(method: &Method, headers: &Fields, variant: &Variant) -> Result {
    match evaluate(headers, variant.validators()) {
        Verdict::Failed => return Err(Error::new(StatusCode::PRECONDITION_FAILED)),
        Verdict::NotModified => return Ok(not_modified(variant)),
        Verdict::Proceed => {}
    }
    // RFC 9110, 14.2: Range is for GET alone, and comes after the preconditions.
    if method != Method::GET {
        return Ok(with_fields(Body::empty(), variant));
    }
    match range(headers, variant) {
        Wanted::Whole => Ok(with_fields(variant.content.part(0..variant.len), variant)),
        Wanted::Parts(parts) => Ok(partial(variant, &parts)),
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
    let mut response = with_fields(Body::empty(), variant).with_status(StatusCode::PARTIAL_CONTENT);
    let len = variant.len;
    let body = if let [part] = parts {
        let value = format!("bytes {}-{}/{len}", part.start, part.end - 1);
        response.headers_mut().insert(CONTENT_RANGE, HeaderValue::try_from(value).expect("numbers are ASCII"));
        variant.content.part(part.clone())
    } else {
        let (content_type, body) = byteranges(&variant.content, len, &variant.fields[CONTENT_TYPE], parts);
        response.headers_mut().insert(CONTENT_TYPE, content_type);
        body
    };
    response.headers_mut().insert(CONTENT_LENGTH, body.len().unwrap_or_default().into());
    *response.body_mut() = body;
    response.set_whole(Whole::of(&variant.fields, Some(len)));
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
