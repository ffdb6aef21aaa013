//! What the code that `html!` makes asks of each splice, and what rustc says if the answer is no.
//!
//! A function per content model, called with the element whose content the splice is in, and one for each thing that
//! the elements around it may forbid. Each has a trait of its own, because the message belongs to the trait; the rules
//! are in `fits`. Nothing here is meant to be named by hand.

use super::fits::{Fits, Form, Header, Heading, Interactive, Without};
use super::kind::{
    Cells, Columns, Document, Flow, Items, Metadata, Options, PageParts, Phrasing, Picture, Rows, Ruby, TableParts,
    Terms, Text, Unchecked,
};
use super::{Buffer, Html, Render};

/// The depth of kinds that may hold flow content somewhere: only a promise says what is not in them.
pub enum Open {}

/// The depth of kinds that hold phrasing content at most: interactive content can be in them, forms and headings
/// cannot.
pub enum Inline {}

/// The depth of kinds that hold nothing that anything forbids.
pub enum Closed {}

/// `Kind`, and before it `source` and `track`.
pub struct Media<Kind>(Kind);

/// A trait and a function for each thing that an ancestor may forbid. The value comes back as it is, to be written.
///
/// The bound is written where the macro is called, because rustc shows it: the way through a macro would be shown too.
macro_rules! forbid {
    ($($name:ident $function:ident: $thing:path, where [$($bound:tt)+], $message:literal $promise:literal;)*) => {$(
        #[diagnostic::on_unimplemented(message = $message, label = "this does not promise to be without it", note = $promise)]
        pub trait $name<Element, Value: ?Sized> {}

        #[diagnostic::do_not_recommend]
        impl<T: Without<$thing>, Element, Value: ?Sized> $name<Element, Value> for T {}

        #[inline]
        pub fn $function<Element, T>(value: &T) -> &T
        where
            $($bound)+,
        {
            value
        }
    )*};
}

forbid! {
    LacksForm no_form: Form, where [T: Render + ?Sized, T::Content: LacksForm<Element, T>],
        "`{Value}` may contain a `form`, and a `form` is not allowed in another"
        "promise it in the function that returns it, with `piece!` instead of `html!`: `fn name() -> Html<Flow, NoForm> {{ piece! {{ ... }} }}`";
    LacksHeader no_header: Header, where [T: Render + ?Sized, T::Content: LacksHeader<Element, T>],
        "`{Value}` may contain a `header` or `footer`, which is not allowed in `{Element}`"
        "promise it in the function that returns it, with `piece!` instead of `html!`: `fn name() -> Html<Flow, NoHeader> {{ piece! {{ ... }} }}`";
    LacksHeading no_heading: Heading, where [T: Render + ?Sized, T::Content: LacksHeading<Element, T>],
        "`{Value}` may contain a heading, a section or a header, which is not allowed in `{Element}`"
        "promise it in the function that returns it, with `piece!` instead of `html!`: `fn name() -> Html<Flow, NoHeading> {{ piece! {{ ... }} }}`";
    LacksInteractive no_interactive: Interactive, where [T: Render + ?Sized, T::Content: LacksInteractive<Element, T>],
        "`{Value}` may contain a link, a button or something else that is interactive, which is not allowed in `{Element}`"
        "promise it in the function that returns it, with `piece!` instead of `html!`: `fn name() -> Html<Flow, NoInteractive> {{ piece! {{ ... }} }}`";
}

/// What several elements around a splice forbid together: one message for one mistake.
#[diagnostic::on_unimplemented(
    message = "`{Value}` may contain what the elements around it forbid: {Elements}",
    label = "this does not promise to be without it",
    note = "promise it in the function that returns it, with `piece!` instead of `html!`: `fn name() -> Html<Flow, Plain> {{ piece! {{ ... }} }}`"
)]
pub trait LacksSeveral<Elements, Things, Value: ?Sized> {}

#[diagnostic::do_not_recommend]
impl<T: WithoutAll<Things>, Elements, Things, Value: ?Sized> LacksSeveral<Elements, Things, Value> for T {}

#[inline]
pub fn none_of<Elements, Things, T>(value: &T) -> &T
where
    T: Render + ?Sized,
    T::Content: LacksSeveral<Elements, Things, T>,
{
    value
}

