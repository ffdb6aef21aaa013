//! Services: what an application answers.
//!
//! A service is a struct. Its fields are its parameters, its [`Handle::handle`] is its answer, and its value is its
//! link. `#[derive(Service)]` writes [`Service`]; the author writes [`Handle`].

mod json;
mod registry;
mod told_apart;

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use http::request::Parts;
use http::{HeaderName, Method};

use crate::cx::Cx;
use crate::error::{Error, Result};
use crate::form::{FieldInfo, FormField, Messages, Submission};
use crate::param::{Field, Pairs, Param, QueryWriter, quoted};
use crate::percent::{self, Place};
use crate::request::header_text;

pub use json::{Answer, AnswersJson, answer_json, answer_nothing};
#[cfg(not(target_family = "wasm"))]
#[doc(hidden)]
pub use registry::Declared;
#[cfg(not(target_family = "wasm"))]
pub(crate) use registry::declared;
pub use registry::{Registry, Services};

/// The most parameters that a path may hold.
pub const MAX_PATH_PARAMETERS: usize = 8;

/// A service, ours or another site's: its address, its parameters, its link. Written by `#[derive(Service)]`.
///
/// ```
/// use skep::prelude::*;
///
/// /// The articles of one year, perhaps only those with a tag.
/// #[derive(Service)]
/// #[service(GET "/archive/{year}")]
/// struct Archive { year: u16, tag: Option<String> }
///
/// impl Handle for Archive {
///     async fn handle(self, _cx: &mut Cx<'_>) -> Result {
///         Ok(Response::text(format!("the articles of {}", self.year)))
///     }
/// }
///
/// assert_eq!(Archive { year: 2026, tag: Some("a b".into()) }.url(), "/archive/2026?tag=a+b");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a service",
    label = "write `#[derive(Service)]` and `#[service(GET \"/path\")]` on the struct"
)]
pub trait Service: Sized + 'static {
    /// Where it is, and what it takes.
    const ROUTE: &'static Route;

    /// The fields that a form sends: those of the body, or the query of a GET service.
    const FIELDS: &'static [FieldInfo] = &[];

    /// The header fields that its fields are read from.
    const HEADERS: &'static [&'static str] = &[];

    /// Writes the link to this value.
    fn write_link(&self, link: &mut Link<'_>);

    /// The link to this value: path and query.
    fn url(&self) -> String {
        let mut url = String::with_capacity(Self::ROUTE.pattern.len() + 16);
        self.write_link(&mut Link::new(&mut url));
        url
    }
}

/// A service of this site: one that requests come to. Written by `#[derive(Service)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no service of this site",
    label = "only what has `#[derive(Service)]` and `#[service(GET \"/path\")]` is",
    note = "a service of another site (`#[service(external ...)]`) is linked to: it has no handler, and is never mounted"
)]
pub trait Served: Service {
    /// Reads the fields from a request.
    fn parse(input: &Input<'_>) -> Result<Self>;

    /// What a description of the interface says of it.
    #[cfg(feature = "openapi")]
    #[doc(hidden)]
    fn interface() -> crate::openapi::Interface {
        crate::openapi::Interface::default()
    }

    /// Answers again with the page that holds the form, if the service names one: `page = ...`.
    #[doc(hidden)]
    fn show_page<'c>(input: &Input<'_>, cx: &'c mut Cx<'_>) -> Result<Option<Answering<'c>>> {
        let _ = (input, cx);
        Ok(None)
    }

    /// The address of that page.
    #[doc(hidden)]
    fn page_url(input: &Input<'_>) -> Result<Option<String>> {
        let _ = input;
        Ok(None)
    }
}

