//! Parameters: values that travel in a path, a query, a form or a header.
//!
//! A [`Param`] is one value with a text form. A [`Field`] is what a service's struct field may be: one value, an
//! optional one, or many. An `impl Param` for a type of yours gives all three.

mod choice;
mod field_map;
mod page;
pub(crate) mod shown;
mod slug;
mod token;

use std::any::{Any, TypeId};
use std::borrow::Cow;

use http::StatusCode;

use crate::base::percent::{self, EncodeSet};
use skep_http::error::{Error, Result};
use skep_http::ext::ErrorExt as _;
use skep_http::validation::{Expected, InputError};

pub use choice::Choice;
pub(crate) use choice::label_in;
pub(crate) use field_map::FieldMap;
/// Writes [`trait@Param`] and [`Choice`] for an enum of names; an example is at [`Choice`].
pub use skep_macros::Param;
pub use slug::{NotASlug, Slug};
pub use token::Token;

/// A value with a text form, for paths, queries, forms and header fields.
///
/// ```
/// use std::borrow::Cow;
/// use skep::param::Param;
///
/// /// Written `12x8`.
/// #[derive(Debug, PartialEq)]
/// struct Size { width: u32, height: u32 }
///
/// impl Param for Size {
///     fn expected() -> Cow<'static, str> { "a size such as 12x8".into() }
///     fn parse(text: &str) -> Option<Self> {
///         let (width, height) = text.split_once('x')?;
///         Some(Self { width: u32::parse(width)?, height: u32::parse(height)? })
///     }
///     fn write(&self, out: &mut String) {
///         out.push_str(&format!("{}x{}", self.width, self.height));
///     }
/// }
/// assert_eq!(Size::parse("12x8"), Some(Size { width: 12, height: 8 }));
/// ```
///
/// For an enum of names, `#[derive(Param)]` writes it: [`Choice`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a service",
    label = "a parameter is a text, a number, a bool, or a type that implements `skep::param::Param`",
    note = "in a query or form it may also be an `Option` or a `Vec` of such a type"
)]
pub trait Param: Sized {
    /// True if logs and status pages must not show its values: `***` stands for them, in paths and queries. [`Token`]
    /// is such a type.
    const IS_SECRET: bool = false;

    /// Where it is asked what is offered to a request, for [`OneOf`](crate::form::OneOf).
    #[doc(hidden)]
    const OFFER: Option<OfferInfo> = None;

    /// What would have been right, as it stands in a sentence: "a whole number from 0 to 255".
    fn expected() -> Cow<'static, str>;

    /// The same for a reader of any language: [`Expected::In`] is what an application says in each. The default is
    /// [`expected`](Self::expected).
    ///
    /// ```
    /// use std::borrow::Cow;
    /// use skep::form::Expected;
    /// use skep::param::Param;
    ///
    /// struct Plate(String);
    ///
    /// impl Param for Plate {
    ///     fn expected() -> Cow<'static, str> { "a number plate".into() }
    ///     fn expectation() -> Expected {
    ///         Expected::In(|language| if language == "de" { "ein Kennzeichen".into() } else { Self::expected() })
    ///     }
    ///     fn parse(text: &str) -> Option<Self> { (text.len() < 12).then(|| Self(text.to_owned())) }
    ///     fn write(&self, out: &mut String) { out.push_str(&self.0); }
    /// }
    /// ```
    #[must_use]
    fn expectation() -> Expected {
        Expected::Words(Self::expected())
    }

    /// The value that `text` stands for.
    fn parse(text: &str) -> Option<Self>;

    /// Appends the text that [`parse`](Self::parse) turns back into this value.
    fn write(&self, out: &mut String);
}

#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a service",
    label = "a parameter is a text, a number, a bool, a slug, or a type that implements `skep::param::Param`",
    note = "in a query or form it may also be an `Option` or a `Vec` of such a type"
)]
/// A field of a service in its query or form: a [`Param`], an `Option` of one, or a `Vec` of them.
pub trait Field: Sized {
    /// True if a request without it is refused, or belongs to another service on the same path.
    const REQUIRED: bool;

    /// True if any number of values may come.
    #[doc(hidden)]
    const REPEATED: bool = false;

    /// One value.
    #[doc(hidden)]
    type One: Param;
    #[doc(hidden)]
    const IS_SECRET: bool = <Self::One as Param>::IS_SECRET;

    /// Reads the field from the pairs that were sent.
    fn read(name: &'static str, pairs: &Pairs<'_>) -> Result<Self>;

    /// Appends what a link must carry.
    fn write(&self, name: &'static str, query: &mut QueryWriter<'_>);
}

impl<T: Param> Field for T {
    type One = T;
    const REQUIRED: bool = true;

