//! What an application in a component says to its host about compression.

/// What an application in a component says of a response to its host, which compresses it: its fields then stand where
/// they stand in that of a native application. It crosses as a field of this name, between those that come before
/// `Vary` and those that come after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hint {
    /// How many fields of different names come before.
    pub before: usize,
    /// The handler has read what is one user's.
    pub is_private: bool,
    /// [`Response::with_compression`](crate::Response::with_compression).
    pub wish: Option<bool>,
}

impl Hint {
    /// The field that a host of components takes out of a response.
    pub const FIELD: &str = "skep-compression";

    /// The value of the field.
    #[must_use]
    pub fn text(&self) -> &'static str {
        match (self.wish, self.is_private) {
            (Some(true), _) => "yes",
            (Some(false), _) => "no",
            (None, true) => "private",
            (None, false) => "open",
        }
    }

    /// What such a value says. One that nobody knows: that the response is private.
    #[must_use]
    pub fn read(text: &[u8], before: usize) -> Self {
        let wish = if text == b"yes" { Some(true) } else { (text == b"no").then_some(false) };
        Self { before, is_private: text != b"open", wish }
    }
}
