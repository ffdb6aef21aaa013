//! What a field of a form is: one small trait, [`Control`], makes any type one.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::info::FieldInfo;
use super::look::{self, Look};
use super::name::joined;
use super::submission::Submission;
use super::upload::Received;
use crate::routing::param::{Param, label_in};
use skep_http::validation::FieldError;

/// What a user typed, without the spaces around it.
pub(super) fn typed(text: &str) -> Result<&str, FieldError> {
    let text = text.trim();
    if text.is_empty() { Err(FieldError::Missing) } else { Ok(text) }
}

/// A type whose values a user can give in a form.
///
/// Only [`Look`](Self::Look) must be said: which elements fit. The rest of what a browser should know stands in
/// [`shape`](Self::shape), and [`check`](Self::check) says what is wrong with a text.
///
/// ```
/// use std::borrow::Cow;
/// use skep::form::{self, Control, FieldError, Shape};
/// use skep::param::Param;
///
/// /// A post code of five digits.
/// struct PostCode(String);
///
/// impl Param for PostCode {
///     fn expected() -> Cow<'static, str> { "five digits".into() }
///     fn parse(text: &str) -> Option<Self> {
///         (text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| Self(text.into()))
///     }
///     fn write(&self, out: &mut String) { out.push_str(&self.0); }
/// }
///
/// impl Control for PostCode {
///     type Look = form::Line;
///     fn shape() -> Shape { Shape { pattern: Some("[0-9]{5}"), ..Shape::default() } }
/// }
/// assert!(PostCode::check("1010").is_err());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a form",
    label = "a field is a type of `skep::form`, a text, a number, a bool, or a type that implements `skep::form::Control`",
    note = "it may also be an `Option`, a `Vec` or a `BTreeSet` of such a type"
)]
pub trait Control: Param {
    /// The elements it can be edited with: [`form::Line`](super::Line) if it is text of one line.
    type Look: Look;

    /// True if a submission that does not mention the field at all is refused. A checkbox that is not ticked is not
    /// mentioned.
    const REQUIRED: bool = true;

    /// True if it comes as a file.
    const FILE: bool = false;

    /// The fields of a group; `#[derive(Group)]` writes it.
    #[doc(hidden)]
    const GROUP: &'static [FieldInfo] = &[];

    /// What a browser should know.
    #[must_use]
    fn shape() -> Shape {
        Shape::default()
    }

    /// The value that `text` stands for, or what is wrong with it.
    fn check(text: &str) -> Result<Self, FieldError> {
        Self::parse(text).ok_or_else(|| {
            if text.is_empty() { FieldError::Missing } else { FieldError::Expected(Self::expectation()) }
        })
    }

    /// The value that a file stands for. Only types with [`FILE`](Self::FILE) have one.
    fn of_file(file: &Received) -> Result<Self, FieldError> {
        let _ = file;
        Err(FieldError::Expected(Self::expectation()))
    }

    /// The value that the fields of a group stand for, or of one of its rows; what is wrong in them is noted.
    #[doc(hidden)]
    fn of_group(sent: &Sent<'_>) -> Option<Self> {
        let _ = sent;
        None
    }

    /// Hands out the fields of a group, each with its name.
    #[doc(hidden)]
    fn give_group(&self, each: &mut dyn FnMut(&str, String)) {
        let _ = each;
    }
}

skep_units::with_defaults! {
    /// What a browser should know of a field: the attributes of its control. The default is a line of text that must be
    /// given.
    ///
    /// ```
    /// use skep::form::{Control, Text};
    ///
    /// assert_eq!(Text::<1, 80>::shape().max_length, Some(80));
    /// ```
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Shape {
        /// The `type` of an `input`.
        pub kind: &'static str = "text",
        /// True if it must not be empty.
        pub required: bool = true,
        /// The fewest UTF-16 code units.
        pub min_length: Option<usize> = None,
        /// The most UTF-16 code units.
        pub max_length: Option<usize> = None,
        /// The least number, date or time.
        pub min: Option<String> = None,
        /// The greatest number, date or time.
        pub max: Option<String> = None,
        /// The step between numbers or times.
        pub step: Option<Cow<'static, str>> = None,
        /// A regular expression of JavaScript that a text matches as a whole.
        pub pattern: Option<&'static str> = None,
        /// A text without control characters, of which white space at its ends is left out; a `textarea` may have tabs
        /// and ends of lines. Browsers need not know, but programs should: it is in the OpenAPI document.
        pub plain: bool = false,
        /// The kinds of files: `image/*,.pdf`.
        pub accept: Option<&'static str> = None,
        /// The most bytes of a file.
        pub max_bytes: Option<u64> = None,
        /// Any number of values.
        pub multiple: bool = false,
        /// It is never shown again: a password.
        pub secret: bool = false,
        /// What there is to choose from.
        pub options: Vec<OfferedOption> = Vec::new(),
    }
}

