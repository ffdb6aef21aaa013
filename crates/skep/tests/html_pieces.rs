//! Pieces of HTML between functions: what fits where, and which type a template has.
//! What does not fit is in `compile-fail/pieces`.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use skep::html::{
    Anything, Buffer, Cells, Columns, DOCTYPE, Document, Fits, Flow, Foreign, Html, Items, Metadata, NoForm, NoHeader,
    NoHeading, NoInteractive, Options, PageParts, Phrasing, Picture, Plain, Render, Rows, Ruby, Sources, TableParts,
    Terms, Text, Trusted,
};
use skep::{Response, html, html_unchecked, piece};

fn day(date: &str) -> Html<Phrasing> {
    piece! { time datetime=(date) { (date) } }
}

fn icon() -> Html<Phrasing, NoInteractive> {
    piece! { img src="/bee.svg" alt="Bee"; }
}

fn row(name: &str, values: &[u32]) -> Html<Rows> {
    html! { tr { th scope="row" { (name) } (cells(values)) } }
}

fn cells(values: &[u32]) -> Html<Cells> {
    html! { @for value in values { td { (value) } } }
}

fn page(title: &str, main: &Html) -> Html<Document> {
    html! {
        (DOCTYPE)
        html lang="en" { (head(title)) body { main { (main) } } }
    }
}

fn head(title: &str) -> Html<PageParts> {
    html! { head { title { (title) } (styles()) } }
}

fn styles() -> Html<Metadata> {
    piece! { link rel="stylesheet" href="/style.css"; }
}

#[test]
fn a_page_is_put_together_from_pieces() {
    let table = html! { table { (row("a", &[1, 2])) @for name in ["b", "c"] { (row(name, &[])) } } };
    assert_eq!(
        page("T", &table).as_str(),
        "<!DOCTYPE html><html lang=\"en\"><head><title>T</title><link rel=\"stylesheet\" href=\"/style.css\"></head><body><main>\
         <table><tr><th scope=\"row\">a</th><td>1</td><td>2</td></tr><tr><th scope=\"row\">b</th></tr>\
         <tr><th scope=\"row\">c</th></tr></table></main></body></html>"
    );
}

/// Each `let` has the type that `html!` finds from the roots; none is annotated by inference.
#[test]
fn the_roots_decide_what_html_is() {
    let flow: Html<Flow, Anything> = html! { "text" p {} };
    let nothing: Html = html! {};
    let value: Html = html! { (day("2026")) };
    let document: Html<Document> = html! { (DOCTYPE) html lang="en" { head { title { "t" } } body {} } };
    let parts: Html<PageParts> = html! { head { title { "t" } } body {} };
    let metadata: Html<Metadata> = html! { title { "t" } meta name="a" content="b"; };
    let items: Html<Items> = html! { li {} @if flow.is_empty() { li {} } };
    let terms: Html<Terms> = html! { dt { "a" } dd { "b" } };
    let parts_of_table: Html<TableParts> = html! { caption { "c" } tbody {} };
    let rows: Html<Rows> = html! { tr {} };
    let mixed: Html<TableParts> = html! { thead { tr { th { "h" } } } (rows) };
    let cells: Html<Cells> = html! { td {} th {} };
    let columns: Html<Columns> = html! { col span="2"; };
    let options: Html<Options> = html! { option { "o" } };
    let sources: Html<Sources> = html! { source src="/t.webm"; };
    let annotations: Html<Ruby> = html! { rt { "r" } };
    let drawing: Html<Foreign> = html! { path d="M0 0" {} };
    let all = [
        nothing.as_str(),
        value.as_str(),
        document.as_str(),
        parts.as_str(),
        metadata.as_str(),
        items.as_str(),
        terms.as_str(),
        parts_of_table.as_str(),
        mixed.as_str(),
        cells.as_str(),
        columns.as_str(),
        options.as_str(),
        sources.as_str(),
        annotations.as_str(),
        drawing.as_str(),
    ];
    assert_eq!(all.iter().filter(|html| html.is_empty()).count(), 1);
    assert_eq!(mixed.as_str(), "<thead><tr><th>h</th></tr></thead><tr></tr>");
}

