//! The settings `access.NAME.*`: who may reach what.

use skep::guard::{AccessRule, AddressRange};
use skep::{HeaderName, HeaderValue};
use skep_settings::{FromSetting, settings};

settings! {
    /// One rule. The rows of its conditions have no defaults: a rule without any is refused.
    #[derive(Clone, Debug)]
    pub(crate) struct Rule in "access.NAME" {
        /// Path below which the access rule NAME says who may reach services, files and mounts, such as `/admin`.
        /// `//admin` and `/%61dmin` are below it, too. A rule has at least one of the conditions below; all kinds that
        /// it has must be met, and where several rules hold, all must admit. Others get a 403. In a file:
        /// `[access.office] prefix = "/admin"`, `allow = ["10.0.0.0/8"]`.
        prefix: String = Text, "";
        /// Addresses and networks of clients that the rule admits, no others. A client without an address (unix
        /// sockets) is refused. Behind a proxy, set `proxies.trusted`.
        allow: Vec<AddressRange> = List("10.0.0.0/8"), "";
        /// Addresses and networks of clients that the rule refuses, even if `access.NAME.allow` has them.
        deny: Vec<AddressRange> = List("192.0.2.0/24"), "";
        /// Header fields with their values, of which a request must have one. The values may be secrets.
        headers: Vec<Field> = List("x-gateway=secret"), "";
        /// Users that the rule admits, by the name that the application gives (`App::access_users`). Nobody signed in
        /// is a 401.
        users: Vec<String> = List("ann"), "";
    }
}

/// A header field that a request must have.
#[derive(Clone, Debug)]
pub(crate) struct Field(HeaderName, HeaderValue);

impl FromSetting<str> for Field {
    const IS_SECRET: bool = true;

    /// `NAME=VALUE`. What was found is not shown: it may be a secret.
    fn from_setting(said: &str) -> Result<Self, String> {
        let field = said
            .split_once('=')
            .and_then(|(name, value)| Some(Self(name.trim().parse().ok()?, value.trim().parse().ok()?)));
        field.ok_or_else(|| "expected NAME=VALUE in each element, such as x-gateway=abc".to_owned())
    }
}

impl Rule {
    /// What is wrong with the rule of this name as a whole.
    pub(super) fn problem(&self, name: &str) -> Option<String> {
        if !self.prefix.starts_with('/') {
            return Some(format!("access.{name}.prefix = \"{}\": expected a path, such as /admin", self.prefix));
        }
        let has_none =
            self.allow.is_empty() && self.deny.is_empty() && self.headers.is_empty() && self.users.is_empty();
        has_none
            .then(|| format!("access.{name} has no condition, and refuses nobody: set allow, deny, headers or users"))
    }

    /// As the application has it.
    pub(crate) fn to_rule(&self) -> AccessRule {
        let rule = AccessRule::new(&self.prefix).allow(self.allow.clone()).deny(self.deny.clone());
        let rule = self.headers.iter().fold(rule, |rule, field| rule.header(field.0.clone(), field.1.clone()));
        self.users.iter().fold(rule, AccessRule::user)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/config/access.rs"]
mod tests;
