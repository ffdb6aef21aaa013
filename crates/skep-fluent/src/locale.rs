//! What is known of a language: its plurals, how it writes numbers, and in which direction.

use fixed_decimal::Decimal;
use icu_decimal::DecimalFormatter;
use icu_decimal::options::{DecimalFormatterOptions, GroupingStrategy};
use icu_plurals::{PluralCategory, PluralRules};

/// A language as numbers and plurals need it.
#[derive(Debug)]
pub struct Locale {
    tag: String,
    #[cfg(feature = "icu")]
    icu: icu_locale_core::Locale,
    is_right_to_left: bool,
    cardinal: PluralRules,
    ordinal: PluralRules,
    grouped: DecimalFormatter,
    ungrouped: DecimalFormatter,
    symbols: Symbols,
}

impl Locale {
    /// The locale of a tag such as `de` or `pt-BR`; `None` if that is not how it is written.
    #[must_use]
    pub fn new(tag: &str) -> Option<Self> {
        let locale: icu_locale_core::Locale = tag.parse().ok().filter(|_| is_canonical(tag))?;
        let mut ungrouped = DecimalFormatterOptions::default();
        ungrouped.grouping_strategy = Some(GroupingStrategy::Never);
        let grouped = DecimalFormatter::try_new((&locale).into(), DecimalFormatterOptions::default()).ok()?;
        Some(Self {
            tag: tag.to_owned(),
            #[cfg(feature = "icu")]
            icu: locale.clone(),
            is_right_to_left: is_right_to_left(tag),
            cardinal: PluralRules::try_new_cardinal((&locale).into()).ok()?,
            ordinal: PluralRules::try_new_ordinal((&locale).into()).ok()?,
            symbols: Symbols::of(&grouped),
            grouped,
            ungrouped: DecimalFormatter::try_new((&locale).into(), ungrouped).ok()?,
        })
    }

    /// The tag.
    #[must_use]
    pub fn tag(&self) -> &str {
        &self.tag
    }

    #[cfg(feature = "icu")]
    pub(crate) fn icu(&self) -> &icu_locale_core::Locale {
        &self.icu
    }

    #[cfg(feature = "icu")]
    pub(crate) fn digits(&self) -> &[char] {
        &self.symbols.digits
    }

    pub(crate) fn is_right_to_left(&self) -> bool {
        self.is_right_to_left
    }

    /// The number as the language writes it: `1.234,5`.
    #[must_use]
    pub fn number(&self, number: &Decimal, is_grouped: bool) -> String {
        if is_grouped { self.grouped.format_to_string(number) } else { self.ungrouped.format_to_string(number) }
    }

    /// The category of a number, such as `one`, or `two` for an ordinal.
    pub(crate) fn category(&self, number: &Decimal, is_ordinal: bool) -> &'static str {
        name(self.rules(is_ordinal).category_for(number))
    }

    pub(crate) fn categories(&self, is_ordinal: bool) -> Vec<&'static str> {
        self.rules(is_ordinal).categories().map(name).collect()
    }

    fn rules(&self, is_ordinal: bool) -> &PluralRules {
        if is_ordinal { &self.ordinal } else { &self.cardinal }
    }

    /// The number that a person of this language has typed, or that [`number`](Self::number) has written; `None` for
    /// anything else, such as a point where the language has a comma.
    #[must_use]
    pub fn parse_number(&self, text: &str) -> Option<rust_decimal::Decimal> {
        let typed = self.symbols.similar(text.trim());
        let plain: Option<String> =
            typed.chars().filter(|one| Some(*one) != self.symbols.group).map(|one| self.symbols.plain(one)).collect();
        let number: rust_decimal::Decimal = plain?.parse().ok()?;
        // A separator in the wrong place means something else: 1.5 is not fifteen.
        let is_shown =
            |grouped| self.symbols.similar(&self.number(&crate::number::of_decimal(&number), grouped)) == typed;
        (is_shown(true) || is_shown(false)).then_some(number)
    }
}

/// What a language writes numbers with.
#[derive(Debug)]
struct Symbols {
    digits: Vec<char>,
    point: Option<char>,
    group: Option<char>,
    minus: Option<char>,
}

impl Symbols {
    fn of(formatter: &DecimalFormatter) -> Self {
        let sample = |number: &str| formatter.format_to_string(&number.parse().unwrap_or_default());
        let digits: Vec<char> = (0..10).filter_map(|digit| sample(&digit.to_string()).chars().next()).collect();
        let mark = |number: &str| {
            let sample = unmarked(&sample(number));
            sample.chars().find(|one| !digits.contains(one)).map(usual)
        };
        Self { point: mark("0.5"), group: mark("12345678"), minus: mark("-1"), digits }
    }

    /// With ASCII digits, and with spaces, minus signs and apostrophes as people type them.
    fn similar(&self, text: &str) -> String {
        let digit = |one| self.digits.iter().zip('0'..='9').find_map(|(own, digit)| (*own == one).then_some(digit));
        unmarked(text).chars().map(|one| digit(one).unwrap_or_else(|| usual(one))).collect()
    }

    /// As Rust writes it.
    fn plain(&self, one: char) -> Option<char> {
        match one {
            '0'..='9' => Some(one),
            _ if Some(one) == self.point => Some('.'),
            _ if Some(one) == self.minus => Some('-'),
            _ => None,
        }
    }
}

/// Without marks of direction, which nobody types.
pub(crate) fn unmarked(text: &str) -> String {
    text.chars().filter(|one| !is_mark(*one)).collect()
}

pub(crate) fn is_mark(one: char) -> bool {
    matches!(one, '\u{200e}' | '\u{200f}' | '\u{61c}')
}

fn usual(one: char) -> char {
    match one {
        '\u{a0}' | '\u{202f}' | '\u{2009}' => ' ',
        '\u{2212}' => '-',
        '\u{2019}' => '\'',
        other => other,
    }
}

fn name(category: PluralCategory) -> &'static str {
    match category {
        PluralCategory::Zero => "zero",
        PluralCategory::One => "one",
        PluralCategory::Two => "two",
        PluralCategory::Few => "few",
        PluralCategory::Many => "many",
        PluralCategory::Other => "other",
    }
}

/// All categories that a language may have.
pub(crate) const CATEGORIES: [&str; 6] = ["zero", "one", "two", "few", "many", "other"];

fn is_canonical(tag: &str) -> bool {
    tag.parse::<icu_locale_core::LanguageIdentifier>().is_ok_and(|parsed| parsed.to_string() == tag)
}

/// True if this language is written from right to left: by the script in its tag, or the usual one.
///
/// ```
/// use skep_fluent::is_right_to_left;
///
/// assert!(is_right_to_left("ar-EG") && is_right_to_left("pa-Arab") && !is_right_to_left("az"));
/// ```
#[must_use]
pub fn is_right_to_left(tag: &str) -> bool {
    let mut subtags = tag.split('-');
    let language = subtags.next().unwrap_or_default();
    let usual = ["ar", "arc", "ckb", "dv", "fa", "he", "ks", "nqo", "prs", "ps", "sd", "syr", "ug", "ur", "yi"];
    let scripts = ["Adlm", "Arab", "Hebr", "Mand", "Nkoo", "Rohg", "Samr", "Syrc", "Thaa"];
    match subtags.next().filter(|script| script.len() == 4) {
        Some(script) => scripts.contains(&script),
        None => usual.contains(&language),
    }
}
