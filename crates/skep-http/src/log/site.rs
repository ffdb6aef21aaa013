//! Callsites of [`tracing`] for categories: one for each category, level and set of field names, made when it is first
//! used.
//!
//! A program has as many callsites as its text has statements, at most, so they are never freed.
//!
//! Only `FieldSet::value_set`, which tracing hides from its documentation, makes an event whose field names are not
//! literals in a macro. `tracing-log` calls it, too. The documented macros would give a program's own subscriber one
//! field with the text of all. So the workspace has the exact version of `tracing-core`, and `tests/log.rs` is the
//! contract: names, types, and fields without a value.

use std::fmt::Display;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use tracing::callsite::{self, Callsite};
use tracing::field::{self, Field, FieldSet};
use tracing::metadata::Kind;
use tracing::subscriber::Interest;
use tracing::{Dispatch, Event, Level, Metadata, Value as TracingValue, dispatcher};
use tracing_core::identify_callsite;

use super::category::Value;

/// A line of a category, before it is an event of `tracing`.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct CategoryLine<'l> {
    /// Of the category and the level.
    pub metadata: &'static Metadata<'static>,
    /// The message.
    pub text: &'l dyn Display,
    /// Names and values.
    pub fields: &'l [(&'static str, Value<'l>)],
}

/// Writes a line if this subscriber is its own, which needs no event for it.
type TakeLine = fn(&Dispatch, &CategoryLine<'_>) -> bool;

static TAKE: OnceLock<TakeLine> = OnceLock::new();

/// Offers all lines of categories to this function first. Where it returns false, as for a subscriber of the program's,
/// they become events. The first function stays.
#[doc(hidden)]
pub fn install_line_writer(take: TakeLine) {
    let _ = TAKE.set(take);
}

/// The most fields of a line.
pub(super) const MAX_FIELDS: usize = 16;

/// The levels of a category whose lines no subscriber wants, of any request: a bit for each. None until the category
/// has a callsite of that level, which asks.
pub(super) struct Suppressed(AtomicU8);

impl Suppressed {
    pub(super) const fn none() -> Self {
        Self(AtomicU8::new(0))
    }

    #[inline]
    pub(super) fn has(&self, level: Level) -> bool {
        self.0.load(Ordering::Relaxed) & (1 << number(level)) != 0
    }

    fn set(&self, level: Level, yes: bool) {
        let bit = 1 << number(level);
        if yes {
            self.0.fetch_or(bit, Ordering::Relaxed)
        } else {
            self.0.fetch_and(!bit, Ordering::Relaxed)
        };
    }
}

/// From 0 for errors to 4.
#[inline]
pub(super) fn number(level: Level) -> u8 {
    match level {
        Level::ERROR => 0,
        Level::WARN => 1,
        Level::INFO => 2,
        Level::DEBUG => 3,
        Level::TRACE => 4,
    }
}

pub(super) struct Site {
    target: &'static str,
    level: Level,
    /// Those of the line, without its text.
    names: &'static [&'static str],
    metadata: OnceLock<Metadata<'static>>,
    fields: OnceLock<Vec<Field>>,
    /// What the subscriber said: [`NEVER`], [`SOMETIMES`] or [`ALWAYS`].
    interest: AtomicU8,
    /// Of the category, which knows it if the answer is "never".
    suppressed: Option<&'static Suppressed>,
    /// The next one of the same category and level, with other names.
    next: OnceLock<&'static Site>,
}

const NEVER: u8 = 0;
const SOMETIMES: u8 = 1;
const ALWAYS: u8 = 2;

