//! The pages, scripts and events of `skep dev` itself: `/-/dev/...`, and what is there while no version answers.

use std::fmt::Write as _;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use http_body_util::channel::Channel;
use hyper::body::{Frame, Incoming};
use hyper::header::{HeaderMap, HeaderValue, RETRY_AFTER};
use hyper::{Method, Request, Response, StatusCode};

use super::{Body, Front, headers, whole};
use crate::ansi::{escape, to_html};
use crate::state::DevState;

pub(super) const HTML: &str = "text/html; charset=utf-8";
pub(super) const TEXT: &str = "text/plain; charset=utf-8";

/// A comment so often shows that a browser has gone.
const HEARTBEAT: Duration = Duration::from_secs(15);

impl Front {
    /// Answers a request for `/-/dev/NAME`.
    pub(super) async fn own(&self, name: &str, request: &Request<Incoming>) -> Response<Body> {
        if !headers::is_own(request.headers(), self.origin) {
            return self.refused();
        }
        if request.method() != Method::GET {
            return whole(StatusCode::METHOD_NOT_ALLOWED, TEXT, "only GET\n");
        }
        match name {
            "reload.js" => whole(StatusCode::OK, "text/javascript; charset=utf-8", include_str!("reload.js")),
            "page.css" => whole(StatusCode::OK, "text/css; charset=utf-8", include_str!("page.css")),
            "problem" => whole(StatusCode::OK, HTML, self.page(&self.news.now(), false)),
            "events" => self.events(),
            "" => whole(StatusCode::OK, HTML, self.overview().await),
            "routes" => whole(StatusCode::OK, HTML, self.routes().await),
            "log" => whole(StatusCode::OK, HTML, self.log()),
            _ if let Some(rest) = name.strip_prefix("mails") => self.mails(rest).await,
            _ => whole(StatusCode::NOT_FOUND, TEXT, "no such page of skep dev\n"),
        }
    }

    fn refused(&self) -> Response<Body> {
        let text = format!("skep dev shows source text to pages of its own only: open {}/\n", self.origin);
        whole(StatusCode::FORBIDDEN, TEXT, text)
    }

    /// While no version answers: what the compiler is at, or what it says.
    pub(super) fn waiting(&self, request: &Request<Incoming>, is_page: bool) -> Response<Body> {
        let mut response = if !is_page {
            whole(StatusCode::SERVICE_UNAVAILABLE, TEXT, "no version of the application answers yet\n")
        } else if headers::is_own(&navigation(request.headers()), self.origin) {
            whole(StatusCode::SERVICE_UNAVAILABLE, HTML, self.page(&self.news.now(), true))
        } else {
            self.refused()
        };
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
        response
    }

    /// The application closed the connection before it answered.
    pub(super) fn lost(&self, headers: &HeaderMap, error: &hyper::Error) -> Response<Body> {
        let text = format!("the application closed the connection without a response: {error}\n");
        let is_own = headers::is_own(headers, self.origin);
        whole(StatusCode::BAD_GATEWAY, TEXT, if is_own { text } else { "no response\n".to_owned() })
    }

    /// The problem, or the progress. `stands_alone`: instead of a page of the application, and not over one.
    fn page(&self, state: &DevState, stands_alone: bool) -> String {
        let title = match &state.problem {
            Some(problem) => problem.title.clone(),
            None if state.serves => "No problem".to_owned(),
            None => format!("{} is being built", self.name),
        };
        let mut html = head(&title);
        let goes = match state.serves {
            _ if stands_alone => "This page loads again by itself.",
            true => "The version before goes on serving.",
            false => "No version serves.",
        };
        let _ = write!(html, "<p>{goes}</p></header>");
        match &state.problem {
            Some(problem) => {
                let text = to_html(&problem.text, |place| self.editor.url(&self.workspace, place));
                // The compiler points at columns; everything else is prose.
                let class = if problem.text.contains("-->") { "code" } else { "prose" };
                if let Some(suggestion) = problem.suggestion {
                    html.push_str("<p class=\"suggestion\">");
                    for (position, part) in suggestion.split('`').enumerate() {
                        // What stands between backticks is code.
                        html.push_str(if position == 0 {
                            ""
                        } else if position % 2 == 1 {
                            "<code>"
                        } else {
                            "</code>"
                        });
                        escape(&mut html, part);
                    }
                    html.push_str("</p>");
                }
                let _ = write!(html, "<pre class=\"{class}\" tabindex=\"0\">{text}</pre>");
            }
            None => {
                html.push_str("<p id=\"progress\" role=\"status\">");
                escape(&mut html, &state.progress);
                html.push_str("</p>");
            }
        }
        let problem = state.problem.as_ref().map_or(0, |problem| problem.id);
        let alone = if stands_alone { " data-alone" } else { "" };
        let _ = write!(
            html,
            "</main><script src=\"/-/dev/reload.js\" data-version=\"{}\" data-styles=\"{}\" data-problem=\"{problem}\"{alone}></script></body></html>",
            state.version, state.styles
        );
        html
    }

    /// A stream of states, the first of them at once.
    fn events(&self) -> Response<Body> {
        let (mut sender, body) = Channel::<Bytes, hyper::Error>::new(1);
        let mut news = self.news.follow();
        tokio::spawn(async move {
            loop {
                let event = news.borrow_and_update().event();
                if sender.send(Frame::data(Bytes::from(event))).await.is_err() {
                    return;
                }
                while let Err(_still) = tokio::time::timeout(HEARTBEAT, news.changed()).await {
                    if sender.send(Frame::data(Bytes::from_static(b": \n\n"))).await.is_err() {
                        return;
                    }
                }
            }
        });
        let mut response = whole(StatusCode::OK, "text/event-stream", "");
        *response.body_mut() = body.boxed_unsync();
        response
    }
}

/// A page up to its heading.
pub(super) fn head(title: &str) -> String {
    let mut html = String::from("<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\">");
    html.push_str(
        "<meta name=\"viewport\" content=\"width=device-width\"><meta name=\"color-scheme\" content=\"light dark\">",
    );
    html.push_str("<link rel=\"stylesheet\" href=\"/-/dev/page.css\"><link rel=\"icon\" href=\"data:,\"><title>");
    escape(&mut html, title);
    html.push_str("</title></head><body><main><header><h1>");
    escape(&mut html, title);
    html.push_str("</h1>");
    html
}

/// A link of another site may lead to a page, which that site cannot read.
fn navigation(headers: &HeaderMap) -> HeaderMap {
    let mut headers = headers.clone();
    if headers.get("sec-fetch-mode").is_some_and(|mode| mode == "navigate") {
        headers.remove("sec-fetch-site");
    }
    headers
}
