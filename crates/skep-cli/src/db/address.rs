//! The address of a PostgreSQL, as far as it matters which database of which machine is meant.

use std::fmt;
use std::net::IpAddr;

/// An address in its parts. They stay as they are written, but for the password, which is never shown.
#[derive(Debug, PartialEq)]
pub(super) struct Address {
    user: String,
    password: Option<String>,
    /// `localhost:5433`, or several with commas between them.
    hosts: String,
    name: String,
    query: Vec<(String, String)>,
}

/// What Skep or its driver reads, and `psql` does not know.
const OURS: [&str; 2] = ["pgbouncer", "keepalives_retries"];

impl Address {
    /// Reads `postgres://USER:PASSWORD@HOST:PORT/NAME?KEY=VALUE`. No error repeats it: it may have a password.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (_, rest) = text.split_once("://").ok_or("expected postgres://USER@HOST/NAME")?;
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, name) = place.split_once('/').unwrap_or((place, ""));
        // Programs do not agree on where such a password ends.
        if rest.matches('@').count() != authority.matches('@').count() || authority.matches('@').count() > 1 {
            return Err("it has an @, a / or a ? within a part: write them as %40, %2F and %3F".to_owned());
        }
        let (credentials, hosts) = authority.split_once('@').unwrap_or(("", authority));
        let (user, password) =
            credentials.split_once(':').map_or((credentials, None), |(user, password)| (user, Some(password)));
        let mut address = Self {
            user: user.to_owned(),
            password: password.map(decoded).transpose()?,
            hosts: hosts.to_owned(),
            name: name.to_owned(),
            query: Vec::new(),
        };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            address.take(pair.split_once('=').unwrap_or((pair, "")))?;
        }
        Ok(address)
    }

    fn take(&mut self, (key, value): (&str, &str)) -> Result<(), String> {
        match decoded(key)?.as_str() {
            "password" => self.password = Some(decoded(value)?),
            "dbname" => value.clone_into(&mut self.name),
            "user" => value.clone_into(&mut self.user),
            "service" | "servicefile" => {
                return Err("it names a service, which may be anywhere: name a host".to_owned());
            }
            key if OURS.contains(&key) => {}
            key => self.query.push((key.to_owned(), value.to_owned())),
        }
        Ok(())
    }

    /// Its password, as it is typed.
    pub(super) fn password(&self) -> Option<&str> {
        self.password.as_deref()
    }

    /// The name of the database, as it is typed.
    pub(super) fn name(&self) -> Result<String, String> {
        let name = decoded(&self.name)?;
        if name.is_empty() { Err("the address does not name a database".to_owned()) } else { Ok(name) }
    }

    /// The database `postgres` on the same server: nobody drops the one they are in.
    pub(super) fn beside(&self) -> String {
        self.text("postgres")
    }

    /// True if it names hosts, and each of them is this machine. `hostaddr` counts as well as `host`.
    pub(super) fn is_here(&self) -> bool {
        let of_authority = self.hosts.split(',').map(|host| Ok(without_port(host).to_owned()));
        let of_query = self.query.iter().filter(|(key, _)| ["host", "hostaddr"].contains(&key.as_str()));
        let of_query: Vec<_> = of_query.map(|(_, value)| decoded(value)).collect();
        let of_query = of_query.iter().flat_map(|hosts| match hosts {
            Ok(hosts) => hosts.split(',').map(|host| Ok(host.to_owned())).collect(),
            Err(error) => vec![Err(error.clone())],
        });
        let mut hosts = of_authority.filter(|_| !self.hosts.is_empty()).chain(of_query).peekable();
        hosts.peek().is_some()
            && hosts.all(|host| host.and_then(|host| decoded(&host)).is_ok_and(|host| is_local(&host)))
    }

    fn text(&self, name: &str) -> String {
        let user = if self.user.is_empty() { String::new() } else { format!("{}@", self.user) };
        let query: Vec<_> = self.query.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
        format!("postgres://{user}{}/{name}{query}", self.hosts)
    }
}

/// Without the password.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(&self.name))
    }
}

fn without_port(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(inner) => inner.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    }
}

/// A folder with a socket, or an address that no other machine has.
fn is_local(host: &str) -> bool {
    host.starts_with('/') || host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// `%40` is `@`.
fn decoded(text: &str) -> Result<String, String> {
    let wrong = || "a % in it is not followed by the two digits of a byte: write % itself as %25".to_owned();
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2).ok_or_else(wrong)?;
        bytes.push(u8::from_str_radix(digits, 16).map_err(|_| wrong())?);
        bytes.extend(rest.as_bytes());
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

#[cfg(test)]
#[path = "../../tests/unit/db/address.rs"]
mod tests;
