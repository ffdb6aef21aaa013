//! Checks whether a literal value is valid for its type.

use super::super::standard::{self, Type, elements};
use skep_units::any_of;

/// What the type expects, if the value is invalid.
pub(super) fn expected_instead(kind: Type, value: &str) -> Option<String> {
    let is_right = match kind {
        Type::Text | Type::Boolean | Type::Handler | Type::IdList => true,
        Type::Url => value.trim_ascii().is_empty() || url::is_url(value.trim_ascii()),
        Type::NotEmpty => !value.is_empty(),
        Type::OneOf(words) => is_one_of(words, value),
        Type::Exactly(words) => words.contains(&value),
        Type::Count => is_digits(value),
        Type::Positive => is_digits(value) && value.contains(|digit: char| digit != '0'),
        Type::Between(least, most) => {
            is_digits(value) && value.parse::<u16>().is_ok_and(|number| (least..=most).contains(&number))
        }
        Type::Integer => is_digits(value.strip_prefix('-').unwrap_or(value)),
        Type::Float => is_float(value),
        Type::Size => is_float(value) && value.parse::<f64>().is_ok_and(|size| size > 0.0),
        Type::Step => {
            value.eq_ignore_ascii_case("any") || is_float(value) && value.parse::<f64>().is_ok_and(|step| step > 0.0)
        }
        Type::Id | Type::IdRef => !value.is_empty() && !value.contains(|letter: char| letter.is_ascii_whitespace()),
        Type::IdRefs | Type::Tokens => are_different(value),
        Type::TokensOf(words) => are_different(value) && are_of(words, value),
        Type::ListOf(words) => are_of(words, value),
        Type::Words => are_different(value) && !value.trim_ascii().is_empty(),
        Type::Address => url::is_url(value.trim_ascii()),
        Type::Addresses => value.split_ascii_whitespace().all(url::is_url),
        Type::ItemTypes => !value.trim_ascii().is_empty() && value.split_ascii_whitespace().all(url::is_absolute),
        Type::ImageSet => is_image_set(value),
        Type::Moment => time::is_moment(value),
        Type::Time => time::is_time(value),
        Type::Mime => is_mime(value),
        Type::Language => is_language(value),
        Type::LanguageOrNone => value.is_empty() || is_language(value),
        Type::MapName => value.len() > 1 && value.starts_with('#'),
        Type::Keys => are_different(value) && value.split_ascii_whitespace().all(|key| key.chars().count() == 1),
        Type::Target => is_target(value),
        Type::Window => !value.is_empty() && !value.starts_with('_'),
        Type::Custom => standard::is_custom(value),
        Type::Command => is_command(value),
        Type::Autofill => is_autofill(value),
        Type::Integrity => value.split_ascii_whitespace().all(is_hash),
        Type::Floats => value.split(',').all(|number| is_float(number.trim_ascii())),
        Type::FileTypes => value.split(',').all(|kind| is_file_type(kind.trim_ascii())),
    };
    (!is_right).then(|| allowed(kind))
}

