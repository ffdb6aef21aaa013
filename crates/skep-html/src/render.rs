//! What can be spliced as text.

use std::borrow::Cow;
use std::fmt::{self, Write};
use std::rc::Rc;
use std::sync::Arc;

use super::{Buffer, Doctype, Html, Text, Trusted, Unchecked, number};

/// What can stand in the text of a page: `p { (here) }`.
///
/// ```
/// use skep_html::{Buffer, Render, Text};
///
/// struct Price { cents: u32 }
///
/// impl Render for Price {
///     type Content = Text;
///
///     fn render(&self, out: &mut Buffer) {
///         format_args!("{}.{:02} €", self.cents / 100, self.cents % 100).render(out);
///     }
/// }
///
/// assert_eq!(skep_html::html! { b { (Price { cents: 1250 }) } }.as_str(), "<b>12.50 €</b>");
/// ```
///
/// A type whose HTML has elements can build them with `html!` or `piece!` and render that:
///
/// ```
/// use skep_html::{Buffer, Html, Phrasing, Render, piece};
///
/// struct User { name: String }
///
/// impl Render for User {
///     type Content = Html<Phrasing>;
///
///     fn render(&self, out: &mut Buffer) {
///         let link: Self::Content = piece! { a href={ "/users/" (self.name) } { (self.name) } };
///         link.render(out);
///     }
/// }
///
/// let ann = User { name: "ann".into() };
/// assert_eq!(skep_html::html! { p { (ann) } }.as_str(), r#"<p><a href="/users/ann">ann</a></p>"#);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be shown on a page",
    label = "not text, a number or `Html`",
    note = "if it has a `Display`, write `(format_args!(\"{{}}\", value))`; if it is optional, write `@if let Some(value) = ... {{ (value) }}`"
)]
#[cfg_attr(
    feature = "skep",
    diagnostic::on_unimplemented(note = "a type of your own can implement `skep::html::Render`")
)]
#[cfg_attr(
    not(feature = "skep"),
    diagnostic::on_unimplemented(note = "a type of your own can implement `skep_html::Render`")
)]
pub trait Render {
    /// What it writes, which decides where it may stand: [`Text`], or the type of a piece, such as [`Html`] or
    /// `Html<Phrasing>`.
    type Content;

    /// Writes the value, escaped.
    fn render(&self, out: &mut Buffer);
}

/// What is text and nothing else, so that it can also be an attribute's value or stand in `textarea` and `title`, where
/// there are no elements: `img alt=(here)`.
///
/// ```
/// use skep_html::{Buffer, PlainText};
///
/// struct Color { red: u8, green: u8, blue: u8 }
///
/// impl PlainText for Color {
///     fn write_plain(&self, out: &mut Buffer) {
///         format_args!("#{:02x}{:02x}{:02x}", self.red, self.green, self.blue).write_plain(out);
///     }
/// }
///
/// let color = Color { red: 255, green: 0, blue: 16 };
/// assert_eq!(skep_html::html! { input type="color" value=(color); }.as_str(), r##"<input type="color" value="#ff0010">"##);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not plain text, and nothing else fits in an attribute, a `textarea` or a `title`",
    label = "not text or a number",
    note = "if it has a `Display`, write `(format_args!(\"{{}}\", value))`; if it is optional, write `name=[value]`"
)]
#[cfg_attr(
    feature = "skep",
    diagnostic::on_unimplemented(note = "a type of your own can implement `skep::html::PlainText`")
)]
#[cfg_attr(
    not(feature = "skep"),
    diagnostic::on_unimplemented(note = "a type of your own can implement `skep_html::PlainText`")
)]
pub trait PlainText {
    /// Writes the value, with `&`, `<`, `>` and `"` escaped.
    fn write_plain(&self, out: &mut Buffer);
}

impl<C, H> Render for Html<C, H> {
    type Content = Self;

    #[inline]
    fn render(&self, out: &mut Buffer) {
        out.push_trusted(self.as_str());
    }
}

impl Render for Doctype {
    type Content = Self;

    #[inline]
    fn render(&self, out: &mut Buffer) {
        out.push_trusted("<!DOCTYPE html>");
    }
}

impl<T: AsRef<str>> Render for Trusted<T> {
    type Content = Unchecked;

    #[inline]
    fn render(&self, out: &mut Buffer) {
        out.push_trusted(self.0.as_ref());
    }
}

