//! What answers: a service or a folder, without its type.

use std::fmt;
use std::future::{Future, ready};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;

use http::header::CONTENT_TYPE;
use http::{HeaderMap, StatusCode};

use crate::cx::Cx;
use crate::error::{Error, Result};
use crate::files::Files;
use crate::param::{Pairs, quoted};
use crate::percent::{self, Place};
use crate::request::header_text;
use crate::response::Response;
use crate::service::{BodyKind, Handle, Input};

/// A service or a folder without its type.
pub(crate) struct Endpoint {
    answers: Box<dyn Answers>,
    cross_origin: bool,
    body_limit: Option<u64>,
    /// The folder, where it is one.
    files: Option<Arc<Files>>,
}

/// A future of a handler: it stays on its thread.
type Answering<'r> = Pin<Box<dyn Future<Output = Result> + 'r>>;

trait Answers: Send + Sync {
    fn call<'r>(&'r self, cx: &'r mut Cx<'_>, input: &'r mut Input<'_>) -> Answering<'r>;
}

impl Endpoint {
    pub(crate) fn of_service<S: Handle>() -> Self {
        Self {
            answers: Box::new(Typed::<S>(PhantomData)),
            cross_origin: S::ROUTE.cross_origin.is_some(),
            body_limit: S::ROUTE.body_limit,
            files: None,
        }
    }

    /// Sends who comes with all parameters in the query, as from a form, to the service's own address.
    pub(crate) fn of_query<S: Handle>(names: Vec<&'static str>) -> Self {
        let answers = Box::new(FromQuery::<S> { names, service: PhantomData });
        Self { answers, cross_origin: false, body_limit: None, files: None }
    }

    pub(crate) fn of_files(files: Arc<Files>) -> Self {
        Self { answers: Box::new(Arc::clone(&files)), cross_origin: false, body_limit: None, files: Some(files) }
    }

    /// False for a folder that has no page for its own address.
    pub(crate) fn has_page(&self) -> bool {
        self.files.as_ref().is_none_or(|files| files.has_page())
    }

    /// `cx` and `input` stay where they are: what is boxed is the handler's own state and little else.
    pub(crate) fn call<'r>(&'r self, cx: &'r mut Cx<'_>, input: &'r mut Input<'_>) -> Answering<'r> {
        self.answers.call(cx, input)
    }

    /// The most bytes of a body, where it is not what the configuration says.
    pub(crate) fn body_limit(&self) -> Option<u64> {
        self.body_limit
    }

    /// True if pages of other sites may send their forms here.
    pub(crate) fn is_open_to_others(&self) -> bool {
        self.cross_origin
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").finish_non_exhaustive()
    }
}

struct Typed<S>(PhantomData<fn() -> S>);

impl<S: Handle> Answers for Typed<S> {
    fn call<'r>(&'r self, cx: &'r mut Cx<'_>, input: &'r mut Input<'_>) -> Answering<'r> {
        if S::ROUTE.body == BodyKind::Unread {
            return match S::parse(input) {
                Ok(service) => Box::pin(service.handle(cx)),
                Err(error) => Box::pin(ready(Err(error))),
            };
        }
        Box::pin(async move { read_fields::<S>(cx, input, S::ROUTE.body).await?.handle(cx).await })
    }
}

/// The parameters at the end of a service's path, in the query.
struct FromQuery<S> {
    names: Vec<&'static str>,
    service: PhantomData<fn() -> S>,
}

impl<S: Handle> Answers for FromQuery<S> {
    fn call<'r>(&'r self, _cx: &'r mut Cx<'_>, input: &'r mut Input<'_>) -> Answering<'r> {
        Box::pin(ready(self.redirect(input)))
    }
}

impl<S: Handle> FromQuery<S> {
    fn redirect(&self, input: &Input<'_>) -> Result {
        let pattern = S::ROUTE.pattern;
        let first = pattern.matches('{').count() - self.names.len();
        let has_tail = pattern.contains("{*");
        let mut texts = Vec::with_capacity(self.names.len());
        for (position, name) in self.names.iter().enumerate() {
            let is_tail = has_tail && position + 1 == self.names.len();
            let place = if is_tail { Place::Tail } else { Place::Segment };
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
        let service = S::parse(&Input { from_query: first, ..Input::new(input.parts, &path, input.query.clone()) })?;
        Ok(Response::redirect(StatusCode::PERMANENT_REDIRECT, &service.url()))
    }
}

impl Answers for Arc<Files> {
    fn call<'r>(&'r self, cx: &'r mut Cx<'_>, input: &'r mut Input<'_>) -> Answering<'r> {
        // The rest of the path is the first parameter; at the prefix itself there is none.
        let full_path = cx.uri().path_and_query().map_or("/", http::uri::PathAndQuery::as_str);
        Box::pin(ready(self.answer(cx.method(), input.path[0], full_path, cx.request_headers())))
    }
}

async fn read_fields<S: Handle>(cx: &mut Cx<'_>, input: &mut Input<'_>, kind: BodyKind) -> Result<S> {
    expect_type(cx.request_headers(), kind)?;
    let body = cx.read_body().await?;
    let mut input = Input { body: &body, ..Input::new(input.parts, input.path, std::mem::take(&mut input.query)) };
    if kind == BodyKind::Form {
        let text = std::str::from_utf8(&body).map_err(|_| Error::bad_request("the form is not UTF-8"))?;
        input.form = Pairs::decode(text, cx.limits().form_fields)?;
    }
    S::parse(&input)
}

/// 415 unless the body is of the type that the service reads.
fn expect_type(headers: &HeaderMap, kind: BodyKind) -> Result<()> {
    let sent = header_text(headers, &CONTENT_TYPE).unwrap_or_default();
    let sent = sent.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let (fits, wanted) = match kind {
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

const FORM_TYPE: &str = "application/x-www-form-urlencoded";
