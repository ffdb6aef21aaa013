//! The languages of an application.

use skep::Cx;
use skep::cache::SharedCx;
use skep::error_page::Failure;
use skep::form::Messages;
use skep_fluent::{Argument, Locale, Number, ToArgument};
#[cfg(feature = "icu")]
use skep_fluent::{Date, DateLength};

use crate::text_set::TextSet;

/// A language of an application: the enum that [`languages!`](crate::languages) makes.
pub trait Languages: Copy + 'static {
    /// Their tags, by number.
    const TAGS: &'static [&'static str];

    /// The number of this one.
    #[doc(hidden)]
    fn place(self) -> usize;

    /// The one with this number.
    #[doc(hidden)]
    fn at(number: usize) -> Self;

    /// The texts.
    #[doc(hidden)]
    fn texts() -> &'static TextSet;

    /// The framework's own messages in this language.
    fn messages(self) -> Messages;

    /// All of them, the default one first.
    fn all() -> impl Iterator<Item = Self> {
        (0..Self::TAGS.len()).map(Self::at)
    }

    /// The language with this tag.
    #[must_use]
    fn find(tag: &str) -> Option<Self> {
        Self::TAGS.iter().position(|one| *one == tag).map(Self::at)
    }

    /// The tag, for `lang` in HTML: `de`, `pt-BR`.
    #[must_use]
    fn tag(self) -> &'static str {
        Self::TAGS[self.place()]
    }

    /// A number as the language writes it: `1.234,5`.
    #[must_use]
    fn number(self, number: impl ToArgument<Number>) -> String {
        locale(self).number(&number.to_argument().into_number(), true)
    }

    /// The number that somebody has typed, or that [`number`](Self::number) has written, with separators where the
    /// language has them or without; `None` for anything else.
    #[must_use]
    fn parse_number(self, text: &str) -> Option<rust_decimal::Decimal> {
        locale(self).parse_number(text)
    }

    /// A date or time as the language writes it, the date of this length: one of [`jiff::civil`], or
    /// [`jiff::Zoned`] in its zone. With the feature `icu`.
    ///
    /// [`jiff::civil`]: https://docs.rs/jiff/latest/jiff/civil
    /// [`jiff::Zoned`]: https://docs.rs/jiff/latest/jiff/struct.Zoned.html
    #[cfg(feature = "icu")]
    #[must_use]
    fn date(self, moment: impl ToArgument<Date>, length: DateLength) -> String {
        moment.to_argument().into_moment().text(locale(self), length)
    }

    /// An amount of money as the language writes it: `1.234,50 €`. The currency is its code of ISO 4217: `EUR`. With
    /// the feature `icu`.
    #[cfg(feature = "icu")]
    #[must_use]
    fn money(self, amount: impl ToArgument<Number>, currency: &str) -> String {
        locale(self).money(&amount.to_argument().into_number(), currency)
    }

    /// The amount that somebody has typed, or that [`money`](Self::money) has written, with or without the currency.
    /// With the feature `icu`.
    #[cfg(feature = "icu")]
    #[must_use]
    fn parse_money(self, text: &str, currency: &str) -> Option<rust_decimal::Decimal> {
        locale(self).parse_money(text, currency)
    }

    /// A share of 1 as percent: `12,5 %` for 0.125. With the feature `icu`.
    #[cfg(feature = "icu")]
    #[must_use]
    fn percent(self, share: impl ToArgument<Number>) -> String {
        locale(self).percent(&share.to_argument().into_number())
    }

    /// The share of 1 that somebody has typed as percent, or that [`percent`](Self::percent) has written, with or
    /// without the sign. With the feature `icu`.
    #[cfg(feature = "icu")]
    #[must_use]
    fn parse_percent(self, text: &str) -> Option<rust_decimal::Decimal> {
        locale(self).parse_percent(text)
    }

    /// A list: `Ann, Ben und Cleo`. With the feature `icu`.
    #[cfg(feature = "icu")]
    #[must_use]
    fn list<T: AsRef<str>>(self, items: &[T]) -> String {
        locale(self).list(items)
    }

    /// How long after now something is, in seconds, and before now if they are negative: `1 day ago`, `in 3
    /// hours`. With the feature `icu`.
    #[cfg(feature = "icu")]
    #[must_use]
    fn relative(self, seconds: i64) -> String {
        locale(self).relative(seconds)
    }

    /// Sorts as the language does: `Ä` is by `A` in German, and behind `Z` in Swedish. With the feature `icu`.
    #[cfg(feature = "icu")]
    fn sort<T>(self, items: &mut [T], text: impl Fn(&T) -> &str) {
        let order = locale(self).collator();
        items.sort_by(|one, other| order(text(one), text(other)));
    }

    /// The size of a file: `12 MB`.
    #[must_use]
    fn file_size(self, bytes: u64) -> String {
        file_size(self, bytes)
    }

    /// The size of a file that somebody has typed, or that [`file_size`](Self::file_size) has written: 1 500 000 for
    /// `1,5 MB`, in capitals or not. Without a unit it is bytes.
    #[must_use]
    fn parse_file_size(self, text: &str) -> Option<u64> {
        let text = &*text.trim().to_lowercase();
        let of_unit = |(unit, bytes): &(&'static str, u64)| {
            COUNTS.iter().find_map(|count| {
                let shown = in_unit(self, unit, *count).to_lowercase();
                if shown == text {
                    return count.checked_mul(*bytes);
                }
                let word = shown.replace(&self.number(*count), "");
                // The text for one is "one byte", and "1 byte" is typed.
                let word = if word == shown { word.rsplit(' ').next()? } else { word.trim() };
                let word = Some(word).filter(|word| !word.is_empty())?;
                let number = text.strip_suffix(word).or_else(|| text.strip_prefix(word))?;
                self.parse_number(number)?.checked_mul((*bytes).into())?.trunc().try_into().ok()
            })
        };
        let bytes = || self.parse_number(text)?.try_into().ok();
        UNITS.iter().find_map(of_unit).or_else(bytes)
    }

    /// The direction in which it is written, for `dir` in HTML: `ltr` or `rtl`.
    #[must_use]
    fn direction(self) -> &'static str {
        if skep_fluent::is_right_to_left(self.tag()) { "rtl" } else { "ltr" }
    }
}

