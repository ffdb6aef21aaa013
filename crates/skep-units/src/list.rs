//! Lists: `memory:8MiB; memcached:a,b`.

use crate::InvalidValue;

/// Joins the elements of an array in a settings file: an element may be any text of one line.
pub const LINE_SEPARATOR: char = '\n';

/// Splits a list at `;` and at line breaks. Commas belong to the elements.
///
/// ```
/// assert_eq!(skep_units::parse_list("memory:8MiB; memcached:a,b").unwrap(), ["memory:8MiB", "memcached:a,b"]);
/// ```
pub fn parse_list(text: &str) -> Result<Vec<&str>, InvalidValue> {
    let elements: Vec<&str> = text.split([';', LINE_SEPARATOR]).map(str::trim).collect();
    if elements.iter().any(|element| element.is_empty()) {
        return Err(InvalidValue::new("list", text, "elements separated by ;"));
    }
    Ok(elements)
}

/// Writes a list. [`parse_list`] reads it back.
pub fn format_list<T: AsRef<str>>(elements: &[T]) -> String {
    elements.iter().map(AsRef::as_ref).collect::<Vec<_>>().join("; ")
}

/// What a message offers: "a, b or c".
///
/// ```
/// assert_eq!(skep_units::any_of(["a", "b", "c"].map(String::from).into_iter()), "a, b or c");
/// ```
pub fn any_of(words: impl Iterator<Item = String>) -> String {
    let words: Vec<String> = words.collect();
    match words.as_slice() {
        [some @ .., last] if !some.is_empty() => format!("{} or {last}", some.join(", ")),
        all => all.concat(),
    }
}
