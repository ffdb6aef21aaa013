//! What answers requests to the status page.

use std::sync::Arc;
use std::time::Duration;

use http::header::{ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY};
use http::{HeaderName, HeaderValue, Method, StatusCode};
use skep::mount::{Mount, Mounted, ResponseFuture};
use skep::{Error, Response, Result};

use super::exposition::{self, Format};
use super::observer::{Observation, Observer};
use super::page;

const STYLE: &str = include_str!("status.css");
const SCRIPT: &str = include_str!("status.js");

/// Nothing but the page's own style and script, which fetches the page again.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

/// How much of the history is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Range {
    Hour,
    SixHours,
    Day,
}

impl Range {
    /// By the query of the page.
    fn parse(query: &str) -> Self {
        match query {
            "range=6h" => Self::SixHours,
            "range=24h" => Self::Day,
            _ => Self::Hour,
        }
    }

    pub(super) fn span(self) -> Duration {
        let hours = match self {
            Self::Hour => 1,
            Self::SixHours => 6,
            Self::Day => 24,
        };
        Duration::from_secs(hours * 3600)
    }
}

/// The pages below `/-/`. It is no service: those are found by their types, and an application would have to mount it.
pub(super) struct Pages {
    observer: Arc<Observer>,
}

impl Pages {
    pub(super) fn new(observer: &Arc<Observer>) -> Self {
        Self { observer: Arc::clone(observer) }
    }
}

impl Mount for Pages {
    fn answer(&self, request: Mounted) -> ResponseFuture {
        let observer = Arc::clone(&self.observer);
        Box::pin(async move {
            if !matches!(request.parts.method, Method::GET | Method::HEAD) {
                let allow = HeaderValue::from_static("GET, HEAD");
                return Err(Error::new(StatusCode::METHOD_NOT_ALLOWED).with_header(ALLOW, allow));
            }
            let accept = request.parts.headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
            let query = request.parts.uri.query().unwrap_or_default();
            let response = match request.parts.uri.path() {
                "/" | "/-" | "/-/" => redirect("/-/status"),
                "/-/status.css" => Response::with_content_type("text/css; charset=utf-8", STYLE),
                "/-/status.js" => Response::with_content_type("text/javascript; charset=utf-8", SCRIPT),
                "/-/metrics" => {
                    let format = Format::accepted(accept);
                    let text = exposition::text(&*observed(&observer).await?, format);
                    Response::with_content_type(format.content_type(), text)
                }
                "/-/status.json" => json(&*observed(&observer).await?)?,
                "/-/status" if accept.starts_with("application/json") => json(&*observed(&observer).await?)?,
                "/-/status" => status_page(&observer, Range::parse(query)).await?,
                _ => return Err(Error::not_found()),
            };
            Ok(with_security(response))
        })
    }

    fn name(&self) -> String {
        "status".to_owned()
    }
}

/// The supervisor is asked on another thread: it may take a moment.
async fn observed(observer: &Arc<Observer>) -> Result<Arc<Observation>> {
    let observer = Arc::clone(observer);
    Ok(tokio::task::spawn_blocking(move || observer.observe()).await?)
}

async fn status_page(observer: &Arc<Observer>, range: Range) -> Result {
    let observation = observed(observer).await?;
    let samples = observer.history.read(observation.at / 1000, range.span())?;
    Ok(Response::html(page::page(&observation, &samples, range)))
}

fn json(observation: &Observation) -> Result {
    let mut all = serde_json::to_value(&observation.overview)?;
    let more: serde_json::Value = serde_json::from_str(&observation.figures.to_json())?;
    let caches = serde_json::json!({
        "caches": observation.caches, "tiers": observation.tiers, "pools": observation.pools, "problem": observation.problem,
    });
    if let serde_json::Value::Object(all) = &mut all {
        for part in [more, caches] {
            if let serde_json::Value::Object(part) = part {
                all.extend(part);
            }
        }
    }
    Response::json(&all)
}

fn redirect(to: &'static str) -> Response {
    Response::empty(StatusCode::SEE_OTHER).with_header(http::header::LOCATION, HeaderValue::from_static(to))
}

fn with_security(response: Response) -> Response {
    let fields: [(HeaderName, &str); 5] = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (REFERRER_POLICY, "no-referrer"),
        (CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("x-content-type-options"), "nosniff"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    fields
        .into_iter()
        .fold(response, |response, (name, value)| response.with_header(name, HeaderValue::from_static(value)))
}
