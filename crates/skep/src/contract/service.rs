//! Services: what an application answers.
//!
//! A service is a struct. Its fields are its parameters, its [`Handle::handle`] is its answer, and its value is its
//! link. `#[derive(Service)]` writes [`Service`]; the author writes [`Handle`].

mod ambiguity;
mod json;
mod registry;

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use http::{HeaderName, StatusCode};

use crate::base::percent;
use crate::context::cx::Cx;
use crate::contract::form::{FieldInfo, FormField, Messages, Submission};
use crate::contract::guard::GuardInfo;
use crate::routing::param::{self, Field, Pairs, Param};
use skep_http::error::Error;
use skep_http::ext::ErrorExt as _;
use skep_http::fields::list::elements;
use skep_http::request::{Fields, Parts, joined_text};
use skep_http::response::Result;
use skep_http::validation::InputError;

pub(crate) use ambiguity::indistinguishable;
pub use json::{Answer, AnswersJson, answer_json, answer_nothing};
#[doc(hidden)]
pub use registry::Declared;
pub(crate) use registry::declared;

pub use crate::routing::route::{BodyKind, Link, MAX_PATH_PARAMETERS, QueryParameter, Route};

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
    message = "`{Self}` is not a service of this site",
    label = "it needs `#[derive(Service)]` and `#[service(GET \"/path\")]`",
    note = "an external service (`#[service(external ...)]`) can be linked to, but has no handler and cannot be mounted"
)]
pub trait Served: Service {
    /// The values of its guards, in the order of their fields.
    #[doc(hidden)]
    type Guards;

    /// Its guards.
    #[doc(hidden)]
    const GUARDS: &'static [GuardInfo];

    /// Has its guards check the request.
    #[doc(hidden)]
    #[expect(async_fn_in_trait, reason = "a guard stays on the thread that accepted its connection")]
    async fn admit(cx: &mut Cx<'_>) -> Result<Self::Guards>;

    /// The value of no guards, if it has none.
    #[doc(hidden)]
    fn unguarded() -> Option<Self::Guards>;

    /// Reads the other fields from a request.
    #[doc(hidden)]
    fn parse(input: &Input<'_>, guards: Self::Guards) -> Result<Self>;

    /// What a description of the interface says of it.
    #[cfg(feature = "openapi")]
    #[doc(hidden)]
    fn interface() -> crate::contract::interface::Interface {
        crate::contract::interface::Interface::default()
    }

    /// Answers again with the page that holds the form, if the service names one: `page = ...`.
    #[doc(hidden)]
    fn show_page<'c>(input: &Input<'_>, cx: &'c mut Cx<'_>) -> Result<Option<ResponseFuture<'c>>> {
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
/// let client = skep::test::Client::new(App::new().serve(services![Hello]));
/// assert_eq!(client.get("/hello/bees").text(), "Hello, bees!");
/// ```
#[diagnostic::on_unimplemented(
    message = "the service `{Self}` has no handler",
    label = "this service has no handler",
    note = "write `impl Handle for {Self} {{ async fn handle(self, cx: &mut Cx<'_>) -> Result {{ ... }} }}`",
    note = "an external service (`#[service(external ...)]`) has no handler and cannot be mounted"
)]
pub trait Handle: Served {
    /// Answers one request.
    #[expect(async_fn_in_trait, reason = "a handler stays on the thread that accepted its connection")]
    async fn handle(self, cx: &mut Cx<'_>) -> Result;
}

/// What `page = ...` names: a service, or a link to one, which may have guards. Written by `#[derive(Service)]`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a service nor a link to one",
    label = "name a GET service: `page = Show {{ id }}`, or `page = Show::link(id)` where it has guards"
)]
pub trait FormPage {
    /// The service.
    type Page;

    /// Its address.
    fn address(&self) -> String;

    /// The service itself, once its guards have admitted the request.
    #[expect(async_fn_in_trait, reason = "a guard stays on the thread that accepted its connection")]
    async fn admitted(self, cx: &mut Cx<'_>) -> Result<Self::Page>;
}

#[diagnostic::do_not_recommend]
impl<S: Served> FormPage for S {
    type Page = S;

    fn address(&self) -> String {
        self.url()
    }

    async fn admitted(self, cx: &mut Cx<'_>) -> Result<S> {
        S::admit(cx).await?;
        Ok(self)
    }
}

/// A future of a handler: it stays on its thread.
#[doc(hidden)]
pub type ResponseFuture<'r> = Pin<Box<dyn Future<Output = Result> + 'r>>;

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
            return Err(Error::of_input(StatusCode::BAD_REQUEST, InputError::NotUtf8 { name: name.to_owned() }));
        };
        T::parse(&text).ok_or_else(|| {
            let is_path = position < self.from_query;
            let status = if is_path { StatusCode::NOT_FOUND } else { StatusCode::BAD_REQUEST };
            Error::of_input(status, param::invalid::<T>(name, &text))
        })
    }

    /// A query parameter; 400 if it is missing or wrong.
    pub fn query<F: Field>(&self, name: &'static str) -> Result<F> {
        F::read(name, &self.query)
    }

    /// A query parameter, or its default if it is missing; 400 if it is wrong.
    pub fn query_or<T: Param>(&self, name: &'static str, default: impl FnOnce() -> T) -> Result<T> {
        // A form sends an empty text for a field left empty. Where that is no value, the field is missing.
        let empty = || self.query.get(name).all(str::is_empty) && T::parse("").is_none();
        if !self.query.contains(name) || empty() { Ok(default()) } else { T::read(name, &self.query) }
    }

    /// A form field. A validation error is noted, so that all errors of a form are shown at once:
    /// [`refused`](Self::refused).
    pub fn form<F: FormField>(&self, name: &'static str) -> Option<F> {
        self.form.as_deref()?.read(name.into())
    }

    /// What is wrong with the form fields that were read.
    #[must_use]
    pub fn refused(&self) -> Error {
        Error::refused(
            self.form.as_ref().map(|submission| submission.take_field_errors()).unwrap_or_default(),
            &Messages::ENGLISH,
        )
    }

    /// A header field; 400 if it is missing or wrong.
    pub fn header<F: Field>(&self, name: &'static str) -> Result<F> {
        read_header(&self.parts.headers, name)
    }

    /// The JSON body: 400 with line and column if it is no JSON, 422 and where it is wrong if it is not such a value.
    pub fn json<T: serde::de::DeserializeOwned>(&self) -> Result<T> {
        json::read(self.body)
    }
}

/// A header field as a parameter: all of its lines as one list.
#[doc(hidden)]
pub fn read_header<F: Field>(headers: &Fields, name: &'static str) -> Result<F> {
    const { assert!(<F::One as Param>::OFFER.is_none(), "nothing is offered in a header: write the type of the value") }
    let mut pairs = Pairs::default();
    let text = joined_text(headers, &HeaderName::from_static(name))?;
    match &text {
        Some(list) if F::REPEATED => elements(list).for_each(|element| pairs.push(name, element)),
        Some(text) => pairs.push(name, text),
        None => {}
    }
    F::read(name, &pairs)
}
