//! One access rule. It knows no [`Cx`](crate::Cx): a server reads rules before there is any request.

mod address_range;

use std::net::IpAddr;

use http::{HeaderName, HeaderValue};
use sha2::{Digest, Sha256};

use crate::routing::path_prefix::PathPrefix;
use skep_http::error::{Error, Result};
use skep_http::request::{Parts, Peer};

pub use self::address_range::{AddressRange, NotARange};

/// Who may reach what is below a prefix: services, folders, what is mounted, and paths that lead nowhere.
/// [`App::access`](crate::App::access) takes it, and so does `[access.NAME]` in `skep.toml`.
///
/// ```
/// use skep::guard::AccessRule;
/// use skep::prelude::*;
///
/// let office = AccessRule::new("/internal").allow(["10.0.0.0/8".parse().unwrap(), "2001:db8::/32".parse().unwrap()]);
/// let app = App::new().files("/internal", skep::files::Files::dir("tests/site")).access(office);
/// assert_eq!(skep::test::Client::new(app).get("/internal/hello.txt").status(), 403);
/// ```
///
/// All kinds of conditions that a rule has must be met, of several of one kind any. Where several rules hold, all of
/// them must admit. A request that is refused gets a 403, or a 401 if the rule has users and nobody is signed in.
#[derive(Clone, Debug)]
#[must_use]
pub struct AccessRule {
    written: String,
    prefix: PathPrefix,
    allow: Vec<AddressRange>,
    deny: Vec<AddressRange>,
    headers: Vec<(HeaderName, Proof)>,
    users: Vec<String>,
}

/// The digest of a value: comparing two of them takes the same time whatever they are.
type Proof = [u8; 32];

impl AccessRule {
    /// For everything below a prefix of literal segments, such as `/admin`; `/` is everything. Without a condition,
    /// nobody is refused.
    pub fn new(prefix: &str) -> Self {
        Self {
            written: prefix.to_owned(),
            prefix: PathPrefix::new(prefix),
            allow: Vec::new(),
            deny: Vec::new(),
            headers: Vec::new(),
            users: Vec::new(),
        }
    }

    /// Only clients with these addresses. Who has no address, such as over a unix socket, is refused.
    pub fn allow(mut self, ranges: impl IntoIterator<Item = AddressRange>) -> Self {
        self.allow.extend(ranges);
        self
    }

    /// No clients with these addresses, even if [`allow`](Self::allow) has them.
    pub fn deny(mut self, ranges: impl IntoIterator<Item = AddressRange>) -> Self {
        self.deny.extend(ranges);
        self
    }

    /// Only requests with this header field, or another one that the rule names. The value may be a secret.
    #[expect(clippy::needless_pass_by_value, reason = "as with other header fields")]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, proof(value.as_bytes())));
        self
    }

    /// Only these users, by the name that [`App::access_users`](crate::App::access_users) gives.
    pub fn user(mut self, name: impl Into<String>) -> Self {
        self.users.push(name.into());
        self
    }

    pub(crate) fn holds(&self, path: &str) -> bool {
        self.prefix.holds(path)
    }

    pub(crate) fn has_users(&self) -> bool {
        !self.users.is_empty()
    }

    /// What is wrong with the prefix.
    pub(crate) fn problem(&self) -> Option<String> {
        let written = &self.written;
        let is_wrong = written.contains(['{', '}', '?', '#', '%']) || !written.starts_with('/');
        is_wrong
            .then(|| format!("access rule: {written:?} is not a prefix: expected literal segments, such as \"/admin\""))
    }

    /// Judges by what the request says of itself.
    pub(crate) fn check(&self, parts: &Parts, peer: Peer) -> Result<()> {
        let address = peer.address.map(|address| address.ip());
        let among = |ranges: &[AddressRange], address: IpAddr| ranges.iter().any(|range| range.holds(address));
        let is_allowed = self.allow.is_empty() || address.is_some_and(|address| among(&self.allow, address));
        if !is_allowed || address.is_some_and(|address| among(&self.deny, address)) {
            return Err(Error::forbidden("This is not open to your network."));
        }
        let has = |(name, wanted): &(HeaderName, Proof)| {
            parts.headers.get_all(name).any(|value| proof(value.as_bytes()) == *wanted)
        };
        if !self.headers.is_empty() && !self.headers.iter().any(has) {
            return Err(Error::forbidden("This is not open to requests like yours."));
        }
        Ok(())
    }

    /// Judges by who is signed in.
    pub(crate) fn check_user(&self, user: Option<&str>) -> Result<()> {
        match user {
            _ if self.users.is_empty() => Ok(()),
            None => Err(Error::unauthorized("Please sign in first.")),
            Some(user) if self.users.iter().any(|known| known == user) => Ok(()),
            Some(_) => Err(Error::forbidden("This is not open to you.")),
        }
    }
}

fn proof(value: &[u8]) -> Proof {
    Sha256::digest(value).into()
}
