//! The page of a failure in development: what is known of it, for the person who writes the application.
//!
//! It shows source text and what a request was about, so it is for a browser on the same machine only:
//! [`may_be_shown`].
//! A framework fills in a [`Report`]; nothing is read or recorded for it outside of development.

mod excerpt;

use std::fmt::Write as _;
use std::net::IpAddr;

use http::{HeaderName, HeaderValue, StatusCode, Version};
use skep_html::{DOCTYPE, Document, Html, Phrasing, Trusted, html, piece};

use crate::error::Error;
use crate::fields::Fields;
use crate::request::{Parts, Peer};

use excerpt::Excerpt;

const STYLE: &str = include_str!("development/page.css");
const SCRIPT: &str = include_str!("development/copy.js");

/// The most causes that are shown: nothing says that a chain of them ends.
const MOST_CAUSES: usize = 32;

/// What is known of a failure.
#[derive(Debug)]
pub struct Report {
    status: StatusCode,
    /// The error, and what caused it.
    causes: Vec<String>,
    suggestion: Option<&'static str>,
    /// Of the application, the innermost first.
    excerpts: Vec<Excerpt>,
    sections: Vec<Section>,
}

/// A part of a report.
#[derive(Debug)]
struct Section {
    title: &'static str,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Pairs(Vec<(String, String)>),
    Lines(Vec<String>),
}

impl Report {
    /// What the error itself says.
    #[must_use]
    pub fn new(error: &Error) -> Self {
        let mut causes: Vec<String> = error.message().map(str::to_owned).into_iter().collect();
        let first = error.cause().map(|cause| cause as &(dyn std::error::Error + 'static));
        causes.extend(std::iter::successors(first, |cause| cause.source()).take(MOST_CAUSES).map(ToString::to_string));
        let suggestion = skep_units::suggestion(&error.to_string());
        Self { status: error.status(), causes, suggestion, excerpts: Excerpt::all_of(error), sections: Vec::new() }
    }

    /// Adds a table, unless it is empty.
    #[must_use]
    pub fn pairs(self, title: &'static str, pairs: Vec<(String, String)>) -> Self {
        if pairs.is_empty() { self } else { self.section(title, Content::Pairs(pairs)) }
    }

    /// Adds lines, unless the list is empty.
    #[must_use]
    pub fn lines(self, title: &'static str, lines: Vec<String>) -> Self {
        if lines.is_empty() { self } else { self.section(title, Content::Lines(lines)) }
    }

    fn section(mut self, title: &'static str, content: Content) -> Self {
        self.sections.push(Section { title, content });
        self
    }

    fn title(&self) -> &str {
        self.causes.first().map_or_else(|| self.status.canonical_reason().unwrap_or("an error"), String::as_str)
    }

    /// The report as Markdown, for an issue or a colleague.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("# {}: {}\n", self.status, self.title());
        for cause in self.causes.iter().skip(1) {
            let _ = write!(text, "\ncaused by: {cause}");
        }
        if let Some(suggestion) = self.suggestion {
            let _ = writeln!(text, "\n> {suggestion}");
        }
        for excerpt in &self.excerpts {
            let _ = write!(text, "\n`{}`\n\n```rust\n{}```\n", excerpt.name(), excerpt.text());
        }
        for Section { title, content } in &self.sections {
            let _ = writeln!(text, "\n## {title}\n");
            match content {
                Content::Pairs(pairs) => pairs.iter().for_each(|(name, value)| {
                    let _ = writeln!(text, "- {name}: `{value}`");
                }),
                Content::Lines(lines) => {
                    let _ = writeln!(text, "```text\n{}\n```", lines.join("\n"));
                }
            }
        }
        text
    }

    /// The page.
    #[must_use]
    pub fn page(&self) -> Html<Document> {
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width";
                    title { (self.status.as_u16()) " " (self.title()) }
                    style { (Trusted(STYLE)) }
                }
                body {
                    main {
                        header {
                            p { (self.status.to_string()) " · in development only" }
                            h1 { (self.title()) }
                            @for cause in self.causes.iter().skip(1) { p.cause { "caused by: " (cause) } }
                            @if let Some(suggestion) = self.suggestion { p.suggestion { (with_code(suggestion)) } }
                            button #copy type="button" { "Copy as Markdown" }
                        }
                        @for excerpt in &self.excerpts { (excerpt.section()) }
                        @for section in &self.sections { (section.html()) }
                        details #markdown {
                            summary { "As Markdown" }
                            label { "All of this page" textarea rows="20" readonly spellcheck="false" { (self.markdown()) } }
                        }
                    }
                    script { (Trusted(SCRIPT)) }
                }
            }
        }
    }
}

