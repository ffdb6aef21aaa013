//! Handlers without their types: a service or a folder of files.

mod around;
mod once;
mod violations;

use std::any::TypeId;
use std::future::ready;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

use http::StatusCode;
use http::header::CONTENT_TYPE;

use crate::base::percent::{self, EncodeSet};
use crate::context::cx::Cx;
use crate::contract::form::{OfferedLists, Parts, Submission, has_offers, load_offers};
use crate::contract::guard::GuardInfo;
use crate::contract::service::{BodyKind, Handle, Input, ResponseFuture};
use crate::routing::param::{Pairs, quoted};
use crate::routing::route::Route;
use crate::security::origin;
use skep_http::error::Error;
use skep_http::error_page;
use skep_http::ext::{ErrorExt as _, FilesExt as _, ResponseExt as _};
use skep_http::files::Files;
use skep_http::request::{Fields, header_text};
use skep_http::response::{Response, Result};

pub(crate) use around::{Around, forbid_shared_caches};

/// A service or a folder without its type.
pub(crate) struct Endpoint {
    handler: Box<dyn DynHandler>,
    cross_origin: bool,
    body_limit: Option<u64>,
    /// The folder, where it is one.
    files: Option<Arc<Files>>,
    body: BodyKind,
    speaks_json: bool,
    /// The guards that the service has as fields.
    guards: &'static [GuardInfo],
    route: Option<&'static Route>,
    /// The service, also for the redirect from its query.
    service: Option<TypeId>,
    /// Its position in `Site::service_names`.
    number: u16,
    /// What stands around it, if anything.
    around: Option<Box<Around>>,
    #[cfg(feature = "openapi")]
    known: Option<crate::application::openapi::ServiceDescription>,
}

trait DynHandler: Send + Sync {
    fn call<'r>(&'r self, cx: &'r mut Cx<'_>, input: &'r mut Input<'_>) -> ResponseFuture<'r>;

    /// The page that holds the form of this service.
    fn page_url(&self, input: &Input<'_>) -> Option<String> {
        let _ = input;
        None
    }
}

impl Endpoint {
    pub(crate) fn of_service<S: Handle>() -> Self {
        Self {
            handler: Box::new(Typed::<S>(PhantomData)),
            cross_origin: S::ROUTE.cross_origin.is_some(),
            body_limit: S::ROUTE.body_limit,
            files: None,
            body: S::ROUTE.body,
            speaks_json: S::ROUTE.speaks_json(),
            guards: S::GUARDS,
            route: Some(S::ROUTE),
            service: Some(TypeId::of::<S>()),
            number: 0,
            around: None,
            #[cfg(feature = "openapi")]
            known: Some(crate::application::openapi::ServiceDescription::of::<S>()),
        }
    }

    /// Redirects a request with all parameters in the query, as from a form, to the service's own URL.
    pub(crate) fn of_query<S: Handle>(names: Vec<&'static str>) -> Self {
        let guards = S::GUARDS;
        let (service, route) = (Some(TypeId::of::<S>()), Some(S::ROUTE));
        Self { guards, route, service, ..Self::reading(Box::new(FromQuery::<S> { names, service: PhantomData })) }
    }

    pub(crate) fn of_files(files: Arc<Files>) -> Self {
        Self { files: Some(Arc::clone(&files)), ..Self::reading(Box::new(files)) }
    }

    /// An endpoint that reads no body and changes nothing.
    fn reading(handler: Box<dyn DynHandler>) -> Self {
        Self {
            handler,
            cross_origin: false,
            body_limit: None,
            files: None,
            body: BodyKind::Unread,
            speaks_json: false,
            guards: &[],
            route: None,
            service: None,
            number: 0,
            around: None,
            #[cfg(feature = "openapi")]
            known: None,
        }
    }

    /// Takes reports of browsers, which send neither tokens nor cookies.
    pub(crate) fn of_violations() -> Self {
        let handler = Box::new(violations::Violations);
        Self { cross_origin: true, body_limit: Some(violations::BODY_LIMIT), ..Self::reading(handler) }
    }

    #[cfg(feature = "openapi")]
    pub(crate) fn of_document(made: crate::application::openapi::Made) -> Self {
        Self { speaks_json: true, ..Self::reading(Box::new(made)) }
    }

    /// The service, for the document of the interface.
    #[cfg(feature = "openapi")]
    pub(crate) fn known(&self) -> Option<&crate::application::openapi::ServiceDescription> {
        self.known.as_ref()
    }

    pub(crate) fn is_folder(&self) -> bool {
        self.files.is_some()
    }

    /// Its position in [`Site::service_names`](crate::Site::service_names).
    pub(crate) fn number(&self) -> u16 {
        self.number
    }

    pub(crate) fn set_number(&mut self, number: u16) {
        self.number = number;
    }

    /// False for a folder that has no page for its own address.
    pub(crate) fn has_page(&self) -> bool {
        self.files.as_ref().is_none_or(|files| files.has_page())
    }

