//! Names in addresses.

use super::shown::text_types;
use crate::sql::kind::NotNull;
use crate::sql::{Element, FromValue, ToValue, Unfit, Value};

/// The part of an address that names a thing: lower-case ASCII letters, digits and single hyphens between them.
///
/// ```
/// use skep::Slug;
///
/// assert_eq!(Slug::of("Hello, Wörld!").as_str(), "hello-world");
/// assert!("hello-world".parse::<Slug>().is_ok());
/// assert!("Hello".parse::<Slug>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slug(String);

impl Slug {
    /// The most bytes a slug may have.
    pub const MAX_BYTES: usize = 200;

    /// A slug from any text: what it cannot hold becomes a hyphen. A text with nothing to keep becomes
    /// `untitled`.
    #[must_use]
    pub fn of(title: &str) -> Self {
        let mut slug = String::with_capacity(title.len());
        for letter in title.chars().flat_map(char::to_lowercase) {
            if letter.is_ascii_alphanumeric() {
                slug.push(letter);
            } else {
                let base = ascii_base(letter);
                if !base.is_empty() {
                    slug.push_str(base);
                } else if !slug.is_empty() && !slug.ends_with('-') {
                    slug.push('-');
                }
            }
            if slug.len() >= Self::MAX_BYTES {
                break;
            }
        }
        // A letter may stand for two.
        slug.truncate(Self::MAX_BYTES);
        let slug = slug.trim_end_matches('-');
        Self(if slug.is_empty() { "untitled".into() } else { slug.into() })
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The letters that a letter with a mark stands for in addresses.
fn ascii_base(letter: char) -> &'static str {
    match letter {
        'à'..='å' => "a",
        'ç' => "c",
        'è'..='ë' => "e",
        'ì'..='ï' => "i",
        'ñ' => "n",
        'ò'..='ö' | 'ø' => "o",
        'ù'..='ü' => "u",
        'ý' | 'ÿ' => "y",
        'æ' => "ae",
        'œ' => "oe",
        'ß' => "ss",
        _ => "",
    }
}

/// A text is not a [`Slug`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotASlug;

skep_units::error_text!(
    NotASlug,
    |_wrong| "a slug has lower-case letters a to z, digits, and single hyphens between them"
);

impl std::str::FromStr for Slug {
    type Err = NotASlug;

    fn from_str(text: &str) -> Result<Self, NotASlug> {
        // One pass: slugs are read from every row of every list.
        let mut before = b'-';
        let words = text.bytes().all(|byte| {
            let fits = byte.is_ascii_lowercase() || byte.is_ascii_digit() || (byte == b'-' && before != b'-');
            before = byte;
            fits
        }) && before != b'-';
        if words && text.len() <= Self::MAX_BYTES { Ok(Self(text.to_owned())) } else { Err(NotASlug) }
    }
}

text_types! { [] Slug, "a name of lower-case letters, digits and hyphens"; }

impl ToValue for Slug {
    type Sql = crate::sql::kind::Text;

    fn to_value(&self) -> Result<Value<'_>, Unfit> {
        self.as_str().to_value()
    }
}

impl FromValue for Slug {
    type Sql = crate::sql::kind::Text;

    fn from_value(value: Value<'_>) -> Result<Self, Unfit> {
        String::from_value(value)?.parse().map_err(|error: NotASlug| Unfit::because(error.to_string()))
    }
}

impl Element for Slug {
    type Sql = NotNull<crate::sql::kind::Text>;
}
