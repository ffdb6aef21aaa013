//! Topics: publishing messages, and subscribing to them.
//!
//! Start reading at [`Topic::publish`] and [`Subscription::next`].

use std::fmt::Display;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use skep::sql::{Local, Transaction};
use skep::{Cx, Result, Work};

use crate::hub::{Channel, Entry, Hub, Next};
use crate::topics::{Topics, after, floor, insert, last_number};

/// Messages of one type `M`, by a key of type `K`: what is published at one key reaches who subscribes to that key.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use skep::prelude::*;
/// use skep::sql::Migrations;
/// use skep_live::prelude::*;
///
/// #[derive(Serialize, Deserialize)]
/// struct Bid { cents: i64 }
///
/// /// Bids, by the number of the auction.
/// const BIDS: Topic<Bid, i64> = Topic::new("bids");
///
/// #[derive(Service)]
/// #[service(POST "/auctions/{auction}/bids/{cents}")]
/// struct MakeBid { auction: i64, cents: i64 }
///
/// impl Handle for MakeBid {
///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
///         cx.transaction().await?; // the message is published if this commits
///         BIDS.publish(cx, &self.auction, &Bid { cents: self.cents }).await?;
///         Ok(Response::text("thank you"))
///     }
/// }
///
/// #[derive(Service)]
/// #[service(GET "/auctions/{auction}/bids")]
/// struct Bids { auction: i64, #[query] after: Option<i64> }
///
/// impl Handle for Bids {
///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
///         BIDS.events(cx, &self.auction, self.after).await
///     }
/// }
///
/// let app = App::new().database(Migrations::NONE).serve(services![MakeBid, Bids]).topics(Topics::new());
/// let client = skep::test::Client::new(app);
/// let mut events = client.request(skep::Method::GET, "/auctions/7/bids?after=0").open();
/// client.post("/auctions/7/bids/250", &[]);
/// client.post("/auctions/8/bids/900", &[]);
/// client.post("/auctions/7/bids/300", &[]);
/// assert!(events.next_event().unwrap().starts_with("retry: "));
/// assert_eq!(events.next_event().unwrap(), "id: 0");
/// assert_eq!(events.next_event().unwrap(), "id: 1\ndata: {\"cents\":250}");
/// assert_eq!(events.next_event().unwrap(), "id: 3\ndata: {\"cents\":300}");
/// ```
pub struct Topic<M, K: ?Sized = str> {
    name: &'static str,
    types: PhantomData<fn(&M, &K)>,
}

impl<M, K: ?Sized> Topic<M, K> {
    /// The topic of this name, which no other one of the application has.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, types: PhantomData }
    }
}

impl<M, K: ?Sized> std::fmt::Debug for Topic<M, K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Topic").field(&self.name).finish()
    }
}

impl<M: Serialize, K: Display + ?Sized> Topic<M, K> {
    /// Publishes a message. If a transaction of the request is open, the message is a part of it: subscribers get it
    /// once that is committed, and never if it is undone. Without one, it is published at once.
    ///
    /// # Errors
    /// If the message has no JSON form, or of the database.
    pub async fn publish(&self, cx: &impl TopicContext, key: &K, message: &M) -> Result<()> {
        let (db, transaction, topics) = cx.topic_context();
        match transaction {
            Some(transaction) => self.insert(transaction, topics, key, message).await,
            None => {
                let (key, payload) = (key.to_string(), serde_json::to_string(message)?);
                db.execute(insert(self.name, &key, topics.now(), &payload)).await?;
                topics.wake();
                Ok(())
            }
        }
    }

    /// The same in a transaction that is not the request's: of [`Local::transaction`].
    ///
    /// # Errors
    /// As [`publish`](Self::publish).
    pub async fn publish_in(&self, db: &Transaction, cx: &impl TopicContext, key: &K, message: &M) -> Result<()> {
        self.insert(db, cx.topic_context().2, key, message).await
    }

    async fn insert(&self, db: &Transaction, topics: &Topics, key: &K, message: &M) -> Result<()> {
        let (key, payload) = (key.to_string(), serde_json::to_string(message)?);
        db.execute(insert(self.name, &key, topics.now(), &payload)).await?;
        db.after_commit(topics.waker());
        Ok(())
    }
}

impl<M, K: Display + ?Sized> Topic<M, K> {
    /// The number of the last message of all topics: what a page carries, so that nothing is lost until it subscribes.
    ///
    /// Read it before the page's statements: then a message may be on the page and come again, and none is missing. In
    /// the request's [transaction](Cx::transaction), if that is open, where on SQLite it is exact: what the page shows
    /// does not come again.
    ///
    /// # Errors
    /// Of the database.
    pub async fn position(&self, cx: &impl TopicContext) -> Result<i64> {
        let (db, transaction, _) = cx.topic_context();
        let last = match transaction {
            Some(transaction) => transaction.one(last_number()).await?,
            None => db.one(last_number()).await?,
        };
        Ok(last.unwrap_or_default())
    }

    /// Subscribes to a key: to all messages with a higher number than `after`, or to those from now on.
    ///
    /// # Errors
    /// Of the database.
    pub async fn subscribe(&self, cx: &impl TopicContext, key: &K, after: Option<i64>) -> Result<Subscription<M>> {
        let (db, _, topics) = cx.topic_context();
        let key = key.to_string();
        if topics.hub.last().is_none() {
            topics.hub.begin(db.one(last_number()).await?.unwrap_or_default());
        }
        topics.start()?;
        let (channel, place) = topics.hub.join(self.name, &key, topics.buffer);
        let from = channel.from();
        let number = after.unwrap_or_else(|| topics.hub.last().unwrap_or(from));
        let missed = Missed { db: db.clone(), topic: self.name, key, read: Vec::new().into_iter() };
        let mut subscription = Subscription {
            hub: Arc::clone(&topics.hub),
            channel,
            place,
            number,
            read_to: number,
            missed: Some(Box::new(missed)).filter(|_| number < from),
            is_gone: false,
            message: PhantomData,
        };
        // Numbers that no message had yet are those of another database.
        subscription.is_gone = number > from && number > db.one(last_number()).await?.unwrap_or_default();
        if subscription.missed.is_some() {
            subscription.read_missed().await?;
        }
        Ok(subscription)
    }
}

