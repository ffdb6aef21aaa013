//! A request that is answered again after its response, and what was read for a response: for pages that follow the
//! database.
//!
//! Start reading at [`Cx::repeat`].

use std::rc::Rc;

use http::HeaderMap;
use http::header::{ACCEPT_ENCODING, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_UNMODIFIED_SINCE, RANGE};
use http::request::Parts;

use crate::context::cx::Cx;
use crate::context::resources::Answering;
use crate::sql::ANY_TABLE;
use skep_http::body::Body;
use skep_http::error::{Error, Result};
use skep_http::request::{Peer, Request};
use skep_http::response::Response;

/// Marks a request that is answered again: nobody uses anything by it, neither a session nor what a rate limit counts.
#[derive(Clone, Copy)]
struct Repeated;

/// A request that can be answered again: [`Cx::repeat`].
pub struct Repeat {
    parts: Parts,
    peer: Peer,
    application: Rc<dyn Answering>,
}

impl Repeat {
    /// Gives layers, guards and the handler a value, which [`Cx::extension`] finds.
    #[must_use]
    pub fn with<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        self.parts.extensions.insert(value);
        self
    }

    /// The header fields that are sent again.
    pub fn headers_mut(&mut self) -> &mut HeaderMap {
        &mut self.parts.headers
    }

    /// Answers it now: routing, layers, guards and the handler run as for a new request without a body. It does not
    /// count as use of its session, nor for a [rate limit](crate::guard::RateLimit), and reads from the database
    /// itself, not from a [replica](Cx::replica).
    pub async fn answer(&self) -> Response {
        let mut parts = self.parts.clone();
        parts.extensions.insert(Repeated);
        let request = Request::new(parts, Body::empty()).with_peer(self.peer);
        Rc::clone(&self.application).answer(request).await
    }
}

skep_units::opaque_debug!(Repeat);

/// What was read for a response: the ids of the cache tags of tables, as [`App::on_write`](crate::App::on_write) has
/// them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    tags: Vec<u64>,
    is_everything: bool,
}

impl Reads {
    /// True if a write may change the response, by what is known of the id of each table.
    #[must_use]
    pub fn has(&self, is_written: impl Fn(u64) -> bool) -> bool {
        self.is_everything || self.tags.iter().any(|tag| is_written(*tag))
    }
}

impl Cx<'_> {
    /// This request, to be answered again after its response, on the same thread: conditions, ranges and codings are
    /// left out, so that it is answered in full. For libraries whose responses go on.
    ///
    /// # Errors
    /// If the request came by no application: in a test that made its [`Cx`] by hand.
    ///
    /// ```
    /// use skep::layer::Next;
    /// use skep::prelude::*;
    ///
    /// #[derive(Clone)]
    /// struct Second;
    ///
    /// /// Answers each request twice.
    /// async fn twice(cx: &mut Cx<'_>, next: Next<'_>) -> Result {
    ///     if cx.extension::<Second>().is_none() {
    ///         assert_eq!(cx.repeat()?.with(Second).answer().await.status(), 404);
    ///     }
    ///     next.run(cx).await
    /// }
    /// # #[derive(Service)] #[service(GET "/")] struct Index;
    /// # impl Handle for Index { async fn handle(self, _cx: &mut Cx<'_>) -> Result { Err(Error::not_found()) } }
    /// let app = App::new().serve(services![Index]).wrap(twice);
    /// assert_eq!(skep::test::Client::new(app).get("/").status(), 404);
    /// ```
    pub fn repeat(&self) -> Result<Repeat> {
        let application = self.shared().resources().application();
        let application = application.ok_or_else(|| Error::internal("this request came by no application"))?;
        let mut parts = Parts::from(self.shared().parts().clone());
        for name in [ACCEPT_ENCODING, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_UNMODIFIED_SINCE, RANGE] {
            parts.headers.remove(name);
        }
        Ok(Repeat { parts, peer: self.peer(), application })
    }

    /// True if this is [`Repeat::answer`].
    pub(crate) fn is_repeated(&self) -> bool {
        self.extension::<Repeated>().is_some()
    }

    /// A value that came with the request: of [`Repeat::with`], or of a server.
    #[must_use]
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.shared().parts().extensions.get()
    }

    /// Notes from now on which tables are read for the response: see [`reads`](Self::reads).
    pub fn note_reads(&self) {
        self.shared().resources().note_reads();
    }

    /// What was read since [`note_reads`](Self::note_reads): by [`sql!`](crate::sql!), also for fragments that came out
    /// of the cache. Of a page that came out of the cache it is not known, and counts as everything.
    #[must_use]
    pub fn reads(&self) -> Reads {
        let (shared, resources) = (self.shared(), self.shared().resources());
        let Some(tables) = resources.noted_reads() else { return Reads { tags: Vec::new(), is_everything: true } };
        let mut tags = resources.shared().caches.tags_of_tables(&tables);
        tags.extend(shared.inherited());
        Reads { tags, is_everything: shared.has_whole_page() || tables.contains(&ANY_TABLE) }
    }
}
