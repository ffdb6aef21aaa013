//! The applications as the server mounts them.

use std::sync::Arc;

use http::StatusCode;
use http::request::Parts;
use skep::Error;
use skep::mount::{Mount, Mounted, ResponseFuture};

use crate::prefix::below;
use crate::respond;
use crate::status;
use crate::table::Table;

pub(crate) struct Mounting(pub(crate) Arc<Table>);

fn now(response: skep::Result) -> ResponseFuture {
    Box::pin(std::future::ready(response))
}

impl Mount for Mounting {
    fn answer(&self, request: Mounted) -> ResponseFuture {
        let path = request.parts.uri.path();
        let table = &self.0;
        if table.status.as_deref() == Some(path) {
            return now(Ok(status::page(table)));
        }
        let Some(application) = table.find(&request.parts) else { return now(Err(Error::not_found())) };
        for (prefix, files) in &application.files {
            if let Some(rest) = below(path, prefix) {
                let parts = &request.parts;
                let whole = parts.uri.path_and_query().map_or(path, http::uri::PathAndQuery::as_str);
                let rest = rest.strip_prefix('/').unwrap_or(rest);
                return now(files.answer(&parts.method, rest, whole, &parts.headers));
            }
        }
        match application.current() {
            Some(version) => Box::pin(respond::respond(version, request)),
            None => {
                let name = &application.options.name;
                let why = application.last().failure.map_or_else(String::new, |(_, why)| format!(": {why}"));
                let error = Error::new(StatusCode::SERVICE_UNAVAILABLE);
                now(Err(error.with_cause(format!("{name} has no version that works{why}"))))
            }
        }
    }

    /// Applications of Skep have limits for each service, which they keep themselves.
    fn body_limit(&self, request: &Parts) -> Option<u64> {
        self.0.find(request)?.current()?.exports.direct.is_some().then_some(u64::MAX)
    }

    fn name(&self) -> String {
        match self.0.applications.as_slice() {
            [one] => format!("the component {}", one.options.file.display()),
            many => format!("{} components", many.len()),
        }
    }
}