/// What a subscription gives.
#[derive(Debug)]
pub enum Received<M> {
    /// A message and its number.
    Message(i64, M),
    /// Messages are gone: they were removed since, or this subscriber was too slow. It should begin again from what is
    /// there now.
    Reload,
}

/// Messages of one key, in the order of their numbers, none left out and none twice.
pub struct Subscription<M> {
    hub: Arc<Hub>,
    channel: Arc<Channel>,
    place: usize,
    /// Of the last message that was given.
    number: i64,
    /// There is no message of the key between `number` and this one.
    read_to: i64,
    /// What was published before this process began to hear; none any more once that was given.
    missed: Option<Box<Missed>>,
    is_gone: bool,
    message: PhantomData<fn() -> M>,
}

/// Messages that are read from the database, some at a time.
struct Missed {
    db: Local,
    topic: &'static str,
    key: String,
    read: std::vec::IntoIter<(i64, String)>,
}

/// Messages that are read at once.
const AT_ONCE: usize = 200;

impl<M> Subscription<M> {
    /// Reads the next messages that are in no memory.
    async fn read_missed(&mut self) -> Result<()> {
        let Some(missed) = &mut self.missed else { return Ok(()) };
        // Who comes back late costs no more than this.
        self.is_gone = self.number < missed.db.one(floor()).await?.unwrap_or_default();
        if self.is_gone {
            return Ok(());
        }
        // All up to there are committed.
        let last = self.hub.last().unwrap_or_default();
        let rows = missed.db.all(after((missed.topic, &missed.key), self.number, AT_ONCE)).await?;
        // Read once more: what is removed meanwhile is below it.
        self.is_gone = self.number < missed.db.one(floor()).await?.unwrap_or_default();
        if rows.len() < AT_ONCE {
            self.read_to = self.read_to.max(last);
        }
        missed.read = rows.into_iter();
        Ok(())
    }

    /// The number of the last message that was given.
    #[must_use]
    pub fn number(&self) -> i64 {
        self.number
    }

    /// The number of the last message of any key that this process has heard of.
    pub(crate) fn last(&self) -> i64 {
        self.hub.last().unwrap_or_default()
    }

    /// Goes on to the last message of any key, if all of this one were given: for a page that would name an old one
    /// when it comes back.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn catch_up(&mut self) -> Option<i64> {
        // First: what is published after this is not counted.
        let last = self.last();
        let is_quiet = self.missed.is_none() && self.channel.is_quiet_after(self.number.max(self.read_to));
        if !is_quiet || last <= self.number {
            return None;
        }
        (self.number, self.read_to) = (last, last.max(self.read_to));
        Some(last)
    }

    /// False in a component, whose responses end: once what was missed is sent, the browser is to come again.
    pub(crate) fn goes_on(&self) -> bool {
        !cfg!(target_family = "wasm") || self.is_gone || self.missed.as_ref().is_some_and(|one| one.read.len() > 0)
    }

    pub(crate) async fn next_entry(&mut self) -> Result<Next> {
        while let Some(missed) = &mut self.missed
            && !self.is_gone
        {
            if let Some((number, payload)) = missed.read.next() {
                self.number = number;
                return Ok(Next::Entry(Arc::new(Entry::new(number, payload))));
            }
            if self.number.max(self.read_to) >= self.channel.from() {
                self.missed = None;
            } else {
                self.read_missed().await?;
            }
        }
        if self.is_gone {
            return Ok(Next::Reload);
        }
        let number = self.number.max(self.read_to);
        let next = poll_fn(|cx| self.channel.poll_after(number, self.place, cx)).await;
        match &next {
            Next::Entry(entry) => self.number = entry.number,
            Next::Reload => self.is_gone = true,
        }
        Ok(next)
    }
}

impl<M: DeserializeOwned> Subscription<M> {
    /// The next message. It waits until there is one; nothing is lost if this future is dropped.
    ///
    /// # Errors
    /// If a message is no `M`: another version of the application has published it.
    pub async fn next(&mut self) -> Result<Received<M>> {
        Ok(match self.next_entry().await? {
            Next::Entry(entry) => Received::Message(entry.number, serde_json::from_str(&entry.payload)?),
            Next::Reload => Received::Reload,
        })
    }
}

impl<M> Drop for Subscription<M> {
    fn drop(&mut self) {
        self.hub.leave(&self.channel, self.place);
    }
}

impl<M> std::fmt::Debug for Subscription<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subscription").field("number", &self.number).finish_non_exhaustive()
    }
}

/// Where messages may be published from: [`Cx`], and [`Work`] outside of requests.
pub trait TopicContext {
    /// The database, the transaction that is open, and the topics of the application.
    #[doc(hidden)]
    fn topic_context(&self) -> (&Local, Option<&Transaction>, &Topics);
}

impl TopicContext for Cx<'_> {
    fn topic_context(&self) -> (&Local, Option<&Transaction>, &Topics) {
        (self.db(), self.open_transaction(), self.state())
    }
}

impl TopicContext for Work {
    fn topic_context(&self) -> (&Local, Option<&Transaction>, &Topics) {
        (self.db(), self.open_transaction(), self.state())
    }
}
