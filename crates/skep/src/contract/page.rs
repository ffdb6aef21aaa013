//! Pages that are the same for everybody.

use std::future::Future;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, SET_COOKIE, VARY};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};

use crate::context::cache::entry::{Page, PageEntry};
use crate::context::cache::kept::Name;
use crate::context::cache::{EntryPolicy, SharedCx};
use crate::context::cx::Cx;
use crate::contract::service::{BodyKind, Handle, Served};
use skep_http::body::TooLarge;
use skep_http::compression::Coding;
#[cfg(feature = "compression")]
use skep_http::compression::{self, Situation};
use skep_http::error::Error;
use skep_http::files::{Verdict, not_modified, verdict_on};
use skep_http::request::joined_text;
use skep_http::response::{Response, Result};
use skep_http::validation::LanguageSource;

/// A service whose answer is the same for everybody, and is kept. Written instead of [`Handle`].
///
/// The answer is made from the fields of the service and from a [`SharedCx`], in which there is no cookie, no flash
/// message and no user: what is one user's does not get in, by type. It is kept for each value of the fields, and of
/// whatever else it asks the `SharedCx` for.
///
/// ```
/// use std::time::Duration;
/// use skep::cache::{EntryPolicy, SharedCx, PublicPage};
/// use skep::prelude::*;
///
/// #[derive(Service)]
/// #[service(GET "/")]
/// struct Index;
///
/// impl PublicPage for Index {
///     fn policy(&self) -> EntryPolicy { EntryPolicy::new(Duration::from_mins(10)).tag("articles") }
///
///     async fn page(&self, cx: &SharedCx<'_>) -> Result {
///         Ok(Response::html(html! { p { "Made once, shown to all." } }))
///     }
/// }
///
/// #[derive(Service)]
/// #[service(POST "/publish")]
/// struct Publish;
///
/// impl Handle for Publish {
///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
///         cx.invalidate("articles").await?;
///         Ok(Response::see_other(Index))
///     }
/// }
///
/// let client = skep::test::Client::new(App::new().serve(services![Index, Publish]));
/// let answer = client.get("/");
/// assert_eq!(answer.headers()["cache-control"], "public, no-cache");
/// let again = client.request(skep::Method::GET, "/").header("if-none-match", answer.headers()["etag"].to_str().unwrap());
/// assert_eq!(again.send().status(), 304);
/// ```
///
/// An answer of status 200 is kept, no other; an error reaches those who wait for the same page, and is not kept.
/// Unless the page says otherwise, it gets an `ETag`, `Cache-Control: public, no-cache` (browsers and proxies may keep
/// it, and ask each time whether it is still the same) and a `Vary` for what it read. A page with a `Set-Cookie` is an
/// error. In development nothing is kept.
///
/// Only a service for GET is one: what a form or a JSON body holds is in no address, and its answer is not everybody's.
///
/// ```compile_fail,E0080
/// use skep::cache::{EntryPolicy, SharedCx, PublicPage};
/// use skep::prelude::*;
///
/// #[derive(Service)]
/// #[service(POST "/search")]
/// struct Search { #[form] words: String }
///
/// impl PublicPage for Search {
///     fn policy(&self) -> EntryPolicy { EntryPolicy::new(std::time::Duration::from_mins(10)) }
///
///     async fn page(&self, cx: &SharedCx<'_>) -> Result { Ok(Response::text(self.words.clone())) }
/// }
///
/// let app = App::new().serve(services![Search]);
/// ```
/// Nor has it guards; [`App::guard`](crate::App::guard) sets one before it.
///
/// ```compile_fail,E0080
/// use skep::cache::{EntryPolicy, SharedCx, PublicPage};
/// use skep::guard::Guard;
/// use skep::prelude::*;
///
/// struct Agent;
/// impl Guard for Agent { async fn check(_cx: &mut Cx<'_>) -> Result<Self> { Ok(Self) } }
///
/// #[derive(Service)]
/// #[service(GET "/tickets")]
/// struct Tickets { #[guard] agent: Agent }
///
/// impl PublicPage for Tickets {
///     fn policy(&self) -> EntryPolicy { EntryPolicy::new(std::time::Duration::from_mins(10)) }
///
///     async fn page(&self, _cx: &SharedCx<'_>) -> Result { Ok(Response::text("tickets")) }
/// }
///
/// let app = App::new().serve(services![Tickets]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a public page",
    note = "write `impl PublicPage for {Self} {{ fn policy(&self) -> EntryPolicy {{ ... }} async fn page(&self, cx: &SharedCx<'_>) -> Result {{ ... }} }}`"
)]
pub trait PublicPage: Served {
    /// How long the page is cached, and the tags that invalidate it, beside writes to the tables that it reads with
    /// [`sql!`](crate::sql!). A stale one is shown for up to a minute while one request makes a new one.
    fn policy(&self) -> EntryPolicy;

