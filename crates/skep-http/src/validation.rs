//! What is wrong with input: the errors of fields, and their messages.

mod input;
mod language;
mod messages;

use std::borrow::Cow;

pub use input::{Expected, InputError};
pub use language::{LanguageSource, Languages};
pub use messages::Messages;

/// Why the value of a field is invalid. Its text comes from [`Messages`], in the user's language.
///
/// ```
/// use skep::form::{Control, FieldError, Text};
///
/// assert_eq!(Text::<1, 3>::check("four").unwrap_err(), FieldError::TooLong { max: 3, length: 4 });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldError {
    /// A required value is missing.
    Missing,
    /// More than one value was sent for a field that has one.
    Repeated,
    /// Shorter than this, in UTF-16 code units, as browsers count.
    TooShort {
        /// The fewest code units.
        min: usize,
    },
    /// Longer than this, in UTF-16 code units, as browsers count.
    TooLong {
        /// The most code units.
        max: usize,
        /// What it has.
        length: usize,
    },
    /// A line break or a control character.
    NotOneLine,
    /// A control character in a text of several lines.
    ControlCharacters,
    /// Not an e-mail address.
    NotEmail,
    /// Not an address of the web.
    NotUrl,
    /// Not a number.
    NotNumber,
    /// A number, but not a whole one.
    NotWhole,
    /// Less than this.
    TooSmall {
        /// The least.
        min: String,
    },
    /// More than this.
    TooLarge {
        /// The most.
        max: String,
    },
    /// More digits behind the point than this.
    TooPrecise {
        /// The most digits behind the point.
        places: u32,
    },
    /// Not a date.
    NotDate,
    /// Not a time of day.
    NotTime,
    /// Not a date with a time of day.
    NotDateTime,
    /// Not one of the choices.
    NotChoice,
    /// A file larger than this.
    FileTooLarge {
        /// The most bytes.
        limit: u64,
    },
    /// A file of another kind.
    FileKind {
        /// The kinds that are taken.
        accept: &'static str,
    },
    /// What the type expects: `Param::expectation`.
    Expected(Expected),
    /// The form was shown too long ago, or its token is not ours.
    Expired,
    /// The browser sent no cookie; a one-shot form needs one.
    NoCookie,
    /// This one-shot form was accepted before.
    Spent,
    /// Something is wrong in a row of a list, and said there.
    #[doc(hidden)]
    InRow,
    /// A message of the application.
    Own(Cow<'static, str>),
}

impl FieldError {
    /// The message for the user.
    #[must_use]
    pub fn text(&self, messages: &Messages) -> Cow<'static, str> {
        match self {
            Self::Missing => messages.missing.into(),
            Self::Repeated => messages.repeated.into(),
            Self::TooShort { min } => (messages.too_short)(*min).into(),
            Self::TooLong { max, length } => (messages.too_long)(*max, *length).into(),
            Self::NotOneLine => messages.not_one_line.into(),
            Self::ControlCharacters => messages.control_characters.into(),
            Self::NotEmail => messages.not_email.into(),
            Self::NotUrl => messages.not_url.into(),
            Self::NotNumber => messages.not_number.into(),
            Self::NotWhole => messages.not_whole.into(),
            Self::TooSmall { min } => (messages.too_small)(min).into(),
            Self::TooLarge { max } => (messages.too_large)(max).into(),
            Self::TooPrecise { places } => (messages.too_precise)(*places).into(),
            Self::NotDate => messages.not_date.into(),
            Self::NotTime => messages.not_time.into(),
            Self::NotDateTime => messages.not_date_time.into(),
            Self::NotChoice => messages.not_choice.into(),
            Self::FileTooLarge { limit } => (messages.file_too_large)(*limit).into(),
            Self::FileKind { accept } => (messages.file_kind)(accept).into(),
            Self::Expected(expected) => (messages.expected)(&expected.text(messages)).into(),
            Self::Expired => messages.expired.into(),
            Self::NoCookie => messages.no_cookie.into(),
            Self::Spent => messages.spent.into(),
            Self::InRow => Cow::Borrowed(""),
            Self::Own(text) => text.clone(),
        }
    }
}

// In English; [`FieldError::text`] for other languages.
skep_units::error_text!(FieldError, |error| error.text(&Messages::ENGLISH));

/// A field's name and its error; the empty name is the form as a whole.
pub type Named = (Cow<'static, str>, FieldError);

/// One detail of an error, for clients that read JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorDetail {
    /// A field of a form; the empty name is the form as a whole.
    Field(Cow<'static, str>, Cow<'static, str>),
    /// A value in a JSON body, by its JSON Pointer (RFC 6901).
    Value(Cow<'static, str>, Cow<'static, str>),
}

/// The faults of a form in one text, and one by one.
pub(crate) fn joined(faults: &[Named], messages: &Messages) -> (String, Vec<ErrorDetail>) {
    let told: Vec<_> = faults.iter().map(|(name, fault)| (name.clone(), fault.text(messages))).collect();
    let text = |(name, text): &(Cow<'_, str>, Cow<'_, str>)| match &**name {
        "" => text.to_string(),
        name => format!("{name}: {text}"),
    };
    let texts: Vec<String> = told.iter().map(text).collect();
    (texts.join(" "), told.into_iter().map(|(name, text)| ErrorDetail::Field(name, text)).collect())
}
