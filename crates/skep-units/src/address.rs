//! Addresses of sockets: `127.0.0.1:8800`, `unix:/run/app.sock`.

use std::fmt;
use std::str::FromStr;

use crate::InvalidValue;

/// The address of a socket, to listen on or to connect to. Names are not resolved here.
///
/// ```
/// use skep_units::Address;
///
/// let address = Address::Tcp { host: "localhost".into(), port: 8800 };
/// assert_eq!("localhost:8800".parse(), Ok(address));
/// assert_eq!("unix:/run/app.sock".parse(), Ok(Address::Unix("/run/app.sock".into())));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A host and a port. An empty host (`:8800`, `*:8800`) is every address of this machine.
    Tcp {
        /// A name, an IPv4 address, or an IPv6 address in brackets.
        host: String,
        /// The port.
        port: u16,
    },
    /// The path of a unix socket.
    Unix(String),
    /// The number of a file descriptor that this process has inherited.
    Descriptor(i32),
}

impl FromStr for Address {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        parse(text.trim())
    }
}

fn parse(text: &str) -> Result<Address, InvalidValue> {
    let invalid = |expected: String| InvalidValue::new("address", text, expected);
    if let Some(path) = text.strip_prefix("unix:") {
        return match path {
            "" => Err(invalid("a path after unix:, such as unix:/run/app.sock".into())),
            path => Ok(Address::Unix(path.to_owned())),
        };
    }
    if let Some(number) = text.strip_prefix("fd:") {
        let number = number.parse().ok().filter(|number| *number >= 0);
        return number
            .map(Address::Descriptor)
            .ok_or_else(|| invalid("the number of a file descriptor after fd:, such as fd:3".into()));
    }
    let (host, port) = match split(text) {
        (host, Some(port)) => {
            (host, port.parse().map_err(|_| invalid("a port from 0 to 65535 after the colon".into()))?)
        }
        (host, None) => {
            return Err(invalid(match host.parse::<u16>() {
                Ok(port) => format!("a host, too: 127.0.0.1:{port}, or :{port} for every address"),
                Err(_) => without_port(host),
            }));
        }
    };
    let host = if host == "*" { "" } else { host };
    let is_v6 = host.starts_with('[') && host.ends_with(']') && host.len() > 2;
    if host.contains(|character: char| character.is_whitespace() || ",;/\"".contains(character))
        || host.contains([':', '[', ']']) && !is_v6
    {
        return Err(invalid("a name, an IPv4 address, or an IPv6 address in brackets before the port".into()));
    }
    Ok(Address::Tcp { host: host.to_owned(), port })
}

/// What is expected instead of a host alone.
fn without_port(host: &str) -> String {
    if !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_digit()) {
        return "a port from 0 to 65535".into();
    }
    if !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(&byte)) {
        return format!("a port, too, such as {host}:8800");
    }
    "HOST:PORT, unix:PATH or fd:NUMBER, such as 127.0.0.1:8800".into()
}

/// Host and port of `host:port`; the colons of `[::1]` are part of the host.
fn split(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (text, None),
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "unix:{path}"),
            Self::Descriptor(number) => write!(f, "fd:{number}"),
        }
    }
}