/// What a service answers.
///
/// ```
/// use skep::prelude::*;
///
/// #[derive(Service)]
/// #[service(GET "/hello/{name}")]
/// struct Hello { name: String }
///
/// impl Handle for Hello {
///     async fn handle(self, _cx: &mut Cx<'_>) -> Result {
///         Ok(Response::text(format!("Hello, {}!", self.name)))
///     }
/// }
///
/// let client = skep::test::Client::new(App::new().serve::<(Hello,)>());
/// assert_eq!(client.get("/hello/bees").text(), "Hello, bees!");
/// ```
#[diagnostic::on_unimplemented(
    message = "the service `{Self}` has no handler",
    label = "nothing answers this service",
    note = "write `impl Handle for {Self} {{ async fn handle(self, cx: &mut Cx<'_>) -> Result {{ ... }} }}`",
    note = "a service of another site (`#[service(external ...)]`) has none, and is never mounted"
)]
pub trait Handle: Served {
    /// Answers one request.
    #[expect(async_fn_in_trait, reason = "a handler stays on the thread that accepted its connection")]
    async fn handle(self, cx: &mut Cx<'_>) -> Result;
}

/// A future of a handler: it stays on its thread.
#[doc(hidden)]
pub type Answering<'r> = Pin<Box<dyn Future<Output = Result> + 'r>>;

/// Where a service is, and what it takes.
#[derive(Debug)]
pub struct Route {
    /// The name of the service's type.
    pub service: &'static str,
    /// The request method.
    pub method: Method,
    /// What the path begins with: a [`Prefix`](crate::link::Prefix).
    pub prefix: &'static str,
    /// The path behind the prefix, with `{name}` for a segment and `{*name}` for the rest.
    pub pattern: &'static str,
    /// The query parameters.
    pub query: &'static [QueryParameter],
    /// The name and value that the query must have, and that links have: `when = "action=delete"`.
    pub when: Option<(&'static str, &'static str)>,
    /// True if the parameters at the end of the path may also come in the query, and are then redirected to the path.
    pub from_query: bool,
    /// What the body holds.
    pub body: BodyKind,
    /// The most bytes a body may have, where it is not the limit of the configuration.
    pub body_limit: Option<u64>,
    /// Why requests from other sites may reach this service though it changes something; `None`: they may not.
    pub cross_origin: Option<&'static str>,
    /// True if it answers JSON: [`Answer`].
    pub answers_json: bool,
    /// A submission of its form is accepted once, and for so long after the form was shown.
    pub once: Option<Duration>,
    /// The file that declares it, and the line.
    pub source: (&'static str, u32),
}

/// A query parameter of a [`Route`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryParameter {
    /// Its name.
    pub name: &'static str,
    /// True if a request without it is not for this service.
    pub required: bool,
}

/// What the body of a request to a service holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKind {
    /// Nothing the service reads as fields; a handler may still read it as it comes: [`Cx::read_body`].
    Unread,
    /// A form.
    Form,
    /// A form that may hold files.
    Multipart,
    /// JSON.
    Json,
}

impl Route {
    /// For what is no service: what `#[derive(Service)]` writes beside its complaint.
    #[doc(hidden)]
    pub const NONE: Self = Self {
        service: "",
        method: Method::GET,
        prefix: "",
        pattern: "/",
        query: &[],
        when: None,
        from_query: false,
        body: BodyKind::Unread,
        body_limit: None,
        cross_origin: None,
        answers_json: false,
        once: None,
        source: ("", 0),
    };

    /// True if its clients are programs that read JSON.
    pub(crate) fn speaks_json(&self) -> bool {
        self.answers_json || self.body == BodyKind::Json
    }

    /// Prefix and pattern.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{}{}", self.prefix, self.pattern)
    }

    /// True for a service of another site: our secrets must not go there.
    #[must_use]
    pub fn is_external(&self) -> bool {
        !self.pattern.starts_with('/')
    }

    /// The path without the parameters at its end, and their names.
    pub(crate) fn without_suffix(&self) -> (String, Vec<&'static str>) {
        let mut rest = self.pattern;
        let mut names = Vec::new();
        while let Some((before, name)) = rest.rsplit_once('/').filter(|(_, last)| last.starts_with('{')) {
            names.push(name.trim_matches(['{', '*', '}']));
            rest = before;
        }
        names.reverse();
        let rest = if rest.is_empty() { "/" } else { rest };
        (format!("{}{rest}", self.prefix), names)
    }
}

