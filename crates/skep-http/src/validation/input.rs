//! What is wrong with the parameters or the body of a request, in the reader's language.

use std::borrow::Cow;

use super::{FieldError, Messages};

/// What would have been right, as it stands in a sentence. Its text comes from [`Messages`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(unpredictable_function_pointer_comparisons, reason = "two that are made alike are found to be so or not")]
#[non_exhaustive]
pub enum Expected {
    /// A whole number between these two.
    Whole {
        /// The least.
        min: String,
        /// The greatest.
        max: String,
    },
    /// Any number.
    Number,
    /// `true` or `false`.
    Bool,
    /// `2026-12-31`.
    Date,
    /// `18:30`.
    Time,
    /// `2026-12-31T18:30`.
    DateTime,
    /// One of these, as an English list: "a, b or c".
    Choice(&'static str),
    /// What the application says for this language, such as `de`.
    In(fn(language: &str) -> Cow<'static, str>),
    /// The same words in all languages.
    Words(Cow<'static, str>),
}

impl Expected {
    /// The words, in the reader's language.
    #[must_use]
    pub fn text(&self, messages: &Messages) -> Cow<'static, str> {
        match self {
            Self::In(text) => text(messages.language),
            Self::Words(words) => words.clone(),
            _ => (messages.wanted)(self).into(),
        }
    }
}

impl From<&'static str> for Expected {
    fn from(words: &'static str) -> Self {
        Self::Words(words.into())
    }
}

impl From<Cow<'static, str>> for Expected {
    fn from(words: Cow<'static, str>) -> Self {
        Self::Words(words)
    }
}

impl From<String> for Expected {
    fn from(words: String) -> Self {
        Self::Words(words.into())
    }
}

/// Why a parameter or a body is refused. Its text comes from [`Messages`], in the reader's language.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum InputError {
    /// A required parameter is missing.
    Missing {
        /// Its name.
        name: String,
        /// What it would have been.
        expected: Expected,
    },
    /// A parameter that has one value is there more than once.
    Repeated {
        /// Its name.
        name: String,
    },
    /// A value that the parameter's type has not.
    Invalid {
        /// Its name.
        name: String,
        /// The value, in quotes, and short; empty if it is a secret.
        value: String,
        /// What it would have been.
        expected: Expected,
    },
    /// A value that was not offered to choose from.
    NotOffered {
        /// The name of the parameter.
        name: String,
        /// The value, in quotes, and short; empty if it is a secret.
        value: String,
    },
    /// A query without the parameters that tell services of one path apart.
    Incomplete {
        /// What there may be: "tag, or page and size".
        names: String,
    },
    /// Text that is not UTF-8.
    NotUtf8 {
        /// What it is in: the name of the parameter.
        name: String,
    },
    /// The body is not JSON.
    NotJson {
        /// The line, from 1.
        line: usize,
        /// The column, from 1; 0 before its first character.
        column: usize,
        /// What a parser says of it, in English.
        reason: String,
    },
    /// JSON lacks a member.
    MissingMember {
        /// Its name.
        name: String,
    },
    /// JSON that is another value than expected.
    Unfit {
        /// What the type says of it, in English.
        reason: String,
    },
    /// A value in JSON that a form would refuse, too.
    Field(FieldError),
}

impl InputError {
    /// The message for the client.
    #[must_use]
    pub fn text(&self, messages: &Messages) -> String {
        match self {
            Self::Field(error) => error.text(messages).into_owned(),
            _ => (messages.input)(self, messages),
        }
    }

    /// In English.
    pub(super) fn english(&self, messages: &Messages) -> String {
        let shown = |value: &str| if value.is_empty() { "this".to_owned() } else { value.to_owned() };
        match self {
            Self::Missing { name, expected } => format!("{name} is missing: {} is expected", expected.text(messages)),
            Self::Repeated { name } => format!("{name} is given more than once"),
            Self::Invalid { name, value, expected } => {
                format!("{name}: {} is not {}", shown(value), expected.text(messages))
            }
            Self::NotOffered { name, value } => format!("{name}: {} is not offered here", shown(value)),
            Self::Incomplete { names } => format!("the query needs {names}"),
            Self::NotUtf8 { name } => format!("{name} is not UTF-8"),
            Self::NotJson { reason, .. } => format!("the body is not JSON: {reason}"),
            Self::MissingMember { name } => format!("missing field `{name}`"),
            Self::Unfit { reason } => reason.clone(),
            Self::Field(error) => error.text(messages).into_owned(),
        }
    }
}

/// In English.
pub(super) fn wanted(expected: &Expected) -> String {
    match expected {
        Expected::Whole { min, max } => format!("a whole number from {min} to {max}"),
        Expected::Number => "a number".to_owned(),
        Expected::Bool => "true or false".to_owned(),
        Expected::Date => "a date such as 2026-12-31".to_owned(),
        Expected::Time => "a time such as 18:30".to_owned(),
        Expected::DateTime => "a date and a time such as 2026-12-31T18:30".to_owned(),
        Expected::Choice(list) => (*list).to_owned(),
        Expected::In(text) => text("en").into_owned(),
        Expected::Words(words) => words.clone().into_owned(),
    }
}
