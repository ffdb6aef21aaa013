//! What users type to search, as an expression of FTS5.

/// Each word is quoted, since the query language is not for visitors: all must occur, and the last may be a beginning.
/// `None` without words.
#[must_use]
pub fn expression(typed: &str) -> Option<String> {
    let words = typed.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).take(16);
    let quoted = words.map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" ");
    (!quoted.is_empty()).then(|| quoted + "*")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_users_type_is_words_and_never_a_query() {
        assert_eq!(expression(" no-ink \"OR").as_deref(), Some("\"no\" \"ink\" \"OR\"*"));
        assert_eq!(expression("'\";--"), None);
    }
}
