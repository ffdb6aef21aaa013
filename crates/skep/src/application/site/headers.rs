//! Header fields of a response that is made: those that the handler set, its cookies, and what its language depends on.

use http::header::{CACHE_CONTROL, SET_COOKIE, VARY};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::application::endpoint::forbid_shared_caches;
use crate::context::cx::PRIVATE;
use crate::context::resources::ThreadResources;
use skep_http::response::Response;
use skep_http::validation::LanguageSource;

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

/// What caches must know of a response whose language its address does not say: who asks with another cookie, or
/// accepts another language, gets another response.
pub(super) fn depend_on_language(response: &mut Response, resources: &ThreadResources) {
    let Some(source) = resources.language_source().filter(|source| *source != LanguageSource::Address) else { return };
    if source == LanguageSource::User && !has(response, &CACHE_CONTROL, &["private", "no-store"]) {
        response.headers_mut().insert(CACHE_CONTROL, PRIVATE);
    }
    // A cookie names the language, or the user who likes it: also one who is not known yet, if the request was looked
    // at for that.
    let is_by_cookie =
        source == LanguageSource::User || resources.is_private() || resources.shared().forms.languages.cookie.is_some();
    let accepted = (source == LanguageSource::Accepted).then_some("accept-language");
    let fields = accepted.into_iter().chain(is_by_cookie.then_some("cookie"));
    let missing: Vec<_> = fields.filter(|field| !has(response, &VARY, &[field, "*"])).collect();
    if !missing.is_empty()
        && let Ok(vary) = HeaderValue::try_from(missing.join(", "))
    {
        response.headers_mut().append(VARY, vary);
    }
}

/// True if one of these is in the field's list.
fn has(response: &Response, name: &HeaderName, items: &[&str]) -> bool {
    let lines = response.headers().get_all(name).into_iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|one| items.iter().any(|item| one.trim().eq_ignore_ascii_case(item)))
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