#[test]
fn each_kind_stands_in_its_parent() {
    let (items, terms): (Html<Items>, Html<Terms>) = (html! { li { "i" } }, html! { dt { "t" } dd { "d" } });
    let (options, columns): (Html<Options>, Html<Columns>) = (html! { option { "o" } }, html! { col; });
    let (sources, drawing): (Html<Sources>, Html<Foreign>) = (html! { source src="/t"; }, html! { path {} });
    let picture: Html<Picture> = piece! { source srcset="/a.avif"; };
    let annotation: Html<Ruby> = html! { rt { "r" } };
    let list = html! {
        ul { (items) } ol { @for _ in 0..2 { (&items) } } menu { (&&items) }
        dl { (terms) }
        select { (options) optgroup label="g" { (options) } }
        table { colgroup { (columns) } tbody { (row("r", &[])) } }
        video { (sources) "no film" }
        picture { (picture) img src="/a.png" alt=""; }
        ruby { "base" (annotation) }
        svg { (drawing) }
    };
    assert_eq!(list.as_str().matches("<li>i</li>").count(), 4);
}

#[test]
fn phrasing_content_stands_wherever_flow_does_and_text_wherever_text_does() {
    let some = html! {
        div { (day("1")) } p { (day("2")) } a href="/" { (icon()) } button { (icon()) "x" (3) }
        form { (day("3")) fieldset { (icon()) } }
        header { (day("4")) } table { tr { th { (day("5")) } } } address { (icon()) }
        ruby { (day("6")) } summary-list { (day("7")) }
        select { option { (icon()) } }
    };
    assert!(some.as_str().contains("<a href=\"/\"><img src=\"/bee.svg\" alt=\"Bee\"></a>"));
}

fn plain() -> Html<Flow, Plain> {
    piece! { p { "plain" } }
}

#[test]
fn a_promise_opens_the_places_that_ask_for_it() {
    let form: Html<Flow, NoForm> = piece! { header { h1 { "h" } a href="/" { "a" } } };
    let header: Html<Flow, NoHeader> = piece! { form { section { "s" } } };
    let heading: Html<Flow, NoHeading> = piece! { form { input type="text"; } p { a href="/" { "a" } } };
    let inert: Html<Flow, NoInteractive> = piece! { form {} h1 { "h" } };
    let items: Html<Items, NoForm> = piece! { li { "i" } };
    let all = html! {
        form { (form) ul { (items) } (plain()) }
        header { (header) (heading) (plain()) form { (plain()) } }
        table { tr { th { (heading) (plain()) } td { (form) } } }
        a href="/" { (inert) (plain()) }
        dl { dt { (heading) } dd { (form) } }
        form { header { table { tr { th { a href="/" { (plain()) } } } } } }
    };
    assert_eq!(all.as_str().matches("<p>plain</p>").count(), 6);
}

/// What keeps more fits where less is asked.
#[test]
fn a_piece_widens_to_what_says_less() {
    let phrasing: Html = day("1").widen();
    let promise: Html<Flow, NoForm> = day("1").widen();
    let all_promises: Html<Flow, Plain> = icon().widen();
    let fewer: Html<Flow, NoHeader> = plain().widen();
    let rows: Html<TableParts> = row("r", &[]).widen();
    let same: Html = html! { p {} }.widen();
    let mixed: Vec<Html> = vec![phrasing, promise.widen(), all_promises.widen(), fewer.widen(), same];
    let shown = html! { @for each in &mixed { div { (each) } } table { (rows) } };
    assert_eq!(shown.as_str().matches("<div>").count(), 5);
}

#[test]
fn piece_takes_its_type_from_where_it_goes() {
    struct Card {
        title: Html<Phrasing, NoInteractive>,
        rows: Vec<Html<Rows>>,
        note: Option<Html>,
    }
    fn show(card: &Card) -> Html {
        html! {
            a href="/" { (card.title) }
            table { @for row in &card.rows { (row) } }
            @if let Some(note) = &card.note { (note) } @else { p { "no note" } }
        }
    }
    let card = Card {
        title: piece! { em { "t" } },
        rows: vec![piece! { tr {} }, row("r", &[]), Html::trusted_piece("<tr>")],
        note: None,
    };
    let none: Html<Items> = piece! {};
    let text: Html<Phrasing, Plain> = piece! { "t" (5) };
    let page: Html<Document> = piece! { (DOCTYPE) html lang="en" { head { title { "t" } } body { (show(&card)) } } };
    assert!(none.is_empty() && text.as_str() == "t5");
    assert!(page.as_str().contains("<table><tr></tr><tr><th scope=\"row\">r</th></tr><tr></table><p>no note</p>"));
}

