//! Which elements a field can be edited with.
//!
//! Each type of field names its [`Look`]. What does not fit does not compile: the traits here are what the methods of
//! [`Form`](super::Form) ask for.

use super::field::FormField;

/// What a field looks like: which elements it can be edited with.
///
/// One of [`Line`], [`Area`], [`LineOrArea`], [`Tick`], [`Choose`], [`ChooseMany`], [`Several`], [`Pick`], [`Grouped`],
/// [`Groups`], [`Offers`] and [`OffersMany`].
pub trait Look {}

macro_rules! looks {
    ($($(#[$doc:meta])* $name:ident: $($fits:ident)*;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;
        impl Look for $name {}
        $(impl $fits for $name {})*
    )*};
}

looks! {
    /// One line: an `input`.
    Line: LooksLikeInput;
    /// Several lines: a `textarea`.
    Area: LooksLikeTextarea;
    /// An `input` or a `textarea`.
    LineOrArea: LooksLikeInput LooksLikeTextarea;
    /// Yes or no: an `input` that is a checkbox.
    Tick: LooksLikeInput;
    /// One of several: a `select`, a `fieldset` of radio buttons, or an `input` for each choice.
    Choose: LooksLikeChoice;
    /// Any of several: a `select`, a `fieldset` of checkboxes, or an `input` for each choice.
    ChooseMany: LooksLikeChoice;
    /// Several values, each in an `input` of its own.
    Several: LooksLikeSeveral;
    /// A file to be picked: an `input`.
    Pick: LooksLikeInput;
    /// Several fields together: `#[derive(Group)]`.
    Grouped: LooksLikeGroup;
    /// Any number of rows, each with the fields of a group.
    Groups: LooksLikeRows;
    /// One of what is [offered](super::Offer): a `select`, a `fieldset` of radio buttons, an `input` with a `datalist`.
    Offers: LooksLikeOffer;
    /// Several of what is offered: a `select`, a `fieldset` of checkboxes.
    OffersMany: ;
}

#[doc(hidden)]
pub trait LooksLikeInput {}
#[doc(hidden)]
pub trait LooksLikeTextarea {}
#[doc(hidden)]
pub trait LooksLikeChoice {}
#[doc(hidden)]
pub trait LooksLikeSeveral {}
#[doc(hidden)]
pub trait LooksLikeRows {}
#[doc(hidden)]
pub trait LooksLikeOffer {}
#[doc(hidden)]
pub trait LooksLikeGroup {}

/// A field that an `input` can edit.
#[diagnostic::on_unimplemented(
    message = "an `input` cannot edit a field of type `{Self}`",
    label = "this field needs another element",
    note = "a text of several lines has a `textarea (Service::field);`",
    note = "a choice has a `select (Service::field);`, a `fieldset (Service::field) {{ legend {{ \"...\" }} }}`, or an \
            `input (Service::field.of(choice));` for each choice",
    note = "a list has an `input (Service::field.at(0));` for each of its values, a list of groups an \
            `input (Service::field.row(0, Group::field));` for each field of its rows, and a group an \
            `input (Service::field.field(Group::field));` for each of its fields"
)]
pub trait FitsInput: FormField {}

/// A field that a `textarea` can edit.
#[diagnostic::on_unimplemented(
    message = "a `textarea` cannot edit a field of type `{Self}`",
    label = "this field is not a text of several lines",
    note = "a text of several lines has the type `skep::form::MultilineText<MIN, MAX>`; most other fields are edited with \
            `input (Service::field);`, a choice with `select (Service::field);`"
)]
pub trait FitsTextarea: FormField {}

/// A field that a `select` or a `fieldset` can edit.
#[diagnostic::on_unimplemented(
    message = "a `select` or `fieldset` cannot edit a field of type `{Self}`",
    label = "this field is not a choice",
    note = "a choice is an enum with `#[derive(Param)]`, an `Option` or a set of one; other fields are edited with \
            `input (Service::field);`, a text of several lines with `textarea (Service::field);`",
    note = "a `OneOf` is shown with what is offered: `select (Service::field.among(&offered));`"
)]
pub trait FitsChoice: FormField {}

/// A field with several values, each in an `input` of its own.
#[diagnostic::on_unimplemented(
    message = "a field of type `{Self}` does not have several values",
    label = "only a `Vec` has a first, second and third",
    note = "write `input (Service::field);`"
)]
pub trait FitsSeveral: FormField {}

/// One of what is offered, which an `input` with a `datalist` can edit.
#[diagnostic::on_unimplemented(
    message = "an `input` cannot edit a field of type `{Self}`, which has several values",
    label = "this field needs another element",
    note = "write `select (Service::field.among(&offered));` or `fieldset (Service::field.among(&offered)) {{ legend {{ \"...\" }} }}`"
)]
pub trait FitsDatalist: FormField {}

/// A list whose rows have fields of their own.
#[diagnostic::on_unimplemented(
    message = "a field of type `{Self}` has no rows",
    label = "only a `Vec` of a type with `#[derive(Group)]` has rows",
    note = "write `input (Service::field);`, for a list of single values `input (Service::field.at(0));`"
)]
pub trait FitsRows: FormField {}

/// A group of fields.
#[diagnostic::on_unimplemented(
    message = "a field of type `{Self}` has no fields of its own",
    label = "only a type with `#[derive(Group)]` has fields",
    note = "the fields of the rows of a list are named `Service::list.row(0, Group::field)`"
)]
pub trait FitsGroup: FormField {}

#[diagnostic::do_not_recommend]
impl<T: FormField<Look: LooksLikeInput>> FitsInput for T {}
#[diagnostic::do_not_recommend]
impl<T: FormField<Look: LooksLikeTextarea>> FitsTextarea for T {}
#[diagnostic::do_not_recommend]
impl<T: FormField<Look: LooksLikeChoice>> FitsChoice for T {}
#[diagnostic::do_not_recommend]
impl<T: FormField<Look: LooksLikeSeveral>> FitsSeveral for T {}
#[diagnostic::do_not_recommend]
impl<T: FormField<Look: LooksLikeRows>> FitsRows for T {}
#[diagnostic::do_not_recommend]
impl<T: FormField<Look: LooksLikeOffer>> FitsDatalist for T {}
#[diagnostic::do_not_recommend]
impl<T: FormField<Look: LooksLikeGroup>> FitsGroup for T {}