/// One of the [`options`](Shape::options) of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedOption {
    /// What is sent.
    pub value: &'static str,
    /// What is shown.
    pub label: &'static str,
    /// What is shown in other languages, by language.
    pub translations: &'static [(&'static str, &'static str)],
}

impl OfferedOption {
    pub(super) fn label_in(&self, language: &str) -> &'static str {
        label_in(language, self.label, self.translations)
    }
}

/// A field of a service's form: a [`Control`], or an `Option`, a `Vec` or a `BTreeSet` of one.
///
/// Nobody implements it: [`Control`] is for that.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a form",
    label = "a field is a type of `skep::form`, a text, a number, a bool, or a type that implements `skep::form::Control`",
    note = "it may also be an `Option`, a `Vec` or a `BTreeSet` of such a type"
)]
pub trait FormField: Sized {
    /// The elements it can be edited with.
    type Look: Look;
    /// One value of it.
    type One: Control;
    /// True if a submission that does not mention the field at all is refused.
    const REQUIRED: bool;
    /// True if it holds any number of values.
    const MANY: bool = false;

    /// What a browser should know.
    #[must_use]
    fn shape() -> Shape;

    /// Reads the field.
    fn read(sent: &Sent<'_>) -> Result<Self, FieldError>;

    /// Hands out the texts that [`read`](Self::read) turns back into this value.
    fn write(&self, each: &mut dyn FnMut(String));

    /// The same, each with the name of its control.
    #[doc(hidden)]
    fn give(&self, name: &str, each: &mut dyn FnMut(String, String)) {
        self.write(&mut |text| each(name.to_owned(), text));
    }
}

/// What was sent for one field.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'s> {
    pub(crate) name: &'s str,
    pub(crate) submission: &'s Submission,
}

impl<'s> Sent<'s> {
    /// A field of this group. What is wrong with it is noted.
    #[doc(hidden)]
    #[must_use]
    pub fn field<F: FormField>(&self, name: &str) -> Option<F> {
        self.submission.read(Cow::Owned(joined(self.name, name)))
    }

    fn texts(&self) -> impl Iterator<Item = &'s str> + use<'s> {
        self.submission.pairs.get(self.name)
    }

    fn files(&self) -> impl Iterator<Item = &'s Received> + use<'s> {
        // A browser sends a field without a file as an empty file without a name (HTML, 4.10.22.4).
        self.submission.files.get(self.name).filter(|file| !file.is_none())
    }

    /// The only value, if there is one.
    fn one<T: Control>(&self) -> Result<Option<T>, FieldError> {
        if T::FILE {
            let mut files = self.files();
            let first = files.next().map(T::of_file).transpose()?;
            return if files.next().is_some() { Err(FieldError::Repeated) } else { Ok(first) };
        }
        let mut texts = self.texts();
        let Some(first) = texts.next() else { return Ok(None) };
        if texts.next().is_some() {
            return Err(FieldError::Repeated);
        }
        self.check(first).map(Some)
    }

    /// The value of this text. What is chosen from an [`Offer`](super::Offer) must be offered to this request.
    fn check<T: Control>(&self, text: &str) -> Result<T, FieldError> {
        let value = T::check(text)?;
        match <T as Param>::OFFER {
            Some(offer) if self.submission.offers.label(offer, &text_of(&value)).is_none() => {
                Err(FieldError::NotChoice)
            }
            _ => Ok(value),
        }
    }

