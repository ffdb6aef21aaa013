//! HTML.
use crate::response::Response;
/// A piece of HTML.
#[derive(Clone, Debug, Default)]
pub struct Html(String);
impl Html {
    /// Trusted text.
    #[must_use]
    pub fn trusted(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}
impl Response {
    /// HTML.
    #[must_use]
    pub fn html(html: Html) -> Self {
        Self::typed("text/html; charset=utf-8", html.0)
    }
}
