//! What the code that `piece!` makes asks of its type, once that is known.
//!
//! A [`Piece`] stands for the type that the place gives to the macro call. Each question is a method without a body
//! worth the name; the bound is the question, and its message is the answer. Nothing here is meant to be named by hand.

use std::marker::PhantomData;

use super::fits::{Fits, KeptBy, Leaves, ProvedBy, TakesText};
use super::kind::Kind;
use super::{Buffer, Html, Render};

/// The type of a `piece!`, `Html<C, H>`, while it is being written.
pub struct Piece<C, H>(PhantomData<fn() -> (C, H)>);

/// `Element` may be a root of a piece of this kind. `Category` says what the standard counts it to.
#[diagnostic::on_unimplemented(
    message = "`{Element}` is not allowed in a piece of type `Html<{Self}>`",
    label = "`{Element}` is not `{Self}`",
    note = "this `piece!` is `Html<{Self}>` because of its expected type, such as the return type of the function"
)]
pub trait Takes<Element, Category> {}

/// What an element at the top of a piece can be, by the kinds that take it. `skep-html-macros` has the same list.
pub mod category {
    use super::super::kind::{
        Cells, Columns, Document, Flow, Foreign, Items, Metadata, Options, PageParts, Phrasing, Picture, Rows, Ruby,
        Sources, TableParts, Terms,
    };
    use super::Takes;

    macro_rules! categories {
        ($($category:ident: $($kind:ident)*;)*) => {$(
            pub enum $category {}

            $(#[diagnostic::do_not_recommend] impl<Element> Takes<Element, $category> for $kind {})*
        )*};
    }

    categories! {
        Block: Flow;
        Line: Flow Phrasing Ruby;
        Embedded: Flow Phrasing Ruby Foreign;
        Division: Flow Terms Options;
        Separator: Flow Options;
        Image: Flow Phrasing Picture Ruby;
        Script: Flow Phrasing Metadata Items Terms Rows Cells TableParts Options Picture Ruby Foreign;
        Template: Flow Phrasing Metadata Items Terms Rows Cells TableParts Columns Options Picture Ruby;
        Head: Metadata;
        HeadOrDrawing: Metadata Foreign;
        HeadOrLine: Flow Phrasing Metadata Ruby;
        NoScript: Flow Phrasing Metadata Options Ruby;
        Page: Document;
        PagePart: PageParts;
        Item: Items;
        Term: Terms;
        Row: Rows TableParts;
        Cell: Cells;
        TablePart: TableParts;
        Column: Columns;
        Choice: Options;
        Source: Sources Picture;
        Track: Sources;
        Annotation: Ruby;
        Drawing: Foreign;
        // Nothing is of it. With one category only, a kind would be explained by its implementation.
        Nowhere: Document PageParts Metadata Items Terms TableParts Rows Cells Columns Options Sources Picture Foreign;
    }
}

/// A value keeps what the piece around it promises.
#[diagnostic::on_unimplemented(
    message = "`{Value}` may contain what this piece promises not to contain: it is `{Promise}`",
    label = "this does not promise that",
    note = "promise the same in the function that returns it, or return a piece without the promise from this one"
)]
pub trait Promises<Promise, Value: ?Sized> {}

#[diagnostic::do_not_recommend]
impl<T, Promise: KeptBy<T>, Value: ?Sized> Promises<Promise, Value> for T {}

/// A value at the top of a `piece!`.
#[diagnostic::on_unimplemented(
    message = "`{Value}` is not allowed at the top of a piece of type `{Piece}`",
    label = "this does not fit as `{Piece}`",
    note = "this `piece!` is `{Piece}` because of its expected type, such as the return type of the function"
)]
pub trait AtTop<Piece, Value: ?Sized> {}

#[diagnostic::do_not_recommend]
impl<T: Fits<Piece>, Piece, Value: ?Sized> AtTop<Piece, Value> for T {}

/// A type that proves a promise.
pub struct Proof<N: ?Sized>(PhantomData<fn(&N)>);

/// The type that `name`, which is never called, names.
#[inline]
pub fn proof<N: ?Sized>(_name: impl FnOnce() -> Proof<N>) -> Proof<N> {
    Proof(PhantomData)
}

/// The type of the value.
#[inline]
pub fn type_of<N: ?Sized>(_value: &N) -> Proof<N> {
    Proof(PhantomData)
}

impl<C, H> Piece<C, H> {
    /// Its type is not known yet.
    #[allow(clippy::new_without_default, reason = "only written code makes one")]
    #[must_use]
    pub fn new() -> Self {
        Self(PhantomData)
    }

    /// An element is at the top.
    #[inline]
    pub fn root<Element, Category>(&self)
    where
        C: Takes<Element, Category>,
    {
    }

    /// Text is at the top.
    #[inline]
    pub fn text(&self)
    where
        C: TakesText,
    {
    }

    /// An element is somewhere within that some promise rules out.
    #[inline]
    pub fn contains<Element, Thing>(&self)
    where
        H: Leaves<Thing, Element>,
    {
    }

    /// A value at the top.
    #[inline]
    pub fn top<T>(&self, value: &T, out: &mut Buffer)
    where
        T: Render + ?Sized,
        T::Content: AtTop<Html<C, H>, T>,
    {
        value.render(out);
    }

    /// A value in some element: it comes back as it is, to be written.
    #[inline]
    pub fn within<'v, T>(&self, value: &'v T) -> &'v T
    where
        T: Render + ?Sized,
        T::Content: Promises<H, T>,
    {
        value
    }

    /// All is written, `Proof` among it.
    #[inline]
    pub fn finish<Proof>(self, out: Buffer) -> Html<C, H>
    where
        C: Kind,
        H: ProvedBy<Proof>,
    {
        Html::of(out)
    }

    /// All is written, among it what proves this, if it is the name of a field: its controls.
    #[inline]
    pub fn finish_of<N: ?Sized>(self, out: Buffer, _proof: Proof<N>) -> Html<C, H>
    where
        C: Kind,
        H: ProvedBy<N>,
    {
        Html::of(out)
    }
}
