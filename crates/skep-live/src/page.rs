//! A page that is followed: the response to a request with the field `Skep-Live`, which says what the browser shows.
//! A form of such a page that is sent in place has the field, too.
//!
//! The server has nothing of a page but the open response. The same request is answered again when something was
//! written that it has read, and what differs in the pieces is sent; a browser that connects again says what it shows,
//! to this version of the application or to the next one.
//!
//! Start reading at [`follow`].

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::future::select;
use futures_util::stream;
use serde::Serialize;
use skep::header::{CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use skep::layer::Next;
use skep::repeat::{Reads, Repeat};
use skep::sse::Event;
use skep::{Body, Cx, HeaderName, Method, Response, Result, StatusCode};
use skep_units::lock;

use crate::changes::{Changes, up_to};
use crate::members::{Present, Tracked, replace};
use crate::pages::LivePages;
use crate::piece::{parse_versions, pieces};
use crate::presences::{Attendance, Presences};
use crate::send::pause;

const SHOWN: HeaderName = HeaderName::from_static("skep-live");

/// The shortest rest after a rendering for one viewer: what is written meanwhile is shown by the next one.
const LEAST: Duration = Duration::from_millis(50);

/// How many times as long as the rendering that rest is, so that one viewer takes a tenth of a thread at most.
const SHARE: u32 = 10;

/// The rest after a rendering that failed; it doubles with each further one.
const AFTER_FAILURE: Duration = Duration::from_secs(2);

/// The longest rest.
const LONGEST: Duration = Duration::from_secs(30);

/// Within this time all viewers look whether something was missed, so that they do not all look at once.
const SPREAD: Duration = Duration::from_secs(10);

/// Bytes of a page.
const MOST: u64 = 8 << 20;

/// Marks a request that is answered again, and takes what was noted meanwhile.
#[derive(Clone, Debug, Default)]
struct Again(Arc<Mutex<Noted>>);

#[derive(Debug, Default)]
struct Noted {
    reads: Reads,
    tracked: Vec<Tracked>,
}

/// Notes who is present as long as this page is followed, if it is.
pub(crate) fn track(cx: &Cx<'_>, tracked: impl FnOnce() -> Result<Tracked>) -> Result<()> {
    if let Some(again) = cx.extension::<Again>() {
        lock(&again.0).tracked.push(tracked()?);
    } else if cx.header(&SHOWN).is_some()
        && let Some(pages) = cx.find_state::<LivePages>()
    {
        pages.note(cx.id().into(), tracked()?);
    }
    Ok(())
}

/// The layer: a request with the field `Skep-Live` is answered by events; if it brings a form, without a redirect.
pub(crate) async fn follow(cx: &mut Cx<'_>, next: Next<'_>) -> Result {
    if cx.method() == Method::POST && cx.header(&SHOWN).is_some() {
        return match next.run(cx).await {
            Ok(response) => Ok(without_redirect(response)),
            // Guards leave with a redirect, and what was written before that is undone.
            Err(error) => Err(error.into_response().map_or_else(|error| error, |left| without_redirect(left).into())),
        };
    }
    if let Some(again) = cx.extension::<Again>().cloned() {
        cx.note_reads();
        let response = next.run(cx).await;
        lock(&again.0).reads = cx.reads();
        return response;
    }
    let shown = cx.header(&SHOWN).filter(|_| cx.method() == Method::GET).map(parse_versions);
    // A browser that follows the redirect of a form by `fetch` asks for a page.
    let Some(shown) = shown.filter(|shown| !shown.is_empty()) else { return next.run(cx).await };
    let pages = cx.state::<LivePages>();
    pages.start()?;
    let (moment, again, mut repeat) = (pages.changes.now(), Again::default(), cx.repeat()?);
    repeat.headers_mut().remove(SHOWN);
    cx.note_reads();
    let first = pages.begin(cx.id().into());
    // Guards say here what ends the events.
    let response = next.run(cx).await?;
    if !is_page(&response) {
        return Ok(response);
    }
    let mut viewer = Viewer {
        presences: cx.find_state::<Presences>().map(|presences| Arc::clone(&presences.shared)),
        present: Vec::new(),
        repeat: repeat.with(again.clone()),
        again,
        changes: Arc::clone(&pages.changes),
        rest: Instant::now(),
        failures: 0,
        reads: cx.reads(),
        moment,
        shown,
        ready: VecDeque::new(),
        has_ended: false,
    };
    viewer.track(first.tracked());
    if response.headers().contains_key(CONTENT_ENCODING) {
        // It came out of the cache as it is sent.
        viewer.render().await;
    } else {
        viewer.compare(response).await;
    }
    let events = stream::unfold(viewer, async |mut viewer: Viewer| {
        let event = viewer.next().await?;
        Some((Ok::<_, Infallible>(event), viewer))
    });
    Ok(cx.events(events).retry(retry()).into())
}

/// Says where a redirect leads in the field `Skep-Live`. Scripts cannot read that of a redirect; if `fetch` followed
/// it, the page would be made twice where the browser then goes, and the wrong one would show a flash message.
fn without_redirect(mut response: Response) -> Response {
    let asks_by_get = [StatusCode::MOVED_PERMANENTLY, StatusCode::FOUND, StatusCode::SEE_OTHER];
    if asks_by_get.contains(&response.status())
        && let Some(to) = response.headers_mut().remove(LOCATION)
    {
        response.headers_mut().insert(SHOWN, to);
        *response.body_mut() = Body::empty();
        return response.with_status(StatusCode::NO_CONTENT);
    }
    response
}

fn is_page(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE);
    response.status() == StatusCode::OK && kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"))
}