    fn read(name: &'static str, pairs: &Pairs<'_>) -> Result<Self> {
        let Some(text) = only(name, pairs.get(name))? else {
            return Err(wrong(InputError::Missing { name: name.to_owned(), expected: T::expectation() }));
        };
        parse(name, text)
    }

    fn write(&self, name: &'static str, query: &mut QueryWriter<'_>) {
        query.pair(name, self);
    }
}

impl<T: Param> Field for Option<T> {
    type One = T;
    const REQUIRED: bool = false;

    // An empty value is no value: that is what a browser sends for a field left empty.
    fn read(name: &'static str, pairs: &Pairs<'_>) -> Result<Self> {
        only(name, pairs.get(name).filter(|text| !text.is_empty()))?.map(|text| parse(name, text)).transpose()
    }

    fn write(&self, name: &'static str, query: &mut QueryWriter<'_>) {
        if let Some(value) = self {
            query.pair_unless_empty(name, value);
        }
    }
}

impl<T: Param> Field for Vec<T> {
    type One = T;
    const REQUIRED: bool = false;
    const REPEATED: bool = true;

    fn read(name: &'static str, pairs: &Pairs<'_>) -> Result<Self> {
        pairs.get(name).map(|text| parse(name, text)).collect()
    }

    fn write(&self, name: &'static str, query: &mut QueryWriter<'_>) {
        for value in self {
            query.pair(name, value);
        }
    }
}

/// Where it is asked what is offered: `form` knows what `load` is.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct OfferInfo {
    pub(crate) id: TypeId,
    /// A value as an error may repeat it: not if it is a secret.
    pub(crate) quoted: fn(&str) -> String,
    pub(crate) load: &'static (dyn Any + Send + Sync),
}

/// Is a parameter of a path, a header or a query beside a form a secret? What is chosen from an offer is refused there:
/// nothing would check it. For `#[derive(Service)]`.
#[doc(hidden)]
#[must_use]
pub const fn is_secret<F: Field>() -> bool {
    assert!(
        <F::One as Param>::OFFER.is_none(),
        "a `OneOf` is a field of a form, or of the query of a GET service: elsewhere nothing is offered; write the type of its value"
    );
    F::IS_SECRET
}

/// The value, if there is one; several are refused.
fn only<'v>(name: &str, mut values: impl Iterator<Item = &'v str>) -> Result<Option<&'v str>> {
    let first = values.next();
    if values.next().is_some() { Err(wrong(InputError::Repeated { name: name.to_owned() })) } else { Ok(first) }
}

fn parse<T: Param>(name: &'static str, text: &str) -> Result<T> {
    T::parse(text).ok_or_else(|| wrong(invalid::<T>(name, text)))
}

fn wrong(input: InputError) -> Error {
    Error::of_input(StatusCode::BAD_REQUEST, input)
}

/// What is wrong with a value that `T` has not.
pub(crate) fn invalid<T: Param>(name: &str, text: &str) -> InputError {
    InputError::Invalid { name: name.to_owned(), value: quoted_value::<T>(text), expected: T::expectation() }
}

/// A value of this type as an error may repeat it: not at all if it is a secret.
pub(crate) fn quoted_value<T: Param>(text: &str) -> String {
    if T::IS_SECRET { String::new() } else { quoted(text) }
}

/// A value as an error may repeat it: short, and without control characters.
pub(crate) fn quoted(text: &str) -> String {
    const SHOWN: usize = 40;
    let mut short: String = text.chars().take(SHOWN).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("{short:?}")
}

/// The pairs of a query or of a form, decoded.
#[derive(Clone, Debug, Default)]
pub struct Pairs<'r> {
    pairs: FieldMap<Cow<'r, str>, Cow<'r, str>>,
}

impl<'r> Pairs<'r> {
    /// Decodes `application/x-www-form-urlencoded` text.
    ///
    /// # Errors
    /// 413 if there are more than `limit` pairs, 400 if one is not UTF-8 once decoded.
    pub fn decode(text: &'r str, limit: usize) -> Result<Self> {
        let mut pairs = FieldMap::default();
        if text.is_empty() {
            return Ok(Self { pairs });
        }
        for pair in text.split('&').filter(|pair| !pair.is_empty()) {
            if pairs.len() == limit {
                let message = format!("there are more than the {limit} parameters allowed here");
                return Err(Error::new(StatusCode::PAYLOAD_TOO_LARGE).with_message(message));
            }
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let Some(name) = percent::decode_form(name) else {
                return Err(Error::bad_request(format!("the name of parameter {} is not UTF-8", pairs.len() + 1)));
            };
            let Some(value) = percent::decode_form(value) else {
                return Err(wrong(InputError::NotUtf8 { name: quoted(&name) }));
            };
            pairs.push(name, value);
        }
        Ok(Self { pairs })
    }