    /// Makes it.
    fn page(&self, cx: &SharedCx<'_>) -> impl Future<Output = Result>;
}

#[diagnostic::do_not_recommend]
impl<S: PublicPage> Handle for S {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        const { assert!(is_public::<Self>(), "a page for everybody cannot read cookies or credentials: #[header(...)]") };
        const {
            assert!(
                is_read::<Self>(),
                "a page for everybody answers GET, and all that it is asked for is in its address"
            );
        };
        const {
            assert!(
                Self::GUARDS.is_empty(),
                "a page for everybody has no guards: its content is the same for all. App::guard sets one before its path, and \
                 where that begins with a parameter, App::wrap_only a layer around it"
            );
        };
        let field = |name: &&'static str| joined_text(cx.fields(), &HeaderName::from_static(name));
        let fields: Vec<_> = Self::HEADERS.iter().map(field).collect::<Result<_>>()?;
        let fields: Vec<_> = fields.iter().map(|text| text.as_deref().unwrap_or_default().as_bytes()).collect();
        let name = Name::of_page::<Self>(&self.url(), &fields);
        let make = async |public: &SharedCx<'_>| {
            let mut response = self.page(public).await?;
            for name in Self::HEADERS {
                response.headers_mut().append(VARY, HeaderValue::from_static(name));
            }
            kept(response, public).await
        };
        match cx.shared().kept(&name, &self.policy(), make).await? {
            PageEntry::Page(page) => answer(cx, page),
            other => Err(Error::internal(format!("a cache keeps {} under the name of a page", other.kind()))),
        }
    }
}

/// A form and a JSON body are in no link, so they would be in no key: who sent other ones would get this one's answer.
const fn is_read<S: Served>() -> bool {
    matches!((&S::ROUTE.method, S::ROUTE.body), (&Method::GET, BodyKind::Unread))
}

const fn is_public<S: Served>() -> bool {
    let mut at = 0;
    while at < S::HEADERS.len() {
        let name = S::HEADERS[at].as_bytes();
        if matches!(name, b"cookie" | b"authorization" | b"proxy-authorization") {
            return false;
        }
        at += 1;
    }
    true
}

/// An answer as it is kept.
async fn kept(mut response: Response, public: &SharedCx<'_>) -> Result<PageEntry> {
    let limit = public.resources().shared().setup.limits.page;
    if response.headers().contains_key(SET_COOKIE) {
        return Err(Error::internal("a page for everybody sets a cookie: it would be everybody's"));
    }
    let body = std::mem::take(response.body_mut()).collect(limit).await;
    let body = body.map_err(|cause| match cause.downcast::<TooLarge>() {
        Ok(_) => Error::internal(format!(
            "a page for everybody is larger than the {limit} bytes that limits.page allows: answer with `Handle` what is not to be kept"
        )),
        Err(cause) => Error::internal(cause),
    })?;
    public.resources().shared().security_headers.keep_in(&mut response);
    let fields = response.headers().iter();
    let fields = fields.map(|(name, value)| (name.as_str().to_owned(), Bytes::copy_from_slice(value.as_bytes())));
    let status = response.status().as_u16();
    Ok(PageEntry::Page(Page { status, fields: fields.collect(), body, packed: Vec::new() }))
}

fn answer(cx: &Cx<'_>, page: Page) -> Result {
    let Page { status, fields, body, packed } = page;
    let mut response = Response::empty(StatusCode::from_u16(status)?);
    let own = response.headers_mut();
    own.reserve(fields.len() + 2);
    for (name, value) in fields {
        own.append(HeaderName::from_bytes(name.as_bytes())?, HeaderValue::from_maybe_shared(value)?);
    }
    if cx.shared().resources().language_source() == Some(LanguageSource::User) {
        // By something that no `Vary` says.
        own.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    }
    match verdict_on(&response, cx.method(), cx.fields()) {
        Verdict::Proceed => {}
        Verdict::NotModified => return Ok(not_modified(response, Some(body.len() as u64))),
        Verdict::Failed => return Err(Error::new(StatusCode::PRECONDITION_FAILED)),
    }
    // A copy: the rest of the entry is not kept for a client that reads slowly.
    let sent = choose(cx, &packed, response.headers_mut()).unwrap_or(&body);
    *response.body_mut() = Bytes::copy_from_slice(sent).into();
    Ok(response)
}

/// The body in a coding that the client accepts, if there is one; the fields say so.
#[cfg(feature = "compression")]
fn choose<'p>(cx: &Cx<'_>, packed: &'p [(Coding, Bytes)], headers: &mut HeaderMap) -> Option<&'p Bytes> {
    if packed.is_empty() {
        return None;
    }
    compression::add_vary(headers);
    let (resources, parts) = (cx.shared().resources(), cx.shared().parts());
    let options = &resources.shared().setup.compression;
    // A guard has read a cookie: not everybody gets this page.
    let situation = Situation { is_private: resources.is_private(), is_foreign: false };
    if !compression::is_safe(parts, headers, situation, options.private) {
        return None;
    }
    let (coding, body) = compression::choose_packed(packed, cx.fields(), options)?;
    compression::describe(headers, *coding);
    Some(body)
}

#[cfg(not(feature = "compression"))]
fn choose<'p>(_: &Cx<'_>, _: &'p [(Coding, Bytes)], _: &mut HeaderMap) -> Option<&'p Bytes> {
    None
}
