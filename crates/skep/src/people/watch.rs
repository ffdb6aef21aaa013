//! What is open in the name of a user: event streams, downloads, WebSockets. Every ten seconds it is asked whether its
//! session or token still lasts, and its account is there, so that it ends soon after these: by signing out, here or
//! elsewhere, a new password, a lock.
//!
//! To ask takes a context as guards have it, which stays on its thread, and bodies need not. So what asks is kept by
//! the thread of the request ([`CHECKS`]), and a body knows its number. A body that another thread sends, as behind
//! [`crate::tower`], cannot ask: events end, so that their page connects again, and other bodies go on.

use std::cell::RefCell;
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use http::header::CONTENT_TYPE;
use http::request::Parts;
use skep_cache::{Clock, Sleep};

use crate::body::Body;
use crate::cx::{Cx, WatchResponse};
use crate::request::{Peer, RequestId};
use crate::resources::ThreadResources;
use crate::response::Result;
use crate::upgrade::Watch;

/// How often it is asked.
const EVERY: Duration = Duration::from_secs(10);

/// True if what a guard has admitted would be admitted now.
pub(super) type Checking<'c> = Pin<Box<dyn Future<Output = Result<bool>> + 'c>>;

/// Asks so.
pub(super) trait Recheck: 'static {
    fn recheck<'c>(&'c self, cx: &'c Cx<'_>) -> Checking<'c>;
}

/// One who asks.
struct Check {
    recheck: Box<dyn Recheck>,
    parts: Parts,
    peer: Peer,
    id: RequestId,
    resources: ThreadResources,
}

struct Entry {
    check: Rc<Check>,
    running: Option<Pin<Box<dyn Future<Output = bool>>>>,
    /// The body lives as long as this has another owner.
    alive: Arc<()>,
}

thread_local! {
    static CHECKS: RefCell<HashMap<u64, Entry>> = RefCell::default();
}

static LAST: AtomicU64 = AtomicU64::new(0);

struct Watched {
    number: u64,
    clock: Clock,
    sleep: Sleep,
    is_events: bool,
    is_asking: bool,
    _alive: Arc<()>,
}

/// Has a response that goes on after its handler end with what admitted its request.
pub(super) fn watch(cx: &Cx<'_>, recheck: impl Recheck) -> WatchResponse {
    let resources = cx.shared().resources().for_request();
    let (parts, peer, id) = (cx.shared().parts().clone(), cx.peer(), cx.id());
    let check = Check { recheck: Box::new(recheck), parts, peer, id, resources };
    Box::new(move |response| {
        if response.body().goes_on() {
            let kind = response.headers().get(CONTENT_TYPE);
            let is_events = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
            let body = std::mem::take(response.body_mut());
            *response.body_mut() = body.watched(Box::new(check.keep(is_events)), is_events);
        }
    })
}

impl Check {
    /// Keeps it on this thread, for a body.
    fn keep(self, is_events: bool) -> Watched {
        let (number, alive) = (LAST.fetch_add(1, Ordering::Relaxed), Arc::new(()));
        let clock = self.resources.shared().setup.clock.clone();
        let entry = Entry { check: Rc::new(self), running: None, alive: Arc::clone(&alive) };
        CHECKS.with_borrow_mut(|checks| {
            // Bodies that were dropped by another thread.
            if checks.len().is_power_of_two() {
                checks.retain(|_, entry| Arc::strong_count(&entry.alive) > 1);
            }
            checks.insert(number, entry);
        });
        let sleep = clock.sleep_until(clock.now().plus(EVERY));
        Watched { number, clock, sleep, is_events, is_asking: false, _alive: alive }
    }

    async fn passes(&self) -> bool {
        let resources = self.resources.for_request();
        let cx = Cx::new(&self.parts, self.peer, (Body::empty(), 0), &resources, self.id);
        match self.recheck.recheck(&cx).await {
            Ok(passes) => passes,
            // A store that is not there signs nobody out; it is asked again.
            Err(error) if error.status().is_server_error() => {
                tracing::warn!(target: "skep::security", id = %self.id, "cannot ask whether this user is still signed in: {error}");
                true
            }
            // An account or a rule that refuses by an error would refuse the request now.
            Err(_) => false,
        }
    }
}

impl Watch for Watched {
    fn poll_holds(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        while self.is_asking || Pin::new(&mut self.sleep).poll(cx).is_ready() {
            self.is_asking = true;
            let holds = ready!(poll_check(self.number, cx)).unwrap_or(!self.is_events);
            self.is_asking = false;
            if !holds {
                return Poll::Ready(false);
            }
            self.sleep = self.clock.sleep_until(self.clock.now().plus(EVERY));
        }
        Poll::Ready(true)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // It is dropped after the borrow. When the thread ends, its checks have gone.
        let _entry = CHECKS.try_with(|checks| checks.borrow_mut().remove(&self.number));
    }
}

/// Goes on asking. `None` on a thread that does not know how.
fn poll_check(number: u64, cx: &mut Context<'_>) -> Poll<Option<bool>> {
    let running = CHECKS.with_borrow_mut(|checks| {
        let entry = checks.get_mut(&number)?;
        let check = Rc::clone(&entry.check);
        Some(entry.running.take().unwrap_or_else(|| Box::pin(async move { check.passes().await })))
    });
    let Some(mut running) = running else { return Poll::Ready(None) };
    let polled = running.as_mut().poll(cx);
    if polled.is_pending() {
        CHECKS.with_borrow_mut(|checks| {
            if let Some(entry) = checks.get_mut(&number) {
                entry.running = Some(running);
            }
        });
    }
    polled.map(Some)
}
