//! Server-sent events: a response that goes on, and that a page reads with `EventSource` (HTML, 9.2).
//!
//! Start with `Cx::events`. The how-to guide is `docs/guides/live/streams.md`.

use std::fmt::Write;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_core::{Stream, TryStream};
use http::header::CACHE_CONTROL;
use http::{HeaderName, HeaderValue};
use serde::Serialize;
use skep_cache::{Clock, Sleep};

use crate::body::drain::Draining;
use crate::body::{Body, BodyError};
use crate::error::Result;
use crate::response::Response;

/// One event. It reaches the page as a `message`, or as what [`name`](Self::name) says.
///
/// ```
/// use skep::sse::Event;
///
/// let event = Event::text("first line\nsecond line").name("news").id("7");
/// assert_eq!(event.to_string(), "event: news\nid: 7\ndata: first line\ndata: second line\n\n");
/// assert_eq!(Event::json(&[1, 2]).unwrap().to_string(), "data: [1,2]\n\n");
/// ```
#[derive(Clone, Debug)]
pub struct Event {
    name: Option<String>,
    id: Option<String>,
    data: Option<String>,
    encoded: Option<Bytes>,
}

impl Event {
    /// An event with this text as its data, of any number of lines.
    #[must_use]
    pub fn text(data: impl Into<String>) -> Self {
        Self { name: None, id: None, data: Some(data.into()), encoded: None }
    }

    /// No event, but an id: what the browser sends as `Last-Event-ID` if it connects again before it has seen an event.
    ///
    /// ```
    /// assert_eq!(skep::sse::Event::id_alone(7).to_string(), "id: 7\n\n");
    /// ```
    #[must_use]
    pub fn id_alone(id: impl ToString) -> Self {
        Self { name: None, id: None, data: None, encoded: None }.id(id)
    }

    /// An event with this value as JSON. A value that has no JSON form is an error.
    pub fn json(value: &(impl Serialize + ?Sized)) -> Result<Self> {
        Ok(Self::text(serde_json::to_string(value)?))
    }

    /// The name of the event, which the page listens for: `source.addEventListener("news", ...)`. Line breaks in it are
    /// left out.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(one_line(name.into()));
        self
    }

    /// What the browser sends as `Last-Event-ID` when it connects again
    /// (`Cx::last_event_id`). Line breaks and NUL in it are left out, since the standard
    /// has browsers ignore an id with them.
    #[must_use]
    pub fn id(mut self, id: impl ToString) -> Self {
        self.id = Some(one_line(id.to_string()));
        self
    }

    /// Encodes it now, and once: clones share the bytes, for an event to many listeners. Nothing is changed in it after
    /// this.
    ///
    /// ```
    /// let event = skep::sse::Event::text("news").id(7).encoded();
    /// assert_eq!(event.to_string(), "id: 7\ndata: news\n\n");
    /// ```
    #[must_use]
    pub fn encoded(self) -> Self {
        let encoded = Some(self.into_bytes());
        Self { name: None, id: None, data: None, encoded }
    }

    fn into_bytes(self) -> Bytes {
        self.encoded.clone().unwrap_or_else(|| self.to_string().into())
    }
}

fn one_line(mut text: String) -> String {
    text.retain(|letter| !matches!(letter, '\n' | '\r' | '\0'));
    text
}

/// The event as it is sent.
impl std::fmt::Display for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(encoded) = &self.encoded {
            return f.write_str(&String::from_utf8_lossy(encoded));
        }
        if let Some(name) = &self.name {
            writeln!(f, "event: {name}")?;
        }
        if let Some(id) = &self.id {
            writeln!(f, "id: {id}")?;
        }
        // Each of the three ends a line for who reads it, so data with a line break of the others could make a field of
        // its own.
        if let Some(data) = self.data.as_ref().map(|data| data.replace("\r\n", "\n")) {
            data.split(['\n', '\r']).try_for_each(|line| writeln!(f, "data: {line}"))?;
        }
        f.write_char('\n')
    }
}

/// How often something is sent at least.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// A heartbeat: a comment, which browsers ignore. It keeps proxies from closing the connection, and finds out whether
/// the client is there.
const COMMENT: &[u8] = b":\n\n";

/// nginx passes on each piece of such a response at once.
const BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Events that are being sent: what `Cx::events` gives. `into()` makes the response.
#[derive(Debug)]
#[must_use = "events are sent by the response that `into()` makes of them"]
pub struct Events<S> {
    stream: Pin<Box<S>>,
    draining: Draining,
    clock: Clock,
    heartbeat: Duration,
    retry: Option<Duration>,
    sleep: Sleep,
}

/// The events of a stream. They end when the server drains.
pub fn events<S: TryStream<Ok = Event>>(stream: S, draining: Draining, clock: Clock) -> Events<S> {
    let sleep = clock.sleep_until(clock.now().plus(HEARTBEAT));
    Events { stream: Box::pin(stream), draining, clock, heartbeat: HEARTBEAT, retry: None, sleep }
}

impl<S: TryStream<Ok = Event>> Events<S> {
    /// How long to send nothing before a heartbeat is sent. Default: 15 s.
    pub fn heartbeat(mut self, heartbeat: Duration) -> Self {
        self.heartbeat = heartbeat;
        self.rest();
        self
    }

    /// How long browsers wait before they connect again, after the server has drained or the connection broke. Default:
    /// what the browser likes, some seconds.
    pub fn retry(mut self, retry: Duration) -> Self {
        self.retry = Some(retry);
        self
    }

    fn rest(&mut self) {
        self.sleep = self.clock.sleep_until(self.clock.now().plus(self.heartbeat));
    }
}

impl<S: TryStream<Ok = Event>> Stream for Events<S> {
    type Item = Result<Bytes, S::Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(retry) = self.retry.take() {
            return Poll::Ready(Some(Ok(format!("retry: {}\n\n", retry.as_millis()).into())));
        }
        if Pin::new(&mut self.draining).poll(cx).is_ready() {
            return Poll::Ready(None);
        }
        if let Poll::Ready(event) = self.stream.as_mut().try_poll_next(cx) {
            self.rest();
            return Poll::Ready(event.map(|event| event.map(Event::into_bytes)));
        }
        if Pin::new(&mut self.sleep).poll(cx).is_pending() {
            return Poll::Pending;
        }
        self.rest();
        Poll::Ready(Some(Ok(Bytes::from_static(COMMENT))))
    }
}

impl<S> From<Events<S>> for Response
where
    S: TryStream<Ok = Event> + 'static,
    S::Error: Into<BodyError>,
{
    fn from(events: Events<S>) -> Self {
        Self::with_content_type("text/event-stream", Body::from_stream(events))
            .with_header(CACHE_CONTROL, HeaderValue::from_static("no-store"))
            .with_header(BUFFERING, HeaderValue::from_static("no"))
    }
}
