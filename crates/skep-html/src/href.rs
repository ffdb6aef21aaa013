//! What can be spliced as a URL, and the one check that all URLs pass.
//!
//! The check looks at the scheme only: whether a browser would run the URL as code. It works on what was written, after
//! escaping, so it also holds for URLs in pieces and for `Href`s made by others. Which attributes are URLs, `html!`
//! knows.

use std::borrow::Cow;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{Buffer, PlainText, Trusted};

/// What can be a link or another URL attribute: `a href=(here)`.
///
/// Text is one, but nothing checks that it leads anywhere. In an application of Skep, services that answer GET are
/// links; the derive writes this for them.
///
/// ```
/// use skep_html::{Buffer, Href, PlainText};
///
/// struct Tag(&'static str);
///
/// impl Href for Tag {
///     fn write_href(&self, out: &mut Buffer) {
///         out.push_plain("/tags/");
///         self.0.write_plain(out);
///     }
/// }
///
/// let page = skep_html::html! {
///     a href=(Tag("bees")) { "Bees" }
///     a href=("JavaScript:alert(1)") { "Do not" }
/// };
/// assert_eq!(page.as_str(), r#"<a href="/tags/bees">Bees</a><a href="about:invalid">Do not</a>"#);
/// ```
#[cfg_attr(
    feature = "skep",
    diagnostic::on_unimplemented(
        label = "only a GET service, a string or another `Href` can be a URL",
        note = "a POST service is the target of a form: `form (Service::form(...)) {{ ... }}`"
    )
)]
#[cfg_attr(
    not(feature = "skep"),
    diagnostic::on_unimplemented(
        label = "only a string or another `Href` can be a URL",
        note = "a type of your own can implement `skep_html::Href`"
    )
)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a link",
    note = "if it is optional, write `href=[value]`; a number follows a path: `href={{ \"/posts/\" (id) }}`"
)]
pub trait Href {
    /// Writes the URL, escaped as [`Buffer::push_plain`] does.
    fn write_href(&self, out: &mut Buffer);

    /// Writes the URL, and refuses it if its scheme runs code.
    #[doc(hidden)]
    #[inline]
    fn write_checked(&self, place: UrlPlace, out: &mut Buffer) {
        let start = out.len();
        self.write_href(out);
        out.check_url(start, place);
    }
}

/// What can be a piece of a URL: `a href={ "/posts/" (here) }`. Links, and numbers.
///
/// A type of your own is a piece when it is an [`Href`], where an example is.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a part of a URL",
    label = "only text, a number or another `Href` can",
    note = "if it has a `Display`, write `(format_args!(\"{{}}\", value))`"
)]
pub trait HrefPart {
    /// Writes the piece, escaped as [`Buffer::push_plain`] does.
    fn write_part(&self, out: &mut Buffer);
}

/// What a URL is for. `html!` finds it out from element and attribute.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum UrlPlace {
    /// Somewhere to go, or code to load: `data:` is refused.
    Link,
    /// A picture, sound or film: `data:` may hold one.
    Media,
    /// Several of the latter: `srcset`.
    MediaSet,
}

/// Not for `&T` in general: services implement `Href` for their references themselves.
macro_rules! impl_href {
    ($($type:ty),*) => {$(
        impl $crate::Href for $type {
            #[inline]
            fn write_href(&self, out: &mut $crate::Buffer) {
                $crate::PlainText::write_plain(self, out);
            }
        }
    )*};
}

impl_href!(str, &str, &&str, String, &String, &&String, fmt::Arguments<'_>);
impl_href!(Cow<'_, str>, &Cow<'_, str>, Box<str>, &Box<str>, Rc<str>, &Rc<str>, Arc<str>, &Arc<str>);

impl<T: AsRef<str>> Href for Trusted<T> {
    fn write_href(&self, out: &mut Buffer) {
        out.push_plain(self.0.as_ref());
    }

    fn write_checked(&self, _: UrlPlace, out: &mut Buffer) {
        self.write_href(out);
    }
}

impl<T: Href + ?Sized> HrefPart for T {
    #[inline]
    fn write_part(&self, out: &mut Buffer) {
        self.write_href(out);
    }
}

macro_rules! impl_part {
    ($($type:ty)*) => {$(
        impl_part!(@ $type);
        impl_part!(@ &$type);
    )*};
    (@ $type:ty) => {
        impl HrefPart for $type {
            #[inline]
            fn write_part(&self, out: &mut Buffer) {
                self.write_plain(out);
            }
        }
    };
}

impl_part!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 char bool);

