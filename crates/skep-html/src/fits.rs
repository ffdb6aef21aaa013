//! What may stand where, between functions: the rules that make one piece fit into another.
//!
//! Within one `html!` the macro judges; what it cannot see, the value of a splice, is judged here, by type. The
//! messages are in [`place`](super::place).

use super::kind::{
    Anything, Cells, Columns, Controls, Doctype, Document, Flow, Foreign, Items, Kind, Metadata, NoForm, NoHeader,
    NoHeading, NoInteractive, Options, PageParts, Phrasing, Picture, Plain, Rows, Ruby, Sources, TableParts, Terms,
    Text, Unchecked,
};
use super::place::{Closed, Inline, Open};
use super::{Html, place};

/// What fits wherever a piece of type `Place` fits: `Html<Phrasing>` fits as `Html`, text fits as `Html<Phrasing>`.
///
/// It is what a function says that takes pieces of several kinds, or anything that can be spliced:
///
/// ```
/// use skep_html::{Fits, Html, Phrasing, Render, html};
///
/// fn boxed<C, H>(content: &Html<C, H>) -> Html
/// where
///     Html<C, H>: Fits<Html>,
/// {
///     html! { div.box { (content) } }
/// }
///
/// fn term(name: impl Render<Content: Fits<Html<Phrasing>>>) -> Html {
///     html! { p { "A " (name) } }
/// }
///
/// assert_eq!(boxed(&term("skep")).as_str(), "<div class=\"box\"><p>A skep</p></div>");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not fit where `{Place}` is expected",
    label = "cannot become `{Place}`",
    note = "phrasing content is also flow content, and a piece with a promise is also a piece without it"
)]
pub trait Fits<Place> {}

#[diagnostic::do_not_recommend]
impl<C, H, D, I> Fits<Html<D, I>> for Html<C, H>
where
    D: Includes<C>,
    I: KeptBy<Self>,
{
}

#[diagnostic::do_not_recommend]
impl<D: TakesText, I> Fits<Html<D, I>> for Text {}

#[diagnostic::do_not_recommend]
impl<D, I> Fits<Html<D, I>> for Unchecked {}

#[diagnostic::do_not_recommend]
impl<I> Fits<Html<Document, I>> for Doctype {}

/// A kind of which another one is a part.
///
/// The place is the `Self` of these traits: while it is not known, as in `piece!`, rustc then waits instead of taking
/// the first place that would do.
#[doc(hidden)]
pub trait Includes<Kind> {}

macro_rules! includes {
    ($($place:ty: $($kind:ident)*;)*) => {$($(
        #[diagnostic::do_not_recommend]
        impl Includes<$kind> for $place {}
    )*)*};
}

includes! {
    Flow: Flow Phrasing;
    Phrasing: Phrasing;
    Document: Document;
    PageParts: PageParts;
    Metadata: Metadata;
    Items: Items;
    Terms: Terms;
    TableParts: TableParts Rows;
    Rows: Rows;
    Cells: Cells;
    Columns: Columns;
    Options: Options;
    Sources: Sources;
    Picture: Picture;
    Ruby: Ruby Phrasing;
    Foreign: Foreign;
    place::Media<Flow>: Flow Phrasing Sources;
    place::Media<Phrasing>: Phrasing Sources;
}

/// Kinds of which text is one.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "text is not allowed at the top of a piece of type `Html<{Self}>`",
    label = "text is not `{Self}`",
    note = "this `piece!` is `Html<{Self}>` because of its expected type, such as the return type of the function"
)]
pub trait TakesText {}

macro_rules! takes_text {
    ($($kind:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl TakesText for $kind {}
    )*};
}

takes_text!(Flow, Phrasing, Ruby, Foreign, place::Media<Flow>, place::Media<Phrasing>);

/// What some ancestor forbids: `form`.
#[doc(hidden)]
pub enum Form {}

/// `header` and `footer`.
#[doc(hidden)]
pub enum Header {}

/// Headings, sections, `address`.
#[doc(hidden)]
pub enum Heading {}

/// Links, controls, `tabindex`.
#[doc(hidden)]
pub enum Interactive {}

/// A promise, as to one of the above.
#[doc(hidden)]
pub trait Excludes<Thing> {}

