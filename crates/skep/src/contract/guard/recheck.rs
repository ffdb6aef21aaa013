//! What is open in the name of somebody whom a guard has admitted: event streams, downloads, WebSockets. Every ten
//! seconds it is asked whether that still holds ([`Recheck`]), so that it ends soon after that: a session that ended,
//! here or elsewhere, a lock, another password.
//!
//! To ask takes a context as guards have it, which stays on its thread, and bodies need not. So what asks is kept by
//! the thread of the request ([`CHECKS`]), and a body knows its number. Behind [`crate::tower`], too, bodies are made
//! by the thread of their handler.

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
use skep_cache::{Clock, Sleep};

use crate::context::cx::{Cx, Watch as CxWatch, WatchResponse, Watching};
use crate::context::resources::ThreadResources;
use skep_http::body::Body;
use skep_http::ext::WatchedExt as _;
use skep_http::request::{Parts, Peer, RequestId};
use skep_http::response::Result;
use skep_http::upgrade::Watch;

/// How often it is asked.
const EVERY: Duration = Duration::from_secs(10);

/// Whether a guard would still admit whom it has admitted, while a response goes on: [`Cx::recheck`].
///
/// ```
/// use skep::guard::{Guard, Recheck};
/// use skep::prelude::*;
/// use skep::sql::query;
///
/// /// A program whose key is in the database.
/// struct Program { key: String }
///
/// impl Guard for Program {
///     async fn check(cx: &mut Cx<'_>) -> Result<Self> {
///         let program = Self::begin(cx).await?;
///         if !program.holds(cx).await? {
///             return Err(Error::unauthorized("send your key"));
///         }
///         // Events and WebSockets end once the key is deleted.
///         cx.recheck::<Self>();
///         Ok(program)
///     }
/// }
///
/// impl Recheck for Program {
///     async fn begin(cx: &Cx<'_>) -> Result<Self> {
///         Ok(Self { key: cx.header(&skep::header::FROM).unwrap_or_default().to_owned() })
///     }
///
///     async fn holds(&self, cx: &Cx<'_>) -> Result<bool> {
///         Ok(cx.db().one::<i64>(query("select 1 from program where key = ?", &self.key)).await?.is_some())
///     }
/// }
/// ```
pub trait Recheck: Sized + 'static {
    /// What is remembered of the request, in its own context. It is called once, when a response goes on.
    #[expect(async_fn_in_trait, reason = "a guard stays on the thread that accepted its connection")]
    async fn begin(cx: &Cx<'_>) -> Result<Self>;

    /// True if who was admitted would be admitted now. It is called every ten seconds, with the request of then and
    /// without its body. An error of the server (5xx) ends nothing, and it is called again; another one does.
    #[expect(async_fn_in_trait, reason = "a guard stays on the thread that accepted its connection")]
    async fn holds(&self, cx: &Cx<'_>) -> Result<bool>;
}

/// The same without its type.
trait Ask {
    fn ask<'c>(&'c self, cx: &'c Cx<'_>) -> Pin<Box<dyn Future<Output = Result<bool>> + 'c>>;
}

impl<R: Recheck> Ask for R {
    fn ask<'c>(&'c self, cx: &'c Cx<'_>) -> Pin<Box<dyn Future<Output = Result<bool>> + 'c>> {
        Box::pin(self.holds(cx))
    }
}

impl Cx<'_> {
    /// Has what goes on after the response, such as events, a WebSocket or a download, end once this check fails. A
    /// guard calls it that has admitted the request. An example is at [`Recheck`].
    pub fn recheck<R: Recheck>(&self) {
        self.add_watch(watching::<R> as CxWatch);
    }
}

/// Begins to watch, by a function that has an address for each type.
fn watching<'c, R: Recheck>(cx: &'c Cx<'_>) -> Watching<'c> {
    Box::pin(async move { Ok(watch(cx, R::begin(cx).await?)) })
}

/// One who asks.
struct Check {
    recheck: Box<dyn Ask>,
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
fn watch(cx: &Cx<'_>, recheck: impl Recheck) -> WatchResponse {
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
        match self.recheck.ask(&cx).await {
            Ok(passes) => passes,
            // A store that is not there signs nobody out; it is asked again.
            Err(error) if error.status().is_server_error() => {
                let id = self.id;
                tracing::warn!(target: "skep::security", %id, "cannot ask whether this user is still signed in: {error}");
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
