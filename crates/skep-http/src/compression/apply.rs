//! Whether a response is compressed, what its fields say then, and doing it.

use bytes::Bytes;
use http::header::{
    ACCEPT_RANGES, AUTHORIZATION, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, COOKIE,
    ETAG, IF_NONE_MATCH, SET_COOKIE, VARY,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};

use super::encoder::Encoder;
use super::pieces::Pieces;
use super::{Coding, Options, Private};
use crate::body::Body;
use crate::ext::ResponseExt as _;
use crate::files::{Accepted, Encoding, names_tag};
use crate::request::{Fields, Parts};
use crate::response::Response;
use crate::response::coding::{Whole, Wish};

/// A body up to this size is compressed at once, and a larger one in pieces of it, between which others have their
/// turn.
pub(super) const PIECE: usize = 32 << 10;

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What is known of a request and its response beside their fields.
#[derive(Clone, Copy, Debug)]
pub struct Situation {
    /// The handler has read what is one user's.
    pub is_private: bool,
    /// It is unknown what the handler has read.
    pub is_foreign: bool,
}

impl Coding {
    fn encoding(self) -> Encoding {
        match self {
            Self::Brotli => Encoding::Brotli,
            Self::Zstd => Encoding::Zstd,
            Self::Gzip => Encoding::Gzip,
        }
    }
}

impl Options {
    /// The best of these codings for who sent these fields; `None` for no coding.
    fn choose(&self, request: &Fields, mut is_there: impl FnMut(Coding) -> bool) -> Option<Coding> {
        let codings = || self.codings.iter().copied().filter(|coding| coding.is_built_in());
        let accepted = Accepted::of(request);
        let available: Vec<_> = codings().filter(|coding| is_there(*coding)).map(Coding::encoding).collect();
        let best = accepted.best(available.into_iter().chain([Encoding::Identity]))?;
        codings().find(|coding| coding.encoding() == best)
    }

    fn level(&self, coding: Coding) -> u32 {
        match coding {
            Coding::Brotli => self.brotli_level,
            Coding::Zstd => self.zstd_level,
            Coding::Gzip => self.gzip_level,
        }
    }
}

/// Compresses a response if that is right, and says so in its fields. The body of a response to HEAD is dropped, and
/// nobody knows its length.
pub fn apply(response: &mut Response, request: &Parts, situation: Situation, options: &Options) {
    if options.codings.is_empty() {
        return;
    }
    let hint = response.hint();
    let wish = response.take_wish().or_else(|| hint?.wish.map(Wish));
    let is_part = matches!(response.status(), StatusCode::NOT_MODIFIED | StatusCode::PARTIAL_CONTENT);
    let is_head = request.method == Method::HEAD;
    let refuses = wish.is_some_and(|Wish(wish)| !wish);
    if !is_part && (refuses || !may_be_compressed(response, is_head, options)) {
        return;
    }
    let act = |response: &mut Response, situation| {
        if is_part {
            describe_part(response, &request.headers, wish, options);
        } else {
            compress(response, request, (wish, situation), options);
        }
    };
    let Some(hint) = hint else { return act(response, situation) };
    let situation = Situation { is_private: hint.is_private, is_foreign: false };
    let behind = split_off(response.headers_mut(), hint.before);
    act(response, situation);
    let headers = response.headers_mut();
    let is_compressed = headers.contains_key(CONTENT_ENCODING);
    for (name, value) in behind.iter().filter(|(name, _)| **name != CONTENT_LENGTH || !is_compressed) {
        headers.append(name, value.clone());
    }
}

/// Takes out the fields behind the first `names` ones.
fn split_off(headers: &mut HeaderMap, names: usize) -> HeaderMap {
    let keys: Vec<HeaderName> = headers.keys().skip(names).cloned().collect();
    let all = std::mem::take(headers);
    let mut behind = HeaderMap::with_capacity(keys.len());
    for (name, value) in &all {
        let side = if keys.contains(name) { &mut behind } else { &mut *headers };
        side.append(name, value.clone());
    }
    behind
}

/// Compresses a response for which that is worth it.
fn compress(response: &mut Response, request: &Parts, (wish, situation): (Option<Wish>, Situation), options: &Options) {
    let is_head = request.method == Method::HEAD;
    add_vary(response.headers_mut());
    if wish.is_none() && !is_safe(request, response.headers(), situation, options.private) {
        return;
    }
    let Some(coding) = options.choose(&request.headers, |_| true) else { return };
    if is_head {
        *response.body_mut() = Body::empty();
        return describe(response.headers_mut(), coding);
    }
    if compress_body(response, coding, options) {
        describe(response.headers_mut(), coding);
    }
}

