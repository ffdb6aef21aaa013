//! Why a value was refused.

use std::fmt;

/// A value that does not follow its grammar.
///
/// ```
/// let error = skep_units::parse_duration("5m x").unwrap_err();
/// let text = r#"invalid duration "5m x": expected a number and a unit, such as 500ms, 30s, 5m"#;
/// assert_eq!(error.to_string(), text);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidValue {
    what: &'static str,
    text: String,
    expected: String,
}

impl InvalidValue {
    /// `what` names the kind of value; `expected` says what would be accepted.
    pub fn new(what: &'static str, text: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { what, text: text.into(), expected: expected.into() }
    }

    /// What would be accepted, such as `a number and a unit, such as 500ms, 30s, 5m`.
    pub fn expected(&self) -> &str {
        &self.expected
    }
}

impl fmt::Display for InvalidValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid {} \"{}\": expected {}", self.what, self.text, self.expected)
    }
}

impl std::error::Error for InvalidValue {}
