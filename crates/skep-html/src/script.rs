//! What can be spliced where a browser expects code.

use serde::Serialize;

use super::Buffer;

/// What can stand in a `<script>`, a `<style>` or an attribute that holds code (`onclick`, `x-data`, `hx-vals`,
/// `:class`): [`Json`], or [`Trusted`] text. A plain string cannot: no escaping makes a visitor's text safe as code.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not allowed where a browser expects code",
    label = "a browser would execute this"
)]
#[cfg_attr(
    feature = "skep",
    diagnostic::on_unimplemented(
        note = "write `(Json(value))`, from `skep::html`, for a value that the script reads",
        note = "write `(Trusted(text))`, from `skep::html`, for code that contains no input of visitors"
    )
)]
#[cfg_attr(
    not(feature = "skep"),
    diagnostic::on_unimplemented(
        note = "write `(Json(value))`, from `skep_html`, for a value that the script reads",
        note = "write `(Trusted(text))`, from `skep_html`, for code that contains no input of visitors"
    )
)]
pub trait Script {
    /// Writes the code as it stands in a `<script>`. It must not hold `</script`, `</style` or `<!--`.
    fn write_script(&self, out: &mut Buffer);
}

/// A value as JSON, for a script to read. Nothing in it can end the script.
///
/// ```
/// use skep_html::Json;
///
/// let names = ["Ann", "</script><b>"];
/// let page = skep_html::html! {
///     script { "show(" (Json(names)) ")" }
///     ul x-data=(Json(names)) {}
/// };
/// assert_eq!(
///     page.as_str(),
///     r#"<script>show(["Ann","\u003c/script\u003e\u003cb\u003e"])</script><ul x-data="[&quot;Ann&quot;,&quot;\u003c/script\u003e\u003cb\u003e&quot;]"></ul>"#
/// );
/// ```
///
/// A value that JSON cannot hold (a map whose keys are no strings) is written `null`, and the log says so.
#[derive(Clone, Copy, Debug, Default)]
pub struct Json<T>(
    /// The value.
    pub T,
);

/// Text that is taken as it is: as HTML in text, as code where code stands, as a URL in a URL attribute.
/// Whatever a visitor could have written must not be in it.
///
/// In an attribute its `&` and `"` are still escaped, since a browser unescapes them before it looks at the value.
///
/// ```
/// use skep_html::Trusted;
///
/// let page = skep_html::html! {
///     (Trusted("<hr>"))
///     button onclick=(Trusted("say(\"hi\")")) { "Hi" }
///     a href=(Trusted("javascript:history.back()")) { "Back" }
/// };
/// assert_eq!(
///     page.as_str(),
///     r#"<hr><button onclick="say(&quot;hi&quot;)">Hi</button><a href="javascript:history.back()">Back</a>"#
/// );
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Trusted<T>(
    /// The text.
    pub T,
);

impl<T: Serialize> Script for Json<T> {
    fn write_script(&self, out: &mut Buffer) {
        match serde_json::to_string(&self.0) {
            Ok(json) => push_json(out, &json),
            Err(error) => {
                tracing::error!(%error, "a value in a page has no JSON form; it is written as null");
                out.push_trusted("null");
            }
        }
    }
}

impl<T: AsRef<str>> Script for Trusted<T> {
    fn write_script(&self, out: &mut Buffer) {
        out.push_trusted(self.0.as_ref());
    }
}

#[diagnostic::do_not_recommend]
impl<T: Script + ?Sized> Script for &T {
    fn write_script(&self, out: &mut Buffer) {
        T::write_script(self, out);
    }
}

/// All of these stand in strings only, where JSON and JavaScript know `\u`.
/// U+2028 and U+2029 ended a line of JavaScript until 2019.
fn push_json(out: &mut Buffer, json: &str) {
    let mut rest = json;
    while let Some(at) = rest.find(['<', '>', '&', '\u{2028}', '\u{2029}']) {
        let (clean, special) = rest.split_at(at);
        out.push_trusted(clean);
        let mut chars = special.chars();
        out.push_trusted(match chars.next() {
            Some('<') => "\\u003c",
            Some('>') => "\\u003e",
            Some('&') => "\\u0026",
            Some('\u{2028}') => "\\u2028",
            _ => "\\u2029",
        });
        rest = chars.as_str();
    }
    out.push_trusted(rest);
}
