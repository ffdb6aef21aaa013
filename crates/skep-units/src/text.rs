//! Text as logs, terminals and URLs may have it.

use std::borrow::Cow;
use std::fmt::Write as _;

/// True for a character that a log or a terminal must not show as it is: it ends a line, controls the terminal, changes
/// the order of the others (bidirectional formatting), or is not seen.
///
/// ```
/// assert!("\n\u{7f}\u{85}\u{202e}\u{2066}\u{200b}\u{2028}".chars().all(skep_units::is_unprintable));
/// assert!("\u{115f}\u{1160}\u{3164}\u{ffa0}\u{2800}".chars().all(skep_units::is_unprintable));
/// assert!("\u{34f}\u{17b4}\u{17b5}\u{1d173}\u{1d17a}\u{e0100}\u{e01ef}".chars().all(skep_units::is_unprintable));
/// assert!(!"aé漢 \u{301}😀\u{fe0f}".chars().any(skep_units::is_unprintable));
/// ```
#[must_use]
pub fn is_unprintable(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' // soft hyphen, Arabic letter mark, Mongolian vowel separator
                | '\u{200b}'..='\u{200f}' // of no width, and marks of direction
                | '\u{2028}'..='\u{202e}' // separators, embeddings and overrides
                | '\u{2060}'..='\u{206f}' // joiners, invisible operators, isolates
                | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{2800}' // letters and a pattern that are blank
                | '\u{34f}' | '\u{17b4}' | '\u{17b5}' // a joiner and vowels of Khmer that are not shown
                | '\u{1d173}'..='\u{1d17a}' // of musical notation
                | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}' // tags
                | '\u{e0100}'..='\u{e01ef}' // variants
        )
}

/// The text with an escape such as `\u{202e}` for each of these, but for line breaks and tabs.
///
/// ```
/// assert_eq!(skep_units::escape_unprintable("one\n\u{202e}two"), "one\n\\u{202e}two");
/// ```
#[must_use]
pub fn escape_unprintable(text: &str) -> Cow<'_, str> {
    let is_escaped = |character: char| is_unprintable(character) && !matches!(character, '\n' | '\t');
    if !text.contains(is_escaped) {
        return text.into();
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if is_escaped(character) { escaped.extend(character.escape_unicode()) } else { escaped.push(character) }
    }
    escaped.into()
}

/// A path as a URL has it (RFC 3986, 3.3).
///
/// ```
/// assert_eq!(skep_units::percent_encoded("src/a b.rs"), "src/a%20b.rs");
/// ```
#[must_use]
pub fn percent_encoded(path: &str) -> String {
    let mut url = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            url.push(char::from(byte));
        } else {
            let _ = write!(url, "%{byte:02X}");
        }
    }
    url
}
