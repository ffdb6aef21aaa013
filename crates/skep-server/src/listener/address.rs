//! Addresses to listen on.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};

use skep_settings::FromSetting;

/// Where to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// An address, or those that a name stands for.
    Tcp {
        said: String,
        addresses: Vec<SocketAddr>,
    },
    Unix(UnixAddress),
    /// A socket that this process was started with.
    Inherited(i32),
}

/// A unix socket to listen on: `unix:/run/blog/blog.sock mode=0660 group=www-data`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnixAddress {
    pub(crate) path: PathBuf,
    /// Who can connect: the permissions of its file.
    pub(crate) mode: Option<u32>,
    pub(crate) group: Option<String>,
}

impl UnixAddress {
    /// Everybody on this machine can connect, as to a port of it.
    pub(crate) const EVERYBODY: u32 = 0o666;
    /// Its user and group can: each client is a trusted proxy.
    pub(crate) const GROUP: u32 = 0o660;
    const OWNER: u32 = 0o600;

    /// Its permissions, with those of the setting if nothing else is said.
    pub(crate) fn mode(&self) -> u32 {
        self.mode.unwrap_or(Self::OWNER)
    }
}

impl Address {
    pub(crate) fn unix(&self) -> Option<&UnixAddress> {
        match self {
            Self::Unix(address) => Some(address),
            _ => None,
        }
    }

    pub(crate) fn unix_path(&self) -> Option<&Path> {
        self.unix().map(|address| &*address.path)
    }
}

impl FromSetting<str> for Address {
    fn from_setting(text: &str) -> Result<Self, String> {
        address(text)
    }
}

pub(super) fn address(text: &str) -> Result<Address, String> {
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

fn resolve(host: &str, port: u16) -> Result<Vec<SocketAddr>, String> {
    // A v6 socket on `::` takes v4 connections, too.
    let host = if host.is_empty() { "[::]" } else { host };
    let mut addresses: Vec<SocketAddr> =
        format!("{host}:{port}").to_socket_addrs().map_err(|error| error.to_string())?.collect();
    addresses.sort();
    addresses.dedup();
    Ok(addresses)
}