#[cfg(not(target_family = "wasm"))]
async fn sleep_until(time: Instant) {
    tokio::time::sleep_until(time.into()).await;
}

/// A component renders once.
#[cfg(target_family = "wasm")]
async fn sleep_until(_: Instant) {}

async fn sleep(time: Duration) {
    sleep_until(Instant::now() + time).await;
}

/// How long browsers wait before they come again. Responses of a component end at once.
fn retry() -> Duration {
    if cfg!(target_family = "wasm") { Duration::from_secs(5) + up_to(Duration::from_secs(5)) } else { pause() }
}

/// One browser that shows one page.
struct Viewer {
    presences: Option<Arc<Attendance>>,
    /// As long as the page is followed.
    present: Vec<Present>,
    repeat: Repeat,
    again: Again,
    changes: Arc<Changes>,
    /// Nothing is rendered before this.
    rest: Instant,
    /// Renderings that have failed one after the other.
    failures: u32,
    reads: Reads,
    /// Before the page was made that the browser shows.
    moment: u64,
    /// The versions of the pieces that it shows.
    shown: BTreeMap<String, u64>,
    ready: VecDeque<Event>,
    has_ended: bool,
}

/// What a browser is to show in place of a piece.
#[derive(Serialize)]
struct Update<'u> {
    name: &'u str,
    version: String,
    html: &'u str,
}

impl Viewer {
    /// The next event. None in a component, whose responses end: the browser comes again.
    async fn next(&mut self) -> Option<Event> {
        while self.ready.is_empty() {
            if self.has_ended || cfg!(target_family = "wasm") {
                return None;
            }
            if !self.changes.wait(&self.reads, self.moment).await {
                let (written, spread) = (self.changes.written_after(&self.reads, self.moment), sleep(up_to(SPREAD)));
                select(pin!(written), pin!(spread)).await;
            }
            // What is written meanwhile is shown, too.
            sleep_until(self.rest).await;
            self.render().await;
        }
        self.ready.pop_front()
    }

    /// Makes the page again, and notes what differs.
    async fn render(&mut self) {
        let begun = Instant::now();
        let before = std::mem::replace(&mut self.moment, self.changes.now());
        lock(&self.again.0).tracked.clear();
        let response = self.repeat.answer().await;
        let has_failed = response.status().is_server_error() || response.status() == StatusCode::TOO_MANY_REQUESTS;
        if has_failed {
            // It is tried again, whatever it has read so far.
            self.moment = before;
            self.failures += 1;
        } else {
            self.failures = 0;
            let noted = std::mem::take(&mut *lock(&self.again.0));
            self.reads = noted.reads;
            self.track(noted.tracked);
            self.take(response).await;
        }
        self.rest = Instant::now() + rest(begun.elapsed(), self.failures);
    }

    /// Has those be present whom the page tracks.
    fn track(&mut self, tracked: Vec<Tracked>) {
        let Some(presences) = &self.presences else { return };
        replace(&mut self.present, tracked, |tracked| {
            let joined = presences.join(tracked);
            joined.inspect_err(|error| tracing::error!(target: "skep::live", "nobody is present: {error}")).ok()
        });
    }

    async fn take(&mut self, response: Response) {
        if is_page(&response) {
            return self.compare(response).await;
        }
        // Who may not see it any more is shown why.
        self.ready.push_back(Event::text("").name("reload"));
        self.has_ended = true;
    }

    /// Notes the pieces that differ from what is shown.
    async fn compare(&mut self, mut response: Response) {
        let Ok(page) = std::mem::take(response.body_mut()).collect(MOST).await else { return };
        let page = String::from_utf8_lossy(&page);
        for piece in pieces(&page) {
            let Some(shown) = self.shown.get_mut(piece.name).filter(|shown| **shown != piece.version) else { continue };
            *shown = piece.version;
            let update = Update { name: piece.name, version: format!("{:x}", piece.version), html: piece.html };
            if let Ok(event) = Event::json(&update) {
                self.ready.push_back(event.name("live"));
            }
        }
    }
}

/// How long a viewer rests after a rendering that took so long.
fn rest(took: Duration, failures: u32) -> Duration {
    let rest = took.saturating_mul(SHARE).clamp(LEAST, LONGEST);
    let Some(doublings) = failures.checked_sub(1) else { return rest };
    let longest = AFTER_FAILURE.saturating_mul(1 << doublings.min(4)).min(LONGEST);
    rest.max(longest / 2 + up_to(longest / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_viewer_rests_longer_the_longer_it_takes_and_the_more_often_it_fails() {
        let milliseconds = |took, failures| rest(Duration::from_millis(took), failures).as_millis();
        assert_eq!([0, 5, 6, 200, 60_000].map(|took| milliseconds(took, 0)), [50, 50, 60, 2_000, 30_000]);
        for (failures, longest) in [(1, 2_000), (2, 4_000), (3, 8_000), (5, 30_000), (1_000, 30_000)] {
            assert!((longest / 2..=longest).contains(&milliseconds(0, failures)), "{failures} failures");
        }
    }
}
