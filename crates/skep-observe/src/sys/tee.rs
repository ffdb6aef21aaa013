//! Two subscribers of [`tracing`] for one process, of which the second may come later.

use std::any::TypeId;
use std::sync::{Arc, OnceLock};

use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber};
use tracing_core::span::Current;

/// A subscriber whose type is the program's.
pub(crate) type BoxedSubscriber = Box<dyn Subscriber + Send + Sync>;

/// Gives events to both subscribers, and spans to the second one: the first one wants none. Each is asked for its own
/// levels.
pub(crate) struct Tee<S> {
    first: S,
    second: Arc<OnceLock<BoxedSubscriber>>,
}

impl<S: Subscriber> Tee<S> {
    pub(crate) fn new(first: S, second: Arc<OnceLock<BoxedSubscriber>>) -> Self {
        Self { first, second }
    }

    fn second(&self) -> Option<&BoxedSubscriber> {
        self.second.get()
    }
}

/// What one of them never wants is decided by the other one.
fn either(one: Interest, other: Interest) -> Interest {
    match () {
        () if one.is_never() => other,
        () if other.is_never() || one.is_always() && other.is_always() => one,
        () => Interest::sometimes(),
    }
}

impl<S: Subscriber> Subscriber for Tee<S> {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        let second = self.second().map_or_else(Interest::never, |second| second.register_callsite(metadata));
        either(self.first.register_callsite(metadata), second)
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        // Both: layers with filters of their own remember what they have replied last.
        let second = self.second().is_some_and(|second| second.enabled(metadata));
        self.first.enabled(metadata) || second
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        let second = self.second().map_or(Some(LevelFilter::OFF), Subscriber::max_level_hint);
        Some(self.first.max_level_hint()?.max(second?))
    }

    fn event(&self, event: &Event<'_>) {
        let metadata = event.metadata();
        if self.first.enabled(metadata) {
            self.first.event(event);
        }
        if let Some(second) = self.second()
            && second.enabled(metadata)
            && second.event_enabled(event)
        {
            second.event(event);
        }
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        self.second().map_or_else(|| self.first.new_span(attributes), |second| second.new_span(attributes))
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        self.second().into_iter().for_each(|second| second.record(span, values));
    }

    fn record_follows_from(&self, span: &Id, follows: &Id) {
        self.second().into_iter().for_each(|second| second.record_follows_from(span, follows));
    }

    fn enter(&self, span: &Id) {
        self.second().into_iter().for_each(|second| second.enter(span));
    }

    fn exit(&self, span: &Id) {
        self.second().into_iter().for_each(|second| second.exit(span));
    }

    fn clone_span(&self, span: &Id) -> Id {
        self.second().map_or_else(|| span.clone(), |second| second.clone_span(span))
    }

    fn try_close(&self, span: Id) -> bool {
        self.second().is_some_and(|second| second.try_close(span))
    }

    fn current_span(&self) -> Current {
        self.second().map_or_else(Current::none, Subscriber::current_span)
    }

    /// What extends spans, such as `tracing-opentelemetry`, finds its layer by this.
    unsafe fn downcast_raw(&self, id: TypeId) -> Option<*const ()> {
        // SAFETY: the second subscriber is in a cell that is set once and lives as long as this one; all else is its
        // promise.
        unsafe { self.second()?.downcast_raw(id) }
    }
}