impl Site {
    /// A new callsite, which stays for the life of the process. `suppressed`: of a category for which it answers.
    pub(super) fn register(
        target: &'static str,
        level: Level,
        names: &[&'static str],
        suppressed: Option<&'static Suppressed>,
    ) -> &'static Self {
        let all: Vec<&'static str> = std::iter::once("message").chain(names.iter().copied()).collect();
        let all: &'static [&'static str] = Vec::leak(all);
        let site: &'static Self = Box::leak(Box::new(Self {
            target,
            level,
            names: &all[1..],
            metadata: OnceLock::new(),
            fields: OnceLock::new(),
            interest: AtomicU8::new(SOMETIMES),
            suppressed,
            next: OnceLock::new(),
        }));
        site.fields.get_or_init(|| site.metadata(all).fields().iter().collect());
        callsite::register(site);
        site
    }

    fn metadata(&'static self, all: &'static [&'static str]) -> &'static Metadata<'static> {
        self.metadata.get_or_init(|| {
            let fields = FieldSet::new(all, identify_callsite!(self));
            Metadata::new("event", self.target, self.level, None, None, Some(self.target), fields, Kind::EVENT)
        })
    }

    #[inline]
    pub(super) fn is_enabled(&'static self) -> bool {
        match self.interest.load(Ordering::Relaxed) {
            NEVER => false,
            ALWAYS => true,
            _ => dispatcher::get_default(|subscriber| subscriber.enabled(Callsite::metadata(self))),
        }
    }

    /// Writes a line of this category and level, whatever its fields are.
    pub(super) fn write(&'static self, text: &dyn Display, values: &[(&'static str, Value<'_>)]) {
        let line = CategoryLine { metadata: Callsite::metadata(self), text, fields: values };
        let is_taken = TAKE.get().is_some_and(|take| dispatcher::get_default(|subscriber| take(subscriber, &line)));
        if !is_taken {
            self.with_fields(values).write_event(text, values);
        }
    }

    /// The callsite with the names of these fields.
    fn with_fields(&'static self, fields: &[(&'static str, Value<'_>)]) -> &'static Self {
        let mut site = self;
        loop {
            if site.names.len() == fields.len() && site.names.iter().zip(fields).all(|(own, (name, _))| own == name) {
                return site;
            }
            site = site.next.get_or_init(|| {
                let names: Vec<&'static str> = fields.iter().map(|(name, _)| *name).collect();
                Self::register(self.target, self.level, &names, None)
            });
        }
    }

    /// Most lines have few fields, and a subscriber looks at each that there could be.
    fn write_event(&'static self, text: &dyn Display, values: &[(&'static str, Value<'_>)]) {
        match values.len() {
            0 => self.write_at_most::<1>(text, values),
            1..4 => self.write_at_most::<4>(text, values),
            _ => self.write_at_most::<{ MAX_FIELDS + 1 }>(text, values),
        }
    }

    /// With the text, at most `N` fields.
    fn write_at_most<const N: usize>(&'static self, text: &dyn Display, values: &[(&'static str, Value<'_>)]) {
        let fields = self.fields.get().expect("set when it was registered");
        let text = format_args!("{text}");
        let shown: [Option<Shown<'_>>; N] =
            std::array::from_fn(|at| values.get(at).and_then(|(_, value)| Shown::of(value)));
        let pairs: [(&Field, Option<&dyn TracingValue>); N] = std::array::from_fn(|at| match at {
            0 => (&fields[0], Some(&text as &dyn TracingValue)),
            _ => (fields.get(at).unwrap_or(&fields[0]), shown[at - 1].as_ref().map(Shown::value)),
        });
        let metadata = Callsite::metadata(self);
        Event::dispatch(metadata, &metadata.fields().value_set(&pairs));
    }
}

impl Callsite for Site {
    fn set_interest(&self, interest: Interest) {
        let interest = if interest.is_never() {
            NEVER
        } else if interest.is_always() {
            ALWAYS
        } else {
            SOMETIMES
        };
        self.interest.store(interest, Ordering::Relaxed);
        if let Some(suppressed) = self.suppressed {
            suppressed.set(self.level, interest == NEVER);
        }
    }

    fn metadata(&self) -> &Metadata<'_> {
        self.metadata.get().expect("set when it was registered")
    }
}

/// A value as `tracing` takes it.
enum Shown<'v> {
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    Bool(bool),
    Text(&'v str),
    Display(field::DisplayValue<&'v dyn Display>),
    Debug(field::DebugValue<&'v dyn std::fmt::Debug>),
}

impl<'v> Shown<'v> {
    fn of(value: &'v Value<'v>) -> Option<Self> {
        Some(match value {
            Value::None => return None,
            Value::Signed(number) => Self::Signed(*number),
            Value::Unsigned(number) => Self::Unsigned(*number),
            Value::Float(number) => Self::Float(*number),
            Value::Bool(on) => Self::Bool(*on),
            Value::Text(text) => Self::Text(text),
            Value::Owned(text) => Self::Text(text),
            Value::Display(value) => Self::Display(field::display(*value)),
            Value::Debug(value) => Self::Debug(field::debug(*value)),
        })
    }

    fn value(&self) -> &dyn TracingValue {
        match self {
            Self::Signed(number) => number,
            Self::Unsigned(number) => number,
            Self::Float(number) => number,
            Self::Bool(on) => on,
            Self::Text(text) => text,
            Self::Display(value) => value,
            Self::Debug(value) => value,
        }
    }
}
