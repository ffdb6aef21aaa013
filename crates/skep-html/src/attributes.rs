//! Attributes that a value brings along.

use super::Buffer;

/// What can stand between the name and the content of an element and writes attributes there: `form (here) { ... }`.
///
/// ```
/// use skep_html::{Attributes, Buffer};
///
/// struct Upload { token: String }
///
/// impl Attributes for Upload {
///     fn write_attributes(&self, out: &mut Buffer) {
///         out.push_link("action", "/upload");
///         out.push_attribute("method", "post");
///     }
///
///     fn write_content(&self, out: &mut Buffer) {
///         let token = skep_html::html! { input type="hidden" name="token" value=(self.token); };
///         skep_html::Render::render(&token, out);
///     }
/// }
///
/// let upload = Upload { token: "\"1\"".into() };
/// assert_eq!(
///     skep_html::html! { form (upload) { button { "Send" } } }.as_str(),
///     "<form action=\"/upload\" method=\"post\">\
///      <input type=\"hidden\" name=\"token\" value=\"&quot;1&quot;\"><button>Send</button></form>"
/// );
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a set of attributes",
    label = "attributes are expected between an element's name and its content",
    note = "content is written in braces: write `p {{ (value) }}`, not `p (value)`"
)]
pub trait Attributes {
    /// Writes the attributes, each with a space before it: see [`Buffer::push_attribute`] and [`Buffer::push_link`].
    fn write_attributes(&self, out: &mut Buffer);

    /// Writes what belongs at the start of the element's content, such as a form's hidden fields or the text of a
    /// `textarea`. Nothing, if not said otherwise; never called for an element without content.
    fn write_content(&self, out: &mut Buffer) {
        let _ = out;
    }

    /// Writes what belongs at the end of the element's content, such as the options of a `select`. Nothing, if not said
    /// otherwise; never called for an element without content.
    fn write_end(&self, out: &mut Buffer) {
        let _ = out;
    }

    /// Writes what belongs right behind the element, such as a message about what was typed there. Nothing, if not said
    /// otherwise.
    fn write_behind(&self, out: &mut Buffer) {
        let _ = out;
    }

    /// A form that needs more controls than these does not compile. Only the code that `html!` makes calls it.
    #[doc(hidden)]
    fn expect_controls<C: NamedControls>(&self)
    where
        Self: Sized,
    {
    }
}

/// The names of the controls that an author writes by hand, for [`Attributes::expect_controls`].
#[doc(hidden)]
pub trait NamedControls {
    const NAMES: &'static [&'static str];
}

/// The value of `name=[here]`. Only the code that `html!` makes calls it; its type is the one that the compiler's error
/// names.
#[doc(hidden)]
#[inline]
pub fn optional<T>(value: &Option<T>) -> Option<&T> {
    value.as_ref()
}

#[diagnostic::do_not_recommend]
impl<T: Attributes> Attributes for &T {
    fn write_attributes(&self, out: &mut Buffer) {
        T::write_attributes(self, out);
    }

    fn write_content(&self, out: &mut Buffer) {
        T::write_content(self, out);
    }

    fn write_end(&self, out: &mut Buffer) {
        T::write_end(self, out);
    }

    fn write_behind(&self, out: &mut Buffer) {
        T::write_behind(self, out);
    }

    fn expect_controls<C: NamedControls>(&self) {
        T::expect_controls::<C>(self);
    }
}
