//! Routes: what a service declares, as data.

use std::time::Duration;

use http::Method;

use crate::base::percent::{self, EncodeSet};
use crate::routing::param::{Param, QueryWriter};

/// The most parameters that a path may hold.
pub const MAX_PATH_PARAMETERS: usize = 8;

/// The route of a service and its parameters.
#[derive(Debug)]
pub struct Route {
    /// The name of the service's type.
    pub service: &'static str,
    /// The request method.
    pub method: Method,
    /// The prefix of the path: a [`Prefix`](crate::link::Prefix).
    pub prefix: &'static str,
    /// The path behind the prefix, with `{name}` for a segment and `{*name}` for the rest.
    pub pattern: &'static str,
    /// The query parameters.
    pub query: &'static [QueryParameter],
    /// The parameters in the path and the query, and whether they are secret: [`Param::IS_SECRET`].
    #[doc(hidden)]
    pub secrets: &'static [(&'static str, bool)],
    /// The name and value that the query must have, and that links have: `when = "action=delete"`.
    pub when: Option<(&'static str, &'static str)>,
    /// True if the parameters at the end of the path may also come in the query, and are then redirected to the path.
    pub from_query: bool,
    /// What the body holds.
    pub body: BodyKind,
    /// Maximum size of a body in bytes, if not the configured one.
    pub body_limit: Option<u64>,
    /// Why this service accepts unsafe requests from other sites; `None`: it refuses them.
    pub cross_origin: Option<&'static str>,
    /// Why this service has no guard where [`App::require`](crate::App::require) asks for one.
    pub open: Option<&'static str>,
    /// True if it answers JSON: [`Answer`](crate::Answer).
    pub answers_json: bool,
    /// The form is accepted once, within this time after it was rendered.
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
    /// Nothing the service reads as fields; a handler may still read the raw bytes:
    /// [`Cx::read_body`](crate::Cx::read_body).
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
        secrets: &[],
        when: None,
        from_query: false,
        body: BodyKind::Unread,
        body_limit: None,
        cross_origin: None,
        open: None,
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

/// A line of the table of routes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteLine {
    /// The method, such as `GET`.
    pub method: String,
    /// The path with its parameters, such as `/writings/{page}`; required query parameters follow a `?`.
    pub path: String,
    /// The service, or the folder behind it.
    pub target: String,
    /// The guards, in the order in which they check a request; what admits every request is not among them.
    pub guards: Vec<&'static str>,
    /// Why it has none: `open = "reason"`.
    pub open: Option<&'static str>,
    /// File and line of a service.
    pub source: Option<(&'static str, u32)>,
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
        percent::encode_written(self.out, EncodeSet::Segment, |out| value.write(out));
    }

    /// The rest of the path.
    pub fn tail(&mut self, value: &impl Param) {
        percent::encode_written(self.out, EncodeSet::Tail, |out| value.write(out));
    }

    /// The query, which ends the link.
    pub fn query(&mut self) -> QueryWriter<'_> {
        QueryWriter::new(self.out)
    }
}
