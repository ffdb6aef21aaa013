//! Responses that go on.

use std::future::Future;
use std::pin::Pin;

use futures_core::TryStream;

use super::Cx;
use skep_http::body::drain::Draining;
use skep_http::response::{Response, Result};
use skep_http::sse::{self, Event, Events};

/// Makes a response end when a guard would refuse its request.
pub(crate) type Watch = for<'c, 'r> fn(&'c Cx<'r>) -> Watching<'c>;

/// Its future, which gives what is done with the response.
pub(crate) type Watching<'c> = Pin<Box<dyn Future<Output = Result<WatchResponse>> + 'c>>;

pub(crate) type WatchResponse = Box<dyn FnOnce(&mut Response)>;

impl<'r> Cx<'r> {
    /// A future that is ready once the server drains: it stops, or a new version takes over. A response that goes on
    /// until then listens to it, or the server waits the whole of `grace`.
    ///
    /// ```
    /// use std::convert::Infallible;
    /// use futures_util::stream;
    /// use skep::prelude::*;
    /// use skep::Body;
    ///
    /// #[derive(Service)]
    /// #[service(GET "/ticks")]
    /// struct Ticks;
    ///
    /// impl Handle for Ticks {
    ///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
    ///         let ticks = stream::unfold((), async |()| {
    ///             tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    ///             Some((Ok::<_, Infallible>("tick\n"), ()))
    ///         });
    ///         Ok(Response::with_content_type("text/plain", Body::from_stream(cx.draining().cut(ticks))))
    ///     }
    /// }
    ///
    /// let client = skep::test::Client::new(App::new().serve(services![Ticks]));
    /// let mut ticks = client.request(skep::Method::GET, "/ticks").open();
    /// assert_eq!(ticks.next().unwrap(), "tick\n");
    /// client.drain();
    /// assert_eq!(ticks.next(), None);
    /// ```
    #[must_use]
    pub fn draining(&self) -> Draining {
        self.shared.resources().shared().drain.listen()
    }

    /// Sends events ([`sse::Event`](crate::sse::Event)) as they come, to a page that reads them with `EventSource`.
    /// They end once the server drains, and browsers connect to its successor; a comment is sent where there is no
    /// event for some time.
    ///
    /// ```
    /// use std::convert::Infallible;
    /// use futures_util::StreamExt;
    /// use skep::prelude::*;
    /// use skep::sse::Event;
    ///
    /// #[derive(Service)]
    /// #[service(GET "/news")]
    /// struct News;
    ///
    /// impl Handle for News {
    ///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
    ///         let seen = cx.last_event_id().and_then(|id| id.parse().ok()).unwrap_or(0);
    ///         let news = futures_util::stream::iter(seen + 1..4);
    ///         Ok(cx.events(news.map(|id| Ok::<_, Infallible>(Event::text("news").id(id)))).into())
    ///     }
    /// }
    ///
    /// let client = skep::test::Client::new(App::new().serve(services![News]));
    /// let again = client.request(skep::Method::GET, "/news").header("last-event-id", "2");
    /// assert_eq!(again.open().next_event().unwrap(), "id: 3\ndata: news");
    /// ```
    pub fn events<S: TryStream<Ok = Event>>(&self, events: S) -> Events<S> {
        sse::events(events, self.draining(), self.shared.resources().shared().setup.clock.clone())
    }

    /// The id of the last event that the page has seen, when its `EventSource` connects again.
    #[must_use]
    pub fn last_event_id(&self) -> Option<&'r str> {
        std::str::from_utf8(self.fields().get("last-event-id")?.as_bytes()).ok()
    }
}

impl Cx<'_> {
    /// What ends the response unless it says so; once for each function.
    pub(crate) fn add_watch(&self, watch: Watch) {
        let mut watches = self.watches.get_or_init(Box::default).borrow_mut();
        // Should two functions have one address, they are the same code; should one have two, it is asked twice.
        if !watches.iter().any(|held| std::ptr::fn_addr_eq(*held, watch)) {
            watches.push(watch);
        }
    }

    /// True if a guard asked for it.
    pub(crate) fn is_rechecked(&self) -> bool {
        self.watches.get().is_some()
    }

    /// Has a response that goes on end with what admitted its request.
    pub(crate) async fn watch(&self, response: &mut Response) -> Result<()> {
        if let Some(watch) = self.watcher().await? {
            watch(response);
        }
        Ok(())
    }

    /// The same for a response that is not there yet.
    pub(crate) async fn watcher(&self) -> Result<Option<WatchResponse>> {
        let Some(watches) = self.watches.get() else { return Ok(None) };
        let mut all = Vec::new();
        for watch in watches.take() {
            all.push(watch(self).await?);
        }
        Ok(Some(Box::new(move |response| all.into_iter().for_each(|watch| watch(response)))))
    }
}