/// What a request brings for the fields of a service.
#[derive(Debug)]
pub struct Input<'r> {
    pub(crate) parts: &'r Parts,
    pub(crate) path: &'r [&'r str; MAX_PATH_PARAMETERS],
    /// From this position on, path parameters came in the query.
    pub(crate) from_query: usize,
    pub(crate) query: Pairs<'r>,
    pub(crate) body: &'r [u8],
    pub(crate) form: Option<Rc<Submission>>,
}

impl<'r> Input<'r> {
    pub(crate) fn new(parts: &'r Parts, path: &'r [&'r str; MAX_PATH_PARAMETERS], query: Pairs<'r>) -> Self {
        Self { parts, path, from_query: MAX_PATH_PARAMETERS, query, body: &[], form: None }
    }

    /// The path parameter at this position. What is no such value is not an address: 404.
    pub fn path<T: Param>(&self, position: usize, name: &'static str) -> Result<T> {
        self.part(position, name, percent::decode_segment(self.path[position]))
    }

    /// The rest of the path, which is the parameter at this position.
    pub fn tail<T: Param>(&self, position: usize, name: &'static str) -> Result<T> {
        self.part(position, name, percent::decode_tail(self.path[position]))
    }

    fn part<T: Param>(&self, position: usize, name: &'static str, text: Option<Cow<'_, str>>) -> Result<T> {
        let Some(text) = text else {
            return Err(Error::bad_request(format!("{name}: the path is not UTF-8")));
        };
        T::parse(&text).ok_or_else(|| {
            let error = if position < self.from_query { Error::not_found() } else { Error::bad_request("") };
            error.with_message(format!("{name}: {} is not {}", quoted(&text), T::expected()))
        })
    }

    /// A query parameter; 400 if it is missing or wrong.
    pub fn query<F: Field>(&self, name: &'static str) -> Result<F> {
        F::read(name, &self.query)
    }

    /// A query parameter, or its default if it is missing; 400 if it is wrong.
    pub fn query_or<T: Param>(&self, name: &'static str, default: impl FnOnce() -> T) -> Result<T> {
        // A form sends an empty text for a field left empty. Where that is no value, it is none.
        let empty = || self.query.get(name).all(str::is_empty) && T::parse("").is_none();
        if !self.query.contains(name) || empty() { Ok(default()) } else { T::read(name, &self.query) }
    }

    /// A form field. What is wrong with it is noted, so that all faults of a form are told at once: [`refused`](Self::refused).
    pub fn form<F: FormField>(&self, name: &'static str) -> Option<F> {
        self.form.as_deref()?.read(name.into())
    }

    /// What is wrong with the form fields that were read.
    #[must_use]
    pub fn refused(&self) -> Error {
        Error::refused(
            self.form.as_ref().map(|submission| submission.take_faults()).unwrap_or_default(),
            &Messages::ENGLISH,
        )
    }

    /// A header field; 400 if it is missing or wrong.
    pub fn header<F: Field>(&self, name: &'static str) -> Result<F> {
        let key = HeaderName::from_static(name);
        let mut pairs = Pairs::default();
        if let Some(text) = header_text(&self.parts.headers, &key) {
            pairs.push(name, text);
        }
        F::read(name, &pairs)
    }

    /// The JSON body: 400 with line and column if it is no JSON, 422 and where it is wrong if it is not such a value.
    pub fn json<T: serde::de::DeserializeOwned>(&self) -> Result<T> {
        json::read(self.body)
    }
}

/// Writes the link to a service. Used by `#[derive(Service)]`.
#[derive(Debug)]
pub struct Link<'l> {
    out: &'l mut String,
}

impl<'l> Link<'l> {
    /// A link at the end of a text.
    #[doc(hidden)]
    pub fn new(out: &'l mut String) -> Self {
        Self { out }
    }

    /// A literal part of the path, already encoded.
    pub fn literal(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// One segment.
    pub fn segment(&mut self, value: &impl Param) {
        percent::encode_written(self.out, Place::Segment, |out| value.write(out));
    }

    /// The rest of the path.
    pub fn tail(&mut self, value: &impl Param) {
        percent::encode_written(self.out, Place::Tail, |out| value.write(out));
    }

    /// The query, which ends the link.
    pub fn query(&mut self) -> QueryWriter<'_> {
        QueryWriter::new(self.out)
    }
}