/// A 304 and a 206 have the `Vary` that the 200 would have, and a 304 its tag. Of what is unknown, caches rather keep
/// too many variants than the wrong one.
fn describe_part(response: &mut Response, request: &Fields, wish: Option<Wish>, options: &Options) {
    let is_partial = response.status() == StatusCode::PARTIAL_CONTENT;
    let whole = match response.take_whole() {
        Some(whole) => whole,
        // A handler says itself what its part is one of, unless it is a range.
        None if is_partial && !response.headers().contains_key(CONTENT_RANGE) => return,
        None => Whole::of(response.headers(), None),
    };
    let is_worth = match &whole.content_type {
        Some(content_type) => is_worth(content_type.as_bytes(), whole.size, options),
        None => !is_partial,
    };
    let is_forbidden = has_item(response.headers(), &CACHE_CONTROL, "no-transform");
    if is_worth && !whole.is_encoded && !is_forbidden && !matches!(wish, Some(Wish(false))) {
        add_vary(response.headers_mut());
    }
    if !is_partial {
        keep_weak_tag(response, request);
    }
}

fn compress_body(response: &mut Response, coding: Coding, options: &Options) -> bool {
    let body = std::mem::take(response.body_mut());
    let level = options.level(coding);
    let whole = match body.as_whole().filter(|bytes| bytes.len() <= PIECE) {
        Some(bytes) => pack(bytes, coding, level),
        None => {
            let mut share = options.running.share();
            if !share.take(1, options.concurrent) {
                *response.body_mut() = body;
                return false;
            }
            let encoder = Encoder::new(coding, level, body.len());
            *response.body_mut() = Pieces::body(body, encoder, share);
            return true;
        }
    };
    let is_smaller = whole.is_some();
    *response.body_mut() = whole.map_or(body, Into::into);
    is_smaller
}

/// These bytes in a coding; `None` if they are not smaller then.
pub(super) fn pack(bytes: &[u8], coding: Coding, level: u32) -> Option<Vec<u8>> {
    let mut encoder = Encoder::new(coding, level, Some(bytes.len() as u64));
    encoder.write(bytes);
    Some(encoder.finish()).filter(|packed| packed.len() < bytes.len())
}

/// The codings of a page for the cache, each smaller than the page.
pub fn pack_page(page: &Bytes, options: &Options) -> Vec<(Coding, Bytes)> {
    // Who accepts zstd accepts br, which is smaller.
    let codings = options.codings.iter().copied().filter(|coding| *coding != Coding::Zstd && coding.is_built_in());
    let level = |coding| if coding == Coding::Brotli { options.page_level } else { options.level(coding) };
    codings.filter_map(|coding| Some((coding, pack(page, coding, level(coding))?.into()))).collect()
}

/// Which form of a page in the cache is sent: a compressed one, if there is one that the client accepts.
pub fn choose_packed<'p>(
    packed: &'p [(Coding, Bytes)],
    request: &Fields,
    options: &Options,
) -> Option<&'p (Coding, Bytes)> {
    let find = |wanted: Coding| packed.iter().find(|(coding, _)| *coding == wanted);
    find(options.choose(request, |coding| find(coding).is_some())?)
}

/// True if a page for the cache, with these fields, is one to compress.
pub fn may_be_packed(fields: &[(String, Bytes)], body: &Bytes, options: &Options) -> bool {
    let values =
        |name: HeaderName| fields.iter().filter(move |(other, _)| *other == name.as_str()).map(|(_, value)| &**value);
    let forbids = |value: &[u8]| value.to_ascii_lowercase().windows(12).any(|part| part == b"no-transform");
    values(CONTENT_ENCODING).next().is_none()
        && !values(CACHE_CONTROL).any(forbids)
        && is_worth(values(CONTENT_TYPE).next().unwrap_or_default(), Some(body.len() as u64), options)
}

/// True if a body of this kind and size gains by it.
fn is_worth(media_type: &[u8], size: Option<u64>, options: &Options) -> bool {
    is_large(size, options) && is_compressible(media_type)
}

