//! A line for each request: time, peer, method, target, status, bytes of the body, and microseconds.
//!
//! `2026-11-21T07:30:00.123Z 127.0.0.1 GET /search?q=bees 200 5120 412`
//!
//! The target includes the query, but values of parameters that usually are secret are replaced by `***`. A `-` as status means that
//! the client closed the connection before the response; a line without method and target is about input that was not a valid request.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::StatusCode;

use super::buffer::LogBuffer;
use super::text::{write_escaped, write_padded, write_time};

/// The access log of one thread.
#[derive(Debug)]
pub(crate) struct AccessLog {
    buffer: Arc<LogBuffer>,
    stamp: RefCell<Stamp>,
}

/// One request and its response.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    pub(crate) peer: &'a str,
    pub(crate) method: &'a str,
    pub(crate) target: &'a str,
    pub(crate) status: Option<StatusCode>,
    pub(crate) bytes: u64,
    pub(crate) time: Duration,
}

/// The formatted time of the last line. Most lines fall into the same second as the previous one.
#[derive(Debug, Default)]
struct Stamp {
    second: u64,
    text: Vec<u8>,
}

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

impl AccessLog {
    pub(crate) fn new(buffer: Arc<LogBuffer>) -> Self {
        Self { buffer, stamp: RefCell::default() }
    }

    pub(crate) fn write(&self, line: &Line<'_>) {
        self.buffer.push(|out| {
            self.stamp.borrow_mut().write(out, SystemTime::now());
            line.write(out);
        });
    }
}

impl Stamp {
    fn write(&mut self, out: &mut Vec<u8>, now: SystemTime) {
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        if self.second != since.as_secs() || self.text.is_empty() {
            self.second = since.as_secs();
            self.text.clear();
            write_time(&mut self.text, now);
        }
        self.text.truncate(self.text.len() - "123Z".len());
        write_padded(&mut self.text, u64::from(since.subsec_millis()), 3);
        self.text.push(b'Z');
        out.extend_from_slice(&self.text);
    }
}

impl Line<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        for word in [self.peer, self.method] {
            out.push(b' ');
            out.extend_from_slice(word.as_bytes());
        }
        out.push(b' ');
        write_target(out, self.target);
        out.push(b' ');
        out.extend_from_slice(self.status.as_ref().map_or("-", StatusCode::as_str).as_bytes());
        for number in [self.bytes, u64::try_from(self.time.as_micros()).unwrap_or(u64::MAX)] {
            out.push(b' ');
            write_padded(out, number, 1);
        }
        out.push(b'\n');
    }
}

fn write_target(out: &mut Vec<u8>, target: &str) {
    let Some((path, query)) = target.split_once('?') else { return write_escaped(out, target) };
    write_escaped(out, path);
    let mut mark = b'?';
    for pair in query.split('&') {
        out.push(mark);
        mark = b'&';
        match pair.split_once('=') {
            Some((name, _)) if is_secret(name) => {
                write_escaped(out, name);
                out.extend_from_slice(b"=***");
            }
            _ => write_escaped(out, pair),
        }
    }
}

fn is_secret(name: &str) -> bool {
    // A percent-encoded name may hide a secret one.
    name.contains('%') || SECRETS.iter().any(|secret| name.eq_ignore_ascii_case(secret))
}

#[cfg(test)]
#[path = "../../tests/unit/log/access.rs"]
mod tests;
