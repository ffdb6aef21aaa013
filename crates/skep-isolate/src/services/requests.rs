//! Who sends a request, and its body.

use std::cell::Cell;
use std::future::poll_fn;
use std::hash::{BuildHasher, RandomState};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use http::HeaderValue;
use http_body::Body as _;
use skep::Peer;
use skep::body::{BodyError, BodyFailure};
use skep::cx::RequestId;
use wasmtime::Result;
use wasmtime::component::Linker;

use super::Guest;

/// The header field in which an application is told who asks.
pub(crate) const FIELD: &str = "skep-request";

/// Who asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sender {
    pub(crate) id: RequestId,
    pub(crate) peer: Peer,
}

impl Sender {
    /// The value of the field.
    pub(crate) fn value(self) -> HeaderValue {
        let (a, b) = seed();
        let text = match self.peer.address {
            Some(address) => format!("{} {a:016x}{b:016x} {address}", self.id),
            None => format!("{} {a:016x}{b:016x}", self.id),
        };
        HeaderValue::try_from(text).expect("digits, letters and colons")
    }
}

/// Which request an instance is at. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Current(Arc<Told>);

/// The request, and how many lines it has written to the log.
#[derive(Debug, Default)]
struct Told {
    id: AtomicU64,
    lines: AtomicU64,
    /// What start-up code has said: its last words are why it died.
    said: Mutex<String>,
}

/// The most lines of one request that are told.
const LINES: u64 = 1000;

/// Bytes that are kept of what start-up code says.
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

    /// One more line. False if there were too many.
    pub(crate) fn may_tell(&self) -> bool {
        self.0.lines.fetch_add(1, Ordering::Relaxed) < LINES
    }

    /// A line that was told. While start-up code runs, it is also kept for who waits for that.
    pub(crate) fn heard(&self, line: &str) {
        let is_hint = line.starts_with("note: run with `RUST_BACKTRACE");
        if self.get().is_some() || is_hint {
            return;
        }
        let mut said = self.0.said.lock().unwrap_or_else(PoisonError::into_inner);
        if said.len() + line.len() < SAID {
            if !said.is_empty() {
                said.push_str(" / ");
            }
            said.push_str(line.trim());
        }
    }

    /// What start-up code has said.
    pub(crate) fn said(&self) -> String {
        self.0.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The request; none while start-up code runs.
    pub(crate) fn get(&self) -> Option<RequestId> {
        let id = self.0.id.load(Ordering::Relaxed);
        (id != 0).then(|| id.into())
    }
}

thread_local! {
    /// A function that nobody can foretell who does not know its keys, and what it was last asked for.
    static SEEDS: (RandomState, Cell<u64>) = (RandomState::new(), Cell::new(0));
}

/// Two numbers that nobody can foretell, others each time.
pub(crate) fn seed() -> (u64, u64) {
    SEEDS.with(|(keyed, count)| {
        let next = count.get().wrapping_add(2);
        count.set(next);
        (keyed.hash_one(next), keyed.hash_one(next + 1))
    })
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

/// The status that whoever reads from the network has for it, and what it says.
fn failure(error: &BodyError) -> (u16, String) {
    let status = error.downcast_ref::<BodyFailure>().map_or(0, |failure| failure.status().as_u16());
    (status, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_seed_comes_twice() {
        let seeds: std::collections::HashSet<(u64, u64)> = (0..1000).map(|_| seed()).collect();
        assert_eq!(seeds.len(), 1000);
    }

    #[test]
    fn a_request_fills_no_log() {
        let current = Current::default();
        let told = |current: &Current| (0..LINES + 9).filter(|_| current.may_tell()).count() as u64;
        assert_eq!((told(&current), told(&current.clone())), (LINES, 0));
        current.set(2.into());
        assert_eq!(told(&current), LINES);
    }

    #[test]
    fn the_field_says_who_asks() {
        let sender = Sender { id: 7.into(), peer: Peer::new(Some(([127, 0, 0, 1], 80).into()), false) };
        let value = sender.value();
        let words: Vec<&str> = value.to_str().unwrap().split(' ').collect();
        assert_eq!((words[0], words[1].len(), words[2]), ("0000000000000007", 32, "127.0.0.1:80"));
    }
}
