//! The sender of a request, and its body.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use http::HeaderValue;
use http_body::Body as _;
use skep::Peer;
use skep::body::{BodyError, BodyFailure};
use skep::request::RequestId;
use wasmtime::Result;
use wasmtime::component::Linker;

use super::Guest;
use crate::random::seed;

/// The header field that tells an application who sends a request.
pub(crate) const FIELD: &str = "skep-request";

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sender {
    pub(crate) id: RequestId,
    pub(crate) peer: Peer,
}

impl Sender {
    pub(crate) fn value(self) -> HeaderValue {
        let (a, b) = seed();
        let text = match self.peer.address {
            Some(address) => format!("{} {a:016x}{b:016x} {address}", self.id),
            None => format!("{} {a:016x}{b:016x}", self.id),
        };
        HeaderValue::try_from(text).expect("digits, letters and colons")
    }
}

/// The current request of an instance. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Current(Arc<Told>);

/// The request, and the number of its log lines.
#[derive(Debug, Default)]
struct Told {
    id: AtomicU64,
    lines: AtomicU64,
    /// The output of start-up code, which explains its failure.
    said: Mutex<String>,
}

/// The most log lines of one request.
const LINES: u64 = 1000;

/// Bytes that are stored of the output of start-up code.
const SAID: usize = 2 << 10;

impl Told {
    fn begin(&self, id: u64) {
        let more = self.lines.swap(0, Ordering::Relaxed).saturating_sub(LINES);
        let request = self.id.swap(id, Ordering::Relaxed);
        if more > 0 {
            let request = tracing::field::display(RequestId::from(request));
            tracing::warn!(target: "skep::guest", request, "and {more} more lines of this request, which are not told");
        }
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        self.begin(0);
    }
}

impl Current {
    pub(super) fn set(&self, id: RequestId) {
        self.0.begin(id.into());
    }

    /// Counts a line. False if there were too many.
    pub(crate) fn may_tell(&self) -> bool {
        self.0.lines.fetch_add(1, Ordering::Relaxed) < LINES
    }

    /// Notes a line, which is also stored while start-up code runs.
    pub(crate) fn heard(&self, line: &str) {
        let is_hint = line.starts_with("note: run with `RUST_BACKTRACE");
        if self.get().is_some() || is_hint {
            return;
        }
        let mut said = skep_units::lock(&self.0.said);
        if said.len() + line.len() < SAID {
            if !said.is_empty() {
                said.push_str(" / ");
            }
            said.push_str(line.trim());
        }
    }

    pub(crate) fn said(&self) -> String {
        skep_units::lock(&self.0.said).clone()
    }

    /// The request. `None` while start-up code runs.
    pub(crate) fn get(&self) -> Option<RequestId> {
        let id = self.0.id.load(Ordering::Relaxed);
        (id != 0).then(|| id.into())
    }
}

pub(super) fn add_to_linker<T: Guest + 'static>(linker: &mut Linker<T>) -> Result<()> {
    let mut body = linker.instance("skep:host/body@0.1.0")?;
    body.func_wrap_async("read", |mut store, (): ()| {
        Box::new(async move {
            let Some(body) = &mut store.data_mut().services().body else { return Ok((Ok(None),)) };
            loop {
                match poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await {
                    None => return Ok((Ok(None),)),
                    Some(Err(error)) => return Ok((Err(failure(&error)),)),
                    Some(Ok(frame)) => match frame.into_data() {
                        Ok(data) if !data.is_empty() => return Ok((Ok(Some(Vec::from(data))),)),
                        _ => {}
                    },
                }
            }
        })
    })
}

/// The status for a failed body, and its text.
fn failure(error: &BodyError) -> (u16, String) {
    let status = error.downcast_ref::<BodyFailure>().map_or(0, |failure| failure.status().as_u16());
    (status, error.to_string())
}

#[cfg(test)]
#[path = "../../tests/unit/services/requests.rs"]
mod tests;