/// In branches, arms, loops and blocks, and through a function that calls itself.
#[test]
fn control_flow_changes_nothing_about_types() {
    enum Node {
        Leaf(&'static str),
        Branch(Vec<Node>),
    }
    fn tree(node: &Node) -> Html<Items> {
        piece! {
            @match node {
                Node::Leaf(name) => li { (name) },
                Node::Branch(nodes) => { li { ul { @for node in nodes { (tree(node)) } } } }
            }
        }
    }
    fn stars(count: Option<u8>) -> Html<Phrasing> {
        piece! {
            @let shown = count.unwrap_or(0);
            @if let Some(count) = count { { b { (count) } } } @else if shown == 0 { "none" } @else { (day("never")) }
        }
    }
    let nodes = Node::Branch(vec![Node::Leaf("a"), Node::Branch(vec![Node::Leaf("b")])]);
    let shown = html! { ul { (tree(&nodes)) } p { (stars(Some(2))) (stars(None)) } };
    assert_eq!(shown.as_str(), "<ul><li><ul><li>a</li><li><ul><li>b</li></ul></li></ul></li></ul><p><b>2</b>none</p>");
}

fn boxed<C, H>(content: &Html<C, H>) -> Html
where
    Html<C, H>: Fits<Html>,
{
    html! { div { (content) } }
}

fn line(value: impl Render<Content: Fits<Html<Phrasing>>>) -> Html {
    html! { p { (value) } }
}

fn label<T: Render<Content = Text>>(value: &T) -> Html<Phrasing, NoInteractive> {
    piece! { b { (value) } }
}

fn layout<H>(content: Html<Flow, H>) -> Html<Flow, H>
where
    Html<Flow, H>: Fits<Html> + Fits<Html<Flow, H>>,
{
    content
}

#[test]
fn functions_are_generic_over_pieces() {
    let all = [boxed(&day("1")), boxed(&layout(plain())), line(day("2")), line("text"), line(3), line(label(&"x"))];
    let all: String = all.iter().map(Html::as_str).collect();
    assert!(all.ends_with("<p>text</p><p>3</p><p><b>x</b></p>"), "{all}");
}

#[test]
fn every_pointer_is_what_it_points_to() {
    let (shared, counted) = (Arc::new(day("1")), Rc::new(String::from("2")));
    let (boxed, dynamic): (Box<Html<Phrasing>>, Box<dyn Render<Content = Text>>) = (Box::new(day("3")), Box::new(4));
    let cow = Cow::Borrowed("5");
    let shown = html! { p { (shared) (&shared) (counted) (boxed) (dynamic) (cow) (format_args!("{}", 6)) } };
    assert_eq!(shown.as_str().matches("<time").count(), 3);
}

struct User(&'static str);

impl Render for User {
    type Content = Html<Phrasing, NoInteractive>;

    fn render(&self, out: &mut Buffer) {
        let html: Self::Content = piece! { b { (self.0) } };
        html.render(out);
    }
}

#[test]
fn a_type_says_what_it_writes() {
    assert_eq!(html! { p { a href="/" { (User("u")) } } }.as_str(), "<p><a href=\"/\"><b>u</b></a></p>");
}

#[test]
fn the_ways_around_fit_everywhere() {
    let part: Html<Phrasing, Plain> = Html::trusted_piece("<b>p</b>");
    let shown = html! {
        ul { (Trusted("<li>t")) } a href="/" { (Trusted("t")) (part) } table { (Trusted("<tr>")) }
        div { (Html::trusted("<p>")) (html_unchecked! { li { (part) } }) }
        svg { (Html::trusted("<path>")) } template { (html! { li {} }) (DOCTYPE) }
    };
    assert!(shown.as_str().contains("<ul><li>t</ul>"), "{shown}");
}

#[test]
fn every_kind_is_an_answer_and_a_document_in_an_attribute() {
    let frame = html! { iframe srcdoc=(page("t", &html! { "x" })) {} };
    assert!(frame.as_str().starts_with("<iframe srcdoc=\"&lt;!DOCTYPE html&gt;"));
    let rows = Response::html(row("r", &[]));
    assert_eq!(rows.body().as_whole(), Some(&b"<tr><th scope=\"row\">r</th></tr>"[..]));
}

/// A type that names a kind is as free to move between threads as any other.
#[test]
fn pieces_move_between_threads() {
    fn is_send<T: Send + Sync + 'static>(_: &T) {}
    fn any<C: 'static, H: 'static>(html: &Html<C, H>) {
        is_send(html);
    }
    any(&day("1"));
}

async fn count() -> u32 {
    1
}

#[test]
fn a_piece_may_wait_and_fail() {
    async fn slow() -> Html<Phrasing> {
        piece! { b { (count().await) } }
    }
    fn parsed(number: &str) -> Result<Html<Phrasing>, std::num::ParseIntError> {
        Ok(piece! { b { (number.parse::<u8>()?) } })
    }
    let mut future = std::pin::pin!(slow());
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(html) = future.as_mut().poll(&mut cx) else { panic!("nothing to wait for") };
    assert_eq!((html.as_str(), parsed("x").is_err()), ("<b>1</b>", true));
}
