//! Parts of the way of a request: which endpoint, what without one, and what every response gets.

use http::header::ALLOW;
use http::{Method, StatusCode};

use super::LocalSite;
use crate::application::endpoint::Endpoint;
use crate::base::percent;
#[cfg(all(feature = "test", not(target_family = "wasm")))]
use crate::context::resources::ThreadResources;
use crate::contract::cors;
use crate::contract::service::Input;
use crate::routing::param::Pairs;
use crate::routing::router::{Found, NoEndpoint};
use skep_http::error::Error;
use skep_http::ext::{ErrorExt as _, ResponseExt as _};
use skep_http::request::Parts;
use skep_http::response::{Response, Result};
use skep_http::validation::InputError;

impl LocalSite {
    /// The answer to a browser that asks whether it may send another request; `None` if nothing is there.
    pub(super) fn preflight(&self, cors: &cors::Rules, parts: &Parts, is_mounted: bool) -> Option<Response> {
        if is_mounted {
            return Some(cors.preflight(cors::ANY_METHOD));
        }
        let path = percent::normalise_path(parts.uri.path());
        Some(cors.preflight(self.site().router.find(&path)?.allow().clone()))
    }

    /// What a test needs that has a context without a request.
    #[cfg(all(feature = "test", not(target_family = "wasm")))]
    pub(crate) fn resources_for_request(&self) -> ThreadResources {
        self.inner.thread.for_request()
    }
}

/// Refuses a path with half an escape, also for what is mounted, which might make something of it that guards do not
/// know.
pub(super) fn check_path(parts: &Parts) -> Result<()> {
    if percent::is_encoded(parts.uri.path()) {
        return Ok(());
    }
    Err(Error::bad_request("the address has a % without two hexadecimal digits after it"))
}

/// The response to a request that is for no path here, also not for what is mounted: `OPTIONS *` for the server as a
/// whole, and a proxy's `CONNECT host:80` (RFC 9112, 3.2.3 and 3.2.4).
pub(super) fn without_path(parts: &Parts) -> Option<Result> {
    let has_path = parts.uri.path().starts_with('/');
    Some(match parts.method {
        Method::CONNECT => Err(Error::new(StatusCode::NOT_IMPLEMENTED).with_message("this server is no proxy")),
        _ if has_path => return None,
        Method::OPTIONS if parts.uri.path() == "*" => Ok(Response::empty(StatusCode::NO_CONTENT)),
        _ => Err(Error::bad_request("the address has no path")),
    })
}

pub(super) fn endpoint<'s>(
    found: &Found<'s, '_, Endpoint>,
    method: &Method,
    query: &Pairs<'_>,
) -> Result<&'s Endpoint> {
    found.endpoint(method, query).map_err(|reason| match reason {
        NoEndpoint::Method => Error::new(StatusCode::METHOD_NOT_ALLOWED).with_header(ALLOW, found.allow().clone()),
        NoEndpoint::Parameters(sets) => {
            let names = sets.join(", or ");
            Error::of_input(StatusCode::BAD_REQUEST, InputError::Incomplete { names })
        }
    })
}

/// GET on the path of a form (a reload, a bookmark) redirects to the page that contains the form.
pub(super) fn page_of_form(found: &Found<'_, '_, Endpoint>, input: &Input<'_>) -> Option<Response> {
    if !matches!(input.parts.method, Method::GET | Method::HEAD) {
        return None;
    }
    let form = found.endpoint(&Method::POST, &input.query).ok()?;
    Some(Response::redirect_with_status(StatusCode::SEE_OTHER, &form.page_url(input)?))
}
