//! Categories of types, and lines that are written to them.

use std::fmt::{self, Debug, Display};
use std::sync::OnceLock;

use smallvec::SmallVec;
use tracing::Level;
use tracing::level_filters::LevelFilter;

use super::site::{MAX_FIELDS, Site, Suppressed};

/// A type that has a category in the log. `#[derive(Log)]` implements it.
///
/// The category is the path of the type, `blog::search::Index`. `#[log(category = "search")]` gives it another name;
/// `::` and `.` both separate its parts. The example is at [`log`](crate::log).
pub trait Log {
    /// The category of this type.
    fn category() -> &'static Category;

    /// The log of this type.
    fn log(&self) -> &'static Category {
        Self::category()
    }
}

/// A name in the log, with levels of its own. Made by `#[derive(Log)]`, or as a static for code without a type:
///
/// ```
/// static MAIL: skep::log::Category = skep::log::Category::new("blog.mail");
///
/// MAIL.warn("the mail server is slow").field("seconds", 12);
/// ```
pub struct Category {
    name: &'static str,
    /// Levels whose lines nobody wants: all that a suppressed line looks at.
    suppressed: Suppressed,
    /// For each level a list of callsites; the first one has no fields, and says whether the level is on.
    sites: [OnceLock<&'static Site>; 5],
}

/// A line that is being put together. It is written when it is dropped, at the end of its statement; if its level is
/// off, it holds nothing and writes nothing.
///
/// A line has at most 16 fields; further ones are left out.
pub struct Line<'l, T: Display> {
    /// One pointer, which stays in a register: of a line whose level is off, nothing is left but the check.
    content: Option<Box<Content<'l, T>>>,
}

struct Content<'l, T> {
    first: &'static Site,
    text: T,
    fields: SmallVec<[(&'static str, Value<'l>); FEW_FIELDS]>,
}

/// Lines with more fields allocate once more.
const FEW_FIELDS: usize = 4;

/// The value of a field.
#[derive(Clone)]
#[non_exhaustive]
pub enum Value<'v> {
    /// No value: the field is left out.
    None,
    /// A whole number.
    Signed(i64),
    /// A whole number.
    Unsigned(u64),
    /// A number with a fraction.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// Text.
    Text(&'v str),
    /// Text that was made for the line.
    Owned(String),
    /// What its `Display` writes.
    Display(&'v dyn Display),
    /// What its `Debug` writes.
    Debug(&'v dyn Debug),
}

impl Category {
    /// A category of this name.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, suppressed: Suppressed::none(), sites: [const { OnceLock::new() }; 5] }
    }

    /// The name: what settings and log lines call it.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// True if lines of this level are written. Costs one relaxed load if the level is off, whatever those of other
    /// categories are.
    #[inline]
    pub fn is_enabled(&'static self, level: Level) -> bool {
        !self.suppressed.has(level) && self.first(level).is_enabled() && level <= LevelFilter::current()
    }

    /// Begins a line at this level.
    #[inline]
    pub fn line<'l, T: Display>(&'static self, level: Level, text: T) -> Line<'l, T> {
        let content = if self.suppressed.has(level) { None } else { self.begin(level, text) };
        Line { content }
    }

    /// Begins a line about an operation that failed.
    #[inline]
    pub fn error<'l, T: Display>(&'static self, text: T) -> Line<'l, T> {
        self.line(Level::ERROR, text)
    }

    /// Begins a line about what may lead to a failure.
    #[inline]
    pub fn warn<'l, T: Display>(&'static self, text: T) -> Line<'l, T> {
        self.line(Level::WARN, text)
    }

    /// Begins a line about what happens in normal operation.
    #[inline]
    pub fn info<'l, T: Display>(&'static self, text: T) -> Line<'l, T> {
        self.line(Level::INFO, text)
    }

    /// Begins a line for who looks for a fault.
    #[inline]
    pub fn debug<'l, T: Display>(&'static self, text: T) -> Line<'l, T> {
        self.line(Level::DEBUG, text)
    }

    /// Begins a line that says each step.
    #[inline]
    pub fn trace<'l, T: Display>(&'static self, text: T) -> Line<'l, T> {
        self.line(Level::TRACE, text)
    }

    /// Not inlined, as what only a line that is written needs: `line` would not be, either.
    #[inline(never)]
    fn begin<'l, T>(&'static self, level: Level, text: T) -> Option<Box<Content<'l, T>>> {
        let first = self.first(level);
        let is_enabled = first.is_enabled() && level <= LevelFilter::current();
        is_enabled.then(|| Box::new(Content { first, text, fields: SmallVec::new() }))
    }

    fn first(&'static self, level: Level) -> &'static Site {
        let site = &self.sites[usize::from(super::site::number(level))];
        site.get_or_init(|| Site::register(self.name, level, &[], Some(&self.suppressed)))
    }
}

