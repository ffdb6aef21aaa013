//! Where a server is: `http://host:port/path`, `https://...`, or a unix socket.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::str::FromStr;

/// Where a server is.
///
/// ```
/// use skep_bench::load::Target;
///
/// let target: Target = "https://[::1]:8443/search?q=bees".parse()?;
/// assert_eq!((target.authority(), target.path()), ("[::1]:8443", "/search?q=bees"));
/// assert!("ftp://example.org/".parse::<Target>().is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    tls: bool,
    authority: String,
    host: String,
    port: u16,
    path: String,
    socket: Option<PathBuf>,
}

impl Target {
    /// The same server, over a unix socket: the URL only says what is asked for. See [`Target`].
    #[must_use]
    pub fn over_unix(mut self, socket: impl Into<PathBuf>) -> Self {
        self.socket = Some(socket.into());
        self
    }

    /// `host:port` as the URL has it, for the field `Host`. See [`Target`].
    #[must_use]
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Path and query. See [`Target`].
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn is_tls(&self) -> bool {
        self.tls
    }

    pub(crate) fn scheme(&self) -> &'static str {
        if self.tls { "https" } else { "http" }
    }

    /// Finds the address, once for a load.
    pub(crate) fn resolve(&self) -> Result<Address, String> {
        if let Some(path) = &self.socket {
            return Ok(Address::Unix(path.clone()));
        }
        let found = (self.host.trim_matches(['[', ']']), self.port).to_socket_addrs();
        let found = found.map_err(|error| format!("{}: no address for \"{}\": {error}", self, self.host))?;
        let mut found: Vec<SocketAddr> = found.collect();
        // A name such as localhost leads to both families; what servers bind is mostly the older.
        found.sort_by_key(SocketAddr::is_ipv6);
        let first = found.first().ok_or_else(|| format!("{}: no address for \"{}\"", self, self.host))?;
        Ok(Address::Tcp(*first))
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme(), self.authority, self.path)?;
        self.socket.as_ref().map_or(Ok(()), |socket| write!(f, " over {}", socket.display()))
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(url: &str) -> Result<Self, String> {
        let (tls, rest) = if let Some(rest) = url.strip_prefix("http://") {
            (false, rest)
        } else if let Some(rest) = url.strip_prefix("https://") {
            (true, rest)
        } else {
            return Err(format!("\"{url}\" is no URL to load; it begins with http:// or https://"));
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let path = path.split('#').next().unwrap_or_default();
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        if let Some(bad) = path.chars().chain(authority.chars()).find(|c| c.is_ascii_control() || *c == ' ') {
            return Err(format!("\"{url}\" has {bad:?} in it, which a URL never has; write it as %20 or the like"));
        }
        let (host, port) = host_and_port(authority, tls).ok_or_else(|| {
            format!("\"{authority}\" in \"{url}\" is no server; it would be host, host:port or [address]:port")
        })?;
        Ok(Self { tls, authority: authority.to_owned(), host, port, path, socket: None })
    }
}

fn host_and_port(authority: &str, tls: bool) -> Option<(String, u16)> {
    let default = if tls { 443 } else { 80 };
    let after_bracket = authority.rfind(']').map_or(0, |at| at + 1);
    let (host, port) = match authority[after_bracket..].split_once(':') {
        Some((rest, port)) => (&authority[..after_bracket + rest.len()], port.parse().ok()?),
        None => (authority, default),
    };
    (!host.is_empty() && !host.contains('@') && port > 0).then(|| (host.to_owned(), port))
}

/// What a connection is made to.
#[derive(Debug, Clone)]
pub(crate) enum Address {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => path.display().fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_says_where_and_what() {
        let target: Target = "http://localhost:8080/a?b=1#c".parse().unwrap();
        assert_eq!((target.authority(), target.path(), target.port), ("localhost:8080", "/a?b=1", 8080));
        let target: Target = "https://example.org".parse().unwrap();
        assert_eq!((target.host(), target.path(), target.port), ("example.org", "/", 443));
        assert_eq!("http://h?q".parse::<Target>().unwrap().path(), "/?q");
    }

    #[test]
    fn what_is_no_url_is_named() {
        for (url, part) in [
            ("localhost:80", "begins with http://"),
            ("http://", "is no server"),
            ("http://a:b/", "is no server"),
            ("http://a:0/", "is no server"),
            ("http://me@a/", "is no server"),
            ("http://a/b c", "%20"),
        ] {
            let error = url.parse::<Target>().unwrap_err();
            assert!(error.contains(part), "{url}: {error}");
        }
    }
}
