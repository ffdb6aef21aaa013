//! The page to which those are led who are not signed in.

use http::Method;
use http::header::REFERER;
use skep::{Cx, Error, Response};

/// A value of the application that has such a page.
pub(crate) struct Entrance {
    /// `Account::KIND`.
    pub(crate) kind: &'static str,
    /// A redirect to it, from which it leads back to this path.
    pub(crate) lead: fn(Option<String>) -> Response,
}

/// The way to the page of these accounts, if there is one, and back: to what was asked for, or to the page whose form
/// was sent.
pub(crate) fn to_sign_in(cx: &Cx<'_>, kind: &str) -> Option<Error> {
    let entrance = cx.find_state::<Entrance>().filter(|entrance| entrance.kind == kind)?;
    let back = if cx.method() == Method::GET {
        cx.uri().path_and_query().map(ToString::to_string)
    } else {
        let page = cx.header(&REFERER).and_then(|page| page.strip_prefix(&*cx.origin()));
        page.filter(|path| path.starts_with('/')).map(str::to_owned)
    };
    Some((entrance.lead)(back).into())
}