/// No promise, as to one of the above. `Element` is what is going to be in the piece.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Element}` is not allowed in a piece that promises `{Self}`",
    label = "`{Self}` rules this out",
    note = "remove it, or return a piece without this promise, such as `Html`"
)]
pub trait Leaves<Thing, Element> {}

macro_rules! promises {
    ($($promise:ident: excludes $($out:ident)*, leaves $($in:ident)*;)*) => {$(
        $(impl Excludes<$out> for $promise {})*
        $(#[diagnostic::do_not_recommend] impl<Element> Leaves<$in, Element> for $promise {})*
    )*};
}

promises! {
    Anything: excludes, leaves Form Header Heading Interactive;
    NoForm: excludes Form, leaves Header Heading Interactive;
    NoHeader: excludes Header, leaves Form Heading Interactive;
    NoHeading: excludes Header Heading, leaves Form Interactive;
    NoInteractive: excludes Interactive, leaves Form Header Heading;
    Plain: excludes Form Header Heading Interactive, leaves;
}

impl<T> Excludes<Form> for Controls<T> {}
#[diagnostic::do_not_recommend]
impl<T, Element> Leaves<Header, Element> for Controls<T> {}
#[diagnostic::do_not_recommend]
impl<T, Element> Leaves<Heading, Element> for Controls<T> {}
#[diagnostic::do_not_recommend]
impl<T, Element> Leaves<Interactive, Element> for Controls<T> {}

/// A promise that a piece keeps which has written `Proof`: a promise of absence whatever that is, one of controls if it
/// is these, or the name of their field. It is also what a piece of the promise `Proof` can be widened to.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "nothing proves that this piece is what `{Self}` promises",
    label = "`{Self}` promises more than this piece proves",
    note = "for `Controls`, the controls of one group stand in an `@form (form) {{ input (Group::field); }}`, and that of \
            one field is `input (form.input(name));` or `@fields(name) {{ (function(form, name)) }}`: none of them in \
            one branch only or in a loop, no second field beside it, and `name` is not bound in the piece",
    note = "a function that is generic over the promise of a piece without controls says `where H: \
            skep::html::ProvedBy<()>`"
)]
pub trait ProvedBy<Proof: ?Sized> {}

impl<Proof: ?Sized> ProvedBy<Proof> for Anything {}
impl<Proof: ?Sized> ProvedBy<Proof> for NoForm {}
impl<Proof: ?Sized> ProvedBy<Proof> for NoHeader {}
impl<Proof: ?Sized> ProvedBy<Proof> for NoHeading {}
impl<Proof: ?Sized> ProvedBy<Proof> for NoInteractive {}
impl<Proof: ?Sized> ProvedBy<Proof> for Plain {}
impl<T> ProvedBy<Controls<T>> for Controls<T> {}

/// What has no such thing in it, whether it promises that or cannot hold one.
#[doc(hidden)]
pub trait Without<Thing> {}

#[diagnostic::do_not_recommend]
impl<C: Kind<Depth: Holds<H, Thing>>, H, Thing> Without<Thing> for Html<C, H> {}
impl<Thing> Without<Thing> for Text {}
impl<Thing> Without<Thing> for Unchecked {}
impl<Thing> Without<Thing> for Doctype {}

/// How deep a kind goes: does the promise `H` keep `Thing` out?
#[doc(hidden)]
pub trait Holds<H, Thing> {}

impl<H: Excludes<Thing>, Thing> Holds<H, Thing> for Open {}
impl<H> Holds<H, Form> for Inline {}
impl<H> Holds<H, Header> for Inline {}
impl<H> Holds<H, Heading> for Inline {}
impl<H: Excludes<Interactive>> Holds<H, Interactive> for Inline {}
impl<H, Thing> Holds<H, Thing> for Closed {}

/// A promise that such content keeps.
#[doc(hidden)]
pub trait KeptBy<Content> {}

impl<T> KeptBy<T> for Anything {}
impl<T: Without<Form>> KeptBy<T> for NoForm {}
impl<T: Without<Form>, F> KeptBy<T> for Controls<F> {}
impl<T: Without<Header>> KeptBy<T> for NoHeader {}
impl<T: Without<Header> + Without<Heading>> KeptBy<T> for NoHeading {}
impl<T: Without<Interactive>> KeptBy<T> for NoInteractive {}
impl<T: Without<Form> + Without<Header> + Without<Heading> + Without<Interactive>> KeptBy<T> for Plain {}
