//! Takes the reports of browsers that a page wanted what its `Content-Security-Policy` forbids:
//! `SecurityHeaders::report_to`.

use http::StatusCode;
use serde_json::Value;

use super::DynHandler;
use crate::context::cx::Cx;
use crate::contract::service::{Input, ResponseFuture};
use skep_http::error::Error;
use skep_http::log::limit::LogLimit;
use skep_http::response::{Response, Result};

/// Maximum size of a report in bytes.
pub(super) const BODY_LIMIT: u64 = 64 << 10;
/// How much of each text is logged, in characters.
const TEXT_CHARS: usize = 200;

static REPORTS: LogLimit = LogLimit::new("reports of browsers");

pub(super) struct Violations;

fn log(report: &Report) {
    let Report { page, directive, blocked, place } = report;
    REPORTS.log(|| {
        tracing::warn!(target: "skep::csp", ?page, ?directive, ?blocked, ?place, "a page broke its Content-Security-Policy");
    });
}

impl DynHandler for Violations {
    fn call<'r>(&'r self, cx: &'r mut Cx<'_>, _input: &'r mut Input<'_>) -> ResponseFuture<'r> {
        Box::pin(async move {
            let body = cx.read_body().await?;
            let reports = read(&body).ok_or_else(|| Error::bad_request("this is no report of a browser"))?;
            reports.iter().for_each(log);
            Ok(Response::empty(StatusCode::NO_CONTENT)) as Result
        })
    }
}

/// One violation; a text that the browser left out is empty.
#[derive(Debug, Default, PartialEq, Eq)]
struct Report {
    page: String,
    directive: String,
    blocked: String,
    /// File and line of the script.
    place: String,
}

/// Reports in the form of CSP 2 (`application/csp-report`), or of the Reporting API (`application/reports+json`).
fn read(body: &[u8]) -> Option<Vec<Report>> {
    match serde_json::from_slice(body).ok()? {
        Value::Array(reports) => {
            let of_csp = reports.iter().filter(|report| report["type"] == "csp-violation");
            Some(
                of_csp
                    .map(|report| &report["body"])
                    .map(|body| {
                        report(body, ["documentURL", "effectiveDirective", "blockedURL", "sourceFile", "lineNumber"])
                    })
                    .collect(),
            )
        }
        Value::Object(object) => {
            let body = object.get("csp-report")?;
            Some(vec![report(
                body,
                ["document-uri", "violated-directive", "blocked-uri", "source-file", "line-number"],
            )])
        }
        _ => None,
    }
}

fn report(body: &Value, [page, directive, blocked, file, line]: [&str; 5]) -> Report {
    let text = |name: &str| -> String { body[name].as_str().unwrap_or_default().chars().take(TEXT_CHARS).collect() };
    let place = match body[line].as_u64() {
        Some(line) => format!("{}:{line}", text(file)),
        None => text(file),
    };
    Report { page: text(page), directive: text(directive), blocked: text(blocked), place }
}

#[cfg(test)]
#[path = "../../../tests/unit/endpoint/violations.rs"]
mod tests;