/// What a refused URL becomes: no browser follows it, and it is easy to find.
const REFUSED: &str = "about:invalid";

/// How much of a refused URL the log shows.
const LOGGED_CHARS: usize = 64;

/// Refuses what was written since `start` if it is a URL that runs code.
#[inline]
pub(super) fn check(out: &mut String, start: usize, place: UrlPlace) {
    let url = &out.as_bytes()[start..];
    // Nearly all URLs are paths.
    let is_path = url.first().is_none_or(|&first| first == b'/');
    if !is_path || place == UrlPlace::MediaSet {
        check_scheme(out, start, place);
    }
}

fn check_scheme(out: &mut String, start: usize, place: UrlPlace) {
    let url = &out.as_bytes()[start..];
    let is_bad = match place {
        UrlPlace::Link => runs_code(url, false),
        UrlPlace::Media => runs_code(url, true),
        UrlPlace::MediaSet => candidates(url).any(|candidate| runs_code(candidate, true)),
    };
    if is_bad {
        report(&out[start..]);
        out.truncate(start);
        out.push_str(REFUSED);
    }
}

/// Where a URL of a `srcset` may start: at the start, behind white space, behind a comma. More places than a browser
/// sees, which costs nothing: a scheme is refused wherever it is.
fn candidates(set: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_break = |byte: u8| byte == b',' || byte.is_ascii_whitespace();
    // White space itself starts nothing: a long run of it is passed once.
    let is_start = move |&at: &usize| !set[at].is_ascii_whitespace() && (at == 0 || is_break(set[at - 1]));
    (0..set.len()).filter(is_start).map(|at| &set[at..])
}

/// Would a browser run this, escaped, URL as code? In `media` places, `data:` with a picture, sound or film is not
/// code.
fn runs_code(url: &[u8], media: bool) -> bool {
    let mut url = Stripped { url };
    let mut scheme = [0; 10];
    for at in 0..=scheme.len() {
        match url.next() {
            Some(b':') => {
                return match &scheme[..at] {
                    b"javascript" | b"vbscript" => true,
                    b"data" => !(media && is_media(url)),
                    _ => false,
                };
            }
            // A scheme longer than the longest refused one is not refused.
            Some(byte) if byte.is_ascii_alphabetic() && at < scheme.len() => scheme[at] = byte,
            _ => return false,
        }
    }
    false
}

/// Is this the rest of a `data:` URL with something to see or to hear?
fn is_media(url: Stripped<'_>) -> bool {
    let kind: Vec<u8> = url.take_while(|&byte| byte != b'/').take(6).collect();
    matches!(&kind[..], b"image" | b"audio" | b"video" | b"font")
}

/// The bytes of a URL as a browser reads it: without control characters and spaces before it, without tabs and line
/// breaks in it (WHATWG URL, 4.4). Letters come out small.
struct Stripped<'a> {
    url: &'a [u8],
}

impl Iterator for Stripped<'_> {
    type Item = u8;

    // Controls and spaces are left out everywhere, not only before the URL. That makes a scheme of more than a browser
    // does ("java script:"), never of less.
    fn next(&mut self) -> Option<u8> {
        loop {
            if let Some(rest) = self.url.strip_prefix(b"&#13;") {
                self.url = rest;
                continue;
            }
            let (&byte, rest) = self.url.split_first()?;
            self.url = rest;
            if byte > b' ' {
                return Some(byte.to_ascii_lowercase());
            }
        }
    }
}

/// Warns once: the user who stored the URL must not fill the log with it.
fn report(url: &str) {
    static REPORTED: AtomicBool = AtomicBool::new(false);
    let url: String = url.chars().take(LOGGED_CHARS).collect();
    if REPORTED.swap(true, Ordering::Relaxed) {
        tracing::debug!(?url, "a URL that runs code was refused");
    } else {
        tracing::warn!(?url, "a URL that runs code was refused; further ones are logged as debug");
    }
}
