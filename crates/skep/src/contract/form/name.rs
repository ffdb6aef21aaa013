//! The names of a form's fields, as types know them and as they are sent.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use super::field::{FormField, text_of};
use super::look;

/// The name of a form's field, together with its service and its type: `Comment::author`. `#[derive(Service)]` makes
/// one constant for each field of the form.
///
/// ```
/// use skep::form::Text;
/// use skep::prelude::*;
///
/// #[derive(Service)]
/// #[service(POST "/comments")]
/// struct Comment { #[form] author: Text<1, 80> }
/// # impl Handle for Comment { async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text("")) } }
///
/// assert_eq!(Comment::author.text(), "author");
/// ```
pub struct Name<S, T> {
    text: &'static str,
    /// The group that the field stands in, or its list.
    group: Option<&'static str>,
    /// The list and the row of it that the field stands in.
    place: Option<(&'static str, usize)>,
    marker: PhantomData<fn() -> (S, T)>,
}

impl<S, T> Name<S, T> {
    /// For `#[derive(Service)]`.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(text: &'static str) -> Self {
        Self { text, group: None, place: None, marker: PhantomData }
    }

    /// The name as the form sends it: `author`, in a group `course.title`, in a row of a list `lines.0.product`.
    #[must_use]
    pub fn text(self) -> Cow<'static, str> {
        let text = match self.place {
            None => Cow::Borrowed(self.text),
            Some((list, row)) => Cow::Owned(format!("{list}.{row}.{}", self.text)),
        };
        within(self.group, text)
    }

    /// The list and the row of it that the field stands in.
    pub(super) fn place(self) -> Option<(Cow<'static, str>, usize)> {
        self.place.map(|(list, row)| (within(self.group, Cow::Borrowed(list)), row))
    }
}

/// The name of a field of this group, if it is in one.
pub(super) fn within(group: Option<&str>, name: Cow<'static, str>) -> Cow<'static, str> {
    match group {
        None => name,
        Some(group) => Cow::Owned(joined(group, &name)),
    }
}

pub(super) fn joined(group: &str, name: &str) -> String {
    format!("{group}.{name}")
}

impl<S, T: FormField> Name<S, T> {
    /// A field of one row of this list, counted from 0: `input (Order::lines.row(0, Line::product));`. An example is at
    /// [`Group`](derive@super::Group).
    #[must_use]
    pub const fn row<U>(self, row: usize, field: Name<T::One, U>) -> Name<S, U>
    where
        T: look::FitsRows,
    {
        Name { text: field.text, group: self.group, place: Some((self.text, row)), marker: PhantomData }
    }
}

impl<S, T: look::FitsGroup> Name<S, T> {
    /// A field of this group: `Save::course.field(CourseFields::title)`. An example is at
    /// [`Group`](derive@super::Group).
    #[must_use]
    pub const fn field<U>(self, field: Name<T, U>) -> Name<S, U> {
        Name { text: field.text, group: Some(self.text), place: field.place, marker: PhantomData }
    }
}

impl<S, T: look::FitsChoice> Name<S, T> {
    /// One choice of this field, for an `input` and its `label`: `input (Post::kind.of(Kind::Note));`
    #[must_use]
    pub fn of(self, choice: T::One) -> NamePart<S, T> {
        NamePart { name: self, which: Which::Choice(text_of(&choice)) }
    }
}

impl<S, T: look::FitsSeveral> Name<S, T> {
    /// One value of this list, counted from 0, for an `input` and its `label`: `input (Recipe::steps.at(0));`
    #[must_use]
    pub fn at(self, position: usize) -> NamePart<S, T> {
        NamePart { name: self, which: Which::Item(position) }
    }
}

/// A part of a field: one of its choices ([`Name::of`]) or of its values ([`Name::at`]).
pub struct NamePart<S, T> {
    pub(crate) name: Name<S, T>,
    pub(crate) which: Which,
}

/// Which part of a field.
#[derive(Clone, Debug)]
pub(crate) enum Which {
    All,
    Choice(String),
    Item(usize),
}

impl<S, T> Clone for Name<S, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S, T> Copy for Name<S, T> {}

impl<S, T> fmt::Debug for Name<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Name").field(&self.text).finish()
    }
}

impl<S, T> fmt::Debug for NamePart<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NamePart").field(&self.name.text).field(&self.which).finish()
    }
}
