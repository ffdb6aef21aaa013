//! The settings `access.NAME.*`: who may reach what.

use std::collections::BTreeMap;

use skep::guard::{AccessRule, AddressRange};
use skep::settings::Value;
use skep::{HeaderName, HeaderValue};

/// The rules by name, as they are collected.
#[derive(Clone, Debug, Default)]
pub(crate) struct Access(BTreeMap<String, Parts>);

/// What the settings say of one rule.
#[derive(Clone, Debug, Default)]
struct Parts {
    prefix: String,
    allow: Vec<AddressRange>,
    deny: Vec<AddressRange>,
    headers: Vec<(HeaderName, HeaderValue)>,
    users: Vec<String>,
}

impl Access {
    /// Takes one setting, if it is one of these.
    pub(super) fn take(&mut self, setting: &str, value: &Value) -> Result<(), String> {
        let parts = setting.strip_prefix("access.").and_then(|rest| rest.split_once('.'));
        let Some((name, part)) = parts else { return Ok(()) };
        let rule = self.0.entry(name.to_owned()).or_default();
        let list = if let Value::List(list) = value { list.as_slice() } else { &[] };
        match part {
            "prefix" => rule.prefix = value.to_string(),
            "allow" => rule.allow = ranges(list)?,
            "deny" => rule.deny = ranges(list)?,
            "headers" => rule.headers = list.iter().map(|said| field(said)).collect::<Result<_, _>>()?,
            _ => rule.users = list.to_vec(),
        }
        Ok(())
    }

    /// What is wrong with the rules as a whole.
    pub(super) fn problems(&self) -> impl Iterator<Item = String> {
        self.0.iter().filter_map(|(name, rule)| {
            let has_none =
                rule.allow.is_empty() && rule.deny.is_empty() && rule.headers.is_empty() && rule.users.is_empty();
            if !rule.prefix.starts_with('/') {
                return Some(format!("access.{name}.prefix = \"{}\": expected a path, such as /admin", rule.prefix));
            }
            has_none.then(|| {
                format!("access.{name} has no condition, and refuses nobody: set allow, deny, headers or users")
            })
        })
    }

    pub(crate) fn rules(&self) -> Vec<AccessRule> {
        let rule = |parts: &Parts| {
            let rule = AccessRule::new(&parts.prefix).allow(parts.allow.clone()).deny(parts.deny.clone());
            let rule = parts.headers.iter().fold(rule, |rule, (name, value)| rule.header(name.clone(), value.clone()));
            parts.users.iter().fold(rule, AccessRule::user)
        };
        self.0.values().map(rule).collect()
    }
}

fn ranges(list: &[String]) -> Result<Vec<AddressRange>, String> {
    list.iter().map(|said| said.parse().map_err(|error: skep::guard::NotARange| error.to_string())).collect()
}

/// `NAME=VALUE`. What was found is not shown: it may be a secret.
fn field(said: &str) -> Result<(HeaderName, HeaderValue), String> {
    let field =
        said.split_once('=').and_then(|(name, value)| Some((name.trim().parse().ok()?, value.trim().parse().ok()?)));
    field.ok_or_else(|| "expected NAME=VALUE in each element, such as x-gateway=abc".to_owned())
}

#[cfg(test)]
#[path = "../../tests/unit/config/access.rs"]
mod tests;
