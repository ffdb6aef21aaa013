//! The fields of a service's form as constants: what a compiler and a description of the interface can ask.

use super::field::{Control, FormField, Shape};
use crate::routing::param::{Field, OfferInfo, Param};
use crate::routing::route::BodyKind;

/// A field of a service's form as a program sees it: for descriptions of an interface, and for the check that a form
/// leaves nothing out. In [`Service::FIELDS`](crate::Service::FIELDS).
#[derive(Clone, Copy, Debug)]
pub struct FieldInfo {
    /// Its name.
    pub name: &'static str,
    /// True if a submission without it is refused.
    pub required: bool,
    /// True if it comes as a file.
    pub file: bool,
    /// Its control and its limits; `None` for the query of a GET service, whose types need no control.
    pub shape: Option<fn() -> Shape>,
    /// What it is chosen from, if that is not known when the program is compiled.
    #[doc(hidden)]
    pub offer: Option<OfferInfo>,
    /// The fields of a group, `title` in `course` is sent as `course.title`; or, if it is a list of groups, of each
    /// row: the first row's `product` in `lines` is sent as `lines.0.product`.
    pub group: &'static [FieldInfo],
    /// True if it holds any number of values, or rows.
    pub many: bool,
}

/// A [`FieldInfo`] from the type of the field. For `#[derive(Service)]`.
#[doc(hidden)]
#[must_use]
pub const fn info<T: FormField>(name: &'static str) -> FieldInfo {
    let group = <T::One as Control>::GROUP;
    assert!(T::MANY || T::REQUIRED || group.is_empty(), "a group is always there: make its fields `Option`s instead");
    let mut at = 0;
    while at < group.len() {
        assert!(
            group[at].group.is_empty() || group[at].many && !T::MANY,
            "rows have no rows, and a group in a group is a list: flatten the form"
        );
        at += 1;
    }
    FieldInfo {
        name,
        required: T::REQUIRED,
        file: T::One::FILE,
        shape: Some(T::shape),
        offer: <T::One as Param>::OFFER,
        group,
        many: T::MANY,
    }
}

/// A [`FieldInfo`] of a query. For `#[derive(Service)]`.
#[doc(hidden)]
#[must_use]
pub const fn query_info<F: Field>(name: &'static str, required: bool) -> FieldInfo {
    FieldInfo {
        name,
        required,
        file: false,
        shape: None,
        offer: <F::One as Param>::OFFER,
        group: &[],
        many: F::REPEATED,
    }
}

/// How the body of a form with these fields comes. For `#[derive(Service)]`.
#[doc(hidden)]
#[must_use]
pub const fn body_of(fields: &[FieldInfo]) -> BodyKind {
    let mut at = 0;
    while at < fields.len() {
        if fields[at].file || matches!(body_of(fields[at].group), BodyKind::Multipart) {
            return BodyKind::Multipart;
        }
        at += 1;
    }
    BodyKind::Form
}