/// What stands between backticks is code.
fn with_code(text: &str) -> Html<Phrasing> {
    piece! {
        @for (position, part) in text.split('`').enumerate() {
            @if position % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

impl Section {
    fn html(&self) -> Html {
        html! {
            section {
                h2 { (self.title) }
                @match &self.content {
                    Content::Pairs(pairs) => {
                        dl { @for (name, value) in pairs { div { dt { (name) } dd { (value) } } } }
                    }
                    Content::Lines(lines) => { pre tabindex="0" { (lines.join("\n")) } }
                }
            }
        }
    }
}

/// Fields that proxies add: a client behind one may be anywhere.
const OF_PROXIES: [&str; 9] = [
    "forwarded",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-forwarded-port",
    "x-real-ip",
    "cf-connecting-ip",
    "true-client-ip",
    "via",
];

/// Whether a client may see it: a browser on this machine that opens a page of it, and no script that reads a response.
#[must_use]
pub fn may_be_shown(parts: &Parts, peer: Peer) -> bool {
    // Browsers tell the mode to addresses of this machine.
    is_local(parts, peer)
        && field(parts, "sec-fetch-mode").is_some_and(|mode| mode == "navigate")
        && field(parts, "accept").is_some_and(|accept| accept.contains("text/html"))
}

/// Whether a client is on this machine, as far as can be seen, and asks under a name that no other site can have: it
/// may read why a request failed.
#[must_use]
pub fn is_local(parts: &Parts, peer: Peer) -> bool {
    let host = parts.uri.authority().map(http::uri::Authority::as_str).or_else(|| field(parts, "host"));
    // HTTP/1.0 is what most releases of nginx speak to a server by default.
    let is_direct = !peer.is_forwarded
        && parts.version >= Version::HTTP_11
        && OF_PROXIES.iter().all(|name| !parts.headers.contains_key(*name));
    is_direct
        && peer.address.is_some_and(|peer| peer.ip().to_canonical().is_loopback())
        && host.is_some_and(is_of_this_machine)
}

fn field<'p>(parts: &'p Parts, name: &str) -> Option<&'p str> {
    parts.headers.get(name).and_then(|value| value.to_str().ok())
}

fn is_of_this_machine(host: &str) -> bool {
    let (name, port) = host.rsplit_once(':').unwrap_or((host, ""));
    let name = if port.ends_with(']') { host } else { name };
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    name == "localhost" || name.ends_with(".localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// Parts of the names of parameters whose values stay out of a page that is shown to others.
const SECRETS: [&str; 15] = [
    "assertion",
    "auth",
    "cookie",
    "credential",
    "csrf",
    "jwt",
    "key",
    "pass",
    "pwd",
    "secret",
    "session",
    "signature",
    "ticket",
    "token",
    "verifier",
];

/// Such names, as a whole or between `-`, `_` and `.`.
const SECRET_WORDS: [&str; 6] = ["code", "nonce", "otp", "pin", "sid", "sig"];

/// An address with `***` for each parameter that usually is secret by its name.
#[must_use]
pub fn masked(address: &str) -> String {
    let Some((path, query)) = address.split_once('?') else { return address.to_owned() };
    let parameter = |field: &str| match field.split_once('=') {
        Some((name, _)) if is_secret(name) => format!("{name}=***"),
        _ => field.to_owned(),
    };
    format!("{path}?{}", query.split('&').map(parameter).collect::<Vec<_>>().join("&"))
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    // Who writes a name in another way may hide what it is.
    name.contains('%')
        || SECRETS.iter().any(|secret| name.contains(secret))
        || name.split(['-', '_', '.']).any(|word| SECRET_WORDS.contains(&word))
}

/// Header fields with these names are shown.
const SHOWN: [&str; 8] =
    ["cache-control", "connection", "host", "origin", "range", "referer", "upgrade-insecure-requests", "user-agent"];

/// The same for names that begin so.
const SHOWN_KINDS: [&str; 4] = ["accept", "content-", "if-", "sec-"];

/// The header fields of a request: `***` for what may be secret. Secrets that are in addresses are masked by `address`.
#[must_use]
pub fn fields(headers: &Fields, address: impl Fn(&str) -> String) -> Vec<(String, String)> {
    let is_shown = |name: &str| SHOWN.contains(&name) || SHOWN_KINDS.iter().any(|kind| name.starts_with(kind));
    let pair = |(name, value): (&HeaderName, &HeaderValue)| {
        let value = String::from_utf8_lossy(value.as_bytes());
        let shown = match name.as_str() {
            "referer" => address(&value),
            name if is_shown(name) => value.into_owned(),
            _ => "***".to_owned(),
        };
        (name.to_string(), shown)
    };
    headers.map().iter().map(pair).collect()
}

#[cfg(test)]
#[path = "../tests/unit/development.rs"]
mod tests;
