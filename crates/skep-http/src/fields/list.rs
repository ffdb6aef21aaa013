//! Lists in header fields (RFC 9110, 5.6.1): several lines of a field are one list.

use http::HeaderName;

use crate::fields::Fields;

/// The elements of a list in a header field, without those that are empty (RFC 9110, 5.6.1). A comma in quotes
/// separates nothing.
pub fn elements(list: &str) -> impl Iterator<Item = &str> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    let separates = move |letter: char| {
        let escaped = std::mem::take(&mut is_escaped);
        match letter {
            '\\' if is_quoted && !escaped => is_escaped = true,
            '"' if !escaped => is_quoted = !is_quoted,
            _ => {}
        }
        letter == ',' && !is_quoted
    };
    list.split(separates).map(|element| element.trim_matches([' ', '\t'])).filter(|element| !element.is_empty())
}

/// The elements of a list over all lines of a field, each with its weight in thousandths. What is malformed is passed
/// over.
pub(crate) fn weighted<'r>(headers: &'r Fields, name: &HeaderName) -> impl Iterator<Item = (&'r str, u16)> {
    let lines = headers.get_all(name).filter_map(|line| line.to_str().ok());
    lines.flat_map(elements).filter_map(|element| {
        let mut parts = element.split(';').map(|part| part.trim_matches([' ', '\t']));
        let value = parts.next().filter(|value| !value.is_empty())?;
        let weights = parts.filter_map(|parameter| parameter.split_once('='));
        let weight = weights.filter(|(name, _)| name.eq_ignore_ascii_case("q")).map(|(_, text)| weight(text)).next();
        Some((value, weight.unwrap_or(Some(1000))?))
    })
}

/// `0.5` in thousandths (RFC 9110, 12.4.2).
fn weight(text: &str) -> Option<u16> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if fraction.len() > 3 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let thousandths: u16 = format!("{fraction:0<3}").parse().ok()?;
    match (whole, thousandths) {
        ("0", thousandths) => Some(thousandths),
        ("1", 0) => Some(1000),
        _ => None,
    }
}
