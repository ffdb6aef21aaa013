//! From a value of the right kind to what [`Config`](super::Config) holds.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use skep::Secret;
use skep::compression::{Coding, NotACoding, Private};
use skep::link::{BaseUrl, NotABaseUrl};
use skep::mail::{Mailbox, NotMailbox};
use skep::session::{CookieLife, SessionStore};
use skep::settings::Value;
use skep_observe::settings::{duration, list, number, text};

use super::fetch::FetchHosts;
use super::{Address, Model, StatusAddress, UnixAddress};
use crate::authority;
use crate::proxies::{Fields, Trusted};

/// What can be made from a value of the right kind.
pub(super) trait Take: Sized {
    fn take(value: &Value) -> Result<Self, String>;
}

macro_rules! take {
    ($($type:ty: |$value:ident| $taken:expr;)+) => {
        $(impl Take for $type {
            fn take($value: &Value) -> Result<Self, String> {
                $taken
            }
        })+
    };
}

take! {
    i32: |value| number(value);
    u32: |value| number(value);
    u64: |value| number(value);
    usize: |value| number(value);
    // `cookies.secure` is `always` or `auto`.
    bool: |value| Ok(matches!(&*value.to_string(), "true" | "always"));
    Duration: |value| Ok(duration(value));
    String: |value| Ok(value.to_string());
    PathBuf: |value| text(value).map(Into::into).ok_or_else(|| "expected a path".to_owned());
    Model: |value| Ok(if value.to_string() == "prefork" { Self::Prefork } else { Self::Thread });
    Vec<Coding>: |value| list(value).iter().map(|name| coding(name)).collect();
    Private: |value| Ok(private(&value.to_string()));
    CookieLife: |value| Ok(if value.to_string() == "lasting" { Self::Lasting } else { Self::Browser });
    SessionStore: |value| Ok(if value.to_string() == "cookie" { Self::Cookie } else { Self::Server });
    Trusted: |value| Self::parse(list(value));
    Fields: |value| Self::parse(list(value));
    // The setting `hosts`.
    Vec<String>: |value| list(value).iter().map(|host| authority::check_pattern(host).map(|()| host.clone())).collect();
    Vec<Address>: |value| list(value).iter().map(|said| address(said)).collect();
    FetchHosts: |value| Self::parse(list(value));
    StatusAddress: |value| text(value).map(|said| status_address(&said)).transpose().map(Self);
    Option<String>: |value| Ok(text(value));
    Option<Secret<String>>: |value| Ok(text(value).map(Secret::new));
    Option<PathBuf>: |value| Ok(text(value).map(Into::into));
    Option<Mailbox>: |value| text(value).map(|text| mailbox(&text)).transpose();
    Option<BaseUrl>: |value| text(value).map(|url| url.parse()).transpose().map_err(|error: NotABaseUrl| error.to_string());
    Option<Duration>: |value| Ok(Some(duration(value)).filter(|time| !time.is_zero()));
    Option<u64>: |value| Ok(Some(number(value)?).filter(|number| *number != 0));
}

fn mailbox(text: &str) -> Result<Mailbox, String> {
    text.parse().map_err(|wrong: NotMailbox| wrong.to_string())
}

fn coding(name: &str) -> Result<Coding, String> {
    let coding: Coding = name.parse().map_err(|error: NotACoding| error.to_string())?;
    if coding.is_built_in() {
        return Ok(coding);
    }
    let feature = if coding == Coding::Zstd { "zstd" } else { "compression" };
    Err(format!("\"{name}\" needs skep-server with the cargo feature {feature}"))
}

fn private(word: &str) -> Private {
    match word {
        "never" => Private::Never,
        "always" => Private::Always,
        _ => Private::SameOrigin,
    }
}

fn address(text: &str) -> Result<Address, String> {
    match text.parse::<skep_units::Address>().map_err(|invalid| invalid.to_string())? {
        skep_units::Address::Unix(_) => unix_address(text),
        skep_units::Address::Descriptor(number) => Ok(Address::Inherited(number)),
        skep_units::Address::Tcp { host, port } => {
            let addresses = resolve(&host, port).map_err(|problem| format!("\"{host}\": {problem}"))?;
            Ok(Address::Tcp { said: text.to_owned(), addresses })
        }
    }
}

/// `unix:PATH`, and options behind it. A path may have spaces.
fn unix_address(text: &str) -> Result<Address, String> {
    let (mut rest, mut mode, mut group) = (text.trim_end(), None, None);
    while let Some((before, word)) = rest.rsplit_once(char::is_whitespace) {
        match word.split_once('=').filter(|_| !word.contains('/')) {
            Some(("mode", value)) if mode.is_none() => mode = Some(permissions(value)?),
            Some(("group", name)) if group.is_none() && !name.is_empty() => group = Some(name.to_owned()),
            Some(_) => return Err(format!("\"{word}\": expected mode=0660 or group=NAME, each once")),
            None => break,
        }
        rest = before.trim_end();
    }
    let path = match rest.parse::<skep_units::Address>().map_err(|invalid| invalid.to_string())? {
        skep_units::Address::Unix(path) => path.into(),
        _ => return Err(format!("\"{rest}\": expected unix:PATH")),
    };
    Ok(Address::Unix(UnixAddress { path, mode, group }))
}

/// The digits of `chmod`.
fn permissions(digits: &str) -> Result<u32, String> {
    let is_octal = (3..=4).contains(&digits.len()) && digits.bytes().all(|digit| matches!(digit, b'0'..=b'7'));
    let mode = u32::from_str_radix(digits, 8).ok().filter(|mode| is_octal && *mode <= 0o777);
    mode.ok_or_else(|| format!("mode={digits}: expected permissions in octal, such as 0660 or 0666"))
}

/// Only addresses of this machine: the page shows what only operators may see.
fn status_address(text: &str) -> Result<Address, String> {
    let address = address(text)?;
    let is_local = match &address {
        Address::Tcp { addresses, .. } => addresses.iter().all(|address| address.ip().is_loopback()),
        Address::Unix(_) => true,
        Address::Inherited(_) => false,
    };
    let problem = "expected an address that only this machine reaches, such as 127.0.0.1:9100 or unix:/run/app/status.sock: metrics and \
                   status are for operators";
    if is_local { Ok(address) } else { Err(problem.to_owned()) }
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
