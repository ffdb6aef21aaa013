//! Templates as maud's users write them, under both macros: the same bytes come out, except where this says what.
//!
//! One case for each thing that maud's documentation describes. What differs is written for people in
//! `docs/guides/pages/templates.md`, "Coming from maud".

use std::borrow::Cow;

/// `both!(template)`: what skep's `html!` and maud's make of it.
macro_rules! both {
    ($($template:tt)*) => {
        (skep::html! { $($template)* }.into_string(), maud::html! { $($template)* }.into_string())
    };
}

/// `same!({ template } ...)`: both write the same.
macro_rules! same {
    ($({ $($template:tt)* })*) => {$(
        let (skep, maud) = both!($($template)*);
        assert_eq!(skep, maud, "{}", stringify!($($template)*));
    )*};
}

#[test]
fn elements_and_text() {
    same! {
        {}
        { "Text & <more>" }
        { h1 { "Poem" } p { strong { "Rock," } " you are a rock." } }
        { pre { r#"Raw strings keep
            their <lines>."# } }
        { p { "One" br; "Two" } hr; }
        { link rel="stylesheet" href="poetry.css"; }
        { my-element { "custom" } }
        { { "groups " { "in groups" } } }
    }
}

#[test]
fn attributes() {
    let (url, title) = ("/bees?a=1&b=2", "Tom & Jerry's");
    let (yes, no, some, none) = (true, false, Some("there"), None::<&str>);
    same! {
        { ul { li { a href="about:blank" { "Apple" } } li title="x" class="b" { "Banana" } } }
        { p { "See " a href=(url) title=(title) { (title) } "." } }
        { img src={ (url) "&c=" (3) } alt={ "A " (title) }; }
        { input type="checkbox" checked disabled; }
        { input type="checkbox" checked[yes] disabled[no] required?[yes]; }
        { p title=[some] lang=[none] { "optional" } }
        { p title=[Some("now")] { "optional" } }
        { a hx-get="/x" data-id="7" aria-label="x" xml:lang="en" { "with hyphens and colons" } }
        { input type="number" min="1" max="5"; }
        { label for="x" { "words of Rust" } input #x type="text"; }
    }
}

#[test]
fn classes_and_ids() {
    let (name, number, yes, no) = ("wide", 3, true, false);
    same! {
        { input #cannon .big.scary.bright-red type="button" value="Launch"; }
        { div.container { #main { .inner { "divs without a name" } } } }
        { div."col-sm-2" { "in quotes" } # "also-quoted" {} }
        { .{ "row-" (number) } #{ "id-" (number) } { "made of pieces" } }
        { p.a.b[yes].c[no] { "toggled" } }
        { p.chosen[number == 3] { "by an expression" } }
        { p."w-1/2"[yes] { "quoted and toggled" } }
        { p class=(name) id=(name) { "as attributes" } }
        { p class={ "a " (name) } { "in pieces" } }
    }
}

#[test]
fn control_structures() {
    #[derive(Debug)]
    enum Princess {
        Celestia,
        Luna(u8),
        Cadance,
    }
    let (names, empty): ([&str; 3], [&str; 0]) = (["A", "B", "C"], []);
    let user = Some("Twilight");
    for princess in [Princess::Celestia, Princess::Luna(1), Princess::Luna(9), Princess::Cadance] {
        same! {
            { @if names.is_empty() { "none" } @else if names.len() == 3 { "three" } @else { "some" } }
            { p { "Hello, " @if let Some(name) = user { (name) } @else { "stranger" } "!" } }
            { @if let Some(name) = user && name.len() > 3 { b { (name) } } }
            { ol { @for name in &names { li { (name) } } } }
            { @for (at, name) in names.iter().enumerate() { @if at > 0 { ", " } (name) } }
            { @for name in &empty { (name) } }
            { @let mut left = 3; @while left > 0 { (left) " " ({ left -= 1; "" }) } }
            { @for name in &names { @let long = format!("{name}{name}"); p { (long) } } }
            { @match &princess {
                Princess::Celestia => "sun",
                Princess::Luna(phase) if *phase > 5 => { "moon " em { (phase) } },
                Princess::Luna(_) => p { "new moon" },
                other => { (format_args!("{other:?}")) }
            } }
        }
    }
}

#[test]
fn splices() {
    struct Money(u32);
    impl skep::html::Render for Money {
        type Content = skep::html::Text;
        fn render(&self, out: &mut skep::html::Buffer) {
            skep::html::Render::render(&format_args!("{} €", self.0), out);
        }
    }
    impl maud::Render for Money {
        fn render(&self) -> maud::Markup {
            maud::html! { (format_args!("{} €", self.0)) }
        }
    }
    let (text, owned) = ("<script>alert('x')</script>", String::from("a & b"));
    let (cow, boxed, arc) = (Cow::from("cow <3"), Box::new(7_u8), std::sync::Arc::<str>::from("arc"));
    same! {
        { p { (text) (owned) (&owned) (&&owned) } }
        { p { (cow) (boxed) (arc) (-5_i64) (u64::MAX) (1.5_f32) ('<') (true) } }
        { p { (text.len() + 1) " " ({ let twice = 2 * text.len(); twice + 1 }) } }
        { p { (format_args!("{:>4}|{}", 7, "<b>")) } }
        { p { (Money(5)) } }
        { p { (owned.replace('&', "and")) (std::f32::consts::PI) } }
        { textarea { (text) } }
    }
}

/// `Markup` is `Html`, `PreEscaped` is `Trusted`; the rest is the same text.
macro_rules! partials {
    ($html:path, $page:ty, $piece:ty, $ready:path, $doctype:expr) => {
        pub(crate) fn page(title: &str, lines: &[&str]) -> $page {
            use $html as html;
            html! {
                ($doctype)
                html lang="en" {
                    head { meta charset="utf-8"; title { (title) " - Poems" } }
                    body { (header(title)) main { @for line in lines { p { (line) } } } ($ready("<!-- end -->")) }
                }
            }
        }

        fn header(title: &str) -> $piece {
            use $html as html;
            html! { header { h1 { (title) } ($ready(String::from("<hr>"))) } }
        }
    };
}

mod by_skep {
    use skep::html::{DOCTYPE, Document, Html, Trusted};
    partials!(skep::html, Html<Document>, Html, Trusted, DOCTYPE);
}

mod by_maud {
    use maud::{DOCTYPE, Markup, PreEscaped};
    partials!(maud::html, Markup, Markup, PreEscaped, DOCTYPE);
}

#[test]
fn partials_and_pages() {
    let lines = ["Mary had a little lamb", "its fleece was <white> & \u{e9}"];
    assert_eq!(by_skep::page("Poem", &lines).into_string(), by_maud::page("Poem", &lines).into_string());
}

/// The list in `docs/guides/pages/templates.md` of what compiles under both and gives other bytes. If one of these
/// becomes the same, the list is wrong.
#[test]
fn what_differs_is_written_down() {
    let (no, text) = (false, "\"quoted\"\r");
    for ((skep, maud), wanted) in [
        (both!(p { (text) }), ("<p>\"quoted\"&#13;</p>", "<p>&quot;quoted&quot;\r</p>")),
        (both!(p.a[no] {}), ("<p></p>", "<p class=\"\"></p>")),
        (both!(a href=("javascript:x") {}), ("<a href=\"about:invalid\"></a>", "<a href=\"javascript:x\"></a>")),
        (both!(script { "a && b" }), ("<script>a && b</script>", "<script>a &amp;&amp; b</script>")),
        (both!(pre { "\nx" }), ("<pre>\n\nx</pre>", "<pre>\nx</pre>")),
    ] {
        assert_eq!((skep.as_str(), maud.as_str()), wanted);
    }
}
