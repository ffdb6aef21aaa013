//! Services: what an application answers.
//!
//! A service is a struct. Its fields are its parameters, its [`Handle::handle`] is its answer, and its value is its
//! link. `#[derive(Service)]` writes [`Service`]; the author writes [`Handle`].

use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use http::request::Parts;
use http::{HeaderName, Method};

use crate::cx::Cx;
use crate::error::{Error, Result};
use crate::form::{FieldInfo, FormField, Messages, Submission};
use crate::html::Buffer;
use crate::param::{Field, Pairs, Param, QueryWriter, quoted};
use crate::percent::{self, Place};
use crate::request::header_text;

/// The most parameters that a path may hold.
pub const MAX_PATH_PARAMETERS: usize = 8;

/// A service: its address, its parameters, its link. Written by `#[derive(Service)]`.
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

    /// Reads the fields from a request.
    fn parse(input: &Input<'_>) -> Result<Self>;

    /// Answers again with the page that holds the form, if the service names one: `page = ...`.
    #[doc(hidden)]
    fn show_page<'c>(input: &Input<'_>, cx: &'c mut Cx<'_>) -> Result<Option<Answering<'c>>> {
        let _ = (input, cx);
        Ok(None)
    }

    /// Writes the link to this value.
    fn write_link(&self, link: &mut Link<'_>);

    /// The link to this value: path and query.
    fn url(&self) -> String {
        let mut url = String::with_capacity(Self::ROUTE.pattern.len() + 16);
        self.write_link(&mut Link::new(&mut url));
        url
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
    note = "write `impl Handle for {Self} {{ async fn handle(self, cx: &mut Cx<'_>) -> Result {{ ... }} }}`"
)]
pub trait Handle: Service {
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
    /// The path, with `{name}` for a segment and `{*name}` for the rest.
    pub pattern: &'static str,
    /// The query parameters.
    pub query: &'static [QueryParameter],
    /// What the body holds.
    pub body: BodyKind,
    /// The most bytes a body may have, where it is not the limit of the configuration.
    pub body_limit: Option<u64>,
    /// Why requests from other sites may reach this service though it changes something; `None`: they may not.
    pub cross_origin: Option<&'static str>,
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
    pub(crate) fn required_query(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.query.iter().filter(|parameter| parameter.required).map(|parameter| parameter.name)
    }
}

/// What a request brings for the fields of a service.
#[derive(Debug)]
pub struct Input<'r> {
    pub(crate) parts: &'r Parts,
    pub(crate) path: &'r [&'r str; MAX_PATH_PARAMETERS],
    pub(crate) query: Pairs<'r>,
    pub(crate) body: &'r [u8],
    pub(crate) form: Option<Rc<Submission>>,
}

impl Input<'_> {
    /// The path parameter at this position. What is no such value is not an address: 404.
    pub fn path<T: Param>(&self, position: usize, name: &'static str) -> Result<T> {
        let Some(text) = percent::decode_segment(self.path[position]) else {
            return Err(Error::bad_request(format!("{name}: the path is not UTF-8")));
        };
        T::parse(&text).ok_or_else(|| {
            Error::not_found().with_message(format!("{name}: {} is not {}", quoted(&text), T::expected()))
        })
    }

    /// A query parameter; 400 if it is missing or wrong.
    pub fn query<F: Field>(&self, name: &'static str) -> Result<F> {
        F::read(name, &self.query)
    }

    /// A form field. What is wrong with it is noted, so that all faults of a form are told at once: [`refused`](Self::refused).
    pub fn form<F: FormField>(&self, name: &'static str) -> Option<F> {
        let submission = self.form.as_deref()?;
        F::read(&submission.sent(name)).map_err(|fault| submission.note((name, fault))).ok()
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

    /// The JSON body; 400 with line and column if it is not the JSON of such a value.
    pub fn json<T: serde::de::DeserializeOwned>(&self, name: &'static str) -> Result<T> {
        serde_json::from_slice(self.body).map_err(|error| Error::bad_request(format!("{name}: {error}")))
    }
}

/// Writes the link to a service. Used by `#[derive(Service)]`.
#[derive(Debug)]
pub struct Link<'l> {
    out: &'l mut String,
}

impl<'l> Link<'l> {
    pub(crate) fn new(out: &'l mut String) -> Self {
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

/// Writes the link to a service where an attribute's value stands. Used by `#[derive(Service)]`.
#[doc(hidden)]
pub fn write_href(service: &impl Service, out: &mut Buffer) {
    out.push_encoded(|text| service.write_link(&mut Link::new(text)));
}

/// A tuple of services, as [`App::serve`](crate::App::serve) takes it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tuple of services with handlers",
    label = "write `.serve::<(First, Second)>()`, or `.serve::<(Only,)>()` for a single one"
)]
pub trait Services {
    /// Calls `each` for every service of the tuple.
    fn register(registry: &mut impl Registry);
}

/// What [`Services::register`] tells the services to.
pub trait Registry {
    /// Adds one service.
    fn add<S: Handle>(&mut self);
}

macro_rules! tuples_of_services {
    ($($name:ident)*) => {
        tuples_of_services!(@ [] $($name)*);
    };
    (@ [$($done:ident)*] $next:ident $($rest:ident)*) => {
        impl<$($done: Handle,)* $next: Handle> Services for ($($done,)* $next,) {
            fn register(registry: &mut impl Registry) {
                $(registry.add::<$done>();)*
                registry.add::<$next>();
            }
        }
        tuples_of_services!(@ [$($done)* $next] $($rest)*);
    };
    (@ [$($done:ident)*]) => {};
}

tuples_of_services!(A B C D E F G H I J K L M N O P Q R S T U V W X);
