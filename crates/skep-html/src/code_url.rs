//! Values for attributes that make a page load code or apply CSS.
//!
//! Checking the scheme of such a URL is not enough: a script of another site runs as well as one of this site.

use super::{Buffer, Destination, Trusted};

/// A value for the URL of something that a page executes or applies: `script src`, `iframe src`, `embed src`,
/// `object data`, `base href`, the `href` of a `link` such as a style sheet, and the `content` of a `meta` refresh.
///
/// Literals need no type. Otherwise such a URL is a [`Destination`] (in Skep, a GET service), an asset of Skep's
/// `assets!`, a number (as a part), or [`Trusted`] text.
///
/// ```
/// use skep_html::Trusted;
///
/// let version = 3;
/// let cdn = "https://cdn.example.org";
/// let page = skep_html::html! {
///     script src={ "/static/app.js?v=" (version) } {}
///     script src={ (Trusted(cdn)) "/chart.js" } {}
/// };
/// assert_eq!(
///     page.as_str(),
///     r#"<script src="/static/app.js?v=3"></script><script src="https://cdn.example.org/chart.js"></script>"#
/// );
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the URL of something that the page executes",
    label = "the page would execute or apply whatever this URL leads to"
)]
#[cfg_attr(
    feature = "skep",
    diagnostic::on_unimplemented(
        note = "write a literal, an asset of `assets!` or a GET service",
        note = "write `(Trusted(url))`, from `skep::html`, for a URL that contains no input of visitors"
    )
)]
#[cfg_attr(
    not(feature = "skep"),
    diagnostic::on_unimplemented(
        note = "write a literal, or implement `skep_html::CodeUrl` for a type that can only hold URLs of your own",
        note = "write `(Trusted(url))`, from `skep_html`, for a URL that contains no input of visitors"
    )
)]
pub trait CodeUrl {
    /// Writes the URL, escaped as [`Buffer::push_plain`] does.
    fn write_code_url(&self, out: &mut Buffer);
}

#[diagnostic::do_not_recommend]
impl<D: Destination + ?Sized> CodeUrl for D {
    fn write_code_url(&self, out: &mut Buffer) {
        out.push_encoded(|url| self.write_url(url));
    }
}

impl<T: AsRef<str>> CodeUrl for Trusted<T> {
    fn write_code_url(&self, out: &mut Buffer) {
        out.push_plain(self.0.as_ref());
    }
}

/// A value in a `style` attribute: `div style={ "width: " (percent) "%" }`. A number, or [`Trusted`] text.
///
/// Text of a visitor could cover the page or load a URL.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a part of a `style` attribute",
    label = "this would be applied as CSS",
    note = "write a number, or choose among classes: `.wide[is_wide]`"
)]
#[cfg_attr(
    feature = "skep",
    diagnostic::on_unimplemented(
        note = "write `(Trusted(text))`, from `skep::html`, for CSS that contains no input of visitors"
    )
)]
#[cfg_attr(
    not(feature = "skep"),
    diagnostic::on_unimplemented(
        note = "write `(Trusted(text))`, from `skep_html`, for CSS that contains no input of visitors"
    )
)]
pub trait Css {
    /// Writes the CSS.
    fn write_css(&self, out: &mut Buffer);
}

impl<T: AsRef<str>> Css for Trusted<T> {
    fn write_css(&self, out: &mut Buffer) {
        out.push_trusted(self.0.as_ref());
    }
}

/// Numbers are part of both: they name no other site and end no value.
macro_rules! impl_numbers {
    ($($number:ty)*) => {
        $(impl_numbers!(@ $number);)*
        $(impl_numbers!(@ &$number);)*
    };
    (@ $number:ty) => {
        impl CodeUrl for $number {
            fn write_code_url(&self, out: &mut Buffer) {
                super::PlainText::write_plain(self, out);
            }
        }

        impl Css for $number {
            fn write_css(&self, out: &mut Buffer) {
                super::PlainText::write_plain(self, out);
            }
        }
    };
}

impl_numbers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64);
