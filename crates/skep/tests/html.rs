//! What `html!` writes, form by form and place by place.

use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

use skep::html;
use skep::html::{Attributes, Buffer, DOCTYPE, Href, Html, Json, Phrasing, PlainText, Render, Trusted};

#[path = "html/urls.rs"]
mod urls;
#[path = "html/values.rs"]
mod values;

/// `writes!({ template } "html")`.
macro_rules! writes {
    ($({ $($template:tt)* } $html:expr;)*) => {$(
        assert_eq!(html! { $($template)* }.as_str(), $html);
    )*};
}

#[test]
fn elements_text_and_literals() {
    writes! {
        {} "";
        { "a" 'b' 1 2.5 3_000 true false } "ab12.53000truefalse";
        { r#"raw "string""# } r#"raw "string""#;
        { p {} } "<p></p>";
        { p { "a" b { "c" } "d" } } "<p>a<b>c</b>d</p>";
        { br; hr; img src="/x.png" alt=""; } r#"<br><hr><img src="/x.png" alt="">"#;
        { my-tag {} h1 {} x-2 {} } "<my-tag></my-tag><h1></h1><x-2></x-2>";
        { svg { linearGradient {} path d="M0 0"; circle r=5 {} } }
            r#"<svg><linearGradient></linearGradient><path d="M0 0"></path><circle r="5"></circle></svg>"#;
        { (DOCTYPE) html lang="en" { head { title { "a" } } } }
            r#"<!DOCTYPE html><html lang="en"><head><title>a</title></head></html>"#;
        { { "a" { "b" } } } "ab";
        { label for="x" { "L" } input type="text"; } r#"<label for="x">L</label><input type="text">"#;
    }
}

#[test]
fn attributes() {
    let (yes, no) = (true, false);
    let (some, none) = (Some("a\"b"), None::<String>);
    let owned = Some(String::from("kept"));
    writes! {
        { p title="x" slot='y' data-n=1 data-m=-2 data-f=1.5 data-b=true {} }
            r#"<p title="x" slot="y" data-n="1" data-m="-2" data-f="1.5" data-b="true"></p>"#;
        { p title=(some.unwrap()) {} } r#"<p title="a&quot;b"></p>"#;
        { p title={ "x" (1) @if yes { "y" } @else { "z" } } {} } r#"<p title="x1y"></p>"#;
        { p title=[some] lang=[none] {} } r#"<p title="a&quot;b"></p>"#;
        { p title=[owned] lang=[&owned] {} } r#"<p title="kept" lang="kept"></p>"#;
        { input disabled; } "<input disabled>";
        { input disabled[yes] autofocus[no] required?[yes] readonly?[no]; } "<input disabled required>";
        { p data-x="1" hx-target="this" xml:lang="en" aria-label="l" {} }
            r#"<p data-x="1" hx-target="this" xml:lang="en" aria-label="l"></p>"#;
        { p hx-on:click="a()" hx-on::after-request="b()" @click="c()" :class="d" x-on:click.prevent="e()" {} }
            r#"<p hx-on:click="a()" hx-on::after-request="b()" @click="c()" :class="d" x-on:click.prevent="e()"></p>"#;
        { form @submit.prevent {} } "<form @submit.prevent></form>";
        { p x-cloak .hidden {} } r#"<p class="hidden" x-cloak></p>"#;
        { p hidden.wide {} } r#"<p class="wide" hidden></p>"#;
        { p hidden :title="x" {} } r#"<p hidden :title="x"></p>"#;
        { p "@click"="a()" "x.y"=(1) {} } r#"<p @click="a()" x.y="1"></p>"#;
        { button _="on click log me" {} } r#"<button _="on click log me"></button>"#;
        { input type="text" name="for" size=(10u8) ; } r#"<input type="text" name="for" size="10">"#;
    }
}

#[test]
fn classes_and_ids() {
    let (yes, no, n) = (true, false, 3);
    writes! {
        { .a {} } r#"<div class="a"></div>"#;
        { #x {} } r#"<div id="x"></div>"#;
        { p #x.a .b.c-2:d title="t" {} } r#"<p class="a b c-2:d" id="x" title="t"></p>"#;
        { p .a[yes].b[no].c {} } r#"<p class="c a"></p>"#;
        { p .a[yes].b[yes] {} } r#"<p class="a b"></p>"#;
        { p .a[no].b[no] title="t" {} } r#"<p title="t"></p>"#;
        { p ."w-1/2" .{ "col-" (n) } .("a\"b") .(n)[yes] {} } r#"<p class="w-1/2 col-3 a&quot;b 3"></p>"#;
        { p #{ "row-" (n) } {} p #(n) {} p # "q" {} } r#"<p id="row-3"></p><p id="3"></p><p id="q"></p>"#;
        { p.py-1.5 {} p.hover:b.c {} } r#"<p class="py-1.5"></p><p class="hover:b c"></p>"#;
        { p .a :title="x" {} } r#"<p class="a" :title="x"></p>"#;
        { input.a; } r#"<input class="a">"#;
    }
}

#[test]
fn control_flow() {
    let (yes, no, some, none) = (true, false, Some(1), None::<u8>);
    let list = [1, 2, 3];
    let mut left = 3;
    let mut stack = vec!["a", "b"];
    writes! {
        { @if yes { "a" } } "a";
        { @if no { "a" } @else if yes { "b" } @else { "c" } } "b";
        { @if no { "a" } @else { "c" } "d" } "cd";
        { @if let Some(n) = some { (n) } @else { "none" } } "1";
        { @if let Some(n) = none { (n) } @else if let Some(m) = some && m > 0 { (m) } } "1";
        { @for n in &list { (n) "," } } "1,2,3,";
        { @for (at, n) in list.iter().enumerate() { @if at > 0 { "," } (n) } } "1,2,3";
        { @while left > 0 { @let now = left; ({ left -= 1; now }) } } "321";
        { @while let Some(top) = stack.pop() { (top) } } "ba";
        { @match some { Some(n) if n > 1 => { "many" }, Some(1) => b { "one" }, Some(_) | None => "other", } } "<b>one</b>";
        { @match list.len() { 0 => {} n => { (n) } } } "3";
        { @match some { Some(_) => @if yes { "y" }, None => (1) } } "y";
        { @let x = 1; @let y = x + 1; p { @let x = 5; (x) } (x) (y) } "<p>5</p>12";
        { @let Some(x) = some else { return }; (x) } "1";
    }
}

#[test]
fn existing_names_are_neither_seen_nor_hidden() {
    let (out, start, value, filler) = (1, 2, Some(3), 4);
    writes! {
        { (out) (start) p title=[value] { (filler) } } "12<p title=\"3\">4</p>";
        { pre { (start) } p .a[start == 2] { (out) } } "<pre>2</pre><p class=\"a\">1</p>";
    }
}

#[test]
fn splices_take_all_that_is_text() {
    let text = String::from("<&>\"");
    let nested = html! { b { "x" } };
    writes! {
        { (text) (&text) (text.as_str()) (&&text[..1]) } "&lt;&amp;&gt;\"&lt;&amp;&gt;\"&lt;&amp;&gt;\"&lt;";
        { (Cow::Borrowed("<")) (Cow::<str>::Owned("<".into())) (Box::new("<")) (Rc::new(text.clone())) (Arc::<str>::from("<")) }
            "&lt;&lt;&lt;&lt;&amp;&gt;\"&lt;";
        { ('<') ('é') (true) (1u8) (-1i8) (i64::MIN) (u128::MAX) (1.5) (f32::MAX) (&mut 3) }
            format!("&lt;étrue1-1{}{}1.5{}3", i64::MIN, u128::MAX, f32::MAX);
        { (format_args!("<{}>", 1)) p title=(format_args!("<{:?}>", "a")) {} }
            "&lt;1&gt;<p title=\"&lt;&quot;a&quot;&gt;\"></p>";
        { (nested) (&nested) (html! { i { "y" } }) (Trusted("<u>")) } "<b>x</b><b>x</b><i>y</i><u>";
    }
    // Nothing was moved.
    assert_eq!((text.len(), nested.as_str()), (4, "<b>x</b>"));
}

#[test]
fn each_place_escapes_its_own() {
    let nasty = "</p>\"'&<>&amp;";
    writes! {
        { p { (nasty) } p { "</p>\"'&<>&amp;" } } "<p>&lt;/p&gt;\"'&amp;&lt;&gt;&amp;amp;</p>".repeat(2);
        { p title=(nasty) {} p title="</p>\"'&<>&amp;" {} }
            "<p title=\"&lt;/p&gt;&quot;'&amp;&lt;&gt;&amp;amp;\"></p>".repeat(2);
        { title { (nasty) } } "<title>&lt;/p&gt;&quot;'&amp;&lt;&gt;&amp;amp;</title>";
        { script { "if (a && b < c) { d('</p>') }" } } "<script>if (a && b < c) { d('</p>') }</script>";
        { style { "a > b { content: \"&\" }" } } "<style>a > b { content: \"&\" }</style>";
        { iframe srcdoc=(html! { p title="x" { "&" } }) {} }
            "<iframe srcdoc=\"&lt;p title=&quot;x&quot;&gt;&amp;amp;&lt;/p&gt;\"></iframe>";
    }
}

#[test]
fn a_url_that_runs_code_is_refused() {
    for url in [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "java\tscript:alert(1)",
        "java\nscript:alert(1)",
        "java\rscript:alert(1)",
        "\x01javascript:alert(1)",
        " \u{0}javascript:alert(1)",
        "javascript\t:alert(1)",
        "vbscript:x",
        "data:text/html;base64,PHNjcmlwdD4=",
    ] {
        let (start, end) = url.split_at(4);
        let option = Some(url);
        writes! {
            { a href=(url) {} } "<a href=\"about:invalid\"></a>";
            { a HREF=(url.to_owned()) {} } "<a HREF=\"about:invalid\"></a>";
            { a href={ (start) (end) } {} } "<a href=\"about:invalid\"></a>";
            { a href={ @if true { (url) } } {} } "<a href=\"about:invalid\"></a>";
            { a href=[option] {} } "<a href=\"about:invalid\"></a>";
            { form action=(url) {} } "<form action=\"about:invalid\"></form>";
            { button formaction=(url) {} } "<button formaction=\"about:invalid\"></button>";
            { use "xlink:href"=(url) {} } "<use xlink:href=\"about:invalid\"></use>";
            { button hx-post=(url) {} } "<button hx-post=\"about:invalid\"></button>";
            { div data-ws-connect=(url) {} } "<div data-ws-connect=\"about:invalid\"></div>";
            { img src=(url) srcset={ "/a 1x, " (url) " 2x" } alt=""; }
                "<img src=\"about:invalid\" srcset=\"about:invalid\" alt=\"\">";
        }
    }
    let script = "script:alert(1)";
    writes! {
        { a href={ "java" (script) } {} } "<a href=\"about:invalid\"></a>";
        { a href={ " Java" "" (script) } {} } "<a href=\"about:invalid\"></a>";
    }
}

#[test]
fn other_urls_stay_as_they_are() {
    let (id, word) = (5, "javascript:x");
    let urls = ["/a?b=1&c=2"];
    writes! {
        { a href={ "/posts/" (id) "/" (word) } {} } "<a href=\"/posts/5/javascript:x\"></a>";
        { a href={ (urls[0]) "#" (id) } {} } "<a href=\"/a?b=1&amp;c=2#5\"></a>";
        { @for url in &urls { a href=(url) {} } } "<a href=\"/a?b=1&amp;c=2\"></a>";
        { a href="https://x.org/?a&b" {} a href="" {} } "<a href=\"https://x.org/?a&amp;b\"></a><a href=\"\"></a>";
        { img src="data:image/png;base64,AA==" alt="" srcset=("/a 1x, /b 2x"); }
            "<img src=\"data:image/png;base64,AA==\" alt=\"\" srcset=\"/a 1x, /b 2x\">";
        { img src=("data:image/svg+xml,<svg>") alt=""; } "<img src=\"data:image/svg+xml,&lt;svg&gt;\" alt=\"\">";
        { a href=(Trusted("javascript:history.back()")) {} } "<a href=\"javascript:history.back()\"></a>";
        { a href=(Cow::Borrowed("/x")) data-href=(1) {} } "<a href=\"/x\" data-href=\"1\"></a>";
    }
}

#[test]
fn code_takes_json_and_trusted_text() {
    let nasty = "</script><!--\u{2028}'\"&";
    let option = Some(Json([1]));
    writes! {
        { script { "f(" (Json(nasty)) ");" (Trusted("g() && h()")) } }
            "<script>f(\"\\u003c/script\\u003e\\u003c!--\\u2028'\\\"\\u0026\");g() && h()</script>";
        { script { @for n in [1, 2] { "f(" (Json(n)) ");" } } } "<script>f(1);f(2);</script>";
        { style { ":root { --x: " (Json(3)) "px }" } } "<style>:root { --x: 3px }</style>";
        { p onclick={ "f(" (Json("'\"&")) ")" } {} } "<p onclick=\"f(&quot;'\\&quot;\\u0026&quot;)\"></p>";
        { p x-data=(Json([("a", 1)])) {} } "<p x-data=\"[[&quot;a&quot;,1]]\"></p>";
        { p :class=[option] {} } "<p :class=\"[1]\"></p>";
        { p onclick="a(\"b\") && c" {} } "<p onclick=\"a(&quot;b&quot;) &amp;&amp; c\"></p>";
        { p onclick=(Trusted("a(\"b\") && c")) {} } "<p onclick=\"a(&quot;b&quot;) &amp;&amp; c\"></p>";
    }
}

#[test]
fn a_first_line_feed_is_kept() {
    let (lines, none) = ("\na\n", "");
    writes! {
        { pre { "\na" } textarea { "\na" } } "<pre>\n\na</pre><textarea>\n\na</textarea>";
        { pre { (lines) } } "<pre>\n\na\n</pre>";
        { textarea { (none) (lines) } } "<textarea>\n\na\n</textarea>";
        { textarea { @if true { "\n" } (lines) } } "<textarea>\n\n\na\n</textarea>";
        { pre { "a" (lines) } pre { code { (lines) } } } "<pre>a\na\n</pre><pre><code>\na\n</code></pre>";
        { textarea { ("a") } textarea {} } "<textarea>a</textarea><textarea></textarea>";
        { p { (lines) } } "<p>\na\n</p>";
    }
}

/// A form, as `derive(Service)` makes them.
struct Form {
    to: &'static str,
}

impl Attributes for Form {
    fn write_attributes(&self, out: &mut Buffer) {
        out.push_link("action", self.to);
        out.push_attribute("method", "post");
    }

    fn write_content(&self, out: &mut Buffer) {
        out.push_trusted("<input type=\"hidden\">");
    }
}

#[test]
fn a_value_brings_attributes_and_content() {
    let form = Form { to: "/a?\"&" };
    writes! {
        { form (form) .a name="f" { "x" } }
            "<form class=\"a\" action=\"/a?&quot;&amp;\" method=\"post\" name=\"f\"><input type=\"hidden\">x</form>";
        { form (Form { to: "javascript:x" }); } "<form action=\"about:invalid\" method=\"post\"><input type=\"hidden\"></form>";
        { input (&form) id="i"; } "<input action=\"/a?&quot;&amp;\" method=\"post\" id=\"i\">";
        { form (form) {} form (Form { to: "/b" }) {} }
            "<form action=\"/a?&quot;&amp;\" method=\"post\"><input type=\"hidden\"></form>\
             <form action=\"/b\" method=\"post\"><input type=\"hidden\"></form>";
    }
}

/// A service, as the derive makes them: `Href` for the value and for a reference.
struct Article {
    page: &'static str,
}

impl Href for Article {
    fn write_href(&self, out: &mut Buffer) {
        out.push_plain("/writings/");
        self.page.write_plain(out);
    }
}

impl Href for &Article {
    fn write_href(&self, out: &mut Buffer) {
        (**self).write_href(out);
    }
}

#[test]
fn a_service_is_a_link() {
    let article = Article { page: "a" };
    let next = Some(Article { page: "b" });
    writes! {
        { a href=(article) {} a href=(&article) {} a hx-get=(article) {} }
            "<a href=\"/writings/a\"></a><a href=\"/writings/a\"></a><a hx-get=\"/writings/a\"></a>";
        { a href={ "https://example.com" (article) "#x" } {} } "<a href=\"https://example.com/writings/a#x\"></a>";
        { a href=[next] {} a href=[None::<Article>] {} } "<a href=\"/writings/b\"></a><a></a>";
    }
}

struct Twice(&'static str);

impl Render for Twice {
    type Content = Html<Phrasing>;

    fn render(&self, out: &mut Buffer) {
        html! { i { (self.0) } b { (self.0) } }.render(out);
    }
}

#[test]
fn a_type_of_ones_own_is_rendered() {
    let boxed: Box<dyn Render<Content = Html<Phrasing>>> = Box::new(Twice("y"));
    writes! {
        { p { (Twice("<")) (boxed) } } "<p><i>&lt;</i><b>&lt;</b><i>y</i><b>y</b></p>";
    }
}

#[test]
fn an_error_leaves_the_template_early() {
    fn page(number: &str) -> Result<Html, std::num::ParseIntError> {
        Ok(html! { p { (number.parse::<u8>()?) } })
    }
    assert_eq!(page("5").unwrap().as_str(), "<p>5</p>");
    assert!(page("x").is_err());
}

#[test]
fn a_template_may_wait_and_its_future_may_move_to_another_thread() {
    async fn number() -> u8 {
        7
    }
    async fn page() -> Html {
        html! { p { (number().await) } @if number().await == 7 { "seven" } }
    }
    fn is_send(future: impl Future<Output = Html> + Send) -> impl Future<Output = Html> {
        future
    }
    let mut future = std::pin::pin!(is_send(page()));
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(html) = future.as_mut().poll(&mut cx) else { panic!("nothing to wait for") };
    assert_eq!(html.as_str(), "<p>7</p>seven");
}

#[test]
fn a_piece_can_be_kept_copied_and_taken_apart() {
    let piece = html! { p { "x" } };
    let copy = piece.clone();
    assert_eq!((copy.to_string(), format!("{piece:?}").contains("<p>")), ("<p>x</p>".into(), true));
    assert_eq!(copy.into_string(), piece.as_str());
    assert!(Html::default().is_empty());
    assert_eq!(Html::trusted("<p>").as_str(), "<p>");
}