    /// `cx` and `input` stay where they are: what is boxed is the handler's own state and little else.
    pub(crate) fn call<'r>(&'r self, cx: &'r mut Cx<'_>, input: &'r mut Input<'_>) -> ResponseFuture<'r> {
        match &self.around {
            None => self.handler.call(cx, input),
            Some(around) => around.call(&*self.handler, cx, input),
        }
    }

    /// The page that holds the form of this service, if it names one.
    pub(crate) fn page_url(&self, input: &Input<'_>) -> Option<String> {
        self.handler.page_url(input)
    }

    /// The body limit of the service, if it sets one.
    pub(crate) fn body_limit(&self) -> Option<u64> {
        self.body_limit
    }

    /// Requires a CSRF token, because the browser did not send where the request comes from. A typed form is checked
    /// once it is read; a form of another site cannot send JSON without a preflight (Fetch, 3.2.1); any other body is
    /// peeked into.
    pub(crate) async fn ask_for_token(&self, cx: &mut Cx<'_>) -> Result<()> {
        match self.body {
            BodyKind::Form | BodyKind::Multipart => cx.need_token(),
            BodyKind::Json => {}
            BodyKind::Unread if media_type(cx.fields()) == FORM_TYPE => {
                // Boxed: browsers say where nearly all requests come from.
                let body = Box::pin(cx.look_into_body()).await?;
                let text = std::str::from_utf8(&body).unwrap_or_default();
                let pairs = Pairs::decode(text, cx.limits().form_fields)?;
                cx.check_token(pairs.get(origin::TOKEN).next())?;
            }
            BodyKind::Unread => cx.check_token(None)?,
        }
        Ok(())
    }

    /// True if its clients are programs that read JSON: errors are JSON unless the client prefers HTML.
    pub(crate) fn speaks_json(&self) -> bool {
        self.speaks_json
    }

    /// True if forms of other sites are accepted.
    pub(crate) fn is_open_to_others(&self) -> bool {
        self.cross_origin
    }
}

skep_units::opaque_debug!(Endpoint);

struct Typed<S>(PhantomData<fn() -> S>);

impl<S: Handle> DynHandler for Typed<S> {
    fn page_url(&self, input: &Input<'_>) -> Option<String> {
        S::page_url(input).ok().flatten()
    }

    fn call<'r>(&'r self, cx: &'r mut Cx<'_>, input: &'r mut Input<'_>) -> ResponseFuture<'r> {
        if S::ROUTE.body == BodyKind::Unread
            && const { !has_offers(S::FIELDS) }
            && let Some(guards) = S::unguarded()
        {
            return match S::parse(input, guards) {
                Ok(service) => Box::pin(service.handle(cx)),
                Err(error) => Box::pin(ready(Err(error))),
            };
        }
        Box::pin(async move {
            let guards = S::admit(cx).await?;
            let result = match read_fields::<S>(cx, input, guards).await {
                // Boxed: few forms are accepted once, and their state is large.
                Ok(service) if S::ROUTE.once.is_some() => Box::pin(once::handle(cx, service)).await,
                Ok(service) => service.handle(cx).await,
                Err(error) => Err(error),
            };
            match result.map_err(|error| cx.explain(error)) {
                Err(error) if error.is_refusal() => show_again::<S>(cx, input, error).await,
                other => other,
            }
        })
    }
}

/// The parameters at the end of a service's path, in the query.
struct FromQuery<S> {
    names: Vec<&'static str>,
    service: PhantomData<fn() -> S>,
}

impl<S: Handle> DynHandler for FromQuery<S> {
    fn call<'r>(&'r self, cx: &'r mut Cx<'_>, input: &'r mut Input<'_>) -> ResponseFuture<'r> {
        Box::pin(async move {
            let guards = S::admit(cx).await?;
            self.redirect(input, guards)
        })
    }
}

impl<S: Handle> FromQuery<S> {
    fn redirect(&self, input: &Input<'_>, guards: S::Guards) -> Result {
        let pattern = S::ROUTE.pattern;
        let first = pattern.matches('{').count() - self.names.len();
        let has_tail = pattern.contains("{*");
        let mut texts = Vec::with_capacity(self.names.len());
        for (position, name) in self.names.iter().enumerate() {
            let is_tail = has_tail && position + 1 == self.names.len();
            let place = if is_tail { EncodeSet::Tail } else { EncodeSet::Segment };
            let value: String = input.query(name)?;
            let mut text = String::new();
            percent::encode_written(&mut text, place, |out| out.push_str(&value));
            texts.push(text);
        }
        let mut path = *input.path;
        for (part, text) in path[first..].iter_mut().zip(&texts) {
            *part = text;
        }
        // The rest of the query is read where it is; what came as path is not looked at again.
        let input = Input { from_query: first, ..Input::new(input.parts, &path, input.query.clone()) };
        let service = S::parse(&input, guards)?;
        Ok(Response::redirect_with_status(StatusCode::PERMANENT_REDIRECT, &service.url()))
    }
}

