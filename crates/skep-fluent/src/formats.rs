//! What a language writes besides texts: lists, money, shares, relative times; and how it sorts.

use std::cmp::Ordering;

use fixed_decimal::Decimal;
use icu_collator::options::CollatorOptions;
use icu_collator::{Collator, CollatorBorrowed};
use icu_experimental::dimension::currency::CurrencyType;
use icu_experimental::dimension::currency::formatter::CurrencyFormatter;
use icu_experimental::dimension::currency::options::CurrencyFormatterOptions;
use icu_experimental::dimension::percent::formatter::PercentFormatter;
use icu_experimental::dimension::percent::options::PercentFormatterOptions;
use icu_experimental::relativetime::options::Numeric;
use icu_experimental::relativetime::{RelativeTimeFormatter, RelativeTimeFormatterOptions};
use icu_list::ListFormatter;

use crate::locale::{Locale, is_mark, unmarked};

// The data of all languages is in the program: none of these constructors fails.
impl Locale {
    /// A list: `Ann, Ben and Cleo`.
    #[must_use]
    pub fn list<T: AsRef<str>>(&self, items: &[T]) -> String {
        let formatter =
            ListFormatter::try_new_and(self.icu().into(), icu_list::options::ListFormatterOptions::default());
        let items = items.iter().map(AsRef::as_ref);
        formatter.map_or_else(|_| String::new(), |formatter| formatter.format_to_string(items))
    }

    /// An amount of money: `1.234,50 €`. The currency is its code of ISO 4217: `EUR`.
    #[must_use]
    pub fn money(&self, amount: &Decimal, currency: &str) -> String {
        let formatter = CurrencyType::try_from_str(&currency.to_ascii_lowercase()).ok().and_then(|currency| {
            CurrencyFormatter::try_new_symbol(self.icu().into(), currency, CurrencyFormatterOptions::default()).ok()
        });
        let code = || format!("{} {currency}", self.number(amount, true));
        formatter.map_or_else(code, |formatter| formatter.format_fixed_decimal(amount).to_string())
    }

    /// The amount that somebody has typed, or that [`money`](Self::money) has written, with or without the currency.
    #[must_use]
    pub fn parse_money(&self, text: &str, currency: &str) -> Option<rust_decimal::Decimal> {
        self.parse_with_sign(text, &self.money(&Decimal::from(0), currency), currency)
    }

    /// The share that somebody has typed as percent, or that [`percent`](Self::percent) has written, with or without
    /// the sign: 0.125 for `12,5 %`.
    #[must_use]
    pub fn parse_percent(&self, text: &str) -> Option<rust_decimal::Decimal> {
        let percent = self.parse_with_sign(text, &self.percent(&Decimal::from(0)), "%")?;
        percent.checked_div(100.into()).map(|share| share.normalize())
    }

    /// The number beside a sign as it stands beside `zero`, or beside `code`.
    fn parse_with_sign(&self, text: &str, zero: &str, code: &str) -> Option<rust_decimal::Decimal> {
        let plain = self.sign(zero);
        let text = unmarked(text);
        // The sign may stand before or behind the minus sign.
        let outer = without(text.trim(), plain, code);
        let (minus, rest) = match outer.strip_prefix(['-', '\u{2212}']) {
            Some(rest) => ("-", rest.trim()),
            None => ("", outer),
        };
        // It stands there once.
        let rest = if outer == text.trim() { without(rest, plain, code) } else { rest };
        self.parse_number(&format!("{minus}{rest}"))
    }

    /// What is before or behind the digits of an amount: `kr.`
    fn sign<'t>(&self, zero: &'t str) -> &'t str {
        let is_digit = |one: char| self.digits().contains(&one);
        let (before, behind) = (zero.split(is_digit).next(), zero.rsplit(is_digit).next());
        let is_around = |one: char| one.is_whitespace() || is_mark(one);
        let signs = [before, behind].into_iter().flatten().map(|sign| sign.trim_matches(is_around));
        signs.into_iter().find(|sign| !sign.is_empty()).unwrap_or_default()
    }

    /// A share of 1 as percent: `12,5 %` for 0.125.
    #[must_use]
    pub fn percent(&self, share: &Decimal) -> String {
        let mut percent = share.clone();
        percent.multiply_pow10(2);
        percent.trim_start();
        let formatter = PercentFormatter::try_new(self.icu().into(), PercentFormatterOptions::default());
        formatter.map_or_else(|_| String::new(), |formatter| formatter.format(&percent).to_string())
    }

    /// How long before or after now that is, in whole units: `1 day ago`, `in 3 hours`. Negative seconds are
    /// in the past.
    #[must_use]
    pub fn relative(&self, seconds: i64) -> String {
        let options = RelativeTimeFormatterOptions::default().with_numeric(Numeric::Always);
        let (make, length): (fn(_, _) -> _, i64) = match seconds.unsigned_abs() {
            0..60 => (RelativeTimeFormatter::try_new_long_second, 1),
            60..3_600 => (RelativeTimeFormatter::try_new_long_minute, 60),
            3_600..86_400 => (RelativeTimeFormatter::try_new_long_hour, 3_600),
            86_400..2_592_000 => (RelativeTimeFormatter::try_new_long_day, 86_400),
            2_592_000..31_536_000 => (RelativeTimeFormatter::try_new_long_month, 2_592_000),
            _ => (RelativeTimeFormatter::try_new_long_year, 31_536_000),
        };
        let count = Decimal::from(seconds / length);
        make(self.icu().into(), options).map_or_else(|_| String::new(), |formatter| formatter.format(count).to_string())
    }

    /// How the language orders texts: `ä` by `a` in German, behind `z` in Swedish.
    pub fn collator(&self) -> impl Fn(&str, &str) -> Ordering + use<> {
        let collator: Option<CollatorBorrowed<'static>> =
            Collator::try_new(self.icu().into(), CollatorOptions::default()).ok();
        move |one, other| collator.as_ref().map_or_else(|| one.cmp(other), |collator| collator.compare(one, other))
    }
}

/// An amount without the sign or the code of its currency, which is in front or at the end.
fn without<'t>(text: &'t str, sign: &str, code: &str) -> &'t str {
    let mut signs = [sign, code].into_iter().filter(|sign| !sign.is_empty());
    let rest = signs.find_map(|sign| text.strip_prefix(sign).or_else(|| text.strip_suffix(sign)));
    rest.unwrap_or(text).trim()
}
