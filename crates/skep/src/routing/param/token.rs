//! A secret in an address.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use super::Param;

/// A secret text in a path or a query, such as that of a link in a mail: who has it, has what it stands for. Logs,
/// traces and the status page show `***` in its place, and `Debug` does not show it.
///
/// ```
/// use skep::param::Token;
/// use skep::prelude::*;
///
/// #[derive(Service)]
/// #[service(GET "/invitations/{token}")]
/// struct Invitation { token: Token }
///
/// impl Handle for Invitation {
///     async fn handle(self, _cx: &mut Cx<'_>) -> Result {
///         let text: &str = &self.token;
///         Ok(Response::text(text.len().to_string()))
///     }
/// }
///
/// assert_eq!(Invitation { token: "q8JmX0".into() }.url(), "/invitations/q8JmX0");
/// assert_eq!(format!("{:?}", Token::from("q8JmX0")), "Token(***)");
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Token(String);

impl Param for Token {
    const IS_SECRET: bool = true;

    fn expected() -> Cow<'static, str> {
        "a token".into()
    }

    fn parse(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    fn write(&self, out: &mut String) {
        out.push_str(&self.0);
    }
}

impl Deref for Token {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<T: Into<String>> From<T> for Token {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(***)")
    }
}