/// `Things` are pairs in pairs: `(Form, (Header, ()))`.
pub trait WithoutAll<Things> {}

impl<T> WithoutAll<()> for T {}
impl<T: Without<First> + WithoutAll<Rest>, First, Rest> WithoutAll<(First, Rest)> for T {}

/// A trait and a function for each place, with the message. The bound is written where the macro is called, because
/// rustc shows it.
macro_rules! place {
    ($(
        $name:ident $function:ident: $place:ty, where [$($bound:tt)+], $message:literal $label:literal $($note:literal)*;
    )*) => {$(
        #[diagnostic::on_unimplemented(message = $message, label = $label, $(note = $note),*)]
        pub trait $name<Parent, Value: ?Sized> {}

        #[diagnostic::do_not_recommend]
        impl<T: Fits<$place>, Parent, Value: ?Sized> $name<Parent, Value> for T {}

        #[inline]
        pub fn $function<Parent, T>(value: &T, out: &mut Buffer)
        where
            $($bound)+,
        {
            value.render(out);
        }
    )*};
}

/// Where phrasing content stands, and a few elements that can be no piece of their own.
type Line = Html<Phrasing>;

place! {
    InFlow flow: Html<Flow>, where [T: Render + ?Sized, T::Content: InFlow<Parent, T>],
        "`{Value}` is not allowed in `{Parent}`, which takes flow content: text, paragraphs, lists, sections, ..."
        "this is not flow content"
        "what is made of `li`, `tr`, `option` and the like stands in the element made for it, such as `ul {{ (items) }}`; a whole page stands alone";
    InPhrasing phrasing: Line, where [T: Render + ?Sized, T::Content: InPhrasing<Parent, T>],
        "`{Value}` is not allowed in `{Parent}`, which takes phrasing content only: text, and elements such as `a`, `em`, `span`, `img`"
        "this may be other than phrasing content"
        "declare it in the function that returns it, with `piece!` instead of `html!`: `fn name() -> Html<Phrasing> {{ piece! {{ ... }} }}`"
        "flow content, such as `div`, `p` or `ul`, stands beside `{Parent}`, not in it";
    InPhrasingAndHeadings phrasing_and_headings: Line, where [T: Render + ?Sized, T::Content: InPhrasingAndHeadings<Parent, T>],
        "`{Value}` is not allowed in `{Parent}`, which takes phrasing content and headings: text, `em`, `span`, `h2`, ..."
        "this may be other than phrasing content"
        "declare it in the function that returns it, with `piece!` instead of `html!`: `fn name() -> Html<Phrasing> {{ piece! {{ ... }} }}`";
    InOptionContent option_content: Line, where [T: Render + ?Sized, T::Content: InOptionContent<Parent, T>],
        "`{Value}` is not allowed in `{Parent}`, which takes phrasing content only: text, and elements such as `em`, `span`, `img`"
        "this may be other than phrasing content"
        "declare it in the function that returns it, with `piece!` instead of `html!`: `fn name() -> Html<Phrasing> {{ piece! {{ ... }} }}`";
    InSuggestions suggestions: Line, where [T: Render + ?Sized, T::Content: InSuggestions<Parent, T>],
        "`{Value}` is not allowed in `{Parent}`, which takes phrasing content, or `option` elements that are written in it"
        "this may be other than phrasing content"
        "write the elements here: `datalist {{ @for name in names {{ option value=(name) {{}} }} }}`";
    InMetadata metadata: Html<Metadata>, where [T: Render + ?Sized, T::Content: InMetadata<Parent, T>],
        "`{Value}` is not allowed in `{Parent}`, which takes `title`, `meta`, `link`, `style` and `script`"
        "this may be other than metadata"
        "write a function that returns them, with `piece!`: `fn name() -> Html<Metadata> {{ piece! {{ link rel=\"icon\" href=(url); }} }}`";
    InDocument document: Html<Document>, where [T: Render + ?Sized, T::Content: InDocument<Parent, T>],
        "`{Value}` is not allowed next to the root of a page: only `(DOCTYPE)` is, before `html`"
        "this is not a page"
        "the content of a page belongs in its `body`";
    InPageParts page_parts: Html<PageParts>, where [T: Render + ?Sized, T::Content: InPageParts<Parent, T>],
        "`{Value}` is not allowed in `{Parent}`, which takes a `head` and a `body`"
        "this is neither `head` nor `body`"
        "the content of a page belongs in its `body`: `html lang=\"en\" {{ head {{ ... }} body {{ (content) }} }}`";
    InItems items: Html<Items>, where [T: Render + ?Sized, T::Content: InItems<Parent, T>],
        "`{Value}` is not allowed in `{Parent}`, which takes `li` elements"
        "this is not made of `li` elements"
        "write `li {{ (value) }}`, or write a function that returns them: `fn name() -> Html<Items> {{ html! {{ li {{ ... }} }} }}`";
    InTerms terms: Html<Terms>, where [T: Render + ?Sized, T::Content: InTerms<Parent, T>],
        "`{Value}` is not allowed in `{Parent}`, which takes `dt` and `dd` elements"
        "this is not made of `dt` and `dd`"
        "write `dt {{ (name) }} dd {{ (value) }}`, or write a function that returns them: `fn name() -> Html<Terms> {{ html! {{ dt {{ ... }} dd {{ ... }} }} }}`";
    InTableParts table_parts: Html<TableParts>, where [T: Render + ?Sized, T::Content: InTableParts<Parent, T>],
        "`{Value}` is not allowed in `{Parent}`, which takes `caption`, `thead`, `tbody`, `tfoot` and rows"
        "this is not a part of a table"
        "write `tr {{ td {{ (value) }} }}`, or write a function that returns rows: `fn name() -> Html<Rows> {{ html! {{ tr {{ ... }} }} }}`";
    InRows rows: Html<Rows>, where [T: Render + ?Sized, T::Content: InRows<Parent, T>],
        "`{Value}` is not allowed in `{Parent}`, which takes rows: `tr` elements"
        "this is not made of `tr` elements"
        "write `tr {{ td {{ (value) }} }}`, or write a function that returns rows: `fn name() -> Html<Rows> {{ html! {{ tr {{ ... }} }} }}`";
    InCells cells: Html<Cells>, where [T: Render + ?Sized, T::Content: InCells<Parent, T>],
        "`{Value}` is not allowed in `{Parent}`, which takes cells: `td` and `th` elements"
        "this is not made of `td` and `th`"
        "write `td {{ (value) }}`, or write a function that returns cells: `fn name() -> Html<Cells> {{ html! {{ td {{ ... }} }} }}`";
    InColumns columns: Html<Columns>, where [T: Render + ?Sized, T::Content: InColumns<Parent, T>],
        "`{Value}` is not allowed in `{Parent}`, which takes `col` elements"
        "this is not made of `col` elements"
        "write a function that returns them: `fn name() -> Html<Columns> {{ html! {{ col span=\"2\"; }} }}`";
    InOptions options: Html<Options>, where [T: Render + ?Sized, T::Content: InOptions<Parent, T>],
        "`{Value}` is not allowed in `{Parent}`, which takes `option`, `optgroup` and `hr` elements"
        "this is not made of `option` elements"
        "write `option {{ (value) }}`, or write a function that returns them: `fn name() -> Html<Options> {{ html! {{ option {{ ... }} }} }}`";
    InPicture picture: Html<Picture>, where [T: Render + ?Sized, T::Content: InPicture<Parent, T>],
        "`{Value}` is not allowed in `{Parent}`, which takes `source` elements and an `img`"
        "this is neither `source` nor `img`"
        "write a function that returns them, with `piece!`: `fn name() -> Html<Picture> {{ piece! {{ source srcset=(url); }} }}`";
    InRuby ruby: Html<Ruby>, where [T: Render + ?Sized, T::Content: InRuby<Parent, T>],
        "`{Value}` is not allowed in `{Parent}`, which takes phrasing content, `rt` and `rp`"
        "this may be other than phrasing content"
        "declare it in the function that returns it, with `piece!` instead of `html!`: `fn name() -> Html<Phrasing> {{ piece! {{ ... }} }}`";
    InMediaOfFlow media_flow: Html<Media<Flow>>, where [T: Render + ?Sized, T::Content: InMediaOfFlow<Parent, T>],
        "`{Value}` is not allowed in `{Parent}`, which takes `source` and `track`, and then flow content"
        "this is neither"
        "write a function that returns them: `fn name() -> Html<Sources> {{ html! {{ source src=(url); }} }}`";
    InMediaOfPhrasing media_phrasing: Html<Media<Phrasing>>, where [T: Render + ?Sized, T::Content: InMediaOfPhrasing<Parent, T>],
        "`{Value}` is not allowed in `{Parent}`, which takes `source` and `track`, and then phrasing content"
        "this may be neither"
        "write a function that returns them: `fn name() -> Html<Sources> {{ html! {{ source src=(url); }} }}`";
}