/// What is escaped by its place.
macro_rules! impl_text {
    ($($type:ty, |$value:ident, $push:ident| $write:expr;)*) => {$(
        impl Render for $type {
            type Content = Text;

            #[inline]
            fn render(&self, out: &mut Buffer) {
                let ($value, $push) = (self, &mut |text: &str| out.push_text(text));
                $write;
            }
        }

        impl PlainText for $type {
            #[inline]
            fn write_plain(&self, out: &mut Buffer) {
                let ($value, $push) = (self, &mut |text: &str| out.push_plain(text));
                $write;
            }
        }
    )*};
}

impl_text! {
    str, |text, push| push(text);
    char, |letter, push| push(letter.encode_utf8(&mut [0; 4]));
    fmt::Arguments<'_>, |arguments, push| write(*arguments, push);
}

/// Hands on each piece of what `arguments` make.
fn write(arguments: fmt::Arguments<'_>, push: impl FnMut(&str)) {
    struct Pieces<F>(F);

    impl<F: FnMut(&str)> Write for Pieces<F> {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            (self.0)(text);
            Ok(())
        }
    }

    // Only a `Display` that itself fails gets here; what it wrote stays, as with `print!` it would not be more.
    let _ = Pieces(push).write_fmt(arguments);
}

/// No digit, sign or letter of these is special in HTML, so both places are the same.
macro_rules! impl_harmless {
    ($($type:ty, |$value:ident, $out:ident| $write:expr;)*) => {$(
        impl Render for $type {
            type Content = Text;

            #[inline]
            fn render(&self, out: &mut Buffer) {
                let ($value, $out) = (*self, out);
                $write;
            }
        }

        impl PlainText for $type {
            #[inline]
            fn write_plain(&self, out: &mut Buffer) {
                self.render(out);
            }
        }
    )*};
}

impl_harmless! {
    bool, |value, out| out.push_trusted(if value { "true" } else { "false" });
    u8, |value, out| number::unsigned(out.text_mut(), value.into());
    u16, |value, out| number::unsigned(out.text_mut(), value.into());
    u32, |value, out| number::unsigned(out.text_mut(), value.into());
    u64, |value, out| number::unsigned(out.text_mut(), value);
    usize, |value, out| number::unsigned(out.text_mut(), value as u64);
    i8, |value, out| number::signed(out.text_mut(), value.into());
    i16, |value, out| number::signed(out.text_mut(), value.into());
    i32, |value, out| number::signed(out.text_mut(), value.into());
    i64, |value, out| number::signed(out.text_mut(), value);
    isize, |value, out| number::signed(out.text_mut(), value as i64);
    u128, |value, out| format_args!("{value}").render(out);
    i128, |value, out| format_args!("{value}").render(out);
    f32, |value, out| format_args!("{value}").render(out);
    f64, |value, out| format_args!("{value}").render(out);
}

macro_rules! impl_through {
    ($([$($generics:tt)*] $type:ty => $target:ty;)*) => {$(
        impl<$($generics)*> Render for $type where $target: Render {
            type Content = <$target as Render>::Content;

            #[inline]
            fn render(&self, out: &mut Buffer) {
                <$target as Render>::render(&**self, out);
            }
        }

        impl<$($generics)*> PlainText for $type where $target: PlainText {
            #[inline]
            fn write_plain(&self, out: &mut Buffer) {
                <$target as PlainText>::write_plain(&**self, out);
            }
        }
    )*};
}

impl_through! {
    [] String => str;
    [T: ToOwned + ?Sized] Cow<'_, T> => T;
    [T: ?Sized] &T => T;
    [T: ?Sized] &mut T => T;
    [T: ?Sized] Box<T> => T;
    [T: ?Sized] Rc<T> => T;
    [T: ?Sized] Arc<T> => T;
}

/// For a type of another crate: as text on a page and in an attribute.
#[cfg(any(feature = "decimal", feature = "jiff"))]
macro_rules! impl_shown {
    ($type:ty, |$value:ident| $shown:expr) => {
        impl crate::Render for $type {
            type Content = crate::Text;

            fn render(&self, out: &mut crate::Buffer) {
                let $value = self;
                crate::Render::render(&$shown, out);
            }
        }

        impl crate::PlainText for $type {
            fn write_plain(&self, out: &mut crate::Buffer) {
                let $value = self;
                crate::PlainText::write_plain(&$shown, out);
            }
        }
    };
}

#[cfg(any(feature = "decimal", feature = "jiff"))]
pub(super) use impl_shown;
