//! Decimal numbers as texts of SQLite: one text for each number, so that equal numbers are equal texts.

use crate::value::Unfit;

/// The number with all its `places`, and with `digits` at most.
///
/// # Errors
/// It is no decimal number, or there is no room for all of it: it is not rounded.
pub(super) fn written(text: &str, digits: u32, places: u32) -> Result<String, Unfit> {
    let (sign, unsigned) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, decimals) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let (whole, decimals) = (whole.trim_start_matches('0'), decimals.trim_end_matches('0'));
    let is_number = unsigned.starts_with(|first: char| first.is_ascii_digit())
        && [whole, decimals].iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    if !is_number {
        return Err(Unfit::because(format!("{text:?} is no decimal number")));
    }
    let fits = decimals.len() <= places as usize && whole.len() <= (digits - places) as usize;
    if !fits {
        return Err(Unfit::because(format!("{text} does not fit in decimal({digits}, {places})")));
    }
    let sign = if whole.is_empty() && decimals.is_empty() { "" } else { sign };
    let whole = if whole.is_empty() { "0" } else { whole };
    let point = if places == 0 { "" } else { "." };
    Ok(format!("{sign}{whole}{point}{decimals:0<width$}", width = places as usize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_are_equal_texts() {
        for (given, stored) in
            [("12.5", "12.50"), ("012", "12.00"), ("-0.00", "0.00"), ("-.5", ""), ("0.125", ""), ("1000", "")]
        {
            assert_eq!(written(given, 5, 2).unwrap_or_default(), stored, "{given}");
        }
        assert_eq!(written("7.000", 3, 0).unwrap(), "7");
        assert!(["", "-", "1e3", "NaN", "1.2.3", "+1"].iter().all(|text| written(text, 5, 2).is_err()));
    }
}
