//! What all lines of a request carry: its id, trace and user; and the lines that are kept in case it fails.
//!
//! A [`RequestLog`] is current on a thread while the request is worked on there.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use http::HeaderName;
use skep_units::lock;
use tracing::field::Empty;
use tracing::{Level, Span};

use super::raise::{self, Raised, Whose};
use crate::fields::Fields;

thread_local! {
    static CURRENT: RefCell<Option<RequestLog>> = const { RefCell::new(None) };
}

/// What the lines of one request carry. A clone is for work of the request on another thread.
#[derive(Clone, Debug, Default)]
pub struct RequestLog {
    id: u64,
    /// Its service: a position in `Site::service_routes`. 0: none, or not known yet.
    service: u16,
    /// Boxed: most requests have nothing of it, and what lines carry moves with each step of the work.
    more: Option<Box<More>>,
}

/// What lines carry of some requests only.
#[derive(Clone, Debug, Default)]
struct More {
    trace: Option<Trace>,
    /// The server makes a span of the request, whose id is that of the request.
    has_span: bool,
    user: Option<Arc<str>>,
    raised: Option<Arc<Raised>>,
    /// For a subscriber that is not the server's.
    span: Option<Span>,
    recording: Option<Arc<Recording>>,
}

/// The trace that a request belongs to: W3C Trace Context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trace {
    id: [u8; 32],
    /// The span of the client; zeros if the trace begins here.
    parent: [u8; 16],
    is_sampled: bool,
}

/// The flight recorder: what a server wants kept of the suppressed lines of each request.
#[derive(Clone, Copy, Debug)]
pub struct Recorder {
    /// The most bytes of lines kept for a request.
    pub limit: usize,
    /// A request that takes longer is slow, and its lines are written.
    pub slow: Option<Duration>,
    /// Writes a line that was given to [`RequestLog::record`].
    pub write: fn(&[u8]),
}

#[derive(Debug)]
struct Recording {
    start: Instant,
    lines: Mutex<Lines>,
    /// In development: its lines as text, for the page of its error.
    shown: Option<Mutex<VecDeque<String>>>,
}

/// Lines, each after its length; the oldest are dropped first.
#[derive(Debug, Default)]
struct Lines(Vec<u8>);

static RECORDER: OnceLock<Recorder> = OnceLock::new();

static TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const NO_SPAN: [u8; 16] = [b'0'; 16];
/// The most lines that the page of an error shows.
const MOST_SHOWN: usize = 200;
const LENGTH: usize = size_of::<u32>();

/// Keeps suppressed lines of all requests from now on. The first recorder stays.
pub fn install_recorder(recorder: Recorder) {
    let _ = RECORDER.set(recorder);
}

/// Calls `read` with the request that this thread works on.
pub fn with_request<T>(read: impl FnOnce(Option<&RequestLog>) -> T) -> T {
    // Borrowed for writing only while nothing is logged; at the end of a thread, nothing is current.
    let mut read = Some(read);
    let result = CURRENT.try_with(|current| {
        let current = current.try_borrow().ok()?;
        Some(read.take()?(current.as_ref()))
    });
    match (result, read) {
        (Ok(Some(result)), _) => result,
        (_, Some(read)) => read(None),
        _ => unreachable!("`read` is called once"),
    }
}

/// What work of the current request on another thread carries.
#[inline]
pub fn share() -> Option<RequestLog> {
    with_request(|request| Some(request?.clone()))
}

/// Notes which service the current request is for.
#[inline]
pub fn set_service(service: u16) {
    let _ = CURRENT.try_with(|current| {
        if let Ok(mut current) = current.try_borrow_mut()
            && let Some(request) = &mut *current
        {
            request.service = service;
        }
    });
}

/// Names the user of the current request.
pub fn set_user(user: &str) {
    let _ = CURRENT.try_with(|current| {
        let Ok(mut current) = current.try_borrow_mut() else { return };
        if let Some(request) = &mut *current {
            request.raise(raise::level_for(Whose::User(user)));
            let more = request.more_mut();
            more.user = Some(user.into());
            if let Some(span) = &more.span {
                span.record("user", user);
            }
        }
    });
}

