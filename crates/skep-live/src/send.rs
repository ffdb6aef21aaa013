//! Sends the messages of a subscription to a page: as server-sent events, and on a WebSocket.

use std::fmt::Display;
use std::pin::pin;
use std::time::Duration;

use futures_util::future::{Either, select};
use futures_util::{StreamExt, stream};
use skep::cache::Clock;
use skep::sse::Event;
use skep::websocket::{CloseCode, WebSocket};
use skep::{Cx, Result};

use crate::changes::up_to;
use crate::hub::Next;
use crate::topic::{Subscription, Topic};
use crate::topics::Topics;

/// Why a WebSocket is closed whose messages are gone: a page loads itself again.
pub const RELOAD: CloseCode = CloseCode(4205);

impl<M: 'static, K: Display + ?Sized> Topic<M, K> {
    /// The response with all messages of a key as server-sent events, which a page reads with `EventSource`: those
    /// after the number that the browser has seen last, if it connects again, else those after `after`, else those from
    /// now on. The data of an event is the message as JSON, its id is the number. An event with the name `reload` says
    /// that messages are gone.
    ///
    /// Events end with what a guard has admitted, and when the server drains: browsers connect again after a random
    /// pause, and get what they have missed. An example is at [`Topic`].
    ///
    /// # Errors
    /// Of the database.
    pub async fn events(&self, cx: &Cx<'_>, key: &K, after: Option<i64>) -> Result {
        self.events_with(cx, key, after, ()).await
    }

    /// The same, which holds a value until it ends.
    pub(crate) async fn events_with<H: Send + 'static>(
        &self,
        cx: &Cx<'_>,
        key: &K,
        after: Option<i64>,
        held: H,
    ) -> Result {
        let after = cx.last_event_id().and_then(|id| id.parse().ok()).or(after);
        let subscription = self.subscribe(cx, key, after).await?;
        let start = Ok::<_, skep::Error>(Event::id_alone(subscription.number()));
        let clock = cx.state::<Topics>().clock().clone();
        let state = Some((subscription, clock, held));
        let events = stream::unfold(state, async |state: Option<(Subscription<M>, Clock, H)>| {
            let (mut subscription, clock, held) = state.filter(|(subscription, ..)| subscription.goes_on())?;
            let next = match next_or_number(&mut subscription, &clock).await {
                Either::Left(next) => next,
                Either::Right(number) => return Some((Ok(Event::id_alone(number)), Some((subscription, clock, held)))),
            };
            Some(match next {
                Ok(Next::Entry(entry)) => (Ok(entry.event().clone()), Some((subscription, clock, held))),
                // The browser connects again.
                Err(error) => (Err(error), None),
                Ok(Next::Reload) => {
                    let event = Event::text("").name("reload").id(subscription.last());
                    (Ok(event), None)
                }
            })
        });
        Ok(cx.events(stream::iter([start]).chain(events)).retry(pause()).into())
    }

    /// Accepts a WebSocket and sends it all messages of a key after this number, or from now on: a text with
    /// `{"number":7,"message":...}` for each. At the beginning, and now and then where there is no message, the text is
    /// `{"number":7}`: how far it is. A page that connects again names the last number. If messages are gone, the
    /// socket is closed with [`RELOAD`]. What the page sends is ignored: for more, write the loop with
    /// [`subscribe`](Self::subscribe).
    ///
    /// ```
    /// # use skep::prelude::*;
    /// # use skep_live::prelude::*;
    /// const NEWS: Topic<String> = Topic::new("news");
    ///
    /// #[derive(Service)]
    /// #[service(GET "/news")]
    /// struct News { #[query] after: Option<i64> }
    ///
    /// impl Handle for News {
    ///     async fn handle(self, cx: &mut Cx<'_>) -> Result { NEWS.socket(cx, "all", self.after).await }
    /// }
    /// ```
    ///
    /// # Errors
    /// Of the database, and of the handshake ([`Cx::websocket`]).
    pub async fn socket(&self, cx: &mut Cx<'_>, key: &K, after: Option<i64>) -> Result {
        self.socket_with(cx, key, after, ()).await
    }

    /// The same, which holds a value until it ends.
    pub(crate) async fn socket_with<H: 'static>(
        &self,
        cx: &mut Cx<'_>,
        key: &K,
        after: Option<i64>,
        held: H,
    ) -> Result {
        let mut subscription = self.subscribe(cx, key, after).await?;
        let clock = cx.state::<Topics>().clock().clone();
        cx.websocket(async move |socket: &mut WebSocket| {
            let _held = held;
            socket.send_text(&number_alone(subscription.number())).await?;
            loop {
                let next = {
                    let (received, next) = (pin!(socket.receive()), pin!(next_or_number(&mut subscription, &clock)));
                    match select(received, next).await {
                        Either::Left((received, _)) => match received? {
                            Some(_) => continue,
                            None => return Ok(()),
                        },
                        Either::Right((next, _)) => next,
                    }
                };
                match next {
                    Either::Left(Ok(Next::Entry(entry))) => socket.send_text(entry.frame()).await?,
                    Either::Left(Ok(Next::Reload)) => return Ok(socket.close(RELOAD, "reload").await?),
                    Either::Left(Err(error)) => return Err(error),
                    Either::Right(number) => socket.send_text(&number_alone(number)).await?,
                }
            }
        })
    }
}

fn number_alone(number: i64) -> String {
    format!("{{\"number\":{number}}}")
}

/// After this time without a message, a browser receives how far it has got, so that it need not reload when it comes
/// back.
#[cfg(not(target_family = "wasm"))]
const QUIET: Duration = Duration::from_secs(12);

/// The next message of a key, or, after a while without any, the number of the last one of any key.
#[cfg(not(target_family = "wasm"))]
async fn next_or_number<M>(subscription: &mut Subscription<M>, clock: &Clock) -> Either<Result<Next>, i64> {
    loop {
        let quiet = clock.sleep_until(clock.now().plus(QUIET));
        if let Either::Left((next, _)) = select(pin!(subscription.next_entry()), pin!(quiet)).await {
            return Either::Left(next);
        }
        if let Some(number) = subscription.catch_up() {
            return Either::Right(number);
        }
    }
}

#[cfg(target_family = "wasm")]
async fn next_or_number<M>(subscription: &mut Subscription<M>, _: &Clock) -> Either<Result<Next>, i64> {
    Either::Left(subscription.next_entry().await)
}

/// How long a browser waits until it connects again: at random, so that those of a server that ends do not all come at
/// once.
pub(crate) fn pause() -> Duration {
    Duration::from_millis(500) + up_to(Duration::from_millis(2_500))
}