// Two places that no piece fits in: what may stand there is written there.

/// No kind of piece is made of what stands here.
#[diagnostic::on_unimplemented(
    message = "`{Value}` is not allowed in `{Parent}`, whose content must be written in it",
    label = "a value is not allowed here",
    note = "write the elements here, in the same macro call, with `@if` and `@for` where needed"
)]
pub trait InNothing<Parent, Value: ?Sized> {}

#[diagnostic::do_not_recommend]
impl<Parent, Value: ?Sized> InNothing<Parent, Value> for Unchecked {}

#[inline]
pub fn nothing<Parent, T>(value: &T, out: &mut Buffer)
where
    T: Render + ?Sized,
    T::Content: InNothing<Parent, T>,
{
    value.render(out);
}

/// Elements are not allowed.
#[diagnostic::on_unimplemented(
    message = "`{Value}` is not allowed in `{Parent}`, which takes text only",
    label = "this may contain elements",
    note = "write the text itself: a string, a number, or `(format_args!(...))`"
)]
pub trait InText<Parent, Value: ?Sized> {}

#[diagnostic::do_not_recommend]
impl<Parent, Value: ?Sized> InText<Parent, Value> for Text {}
#[diagnostic::do_not_recommend]
impl<Parent, Value: ?Sized> InText<Parent, Value> for Unchecked {}