/// Describes the values of a type.
fn allowed(kind: Type) -> String {
    let fixed = match kind {
        Type::OneOf(words) | Type::Exactly(words) => return quoted(words),
        Type::ListOf(words) if words.len() > 30 => "known words separated by spaces",
        Type::ListOf(words) => return format!("words of these separated by spaces: {}", quoted(words)),
        Type::TokensOf(words) => return format!("words of these separated by spaces, each once: {}", quoted(words)),
        Type::Between(least, most) => return format!("an integer from {least} to {most}"),
        Type::Text | Type::Boolean | Type::Handler => "any text",
        Type::Url => "a URL without spaces: a `%20` stands for a space",
        Type::NotEmpty => "a text that is not empty",
        Type::Count => "an integer that is not negative, such as `40`, without a unit",
        Type::Positive => "an integer greater than zero",
        Type::Integer => "an integer",
        Type::Float => "a number, such as `0.5`",
        Type::Size => "a number greater than zero",
        Type::Step => "a number greater than zero, or `any`",
        Type::Id => "a name of at least one character, without spaces",
        Type::IdRef => "one id, without spaces",
        Type::IdRefs => "ids separated by spaces, each once",
        Type::IdList => "ids separated by spaces",
        Type::Words => "at least one word, and none twice",
        Type::Tokens => "words separated by spaces, each once",
        Type::Address => "a URL that is not empty and has no spaces in it: a `%20` stands for a space",
        Type::ItemTypes => "absolute URLs separated by spaces, such as `https://schema.org/Person`",
        Type::Addresses => "URLs separated by spaces",
        Type::ImageSet => "images separated by commas, each a URL and then a width or density: `a.png 1x, b.png 2x`",
        Type::Moment => "a date or a date with time: `2026-09-16`, `2026-09-16T12:00Z`",
        Type::Time => "a date, time or duration: `2026-09-16`, `12:30`, `2026-09-16T12:00Z`, `2026-09`, `PT4H`",
        Type::Mime => "a MIME type, such as `text/css`",
        Type::Language | Type::LanguageOrNone => "a language tag, such as `en` or `pt-BR`",
        Type::MapName => "`#` and the name of a `map`",
        Type::Keys => "single characters separated by spaces, each once",
        Type::Target => "a name that does not begin with `_`, or one of `_blank`, `_self`, `_parent`, `_top`",
        Type::Window => "a name of at least one character that does not begin with `_`",
        Type::Custom => "the name of a custom element: small letters with a hyphen, such as `my-button`",
        Type::Command => {
            "`show-modal`, `close`, `request-close`, `toggle-popover`, `show-popover`, `hide-popover`, or a name of your own that begins with `--`"
        }
        Type::Autofill => "`on`, `off`, or what a browser may fill in, such as `email` or `shipping street-address`",
        Type::Integrity => "hashes separated by spaces, each beginning with `sha256-`, `sha384-` or `sha512-`",
        Type::Floats => "numbers separated by commas",
        Type::FileTypes => "MIME types, `image/*`, `audio/*`, `video/*` or endings such as `.pdf`, separated by commas",
    };
    fixed.to_owned()
}

fn quoted(words: &[&str]) -> String {
    any_of(words.iter().map(|word| if word.is_empty() { "nothing".into() } else { format!("`{word}`") }))
}

fn is_digits(value: &str) -> bool {
    !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit())
}

/// 2.3.4.3: no leading `+`, digits after the point.
fn is_float(value: &str) -> bool {
    let value = value.strip_prefix('-').unwrap_or(value);
    let (number, exponent) =
        value.split_once(['e', 'E']).map_or((value, None), |(number, power)| (number, Some(power)));
    let is_exponent = exponent.is_none_or(|power| is_digits(power.strip_prefix(['-', '+']).unwrap_or(power)));
    let is_number = match number.split_once('.') {
        Some((whole, part)) => (whole.is_empty() || is_digits(whole)) && is_digits(part),
        None => is_digits(number),
    };
    is_number && is_exponent
}

fn are_different(value: &str) -> bool {
    let mut seen = std::collections::HashSet::new();
    value.split_ascii_whitespace().all(|token| seen.insert(token))
}

fn are_of(words: &[&str], value: &str) -> bool {
    value.split_ascii_whitespace().all(|token| is_one_of(words, token))
}

fn is_one_of(words: &[&str], value: &str) -> bool {
    words.iter().any(|word| word.eq_ignore_ascii_case(value))
}

fn is_command(value: &str) -> bool {
    let known = ["toggle-popover", "show-popover", "hide-popover", "close", "request-close", "show-modal"];
    value.starts_with("--") || is_one_of(&known, value)
}

/// Checks the words but not their order (4.10.19.7.1), which few authors get wrong.
fn is_autofill(value: &str) -> bool {
    let mut words = value.split_ascii_whitespace().map(str::to_ascii_lowercase).peekable();
    words.peek().is_some()
        && words.all(|word| word.starts_with("section-") || elements::AUTOFILL.contains(&word.as_str()))
}

fn is_hash(hash: &str) -> bool {
    ["sha256-", "sha384-", "sha512-"].iter().any(|kind| hash.strip_prefix(kind).is_some_and(|rest| !rest.is_empty()))
}