fn is_large(size: Option<u64>, options: &Options) -> bool {
    size.is_none_or(|size| size >= options.min_size as u64)
}

fn may_be_compressed(response: &Response, is_head: bool, options: &Options) -> bool {
    let status = response.status();
    let said = || std::str::from_utf8(response.field(&CONTENT_LENGTH)?).ok()?.parse().ok();
    let size = match response.body().len() {
        Some(0) if is_head => said(),
        size => size,
    };
    is_large(size, options)
        && is_compressible(response.field(&CONTENT_TYPE).unwrap_or_default())
        && !status.is_informational()
        && !matches!(status, StatusCode::NO_CONTENT | StatusCode::PARTIAL_CONTENT)
        && response.field(&CONTENT_ENCODING).is_none()
        && response.field(&CONTENT_RANGE).is_none()
        && !response.map().is_some_and(|headers| has_item(headers, &CACHE_CONTROL, "no-transform"))
}

/// An event stream is not: an encoder for each of thousands that are open would hold a mebibyte.
fn is_compressible(media_type: &[u8]) -> bool {
    let essence = media_type.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
    let Ok(essence) = std::str::from_utf8(essence) else { return false };
    match essence.to_ascii_lowercase().split_once('/').unwrap_or_default() {
        ("text", kind) => kind != "event-stream",
        ("image", kind) => matches!(kind, "svg+xml" | "bmp" | "x-icon" | "vnd.microsoft.icon"),
        ("font", kind) => matches!(kind, "ttf" | "otf"),
        ("application", kind) => {
            matches!(kind, "json" | "javascript" | "xml" | "wasm" | "yaml" | "toml" | "x-ndjson" | "sql")
                || kind.ends_with("+json")
                || kind.ends_with("+xml")
        }
        _ => false,
    }
}

/// True if the length of the response tells no other site anything, as far as can be known.
pub fn is_safe(request: &Parts, response: &HeaderMap, situation: Situation, private: Private) -> bool {
    let has_credentials = request.headers.contains_key(AUTHORIZATION)
        || situation.is_foreign && request.headers.contains_key(COOKIE)
        || response.contains_key(SET_COOKIE);
    if !situation.is_private && !has_credentials {
        return true;
    }
    match private {
        Private::Never => false,
        Private::Always => true,
        // `none`: the user has typed the address, or opened a bookmark.
        Private::SameOrigin => {
            request.headers.get(SEC_FETCH_SITE).is_some_and(|site| matches!(site.as_bytes(), b"same-origin" | b"none"))
        }
    }
}

/// What is said of a body that is compressed: it has other bytes than the tag stands for, and no ranges.
pub fn describe(headers: &mut HeaderMap, coding: Coding) {
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
    headers.remove(CONTENT_LENGTH);
    headers.remove(ACCEPT_RANGES);
    if let Some(weak) = headers.get(ETAG).and_then(weakened) {
        headers.insert(ETAG, weak);
    }
}

/// The tag for bytes that mean the same (RFC 9110, 8.8.1). `None` if it is one.
fn weakened(tag: &HeaderValue) -> Option<HeaderValue> {
    let tag = tag.as_bytes();
    if tag.starts_with(b"W/") { None } else { HeaderValue::from_bytes(&[b"W/", tag].concat()).ok() }
}

/// A 304 has the tag that the 200 would have (RFC 9110, 15.4.5): that of a compressed body, if the client has one.
fn keep_weak_tag(response: &mut Response, request: &Fields) {
    let Some(weak) = response.headers().get(ETAG).and_then(weakened) else { return };
    if names_tag(request, &IF_NONE_MATCH, weak.as_bytes()) {
        response.headers_mut().insert(ETAG, weak);
    }
}

/// The body depends on what the client accepts, whether or not this one is compressed (RFC 9110, 12.5.5).
pub fn add_vary(headers: &mut HeaderMap) {
    if !has_item(headers, &VARY, "accept-encoding") && !has_item(headers, &VARY, "*") {
        headers.append(VARY, HeaderValue::from_static("accept-encoding"));
    }
}

fn has_item(headers: &HeaderMap, name: &HeaderName, item: &str) -> bool {
    let lines = headers.get_all(name).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|one| one.trim().eq_ignore_ascii_case(item))
}

#[cfg(test)]
#[path = "../../tests/unit/compression.rs"]
mod tests;