#[inline]
pub fn text<Parent, T>(value: &T, out: &mut Buffer)
where
    T: Render + ?Sized,
    T::Content: InText<Parent, T>,
{
    value.render(out);
}

/// In `svg` and `math`, in `template`, and where nothing is known.
#[inline]
pub fn free<Parent, T: Render + ?Sized>(value: &T, out: &mut Buffer) {
    value.render(out);
}

/// Phrasing content without anything interactive: one message where two rules meet, as in `button` and in links.
#[diagnostic::on_unimplemented(
    message = "`{Value}` is not allowed in `{Element}`, which takes phrasing content here, without links, buttons and other interactive elements",
    label = "this does not promise both",
    note = "declare it in the function that returns it, with `piece!` instead of `html!`: `fn name() -> Html<Phrasing, NoInteractive> {{ piece! {{ ... }} }}`"
)]
pub trait InInertPhrasing<Element, Value: ?Sized> {}

#[diagnostic::do_not_recommend]
impl<T: Fits<Line> + Without<Interactive>, Element, Value: ?Sized> InInertPhrasing<Element, Value> for T {}

#[inline]
pub fn inert_phrasing<Element, T>(value: &T, out: &mut Buffer)
where
    T: Render + ?Sized,
    T::Content: InInertPhrasing<Element, T>,
{
    value.render(out);
}

/// At the top of `html!`, which its other roots have given a kind.
#[diagnostic::on_unimplemented(
    message = "`{Value}` is not allowed at the top of this `html!`, which is `Html<{Kind}>`",
    label = "this is not `{Kind}`",
    note = "the elements at the top of an `html!` decide its kind, and the values next to them must be of the same kind; without elements it is `Html<Flow>`"
)]
pub trait AtTop<Kind, Value: ?Sized> {}

#[diagnostic::do_not_recommend]
impl<T: Fits<Html<Kind>>, Kind, Value: ?Sized> AtTop<Kind, Value> for T {}

#[inline]
pub fn top<Kind, T>(value: &T, out: &mut Buffer)
where
    T: Render + ?Sized,
    T::Content: AtTop<Kind, T>,
{
    value.render(out);
}
