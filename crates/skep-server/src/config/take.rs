//! From a value of the right kind to what [`Config`](super::Config) holds.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use skep::link::{BaseUrl, NotABaseUrl};

use super::value::Value;
use super::{Address, Model};

/// What can be made from a value of the right kind.
pub(super) trait Take: Sized {
    fn take(value: &Value) -> Result<Self, String>;
}

macro_rules! take_number {
    ($($type:ty),+) => {
        $(impl Take for $type {
            fn take(value: &Value) -> Result<Self, String> {
                match value {
                    Value::Count(number) | Value::Size(number) => {
                        Self::try_from(*number).map_err(|_| "that is more than this machine can count".to_owned())
                    }
                    _ => unreachable!("the kind of this setting is a number"),
                }
            }
        })+
    };
}

take_number!(i32, u32, u64, usize);

impl Take for bool {
    fn take(value: &Value) -> Result<Self, String> {
        Ok(matches!(value, Value::Switch(true)))
    }
}

impl Take for Duration {
    fn take(value: &Value) -> Result<Self, String> {
        match value {
            Value::Time(time) => Ok(*time),
            _ => unreachable!("the kind of this setting is a time"),
        }
    }
}

impl Take for String {
    fn take(value: &Value) -> Result<Self, String> {
        Ok(value.to_string())
    }
}

impl Take for PathBuf {
    fn take(value: &Value) -> Result<Self, String> {
        let path = value.to_string();
        if path.is_empty() { Err("a path is needed here".to_owned()) } else { Ok(path.into()) }
    }
}

impl Take for Option<PathBuf> {
    fn take(value: &Value) -> Result<Self, String> {
        Ok(PathBuf::take(value).ok())
    }
}

impl Take for Option<BaseUrl> {
    fn take(value: &Value) -> Result<Self, String> {
        let text = value.to_string();
        if text.is_empty() { Ok(None) } else { text.parse().map(Some).map_err(|error: NotABaseUrl| error.to_string()) }
    }
}

impl Take for Vec<Address> {
    fn take(value: &Value) -> Result<Self, String> {
        let Value::List(list) = value else { unreachable!("the kind of this setting is a list") };
        list.iter().map(|said| address(said)).collect()
    }
}

fn address(said: &str) -> Result<Address, String> {
    if let Some(path) = said.strip_prefix("unix:") {
        return if path.is_empty() { Err("unix: needs a path".to_owned()) } else { Ok(Address::Unix(path.into())) };
    }
    if let Some(number) = said.strip_prefix("fd:") {
        return number
            .parse()
            .ok()
            .filter(|fd| *fd >= 0)
            .map(Address::Inherited)
            .ok_or_else(|| format!("\"{number}\" is not the number of a file descriptor"));
    }
    let (host, port) = said.rsplit_once(':').ok_or_else(|| match said.parse::<u16>() {
        Ok(port) => format!("a port alone is not an address; write 127.0.0.1:{port}, or :{port} for every address"),
        Err(_) if said.bytes().all(|byte| byte.is_ascii_digit()) => format!("\"{said}\" is not a port (0 to 65535)"),
        Err(_) => format!("\"{said}\" has no port; write {said}:8800"),
    })?;
    let port: u16 = port.parse().map_err(|_| format!("\"{port}\" is not a port (0 to 65535)"))?;
    let addresses = resolve(host, port).map_err(|problem| format!("\"{host}\": {problem}"))?;
    Ok(Address::Tcp { said: said.to_owned(), addresses })
}

fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, String> {
    // A v6 socket on `::` takes v4 connections, too.
    let host = if host.is_empty() || host == "*" { "[::]" } else { host };
    let mut addresses: Vec<SocketAddr> =
        format!("{host}:{port}").to_socket_addrs().map_err(|error| error.to_string())?.collect();
    addresses.sort();
    addresses.dedup();
    Ok(addresses)
}

impl Take for Model {
    fn take(value: &Value) -> Result<Self, String> {
        Ok(if value.to_string() == "prefork" { Self::Prefork } else { Self::Thread })
    }
}

impl Take for Option<Duration> {
    fn take(value: &Value) -> Result<Self, String> {
        Ok(Some(Duration::take(value)?).filter(|time| !time.is_zero()))
    }
}

impl Take for Option<u64> {
    fn take(value: &Value) -> Result<Self, String> {
        Ok(Some(u64::take(value)?).filter(|number| *number != 0))
    }
}

impl Take for Option<String> {
    fn take(value: &Value) -> Result<Self, String> {
        Ok(Some(value.to_string()).filter(|text| !text.is_empty()))
    }
}