impl RequestLog {
    /// Runs a step of the request's work.
    pub fn enter<T>(&mut self, step: impl FnOnce() -> T) -> T {
        /// Leaves the request, also by way of a panic.
        struct Leave<'r>(&'r mut RequestLog, Option<RequestLog>);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                *self.0 = CURRENT.replace(self.1.take()).unwrap_or_default();
            }
        }
        let span = self.more.as_ref().and_then(|more| more.span.clone());
        let outer = CURRENT.replace(Some(std::mem::take(self)));
        let _leave = Leave(self, outer);
        match span {
            Some(span) => span.in_scope(step),
            None => step(),
        }
    }

    /// The service of the request: a position in `Site::service_routes`.
    #[must_use]
    pub fn service(&self) -> u16 {
        self.service
    }

    /// The id of the request.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The trace id that the client sent or the server chose: 32 hexadecimal digits.
    #[must_use]
    pub fn trace(&self) -> Option<&str> {
        self.more.as_ref()?.trace.as_ref().map(Trace::id)
    }

    /// The user, once something has named one.
    #[must_use]
    pub fn user(&self) -> Option<&str> {
        self.more.as_ref()?.user.as_deref()
    }

    fn more_mut(&mut self) -> &mut More {
        self.more.get_or_insert_default()
    }

    fn recording(&self) -> Option<&Arc<Recording>> {
        self.more.as_ref()?.recording.as_ref()
    }

    /// Raises it from now on, unless it is raised as far already.
    fn raise(&mut self, level: Option<Level>) {
        if let Some(level) = level.filter(|level| Some(*level) > self.raised()) {
            self.more_mut().raised = Some(Arc::new(Raised::new(level)));
        }
    }

    /// The level to which this request is raised.
    #[must_use]
    pub fn raised(&self) -> Option<Level> {
        self.more.as_ref()?.raised.as_ref().map(|raised| raised.level())
    }

    /// True if suppressed lines are to be recorded.
    #[must_use]
    pub fn is_recorded(&self) -> bool {
        self.recording().is_some()
    }

    /// Keeps a line, which is written if the request fails.
    pub fn record(&self, line: &[u8]) {
        if let (Some(recording), Some(recorder)) = (self.recording(), RECORDER.get()) {
            recording.lines().push(line, recorder.limit);
        }
    }

    /// True in development: its lines are shown on the page of its error.
    #[must_use]
    pub fn shows_lines(&self) -> bool {
        self.recording().is_some_and(|recording| recording.shown.is_some())
    }

    /// Keeps a line for that page.
    pub fn show(&self, line: &[u8]) {
        if let Some(shown) = self.recording().and_then(|recording| recording.shown.as_ref()) {
            let mut lines = lock(shown);
            // The last ones say why it failed.
            if lines.len() == MOST_SHOWN {
                lines.pop_front();
            }
            lines.push_back(String::from_utf8_lossy(line).trim_end().to_owned());
        }
    }

    /// The lines of that page.
    #[must_use]
    pub fn shown(&self) -> Vec<String> {
        let shown = self.recording().and_then(|recording| recording.shown.as_ref());
        shown.map(|lines| lock(lines).iter().cloned().collect()).unwrap_or_default()
    }

    /// Writes what is recorded, and forgets it.
    pub fn write_recorded(&self) {
        if let (Some(recording), Some(recorder)) = (self.recording(), RECORDER.get()) {
            let lines = std::mem::take(&mut *recording.lines());
            lines.each(recorder.write);
        }
    }
}

extension! {
    /// What a framework does with what lines carry.
    pub trait RequestLogExt for RequestLog {
        /// For the request with this id. `raised`: its lines are written from this level up.
        fn new(id: u64, headers: &Fields, raised: Option<Level>) -> Self {
            let mut this = Self { id, service: 0, more: None };
            if let Some(trace) = Trace::of(headers) {
                this.more_mut().trace = Some(trace);
            }
            if RECORDER.get().is_some() {
                this.more_mut().recording = Some(Arc::new(Recording::new(None)));
            }
            this.raise(raised);
            this
        }

        /// The trace for which the server makes a span of the request, if it does.
        #[must_use]
        fn with_trace(self, trace: Option<Trace>) -> Self {
            let mut this = self;
            if trace.is_some() {
                (this.more_mut().trace, this.more_mut().has_span) = (trace, true);
            }
            this
        }

        /// In development: its lines are shown on the page of its error.
        #[must_use]
        fn showing_lines(self) -> Self {
            let mut this = self;
            this.more_mut().recording = Some(Arc::new(Recording::new(Some(Mutex::default()))));
            this
        }

        /// Makes a span of the request, if the program's subscriber wants spans; the server's does not.
        #[must_use]
        fn with_span<'p>(self, method: &str, path: impl FnOnce() -> Cow<'p, str>) -> Self {
            let mut this = self;
            let span = tracing::info_span!(
                target: "skep::request",
                "request",
                id = %format_args!("{:016x}", this.id),
                method,
                path = &*path(),
                trace = this.trace(),
                user = Empty,
            );
            if !span.is_disabled() {
                this.more_mut().span = Some(span);
            }
            this
        }

