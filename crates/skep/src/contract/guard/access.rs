//! Access rules: who may reach what is below a prefix, by address, header field and user.
//!
//! A rule restricts, so it holds for a path if any reading of it is below the prefix: `//admin`, `/%61dmin` and
//! `/x/../admin` are.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use crate::context::cx::Cx;
use crate::security::access_rule::AccessRule;
use skep_http::error::Result;
use skep_http::request::Parts;

/// Tells access rules who is signed in: an `async` closure such as
/// `async |cx: &mut Cx<'_>| Ok(Some("ann".to_owned()))`.
pub trait UserName: Send + Sync + 'static {
    /// The name of the user who sent a request, or nobody.
    #[expect(async_fn_in_trait, reason = "a handler stays on the thread that accepted its connection")]
    async fn user_name(&self, cx: &mut Cx<'_>) -> Result<Option<String>>;
}

impl<F> UserName for F
where
    F: for<'c, 'r> AsyncFn(&'c mut Cx<'r>) -> Result<Option<String>> + Send + Sync + 'static,
{
    async fn user_name(&self, cx: &mut Cx<'_>) -> Result<Option<String>> {
        self(cx).await
    }
}

/// The same without its type.
pub(crate) trait DynUserName: Send + Sync {
    fn user_name<'c>(&'c self, cx: &'c mut Cx<'_>) -> Pin<Box<dyn Future<Output = Result<Option<String>>> + 'c>>;
}

impl<U: UserName> DynUserName for U {
    fn user_name<'c>(&'c self, cx: &'c mut Cx<'_>) -> Pin<Box<dyn Future<Output = Result<Option<String>>> + 'c>> {
        Box::pin(UserName::user_name(self, cx))
    }
}

/// All rules of an application.
#[derive(Default)]
pub(crate) struct AccessTable {
    pub(crate) rules: Vec<AccessRule>,
    pub(crate) user_name: Option<Box<dyn DynUserName>>,
}

impl AccessTable {
    /// What is wrong with it.
    pub(crate) fn problems(&self) -> impl Iterator<Item = String> {
        let nobody_knows = self.user_name.is_none() && self.rules.iter().any(AccessRule::has_users);
        let nobody_knows = nobody_knows.then(|| {
            "an access rule names users, and the application does not say who is signed in: add App::access_users"
                .to_owned()
        });
        self.rules.iter().filter_map(AccessRule::problem).chain(nobody_knows)
    }

    pub(crate) fn has_any(&self, path: &str) -> bool {
        self.rules.iter().any(|rule| rule.holds(path))
    }

    pub(crate) async fn check(&self, cx: &mut Cx<'_>, parts: &Parts) -> Result<()> {
        let path = parts.uri.path();
        let of_path = || self.rules.iter().filter(|rule| rule.holds(path));
        for rule in of_path() {
            rule.check(parts, cx.peer())?;
        }
        if !of_path().any(AccessRule::has_users) {
            return Ok(());
        }
        let user = match &self.user_name {
            Some(user_name) => user_name.user_name(cx).await?,
            None => None,
        };
        of_path().try_for_each(|rule| rule.check_user(user.as_deref()))
    }
}

impl fmt::Debug for AccessTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rules.fmt(f)
    }
}