impl DynHandler for Arc<Files> {
    fn call<'r>(&'r self, cx: &'r mut Cx<'_>, input: &'r mut Input<'_>) -> ResponseFuture<'r> {
        // The rest of the path is the first parameter; it is missing at the prefix itself.
        let full_path = cx.uri().path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
        Box::pin(ready(self.answer_to(cx.method(), input.path[0], full_path, cx.fields())))
    }
}

#[cfg(feature = "openapi")]
impl DynHandler for crate::application::openapi::Made {
    fn call<'r>(&'r self, cx: &'r mut Cx<'_>, _input: &'r mut Input<'_>) -> ResponseFuture<'r> {
        let document = self.get().expect("it is made before the application is open");
        Box::pin(ready(document.answer(cx.method(), cx.fields())))
    }
}

async fn read_fields<S: Handle>(cx: &mut Cx<'_>, input: &mut Input<'_>, guards: S::Guards) -> Result<S> {
    let kind = S::ROUTE.body;
    if kind == BodyKind::Unread {
        if const { has_offers(S::FIELDS) } {
            let offers = OfferedLists::default();
            Box::pin(load_offers(&offers, cx, S::FIELDS)).await?;
            offers.check(S::FIELDS, &input.query)?;
        }
        return S::parse(input, guards);
    }
    expect_type(cx.fields(), kind)?;
    if kind == BodyKind::Json {
        let body = cx.read_body().await?;
        let query = std::mem::take(&mut input.query);
        return S::parse(&Input { body: &body, ..Input::new(input.parts, input.path, query) }, guards);
    }
    let Parts { pairs, files } = if media_type(cx.fields()) == MULTIPART {
        // Boxed: few requests bring files, and their state is large.
        Box::pin(cx.receive(S::ROUTE, S::FIELDS)).await?
    } else {
        let body = cx.read_body().await?;
        let text = std::str::from_utf8(&body).map_err(|_| Error::bad_request("the form is not UTF-8"))?;
        Parts { pairs: Pairs::decode(text, cx.limits().form_fields)?.into_owned(), files: Vec::new() }
    };
    if cx.needs_token() {
        cx.check_token(pairs.get(origin::TOKEN).next())?;
    }
    let submission = Submission::new(TypeId::of::<S>(), S::FIELDS, pairs, files, cx.limits().form_rows)?;
    let submission = Rc::new(submission);
    cx.set_submission(Rc::clone(&submission));
    if const { has_offers(S::FIELDS) } {
        Box::pin(load_offers(&submission.offers, cx, S::FIELDS)).await?;
    }
    input.form = Some(submission);
    S::parse(input, guards)
}

/// Renders the page of the form again, with the input and its errors. Without a page, or for a client that wants JSON,
/// the error itself is the response.
async fn show_again<S: Handle>(cx: &mut Cx<'_>, input: &Input<'_>, mut error: Error) -> Result {
    let faults = error.take_field_errors();
    let retold = Error::refused(faults.clone(), cx.messages());
    let Some(submission) = input.form.as_ref() else { return Err(error) };
    cx.undo();
    cx.drop_cookies();
    submission.set_field_errors(faults);
    let wants_json = error_page::wants_json(cx.fields(), S::ROUTE.speaks_json());
    let page = if wants_json { None } else { S::show_page(input, cx)? };
    let (status, headers) = (error.status(), error.headers().clone());
    let Some(page) = page else { return Err(error.in_words_of(retold)) };
    let mut response = page.await?.with_status(status);
    response.headers_mut().extend(headers);
    Ok(response)
}

/// 415 unless the body is of the type that the service reads.
fn expect_type(headers: &Fields, kind: BodyKind) -> Result<()> {
    let sent = media_type(headers);
    let (fits, wanted) = match kind {
        BodyKind::Multipart => (sent == MULTIPART || sent == FORM_TYPE, MULTIPART),
        BodyKind::Json => (sent == "application/json" || sent.ends_with("+json"), "application/json"),
        // Without a type there is nothing to contradict; a form says so in every browser.
        _ => (sent == FORM_TYPE || sent.is_empty(), FORM_TYPE),
    };
    if fits {
        return Ok(());
    }
    let sent = if sent.is_empty() { "a body without a type".to_owned() } else { quoted(&sent) };
    Err(Error::new(StatusCode::UNSUPPORTED_MEDIA_TYPE).with_message(format!("{sent} came where {wanted} is expected")))
}

fn media_type(headers: &Fields) -> String {
    let sent = header_text(headers, &CONTENT_TYPE).unwrap_or_default();
    sent.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

const MULTIPART: &str = "multipart/form-data";
const FORM_TYPE: &str = "application/x-www-form-urlencoded";
