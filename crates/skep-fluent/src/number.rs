//! Numbers: from Rust's types, and with what `NUMBER()` says.

use fixed_decimal::Decimal;

/// The most digits behind the point of a float that nothing is said about, as in browsers.
const FLOAT_DIGITS: i16 = 3;

pub(crate) fn of_decimal(number: &rust_decimal::Decimal) -> Decimal {
    number.to_string().parse().unwrap_or_default()
}

/// Infinite ones and what is no number are 0: nothing else could be shown.
pub(crate) fn of_float(number: impl ToString) -> Decimal {
    number.to_string().parse().unwrap_or_default()
}

/// What a message says of a number: `NUMBER($x, minimumFractionDigits: 2)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) is_ordinal: bool,
    pub(crate) is_ungrouped: bool,
    min_digits: Option<i16>,
    max_digits: Option<i16>,
}

impl Style {
    /// What nothing is said about.
    pub(crate) const FLOAT: Self =
        Self { is_ordinal: false, is_ungrouped: false, min_digits: None, max_digits: Some(FLOAT_DIGITS) };

    /// Takes an option.
    ///
    /// # Errors
    /// The options there are.
    pub(crate) fn set(&mut self, name: &str, value: &str) -> Result<(), &'static str> {
        let digits = || value.parse().ok().filter(|digits| (0..=20).contains(digits)).ok_or("digits are 0 to 20");
        match (name, value) {
            ("type", "ordinal") => self.is_ordinal = true,
            ("type", "cardinal") => self.is_ordinal = false,
            ("useGrouping", "true" | "false") => self.is_ungrouped = value == "false",
            ("minimumFractionDigits", _) => self.min_digits = Some(digits()?),
            ("maximumFractionDigits", _) => self.max_digits = Some(digits()?),
            _ => {
                return Err("NUMBER takes minimumFractionDigits, maximumFractionDigits, useGrouping (\"false\"), and \
                            type (\"ordinal\" or \"cardinal\")");
            }
        }
        Ok(())
    }

    pub(crate) fn apply(self, number: &Decimal) -> Decimal {
        let mut number = number.clone();
        if let Some(most) = self.max_digits {
            number.round(-most.max(self.min_digits.unwrap_or_default()));
            number.trim_end();
        }
        if let Some(least) = self.min_digits {
            number.pad_end(-least);
        }
        number
    }
}
