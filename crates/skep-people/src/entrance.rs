//! The page to which those are led who are not signed in.

use http::header::{ACCEPT, REFERER};
use http::{HeaderName, Method};
use skep::{Cx, Error, Response};

/// A value of the application that has such a page.
pub(crate) struct Entrance {
    /// `Account::KIND`.
    pub(crate) kind: &'static str,
    /// Its own path, which leads nobody there again.
    pub(crate) path: &'static str,
    /// A redirect to it, from which it leads back to this path.
    pub(crate) lead: fn(Option<String>) -> Response,
}

/// The way to the page of these accounts, if there is one and this client shows pages, and back: to what was asked for,
/// or to the page whose form was sent.
pub(crate) fn to_sign_in(cx: &Cx<'_>, kind: &str) -> Option<Error> {
    let leads = |entrance: &&Entrance| entrance.kind == kind && entrance.path != cx.uri().path() && shows_pages(cx);
    let entrance = cx.find_state::<Entrance>().filter(leads)?;
    let back = if cx.method() == Method::GET {
        cx.uri().path_and_query().map(ToString::to_string)
    } else {
        let page = cx.header(&REFERER).and_then(|page| page.strip_prefix(&*cx.origin()));
        page.filter(|path| path.starts_with('/')).map(str::to_owned)
    };
    // What is secret in an address must not be in the query of another one, which the log shows.
    let back = back.filter(|back| !cx.has_secret(back));
    Some((entrance.lead)(back).into())
}

/// False for what would take the page for the answer: programs, and scripts that do not say that they want HTML.
fn shows_pages(cx: &Cx<'_>) -> bool {
    let accepted = cx.header(&ACCEPT).unwrap_or("*/*");
    let is_script = cx.header(&HeaderName::from_static("sec-fetch-dest")).is_some_and(|for_what| for_what == "empty");
    !cx.wants_json() && (accepted.contains("text/html") || (accepted.contains("*/*") && !is_script))
}
