//! From a value of the right kind to what [`Config`](super::Config) holds.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use skep::link::{BaseUrl, NotABaseUrl};

use super::{Address, Model};
use crate::authority;
use crate::proxies::Trusted;
use skep::settings::Value;

/// What can be made from a value of the right kind.
pub(super) trait Take: Sized {
    fn take(value: &Value) -> Result<Self, String>;
}

macro_rules! take_number {
    ($($type:ty),+) => {
        $(impl Take for $type {
            fn take(value: &Value) -> Result<Self, String> {
                match value {
                    Value::Number(number) | Value::Size(number) => {
                        Self::try_from(*number).map_err(|_| "the number is too large for this machine".to_owned())
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
        Ok(matches!(value, Value::Bool(true)))
    }
}

impl Take for Duration {
    fn take(value: &Value) -> Result<Self, String> {
        match value {
            Value::Duration(time) => Ok(*time),
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
        if path.is_empty() { Err("expected a path".to_owned()) } else { Ok(path.into()) }
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

impl Take for Trusted {
    fn take(value: &Value) -> Result<Self, String> {
        Self::parse(list(value))
    }
}

/// The setting `hosts`.
impl Take for Vec<String> {
    fn take(value: &Value) -> Result<Self, String> {
        let hosts = list(value);
        hosts.iter().try_for_each(|host| authority::check_pattern(host))?;
        Ok(hosts.to_vec())
    }
}

fn list(value: &Value) -> &[String] {
    let Value::List(list) = value else { unreachable!("the kind of this setting is a list") };
    list
}

impl Take for Vec<Address> {
    fn take(value: &Value) -> Result<Self, String> {
        list(value).iter().map(|said| address(said)).collect()
    }
}

fn address(text: &str) -> Result<Address, String> {
    match text.parse::<skep_units::Address>().map_err(|invalid| invalid.to_string())? {
        skep_units::Address::Unix(path) => Ok(Address::Unix(path.into())),
        skep_units::Address::Descriptor(number) => Ok(Address::Inherited(number)),
        skep_units::Address::Tcp { host, port } => {
            let addresses = resolve(&host, port).map_err(|problem| format!("\"{host}\": {problem}"))?;
            Ok(Address::Tcp { said: text.to_owned(), addresses })
        }
    }
}

fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, String> {
    // A v6 socket on `::` takes v4 connections, too.
    let host = if host.is_empty() { "[::]" } else { host };
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