/// 4.8.4.2.1: distinct candidates, all with a width or all with a density.
fn is_image_set(value: &str) -> bool {
    let mut seen = std::collections::HashSet::new();
    let mut kinds = std::collections::HashSet::new();
    split_image_set(value).into_iter().all(|candidate| {
        let mut parts = candidate.split_ascii_whitespace();
        let Some(_) = parts.next() else { return false };
        let descriptor = parts.next().unwrap_or("1x");
        let (number, unit) = descriptor.split_at(descriptor.len() - usize::from(descriptor.is_ascii()));
        kinds.insert(unit.to_owned());
        let is_right = match unit {
            "w" => is_digits(number) && number != "0",
            "x" => is_float(number) && !number.starts_with('-'),
            _ => false,
        };
        is_right && kinds.len() == 1 && seen.insert(number.to_owned()) && parts.all(|part| part.ends_with('h'))
    })
}

/// A comma ends a candidate only after white space or a descriptor: URLs may contain commas.
fn split_image_set(value: &str) -> Vec<&str> {
    let mut candidates = Vec::new();
    let mut rest = value.trim_ascii();
    while !rest.is_empty() {
        let url = rest.find(|letter: char| letter.is_ascii_whitespace()).unwrap_or(rest.len());
        let end =
            if rest[..url].ends_with(',') { url - 1 } else { rest[url..].find(',').map_or(rest.len(), |at| url + at) };
        candidates.push(&rest[..end]);
        rest = rest.get(end + 1..).unwrap_or_default().trim_ascii_start();
    }
    if value.trim_ascii().ends_with(',') || candidates.is_empty() {
        candidates.push("");
    }
    candidates
}

fn is_token(value: &str) -> bool {
    !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// RFC 9110, 8.3.1.
pub(super) fn is_mime(value: &str) -> bool {
    let essence = value.split(';').next().unwrap_or_default().trim_ascii();
    essence.split_once('/').is_some_and(|(kind, subtype)| is_token(kind) && is_token(subtype))
}

fn is_file_type(value: &str) -> bool {
    is_one_of(&["audio/*", "video/*", "image/*"], value)
        || value.len() > 1 && value.starts_with('.')
        || is_mime(value) && !value.contains(['*', ';'])
}

/// RFC 5646, 2.1: checks letters and lengths. No registered language has more than three letters.
fn is_language(value: &str) -> bool {
    let mut parts = value.split('-');
    let first = parts.next().unwrap_or_default();
    let is_first = (2..=3).contains(&first.len()) && first.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_private = first.eq_ignore_ascii_case("x") || first.eq_ignore_ascii_case("i");
    let is_part = |part: &str| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let mut rest = parts.peekable();
    (is_first || is_private && rest.peek().is_some()) && rest.all(is_part)
}

/// 7.3.1.7.
fn is_target(value: &str) -> bool {
    !value.is_empty() && !value.starts_with('_') || is_one_of(&["_blank", "_self", "_parent", "_top"], value)
}

/// What `value`, `min` or `max` of this type of `input` expects, if the value is invalid.
pub(super) fn of_input(kind: &str, value: &str) -> Option<&'static str> {
    let is_email = |address: &str| {
        address.trim_ascii().split_once('@').is_some_and(|(user, host)| !user.is_empty() && !host.is_empty())
    };
    let is_color =
        value.len() == 7 && value.starts_with('#') && value[1..].bytes().all(|byte| byte.is_ascii_hexdigit());
    let (is_right, allowed) = match kind {
        "date" => (time::is_date(value), "a date: `2026-09-16`"),
        "month" => (time::is_month(value), "a month: `2026-09`"),
        "week" => (time::is_week(value), "a week: `2026-W38`"),
        "time" => (time::is_clock(value), "a time: `12:30`"),
        "datetime-local" => (time::is_local(value), "a date and time without a zone: `2026-09-16T12:30`"),
        "number" | "range" => (is_float(value), "a number"),
        "color" => (is_color, "a colour: `#c0ffee`"),
        "email" => (value.split(',').all(is_email), "an email address"),
        "url" => (url::is_absolute(value.trim_ascii()), "a whole URL: `https://example.org/`"),
        _ => return None,
    };
    (!is_right).then_some(allowed)
}

mod time;
mod url;

#[cfg(test)]
#[path = "../../tests/unit/check/value.rs"]
mod tests;