        /// The value of `traceparent` for requests that the application makes while it handles this one.
        fn traceparent(&self) -> Option<String> {
            let More { trace: Some(trace), has_span, .. } = self.more.as_deref()? else { return None };
            let flags = u8::from(trace.is_sampled);
            Some(match trace.parent() {
                Some(parent) if !has_span => format!("00-{}-{parent}-{flags:02x}", trace.id()),
                _ => format!("00-{}-{:016x}-{flags:02x}", trace.id(), self.id),
            })
        }

        /// The user, to keep.
        fn shared_user(&self) -> Option<Arc<str>> {
            self.more.as_ref()?.user.clone()
        }

        /// The request has its response: writes what is recorded if it failed or was slow.
        fn finish(&mut self, has_failed: bool) {
            let (Some(recording), Some(recorder)) = (self.recording().cloned(), RECORDER.get()) else { return };
            let took = recorder.slow.map(|slow| (recording.start.elapsed(), slow));
            if let Some((took, slow)) = took.filter(|(took, slow)| took >= slow) {
                self.write_recorded();
                let (ms, limit) = (took.as_millis(), slow.as_millis());
                self.enter(|| tracing::warn!(target: "skep::request", ms, "a slow request: over {limit} ms (log.slow)"));
            } else if has_failed {
                self.write_recorded();
            }
        }
    }
}

impl Recording {
    fn new(shown: Option<Mutex<VecDeque<String>>>) -> Self {
        Self { start: Instant::now(), lines: Mutex::default(), shown }
    }

    fn lines(&self) -> std::sync::MutexGuard<'_, Lines> {
        lock(&self.lines)
    }
}

impl Lines {
    fn push(&mut self, line: &[u8], limit: usize) {
        let needed = LENGTH + line.len();
        let Some(room) = limit.checked_sub(needed) else { return };
        let mut start = 0;
        while self.0.len() - start > room {
            start += LENGTH + length(&self.0[start..]);
        }
        self.0.drain(..start);
        self.0.extend_from_slice(&u32::try_from(line.len()).unwrap_or(u32::MAX).to_ne_bytes());
        self.0.extend_from_slice(line);
    }

    fn each(&self, mut take: impl FnMut(&[u8])) {
        let mut rest = &self.0[..];
        while !rest.is_empty() {
            let (line, after) = rest[LENGTH..].split_at(length(rest));
            take(line);
            rest = after;
        }
    }
}

fn length(entry: &[u8]) -> usize {
    entry.first_chunk().map_or(0, |length| u32::from_ne_bytes(*length) as usize)
}

impl Trace {
    /// The trace that a client names.
    #[must_use]
    pub fn of(headers: &Fields) -> Option<Self> {
        Self::parse(headers.get(&TRACEPARENT)?.as_bytes())
    }

    /// A trace that begins with the request of this id. Requests have ids that differ, so traces do, too.
    #[must_use]
    pub fn begin(request: u64, is_sampled: bool) -> Self {
        let mut id = [0; 32];
        let text = format!("{:016x}{request:016x}", request.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        id.copy_from_slice(text.as_bytes());
        Self { id, parent: NO_SPAN, is_sampled }
    }

    /// The id: 32 hexadecimal digits.
    #[must_use]
    pub fn id(&self) -> &str {
        std::str::from_utf8(&self.id).unwrap_or_default()
    }

    /// The id of the client's span: 16 hexadecimal digits. `None` if the trace begins with the request.
    #[must_use]
    pub fn parent(&self) -> Option<&str> {
        (self.parent != NO_SPAN).then(|| std::str::from_utf8(&self.parent).unwrap_or_default())
    }

    /// True if spans of the trace are recorded.
    #[must_use]
    pub fn is_sampled(&self) -> bool {
        self.is_sampled
    }

    /// Reads `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01` (Trace Context, 3.2).
    fn parse(value: &[u8]) -> Option<Self> {
        let (version, rest) = value.split_first_chunk::<2>()?;
        let (trace, rest) = rest.strip_prefix(b"-")?.split_first_chunk::<32>()?;
        let (parent, rest) = rest.strip_prefix(b"-")?.split_first_chunk::<16>()?;
        let (flags, rest) = rest.strip_prefix(b"-")?.split_first_chunk::<2>()?;
        // A later version may add fields.
        let ends = rest.is_empty() || version != b"00" && rest[0] == b'-';
        let is_hex = |text: &[u8]| text.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let is_set = |text: &[u8]| text.iter().any(|byte| *byte != b'0');
        let valid = version != b"ff" && is_hex(version) && is_hex(trace) && is_hex(parent) && is_hex(flags);
        // The last of the eight flags.
        let is_sampled = matches!(flags[1], b'1' | b'3' | b'5' | b'7' | b'9' | b'b' | b'd' | b'f');
        let read = Self { id: *trace, parent: *parent, is_sampled };
        (ends && valid && is_set(trace) && is_set(parent)).then_some(read)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/log/request.rs"]
mod tests;
