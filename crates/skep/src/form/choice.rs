//! One of a few: an enum in a form.

use std::borrow::Cow;

use super::fault::Fault;
use super::field::{Control, OfferedOption, Shape};
use super::look;
use crate::param::Param;

/// An enum whose values a form offers: in a `select`, as radio buttons, and in a set as checkboxes.
///
/// ```
/// use std::borrow::Cow;
/// use skep::form::{Choice, Control, Fault};
/// use skep::param::Param;
///
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// enum Kind { Note, Question }
///
/// impl Param for Kind {
///     fn expected() -> Cow<'static, str> { "note or question".into() }
///     fn parse(text: &str) -> Option<Self> {
///         match text { "note" => Some(Self::Note), "question" => Some(Self::Question), _ => None }
///     }
///     fn write(&self, out: &mut String) {
///         out.push_str(match self { Self::Note => "note", Self::Question => "question" });
///     }
/// }
///
/// impl Choice for Kind {
///     const ALL: &'static [Self] = &[Self::Note, Self::Question];
///     fn label(&self) -> Cow<'static, str> {
///         match self { Self::Note => "A note", Self::Question => "A question" }.into()
///     }
/// }
///
/// assert_eq!(Kind::check("note"), Ok(Kind::Note));
/// assert_eq!(Kind::check("rant"), Err(Fault::NotChoice));
/// assert_eq!(Kind::shape().options.len(), 2);
/// ```
pub trait Choice: Param + 'static {
    /// All there is to choose from, in the order in which it is offered.
    const ALL: &'static [Self];

    /// What the user reads. If not said otherwise, what the form sends.
    fn label(&self) -> Cow<'static, str> {
        let mut text = String::new();
        self.write(&mut text);
        text.into()
    }
}

impl<T: Choice> Control for T {
    type Look = look::Choose;

    fn shape() -> Shape {
        let option = |choice: &Self| {
            let mut value = String::new();
            choice.write(&mut value);
            OfferedOption { value, label: choice.label() }
        };
        Shape { kind: "radio", options: Self::ALL.iter().map(option).collect(), ..Shape::default() }
    }

    fn check(text: &str) -> Result<Self, Fault> {
        if text.is_empty() { Err(Fault::Missing) } else { Self::parse(text).ok_or(Fault::NotChoice) }
    }
}
