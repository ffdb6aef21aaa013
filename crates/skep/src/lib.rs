//! A web framework in which what is wrong does not compile.
//!
//! A service is a struct: its fields are its parameters, its [`Handle::handle`] is its answer, and its value is its
//! link. An [`App`] is a list of services and what they share.
//!
//! ```
//! use skep::prelude::*;
//!
//! /// One article.
//! #[derive(Service)]
//! #[service(GET "/writings/{page}")]
//! struct Article { page: Slug }
//!
//! impl Handle for Article {
//!     async fn handle(self, _cx: &mut Cx<'_>) -> Result {
//!         Ok(Response::html(html! { h1 { (self.page) } a href=(Article { page: Slug::of("next") }) { "Next" } }))
//!     }
//! }
//!
//! fn app() -> App {
//!     App::new().serve(services![Article])
//! }
//! # assert_eq!(skep::test::Client::new(app()).get("/writings/bees").status(), 200);
//! ```
//!
//! | task | see |
//! |---|---|
//! | route a request, handle it, link to it | [`Service`], [`Handle`], [`service`] |
//! | path, query, header fields, JSON | [`param`], [`Answer`] |
//! | forms, validation, uploads, CSRF tokens | [`form`]; to store files the crate `skep-storage` |
//! | HTML templates | [`html!`], [`html`](mod@html) |
//! | responses: redirect, download, stream, static files | [`Response`], [`Body`], [`files`], [`assets!`] |
//! | SQL, transactions, migrations | [`sql!`](macro@sql), [`sql`](mod@sql) |
//! | cookies, sessions, flash messages | [`Cookie`], [`session`], [`Cx::flash`] |
//! | authorization, rate limits | [`guard`]; for accounts the crate `skep-people` |
//! | middleware | [`layer`], and `tower` with the feature of that name |
//! | cached pages, fragments and values | [`cache`] |
//! | errors and their pages | [`Error`], [`error_page`], [`App::map_error`] |
//! | WebSockets, server-sent events | [`websocket`], [`sse`]; for live pages the crate `skep-live` |
//! | mail, requests to other servers | [`mail`], [`fetch`]; for background jobs the crate `skep-jobs` |
//! | CORS, security headers, compression, OpenAPI | [`cors`], [`SecurityHeaders`], [`compression`], `openapi` |
//! | state, settings, start-up | [`App`], [`settings`], [`Setup`] |
//! | logging | [`log`](mod@log) |
//! | tests | `test` |
//! | WebAssembly | [`component`](mod@component), [`module`] |
//!
//! But for the client of tests, this crate opens no socket and starts no thread and no process: a server
//! (`skep-server`, or a WebAssembly host) gives it requests and takes its answers. It also builds for `wasm32-wasip2`.

// The layers of the modules are in xtask/src/tidy/layers/table.rs; `cargo xtask tidy --cycles skep` finds what breaks
// them.

// What the macros write names this crate `::skep`, also in here.
#[allow(unused_extern_crates, reason = "only what the macros write uses it")]
extern crate self as skep;

// From the lowest: base, host, http, routing, content, security, context, contract, application, features. None imports
// what is above it.
mod application;
mod base;
mod context;
mod contract;
mod features;
mod host;
mod http;
mod routing;
mod security;

pub mod html;
pub mod link;
pub mod settings;

mod pages;

#[cfg(not(target_family = "wasm"))]
#[doc(hidden)]
pub use inventory as __inventory;

#[cfg(feature = "openapi")]
pub use application::openapi;
#[cfg(feature = "tower")]
pub use application::tower;
pub use application::{app, mount, site};
pub use context::{cx, session};
pub mod cache {
    #![doc = include_str!("context/cache.md")]

    pub use crate::context::cache::*;
    pub use crate::contract::page::PublicPage;
}
pub use contract::{cors, form, guard, layer, repeat, service};
#[cfg(not(target_family = "wasm"))]
#[doc(hidden)]
pub use features::hosted;
#[cfg(all(feature = "test", not(target_family = "wasm")))]
pub use features::test;
pub use features::{component, module, websocket};
pub use host::mail;
#[cfg(not(target_family = "wasm"))]
pub use host::wakeup;
#[doc(hidden)]
pub use http::{account, wire};
pub use http::{body, compression, cookie, error, error_page, fetch, files, log, request, response, sse, upgrade};
pub use routing::param;
#[doc(hidden)]
pub use security::masks;

