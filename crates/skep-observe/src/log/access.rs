//! A line for each request, in one of several layouts.
//!
//! `text` has time, peer, method, target, status, bytes of the body, microseconds, and the id of the request:
//! `2026-11-21T07:30:00.123Z 127.0.0.1 GET /search?q=bees 200 5120 412 0123456789abcdef`
//!
//! The target includes the query, but values of parameters that usually are secret are replaced by `***`. A `-` as
//! status means that the client closed the connection before the response; a line without method and target is about
//! input that was not a valid request.

mod layout;
mod rule;

use std::borrow::Cow;
use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::StatusCode;
use skep_settings::FromSetting;

use super::buffer::LogBuffer;
use super::output::{Target, Words};
use super::text::{Stamp, write_escaped};
use layout::AccessLayout;
use rule::Rule;

/// The access log of one thread.
#[derive(Debug)]
pub struct AccessLog {
    outputs: Vec<Output>,
    stamp: RefCell<Stamp>,
}

#[derive(Debug)]
struct Output {
    setting: AccessOutput,
    buffer: Arc<LogBuffer>,
    /// Lines that a sample has passed over.
    passed: std::cell::Cell<u32>,
}

/// An output of the access log, as the setting `log.access_outputs` says.
#[derive(Clone, Debug)]
pub struct AccessOutput {
    pub(super) target: Target,
    layout: AccessLayout,
    rule: Rule,
}

/// One request and its response.
#[derive(Debug, Default)]
pub struct AccessLine<'a> {
    /// The address of the client.
    pub peer: &'a str,
    /// Such as `GET`; empty if the head was no valid request.
    pub method: &'a str,
    /// Path and query.
    pub target: &'a str,
    /// `HTTP/1.1`
    pub version: &'a str,
    /// `None`: the client closed the connection before the response.
    pub status: Option<StatusCode>,
    /// Of the response's body.
    pub bytes: u64,
    /// Until the last byte of the response.
    pub time: Duration,
    /// Of the request, if it reached the application.
    pub id: Option<u64>,
    /// The trace id that the client sent.
    pub trace: Option<&'a str>,
    /// Whom a guard has named.
    pub user: Option<&'a str>,
    /// The header field, if a layout [wants it](AccessLog::wants_headers).
    pub referer: Option<&'a str>,
    /// `User-Agent`, likewise.
    pub agent: Option<&'a str>,
}

const OPTIONS: [&str; 10] =
    ["layout", "pattern", "status", "slow", "except", "sample", "rotate", "every", "keep", "compress"];

/// Query parameters whose values are not logged.
const SECRETS: [&str; 12] = [
    "access_token",
    "api_key",
    "apikey",
    "auth",
    "code",
    "key",
    "passwd",
    "password",
    "secret",
    "session",
    "sig",
    "token",
];

impl FromSetting<str> for AccessOutput {
    fn from_setting(text: &str) -> Result<Self, String> {
        Self::parse(text)
    }
}

impl AccessOutput {
    /// Reads a description: `file:/var/log/access.log layout=combined status=400`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let words = Words::split(text, &OPTIONS)?;
        let target = Target::parse(&words)?;
        if matches!(target, Target::Datagrams(_) | Target::Connection(_) | Target::Ring(_) | Target::Otlp) {
            return Err("the access log goes to stdout, stderr or file:PATH".into());
        }
        Ok(Self {
            target,
            layout: AccessLayout::parse(words.get("layout"), words.get("pattern"))?,
            rule: Rule::parse(&words)?,
        })
    }

    /// The file that it writes to, if it is one.
    pub fn file(&self) -> Option<&Path> {
        self.target.file()
    }
}

impl AccessLog {
    pub(super) fn new(outputs: Vec<(AccessOutput, Arc<LogBuffer>)>) -> Self {
        let output = |(setting, buffer)| Output { setting, buffer, passed: std::cell::Cell::new(0) };
        Self { outputs: outputs.into_iter().map(output).collect(), stamp: RefCell::default() }
    }

    /// True if a layout has header fields of the request.
    pub fn wants_headers(&self) -> bool {
        self.outputs.iter().any(|output| output.setting.layout.wants_headers())
    }

    /// Writes a line to the outputs that take it.
    pub fn write(&self, line: &AccessLine<'_>) {
        let now = SystemTime::now();
        let mut stamp = self.stamp.borrow_mut();
        let time = stamp.text(now);
        for Output { setting, buffer, passed } in &self.outputs {
            if setting.rule.takes(line, passed) {
                buffer.push(false, |out| setting.layout.write(out, line, now, time));
            }
        }
    }
}

fn write_target(out: &mut Vec<u8>, target: &str) {
    write_escaped(out, &without_secrets(target));
}

/// An address without the values of secret query parameters: the target of a request, or the page that led to it.
fn without_secrets(address: &str) -> Cow<'_, str> {
    fn secret(pair: &str) -> Option<&str> {
        pair.split_once('=').map(|(name, _)| name).filter(|name| is_secret(name))
    }
    // As bytes: most addresses have no query.
    if !address.as_bytes().contains(&b'?') {
        return address.into();
    }
    match address.split_once('?') {
        Some((path, query)) if query.split('&').any(|pair| secret(pair).is_some()) => {
            let pairs = query.split('&').map(|pair| match secret(pair) {
                Some(name) => format!("{name}=***"),
                None => pair.to_owned(),
            });
            format!("{path}?{}", pairs.collect::<Vec<_>>().join("&")).into()
        }
        _ => address.into(),
    }
}

fn is_secret(name: &str) -> bool {
    // A percent-encoded name may hide a secret one.
    name.contains('%') || SECRETS.iter().any(|secret| name.eq_ignore_ascii_case(secret))
}

#[cfg(test)]
#[path = "../../tests/unit/log/access.rs"]
mod tests;