fn locale<L: Languages>(language: L) -> &'static Locale {
    L::texts().loaded().texts.locale(language.place())
}

/// What is in a language: a request, or a language itself.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is in no language",
    label = "`t!` begins with the request (`cx`) or a language: `t!(cx, greeting)`, `t!(Language::De, greeting)`"
)]
pub trait InLanguage<L> {
    /// The language.
    fn in_language(&self) -> L;
}

impl<L: Languages> InLanguage<L> for Cx<'_> {
    fn in_language(&self) -> L {
        of_tag(self.language())
    }
}

impl<L: Languages> InLanguage<L> for SharedCx<'_> {
    fn in_language(&self) -> L {
        of_tag(self.language())
    }
}

impl<L: Languages> InLanguage<L> for Failure {
    fn in_language(&self) -> L {
        of_tag(self.language())
    }
}

impl<L, T: InLanguage<L> + ?Sized> InLanguage<L> for &T {
    fn in_language(&self) -> L {
        (**self).in_language()
    }
}

impl<L, T: InLanguage<L> + ?Sized> InLanguage<L> for &mut T {
    fn in_language(&self) -> L {
        (**self).in_language()
    }
}

/// The default where the application does not speak these languages: [`LanguageApp`](crate::LanguageApp).
fn of_tag<L: Languages>(tag: &str) -> L {
    L::find(tag).unwrap_or_else(|| L::at(0))
}

/// A text, with its arguments: what `languages!` makes of each.
///
/// The compiler warns of those that are never made, since implementing this trait does not use them.
#[doc(hidden)]
pub trait Translated<L> {
    /// A `&'static str`, or a `String` with arguments.
    type Text;

    /// The text in this language.
    fn text(self, language: L) -> Self::Text;
}

/// For [`t!`](crate::t): a text without arguments.
#[doc(hidden)]
pub fn fixed<L: Languages>(language: L, id: &str) -> &'static str {
    L::texts().loaded().fixed(language.place(), id)
}

/// For [`t!`](crate::t): a text with arguments.
#[doc(hidden)]
pub fn text<L: Languages>(language: L, id: &str, arguments: &[(&str, Argument<'_>)]) -> String {
    L::texts().loaded().texts.text(language.place(), id, arguments)
}

/// The tag of each language, and the label of a choice in it.
#[doc(hidden)]
pub type Labels = Vec<(&'static str, &'static str)>;

/// For `derive(Param)`: a label in each language.
#[doc(hidden)]
#[must_use]
pub fn labels<L: Languages>(text: impl Fn(L) -> &'static str) -> Labels {
    L::all().map(|language| (language.tag(), text(language))).collect()
}

/// For the framework's message of a file that is too large.
#[doc(hidden)]
pub fn file_size<L: Languages>(language: L, bytes: u64) -> String {
    // At least two digits, so that little is lost.
    let (unit, size) = UNITS.iter().find(|(_, size)| bytes / size >= 10).unwrap_or(&UNITS[3]);
    in_unit(language, unit, bytes / size)
}

/// The units of `skep-file-size`, and their bytes.
const UNITS: [(&str, u64); 4] =
    [("gigabyte", 1_000_000_000), ("megabyte", 1_000_000), ("kilobyte", 1_000), ("byte", 1)];

/// Counts with different plurals of a unit.
const COUNTS: [u64; 5] = [1, 2, 5, 11, 100];

fn in_unit<L: Languages>(language: L, unit: &'static str, count: u64) -> String {
    let arguments = [("unit", Argument::Text(unit.into())), ("count", Argument::Number(count.into()))];
    text(language, "skep-file-size", &arguments)
}