pub use ::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
#[doc(hidden)]
pub use application::app::ServiceEntry;
pub use application::app::{App, Services};
pub use application::site::{LocalSite, Site};
pub use context::cx::Cx;
pub use context::setup::{Limits, Setup, StartError};
pub use context::work::Work;
pub use contract::service::{Answer, Handle, Service};
pub use routing::param::Slug;
pub use security::keys::AppKeys;
pub use security::secret::Secret;
/// Writes HTML, checked while it compiles: [`skep_html::html!`] has its syntax. Besides, it knows [forms](mod@form):
///
/// - In a literal `form (Comment::form(...)) { ... }`, `input (Comment::author);` is the control of a field.
/// - `@fields(Order::name) { (labelled(&form, Order::name)) }` says which field has its controls in a splice.
/// - `@form (part) { ... }` has the controls of a group of fields.
///
/// ```
/// use skep::prelude::*;
///
/// #[derive(Service)]
/// #[service(GET "/search")]
/// struct Search { words: Option<String> }
/// # impl Handle for Search { async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text("")) } }
///
/// let page = html! { p { "Bees & wasps: " a href=(Search { words: Some("a&b".into()) }) { "search" } } };
/// assert_eq!(page.as_str(), r#"<p>Bees &amp; wasps: <a href="/search?words=a%26b">search</a></p>"#);
/// ```
pub use skep_html_macros::html_of_skep as html;
#[doc(inline)]
pub use skep_http::{Body, Cookie, Error, HeaderBlock, Or404, Peer, Request, Response, Result, SecurityHeaders};
pub use skep_macros::{Service, handler};
pub use skep_sql::{offload, sql_function, status};
/// A statement that SQLite itself checks while the program is compiled, against the migrations of the application; for
/// PostgreSQL, `skep sql check` asks a server before. [`skep_sql::sql!`] has its syntax.
///
/// ```
/// use skep::prelude::*;
/// use skep::sql::{self, Row};
///
/// #[derive(Row)]
/// struct Post { title: String, body: Option<String> }
///
/// async fn post(db: &sql::Local, slug: &Slug) -> Result<Post> {
///     // An application leaves out `in "..."`: its migrations are in `migrations`, next to Cargo.toml.
///     db.one(sql!(in "tests/sql/checked"; Post, "select title, body from post where slug = ?", slug)).await?.or_404()
/// }
/// ```
pub use skep_sql_macros::sql_of_skep as sql;

/// [`html!`] without HTML's own rules, for markup that is meant to be wrong: [`skep_html::html_unchecked!`].
///
/// ```
/// let quirk = skep::html_unchecked! { center { p { "5 < 6" } } };
/// assert_eq!(quirk.as_str(), "<center><p>5 &lt; 6</p></center>");
/// ```
pub use skep_html_macros::html_unchecked_of_skep as html_unchecked;
/// Writes a piece of HTML whose type comes from where it goes: what [`html!`] is for flow content, this is for all
/// other [kinds of pieces](html::Html#pieces). More is at [`skep_html::piece!`].
///
/// ```
/// use skep::html::{Html, Phrasing};
/// use skep::{html, piece};
///
/// fn day(date: &str) -> Html<Phrasing> {
///     piece! { time datetime=(date) { (date) } }
/// }
///
/// assert!(html! { p { "Written " (day("2026-11-21")) } }.as_str().ends_with("2026-11-21</time></p>"));
/// ```
pub use skep_html_macros::piece_of_skep as piece;

/// Puts a folder into the executable, and makes each of its files a constant to link to.
///
/// ```
/// skep::assets!(pub Static = "tests/site" at "/static");
///
/// assert!(Static::STYLE_CSS.url().starts_with("/static/style.")); // "/static/style.3f2a9c1b.css"
/// assert_eq!(Static::HELLO_TXT.bytes(), b"Hello, world!");
/// assert_eq!(Static::files().prefix(), Some("/static"));
/// ```
///
/// The folder is sought beside the package's `Cargo.toml`. For each file of it, and of the folders in it, there is a
/// constant of type [`files::Asset`], named in upper case with `_` for all that is neither an ASCII letter nor a digit:
/// `css/site.css` is `CSS_SITE_CSS`, `404.html` is `_404_HTML`. Two files with the same constant do not compile, nor
/// does a link to a file that does not exist. Names that begin with a dot are left out.
///
/// The links carry a hash of the content, and what is fetched by them may be kept for ever. The plain names are served
/// too, and asked about each time. With the feature `compression`, what shrinks by 5 per cent or more
/// is also embedded compressed, by brotli and gzip.
///
/// As an expression, `assets!("static")` is the folder without constants: a [`files::Assets`] to be mounted anywhere.
///
/// In a build with debug assertions, each request reads its file from the folder, if that is still where it was: what
/// was edited is served at once, under the same links, and nothing may be kept without asking. A release build, a
/// component and [`Asset::bytes`](files::Asset::bytes) have the files as they were compiled.
///
/// Cargo compiles again when one of the files changes. That a file was added or removed it only sees with a build
/// script of one line, `println!("cargo::rerun-if-changed=static");`.
pub use skep_macros::assets;

pub mod sql;

/// What an application's source usually needs.
pub mod prelude {
    pub use crate::guard::Scope;
    pub use crate::html::{DOCTYPE, Html};
    pub use crate::link::Destination;
    // For what its derive writes, `rating.label()`; nobody else needs the name.
    pub use crate::param::{Choice as _, Param};
    pub use crate::{
        Answer, App, Cookie, Cx, Error, Handle, Or404, Response, Result, Service, Slug, StatusCode, handler, html,
        piece, services,
    };
    // The derive alone: an author who implements the trait by hand names it.
    pub use skep_macros::Group;
    // The macros alone: there is a module and a trait of the same names.
    pub use skep_sql_macros::{RowOfSkep as Row, sql_of_skep as sql};
}