impl<'l, T: Display> Line<'l, T> {
    /// Adds a field.
    #[inline]
    #[expect(clippy::return_self_not_must_use, reason = "the line is written when it is dropped")]
    pub fn field(mut self, name: &'static str, value: impl Into<Value<'l>>) -> Self {
        if let Some(content) = &mut self.content {
            content.add(name, value.into());
        }
        self
    }

    /// Adds a field whose value is computed only if the line is written.
    #[inline]
    #[expect(clippy::return_self_not_must_use, reason = "the line is written when it is dropped")]
    pub fn lazy<V: Into<Value<'l>>>(mut self, name: &'static str, value: impl FnOnce() -> V) -> Self {
        if let Some(content) = &mut self.content {
            content.add(name, value().into());
        }
        self
    }

    /// Adds what a value's `Display` writes, if the line is written.
    #[inline]
    #[expect(clippy::return_self_not_must_use, reason = "the line is written when it is dropped")]
    pub fn display(self, name: &'static str, value: &'l dyn Display) -> Self {
        self.field(name, Value::Display(value))
    }

    /// Adds what a value's `Debug` writes, if the line is written.
    #[inline]
    #[expect(clippy::return_self_not_must_use, reason = "the line is written when it is dropped")]
    pub fn debug(self, name: &'static str, value: &'l dyn Debug) -> Self {
        self.field(name, Value::Debug(value))
    }
}

impl<'l, T: Display> Content<'l, T> {
    #[inline(never)]
    fn add(&mut self, name: &'static str, value: Value<'l>) {
        if self.fields.len() < MAX_FIELDS {
            self.fields.push((name, value));
        }
    }

    #[inline(never)]
    #[expect(clippy::boxed_local, reason = "it is freed here, and not in the code of each call")]
    fn write(self: Box<Self>) {
        self.first.write(&self.text, &self.fields);
    }
}

impl<T: Display> Drop for Line<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if let Some(content) = self.content.take() {
            content.write();
        }
    }
}

macro_rules! from {
    ($($type:ty => $variant:ident($into:ty)),+ $(,)?) => {
        $(impl From<$type> for Value<'_> {
            fn from(value: $type) -> Self {
                Self::$variant(<$into>::from(value))
            }
        })+
    };
}

from! {
    i8 => Signed(i64), i16 => Signed(i64), i32 => Signed(i64), i64 => Signed(i64),
    u8 => Unsigned(u64), u16 => Unsigned(u64), u32 => Unsigned(u64), u64 => Unsigned(u64),
    f32 => Float(f64), f64 => Float(f64), bool => Bool(bool), String => Owned(String),
}

impl From<usize> for Value<'_> {
    fn from(value: usize) -> Self {
        Self::Unsigned(value as u64)
    }
}

impl<'v> From<&'v str> for Value<'v> {
    fn from(value: &'v str) -> Self {
        Self::Text(value)
    }
}

impl<'v> From<&'v String> for Value<'v> {
    fn from(value: &'v String) -> Self {
        Self::Text(value)
    }
}

/// `None` leaves the field out.
impl<'v, V: Into<Value<'v>>> From<Option<V>> for Value<'v> {
    fn from(value: Option<V>) -> Self {
        value.map_or(Self::None, Into::into)
    }
}

impl Debug for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Category").field(&self.name).finish()
    }
}
