//! Header fields of a response that is made: those that the handler set, and its cookies.

use http::header::{CACHE_CONTROL, SET_COOKIE};
use http::{HeaderMap, HeaderValue};

use crate::application::endpoint::forbid_shared_caches;
use crate::context::cx::PRIVATE;
use skep_http::response::Response;

/// Adds the header fields that the handler set on its [`Cx`]. The response's own fields win; cookies accumulate.
pub(super) fn add_headers(own: &mut HeaderMap, extra: HeaderMap) {
    let mut last = None;
    for (name, value) in extra {
        let Some(name) = name.or_else(|| last.clone()) else { continue };
        if name == SET_COOKIE || !own.contains_key(&name) {
            own.append(name.clone(), value);
        }
        last = Some(name);
    }
}

/// What every response gets, whatever became of its request: the cookies of its user. No shared cache may keep it then,
/// nor what an access rule restricts.
pub(super) fn keep_private(response: &mut Response, cookies: Vec<HeaderValue>, is_restricted: bool) {
    if is_restricted {
        forbid_shared_caches(response);
    }
    add_cookies(response, cookies);
}

/// Adds cookies of one user to a response, which no shared cache may keep then.
pub(super) fn add_cookies(response: &mut Response, cookies: Vec<HeaderValue>) {
    if cookies.is_empty() {
        return;
    }
    forbid_shared_caches(response);
    let headers = response.headers_mut();
    headers.entry(CACHE_CONTROL).or_insert(PRIVATE);
    for cookie in cookies {
        headers.append(SET_COOKIE, cookie);
    }
}
