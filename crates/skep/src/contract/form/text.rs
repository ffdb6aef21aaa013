//! Fields of text.

use std::borrow::Cow;
use std::fmt;

use super::field::{Control, Shape};
use super::look;
use crate::html::{Buffer, Href, PlainText};
use crate::routing::param::shown::text_types;
use crate::routing::param::{OfferInfo, Param};
use skep_http::validation::{Expected, FieldError};

/// A line of text of `MIN` to `MAX` characters, without white space at its ends and without control characters.
///
/// A character is what browsers count for `maxlength`: a UTF-16 code unit (HTML, 4.10.18.3). Most letters are one, an
/// emoji two.
///
/// ```
/// use skep::form::{Control, FieldError, Text};
///
/// assert_eq!(Text::<1, 8>::check("  Ann ").unwrap().as_str(), "Ann");
/// assert_eq!(Text::<1, 8>::check("  ").unwrap_err(), FieldError::Missing);
/// assert_eq!(Text::<1, 8>::check("a\nb").unwrap_err(), FieldError::NotOneLine);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Text<const MIN: usize, const MAX: usize>(String);

/// Text of several lines and `MIN` to `MAX` characters, as [`Text`] counts them; the end of a line is one, whatever was
/// sent for it. White space at its ends is left out.
///
/// ```
/// use skep::form::{Control, MultilineText};
///
/// assert_eq!(MultilineText::<1, 9>::check("one\r\ntwo\r\n").unwrap().as_str(), "one\ntwo");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MultilineText<const MIN: usize, const MAX: usize>(String);

/// An e-mail address, as browsers understand it (HTML, 4.10.5.1.5). That it can be reached, only a letter shows.
///
/// ```
/// use skep::form::{Control, Email};
///
/// assert_eq!(Email::check(" ann@example.org ").unwrap().as_str(), "ann@example.org");
/// assert!(Email::check("ann@").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Email(String);

/// An absolute address of the web: `https://` or `http://`, a host, and no white space. It can stand in `href`.
///
/// ```
/// use skep::form::{Control, Url};
///
/// assert!(Url::check("https://example.org/a?b#c").is_ok());
/// assert!(Url::check("javascript:alert(1)").is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Url(String);

/// A password of `MIN` to `MAX` characters, exactly as it was typed. It is never shown again: not in the form, not by
/// `Debug`.
///
/// ```
/// use skep::form::{Control, Password};
///
/// let password = Password::<8, 200>::check(" correct horse ").unwrap();
/// assert_eq!(password.reveal(), " correct horse ");
/// assert_eq!(format!("{password:?}"), "Password(..)");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Password<const MIN: usize, const MAX: usize>(String);

/// A value that travels in the form without being seen. The user can change it all the same: it is
/// checked like any other, and proves nothing.
///
/// ```
/// use skep::form::{Control, Hidden};
///
/// assert_eq!(Hidden::<u32>::check("7").unwrap().0, 7);
/// assert_eq!(Hidden::<u32>::shape().kind, "hidden");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hidden<T>(
    /// The value.
    pub T,
);

