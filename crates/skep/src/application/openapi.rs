//! An OpenAPI 3.1 document, made from the services: what a program must know to call them.
//!
//! [`App::openapi`] says where it is. It is made once, when the application is opened, and a request for it
//! costs what a small file costs. What a service asks of its caller is what its guards say.
//!
//! Start reading at `document::document`. What the derive says of a service is in `interface`.

mod document;
mod known;
mod operation;
mod security;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use bytes::Bytes;
use http::HeaderValue;

use crate::application::app::App;
use crate::application::endpoint::Endpoint;
use crate::contract::guard::Security;
use crate::routing::router::{Entry, QueryRequirement};
use skep_http::files::Held;

pub(crate) use known::{Made, ServiceDescription};

#[doc(hidden)]
pub use crate::contract::interface::{
    HasControl, HasNoControl, HasNoSchema, HasNothing, HasSchema, Interface, JsonType, Probe,
};

impl App {
    /// Answers at this path with an OpenAPI 3.1 document of the services that speak JSON: those that answer it
    /// ([`Answer`](crate::service::Answer)) or take it (`#[json]`). `api = true` adds another, `api = false` leaves one
    /// out.
    ///
    /// Title and version are those of [`App::name`]. Types that come and go as JSON derive `schemars::JsonSchema`; one
    /// that does not is named at the start. What else the document says, and what the server does about it, is in
    /// `docs/guides/pages/json-api.md`.
    ///
    /// ```
    /// use skep::prelude::*;
    ///
    /// /// Adds two numbers.
    /// #[derive(Service)]
    /// #[service(GET "/api/sum", answers = u32)]
    /// struct Sum { a: u16, b: u16 }
    ///
    /// impl Answer for Sum {
    ///     async fn answer(self, _cx: &mut Cx<'_>) -> Result<u32> {
    ///         Ok(u32::from(self.a) + u32::from(self.b))
    ///     }
    /// }
    ///
    /// let app = App::new().name("adder", "1.0.0").serve(services![Sum]).openapi("/api.json");
    /// let answer = skep::test::Client::new(app).get("/api.json");
    /// let document: serde_json::Value = serde_json::from_str(answer.text()).unwrap();
    /// assert_eq!(document["paths"]["/api/sum"]["get"]["summary"], "Adds two numbers.");
    /// ```
    #[must_use]
    pub fn openapi(mut self, path: &str) -> Self {
        if !path.starts_with('/') || path.contains(['{', '}', '?', '#']) {
            self.problems.push(format!("App::openapi: {path:?} is no path; \"/api.json\" would be one"));
        }
        let made = Made::default();
        self.services.push(Entry {
            name: "the OpenAPI document".to_owned(),
            method: http::Method::GET,
            pattern: path.to_owned(),
            requirement: QueryRequirement::default(),
            id: None,
            endpoint: Endpoint::of_document(Arc::clone(&made)),
        });
        if self.document.replace(made).is_some() {
            self.problems.push("an application has one OpenAPI document: App::openapi was called twice".into());
        }
        self
    }

    /// Makes the document, or says what it lacks.
    pub(crate) fn describe(&self, entries: &[Entry<Endpoint>], base_url: Option<&str>) -> Vec<String> {
        let Some(made) = &self.document else { return Vec::new() };
        let known = entries.iter().filter_map(|entry| {
            let security = entry.endpoint.guards().filter_map(|guard| (guard.security)()).collect();
            Some((entry.endpoint.known()?, security))
        });
        let known: Vec<(&ServiceDescription, Vec<Security>)> = known.collect();
        match document::document(self.name_and_version(), base_url, &known) {
            Ok(text) => {
                // A client that asks twice sees by the tag that nothing changed: the same text has the same tag in each
                // run.
                let mut hasher = DefaultHasher::new();
                text.hash(&mut hasher);
                let tag = HeaderValue::try_from(format!("\"{:016x}\"", hasher.finish())).expect("digits are ASCII");
                let json = HeaderValue::from_static("application/json");
                made.get_or_init(|| Held::new(Bytes::from(text), json, tag));
                Vec::new()
            }
            Err(problems) => problems,
        }
    }
}