    fn all<T: Control, C: FromIterator<T>>(&self) -> Result<C, FieldError> {
        if T::FILE {
            return self.files().map(T::of_file).collect();
        }
        if !T::GROUP.is_empty() {
            let names = (0..self.submission.rows(self.name)).map(|row| format!("{}.{row}", self.name));
            // All rows are read first, so that all errors are shown at once.
            let rows: Vec<Option<T>> =
                names.map(|name| T::of_group(&Sent { name: &name, submission: self.submission })).collect();
            return rows.into_iter().collect::<Option<C>>().ok_or(FieldError::InRow);
        }
        self.texts().filter(|text| !text.is_empty()).map(|text| self.check(text)).collect()
    }
}

pub(super) fn text_of<T: Param>(value: &T) -> String {
    let mut text = String::new();
    value.write(&mut text);
    text
}

impl<T: Control> FormField for T {
    type Look = T::Look;
    type One = T;
    const REQUIRED: bool = T::REQUIRED;

    fn shape() -> Shape {
        T::shape()
    }

    fn read(sent: &Sent<'_>) -> Result<Self, FieldError> {
        if !T::GROUP.is_empty() {
            return T::of_group(sent).ok_or(FieldError::InRow);
        }
        match sent.one()? {
            Some(value) => Ok(value),
            None if T::REQUIRED => Err(FieldError::Missing),
            None => sent.check(""),
        }
    }

    fn write(&self, each: &mut dyn FnMut(String)) {
        each(text_of(self));
    }

    fn give(&self, name: &str, each: &mut dyn FnMut(String, String)) {
        if T::GROUP.is_empty() {
            each(name.to_owned(), text_of(self));
        } else {
            self.give_group(&mut |field, text| each(joined(name, field), text));
        }
    }
}

impl<T: Control> FormField for Option<T> {
    type Look = T::Look;
    type One = T;
    const REQUIRED: bool = false;

    fn shape() -> Shape {
        Shape { required: false, ..T::shape() }
    }

    fn read(sent: &Sent<'_>) -> Result<Self, FieldError> {
        // What a browser sends for a control that was left empty is no value.
        match sent.one() {
            Err(FieldError::Missing) => Ok(None),
            Err(_) if sent.texts().eq([""]) => Ok(None),
            other => other,
        }
    }

    fn write(&self, each: &mut dyn FnMut(String)) {
        if let Some(value) = self {
            each(text_of(value));
        }
    }
}

macro_rules! many {
    ($($collection:ident: $($bound:ident)*;)*) => {$(
        impl<T: Control<Look: ManyOf> $(+ $bound)*> FormField for $collection<T> {
            type Look = <T::Look as ManyOf>::Many;
            type One = T;
            const REQUIRED: bool = false;
            const MANY: bool = true;

            fn shape() -> Shape {
                Shape { required: false, multiple: true, ..T::shape() }
            }

            fn read(sent: &Sent<'_>) -> Result<Self, FieldError> {
                sent.all()
            }

            fn write(&self, each: &mut dyn FnMut(String)) {
                for value in self {
                    each(text_of(value));
                }
            }

            fn give(&self, name: &str, each: &mut dyn FnMut(String, String)) {
                for (row, value) in self.iter().enumerate() {
                    if T::GROUP.is_empty() {
                        each(name.to_owned(), text_of(value));
                    } else {
                        value.give_group(&mut |field, text| each(format!("{name}.{row}.{field}"), text));
                    }
                }
            }
        }
    )*};
}

many! { Vec:; BTreeSet: Ord; }

/// What several of a look look like.
pub trait ManyOf: Look {
    /// The look of a list or a set.
    type Many: Look;
}

impl ManyOf for look::Line {
    type Many = look::Several;
}
impl ManyOf for look::LineOrArea {
    type Many = look::Several;
}
impl ManyOf for look::Choose {
    type Many = look::ChooseMany;
}
impl ManyOf for look::Pick {
    type Many = look::Pick;
}
impl ManyOf for look::Offers {
    type Many = look::OffersMany;
}
impl ManyOf for look::Grouped {
    type Many = look::Groups;
}