/// How long browsers take a text to be: in UTF-16 code units.
fn length(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

fn within(text: &str, min: usize, max: usize) -> Result<(), FieldError> {
    match length(text) {
        0 if min > 0 => Err(FieldError::Missing),
        length if length < min => Err(FieldError::TooShort { min }),
        length if length > max => Err(FieldError::TooLong { max, length }),
        _ => Ok(()),
    }
}

/// `minlength` says nothing that `required` does not say if it is 1.
fn text_shape(kind: &'static str, min: usize, max: usize) -> Shape {
    Shape { kind, required: min > 0, min_length: (min > 1).then_some(min), max_length: Some(max), ..Shape::default() }
}

/// True if there is a control character in it other than these. Those beyond ASCII are U+0080 to U+009F.
fn has_control(text: &str, allowed: &[u8]) -> bool {
    let is_control = |byte: u8| byte.is_ascii_control() && !allowed.contains(&byte);
    text.bytes().any(is_control) || !text.is_ascii() && text.contains(|letter| matches!(letter, '\u{80}'..='\u{9f}'))
}

impl<const MIN: usize, const MAX: usize> Control for Text<MIN, MAX> {
    type Look = look::Line;

    fn shape() -> Shape {
        Shape { plain: true, ..text_shape("text", MIN, MAX) }
    }

    fn check(text: &str) -> Result<Self, FieldError> {
        let text = text.trim();
        if has_control(text, &[]) {
            return Err(FieldError::NotOneLine);
        }
        within(text, MIN, MAX)?;
        Ok(Self(text.to_owned()))
    }
}

impl<const MIN: usize, const MAX: usize> Control for MultilineText<MIN, MAX> {
    type Look = look::Area;

    fn shape() -> Shape {
        Shape { plain: true, ..text_shape("textarea", MIN, MAX) }
    }

    fn check(text: &str) -> Result<Self, FieldError> {
        // A form sends CR LF for the end of a line (HTML, 4.10.22.4), and a script may send CR alone.
        let mut text = text.trim().to_owned();
        if text.contains('\r') {
            text = text.replace("\r\n", "\n").replace('\r', "\n");
        }
        if has_control(&text, b"\n\t") {
            return Err(FieldError::ControlCharacters);
        }
        within(&text, MIN, MAX)?;
        Ok(Self(text))
    }
}

/// The longest that mail servers take (RFC 5321, 4.5.3.1.3, less the brackets).
const LONGEST_EMAIL: usize = 254;
/// The longest label of a domain (RFC 1035, 2.3.4).
const LONGEST_LABEL: usize = 63;

impl Control for Email {
    type Look = look::Line;

    fn shape() -> Shape {
        Shape { kind: "email", max_length: Some(LONGEST_EMAIL), ..Shape::default() }
    }

    fn check(text: &str) -> Result<Self, FieldError> {
        let text = text.trim();
        within(text, 1, LONGEST_EMAIL)?;
        let (local, domain) = text.split_once('@').ok_or(FieldError::NotEmail)?;
        let is_atom = |byte: u8| byte.is_ascii_alphanumeric() || b".!#$%&'*+/=?^_`{|}~-".contains(&byte);
        if local.is_empty() || !local.bytes().all(is_atom) || !domain.split('.').all(is_label) {
            return Err(FieldError::NotEmail);
        }
        Ok(Self(text.to_owned()))
    }
}

fn is_label(label: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (1..=LONGEST_LABEL).contains(&label.len())
        && label.bytes().all(fits)
        && !label.starts_with('-')
        && !label.ends_with('-')
}

/// What browsers and servers agree to handle.
const LONGEST_URL: usize = 2000;

impl Control for Url {
    type Look = look::Line;

    fn shape() -> Shape {
        Shape {
            kind: "url",
            max_length: Some(LONGEST_URL),
            // What `check` refuses, too: no host, and what no address has as it is.
            pattern: Some(r#"[hH][tT][tT][pP][sS]?://[^\s\/:?#"<>\\^`\{\|\}][^\s"<>\\^`\{\|\}]*"#),
            ..Shape::default()
        }
    }

    fn check(text: &str) -> Result<Self, FieldError> {
        let text = text.trim();
        within(text, 1, LONGEST_URL)?;
        let (scheme, rest) = text.split_once("://").ok_or(FieldError::NotUrl)?;
        let is_web = scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http");
        let is_foreign = |letter: char| letter.is_whitespace() || letter.is_control() || "\"<>\\^`{|}".contains(letter);
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let host = authority.rsplit('@').next().unwrap_or_default();
        if !is_web || host.is_empty() || host.starts_with(':') || text.contains(is_foreign) {
            return Err(FieldError::NotUrl);
        }
        Ok(Self(text.to_owned()))
    }
}

impl<const MIN: usize, const MAX: usize> Control for Password<MIN, MAX> {
    type Look = look::Line;

    fn shape() -> Shape {
        Shape { secret: true, ..text_shape("password", MIN, MAX) }
    }

    fn check(text: &str) -> Result<Self, FieldError> {
        within(text, MIN, MAX)?;
        Ok(Self(text.to_owned()))
    }
}

impl<T: Control> Control for Hidden<T> {
    type Look = look::Line;

    fn shape() -> Shape {
        // A browser checks no limits of hidden fields, so none are written.
        Shape { kind: "hidden", required: false, ..Shape::default() }
    }

    fn check(text: &str) -> Result<Self, FieldError> {
        T::check(text).map(Self)
    }
}

impl Control for String {
    type Look = look::LineOrArea;

    fn shape() -> Shape {
        Shape { required: false, ..Shape::default() }
    }
}

impl Control for char {
    type Look = look::Line;

    fn shape() -> Shape {
        // One character may be two code units.
        Shape { max_length: Some(2), ..Shape::default() }
    }
}

impl Control for crate::Slug {
    type Look = look::Line;

    fn shape() -> Shape {
        Shape { max_length: Some(Self::MAX_BYTES), pattern: Some("[a-z0-9]+(-[a-z0-9]+)*"), ..Shape::default() }
    }
}

macro_rules! texts {
    ($([$($generics:tt)*] $type:ty, $expected:expr;)*) => {$(
        impl<$($generics)*> $type {
            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// The text, to keep.
            #[must_use]
            pub fn into_string(self) -> String {
                self.0
            }
        }

        impl<$($generics)*> std::str::FromStr for $type {
            type Err = FieldError;
            fn from_str(text: &str) -> Result<Self, FieldError> {
                Self::check(text)
            }
        }

        impl<$($generics)*> std::ops::Deref for $type {
            type Target = str;
            fn deref(&self) -> &str {
                &self.0
            }
        }

        text_types! { [$($generics)*] $type, $expected; }
    )*};
}

texts! {
    [const MIN: usize, const MAX: usize] Text<MIN, MAX>, format!("a line of {MIN} to {MAX} characters");
    [const MIN: usize, const MAX: usize] MultilineText<MIN, MAX>, format!("a text of {MIN} to {MAX} characters");
    [] Email, "an e-mail address";
    [] Url, "an address that begins with https:// or http://";
}

impl Href for Url {
    fn write_href(&self, out: &mut Buffer) {
        self.write_plain(out);
    }
}

impl Href for &Url {
    fn write_href(&self, out: &mut Buffer) {
        self.write_plain(out);
    }
}

impl<const MIN: usize, const MAX: usize> Password<MIN, MAX> {
    /// The password itself. It belongs in a hash, and in no log and no page.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl<const MIN: usize, const MAX: usize> Param for Password<MIN, MAX> {
    const IS_SECRET: bool = true;

    fn expected() -> Cow<'static, str> {
        format!("a password of {MIN} to {MAX} characters").into()
    }
    fn parse(text: &str) -> Option<Self> {
        Self::check(text).ok()
    }
    // What is never shown is in no link either.
    fn write(&self, _out: &mut String) {}
}

impl<const MIN: usize, const MAX: usize> fmt::Debug for Password<MIN, MAX> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(..)")
    }
}

impl<T: Param> Param for Hidden<T> {
    const IS_SECRET: bool = T::IS_SECRET;
    const OFFER: Option<OfferInfo> = T::OFFER;

    fn expected() -> Cow<'static, str> {
        T::expected()
    }
    fn expectation() -> Expected {
        T::expectation()
    }
    fn parse(text: &str) -> Option<Self> {
        T::parse(text).map(Self)
    }
    fn write(&self, out: &mut String) {
        self.0.write(out);
    }
}