    pub(crate) fn into_owned(self) -> Pairs<'static> {
        let owned = |text: Cow<'r, str>| Cow::Owned(text.into_owned());
        Pairs { pairs: self.pairs.into_iter().map(|(name, value)| (owned(name), owned(value))).collect() }
    }

    pub(crate) fn push_owned(&mut self, name: String, value: String) {
        self.pairs.push(Cow::Owned(name), Cow::Owned(value));
    }

    pub(crate) fn push(&mut self, name: &'r str, value: &'r str) {
        self.pairs.push(Cow::Borrowed(name), Cow::Borrowed(value));
    }

    /// All values of this name, in order.
    pub fn get<'p>(&'p self, name: &str) -> impl Iterator<Item = &'p str> {
        self.pairs.get(name).map(Cow::as_ref)
    }

    /// All of them, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|(name, value)| (name, value.as_ref()))
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.iter().map(|(name, _)| name)
    }

    /// The same under other names; one without a name is left out.
    pub(crate) fn renamed(self, name_of: impl Fn(&str) -> Option<Cow<'r, str>>) -> Self {
        Self { pairs: self.pairs.into_iter().filter_map(|(name, value)| Some((name_of(&name)?, value))).collect() }
    }

    /// True if a value of this name was sent.
    #[must_use]
    pub fn contains(&self, name: &str) -> bool {
        self.get(name).next().is_some()
    }
}

/// Appends the query of a link.
#[derive(Debug)]
pub struct QueryWriter<'l> {
    out: &'l mut String,
    first: bool,
}

impl<'l> QueryWriter<'l> {
    pub(crate) fn new(out: &'l mut String) -> Self {
        Self { out, first: true }
    }

    /// Appends a pair that is the same in all links of a service, and needs no encoding.
    #[doc(hidden)]
    pub fn fixed(&mut self, name: &str, value: &str) {
        self.out.push(if self.first { '?' } else { '&' });
        self.first = false;
        self.out.extend([name, "=", value]);
    }

    /// Appends one `name=value`.
    pub fn pair(&mut self, name: &str, value: &impl Param) {
        self.out.push(if self.first { '?' } else { '&' });
        self.first = false;
        percent::encode_written(self.out, EncodeSet::Form, |out| out.push_str(name));
        self.out.push('=');
        percent::encode_written(self.out, EncodeSet::Form, |out| value.write(out));
    }

    /// Appends one `name=value`, but nothing for an empty value: that would be read as none.
    fn pair_unless_empty(&mut self, name: &str, value: &impl Param) {
        let (start, first) = (self.out.len(), self.first);
        self.pair(name, value);
        if self.out.ends_with('=') {
            self.out.truncate(start);
            self.first = first;
        }
    }
}

impl Param for String {
    fn expected() -> Cow<'static, str> {
        "a text".into()
    }
    fn parse(text: &str) -> Option<Self> {
        Some(text.to_owned())
    }
    fn write(&self, out: &mut String) {
        out.push_str(self);
    }
}

shown::display_params! {
    [] char, |text| text.parse::<Self>(), "one character";
    // "on" is what a browser sends for a ticked checkbox without a value (HTML, 4.10.5.1.15).
    [] bool, |text| match text {
        "true" | "on" | "1" => Ok(true),
        "false" | "off" | "0" => Ok(false),
        _ => Err(()),
    }, "true or false" => Expected::Bool;
}

macro_rules! numbers {
    ($($number:ty)*, $expected:expr, $expectation:expr, |$text:ident| $parse:expr) => { $(
        impl Param for $number {
            fn expected() -> Cow<'static, str> {
                $expected.into()
            }
            fn expectation() -> Expected {
                $expectation
            }
            fn parse($text: &str) -> Option<Self> {
                $parse
            }
            fn write(&self, out: &mut String) {
                use std::fmt::Write;
                write!(out, "{self}").expect("a String takes all");
            }
        }
    )* };
}

numbers!(
    u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize,
    format!("a whole number from {} to {}", Self::MIN, Self::MAX),
    Expected::Whole { min: Self::MIN.to_string(), max: Self::MAX.to_string() },
    |text| {
        // One number, one spelling: "+1" and "01" would be second addresses of the same page.
        let digits = text.strip_prefix('-').unwrap_or(text);
        let plain = text == "0" || !digits.starts_with(['0', '+']);
        if plain { text.parse().ok() } else { None }
    }
);

numbers!(f32 f64, "a number", Expected::Number, |text| text.parse().ok().filter(|number: &Self| number.is_finite()));
