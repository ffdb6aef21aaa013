//! Proxies in front of the server: which are trusted, and what they report of a client.
//!
//! A proxy connects in the client's place. If it is trusted (`proxies.trusted`), the fields that it is known to write
//! ([`Forwarded`]) or its PROXY header ([`protocol`]) replace what the connection shows. Everyone else's are ignored:
//! anybody can write them.

mod forwarded;
mod protocol;

use std::net::IpAddr;

pub(crate) use forwarded::{Fields, Forwarded, NotForwarded, remove_unread};
use ipnet::{IpNet, Ipv4Net};
pub(crate) use protocol::read_header;
use skep::Peer;
use skep_settings::{FromSetting, settings};

settings! {
    /// The settings `proxies.*`.
    #[derive(Clone, Debug)]
    pub(crate) struct Proxies in "proxies" {
        /// Proxies in front of this server: addresses, networks, and `unix` for everyone who connects to a unix socket.
        /// Of what they report in the fields of `proxies.fields`, the rightmost address that is not trusted is the
        /// client's. The fields of all others are removed from their requests.
        trusted: Trusted = List("192.0.2.7, 10.0.0.0/8 or unix"), "";
        /// Header fields in which trusted proxies report clients: `x-forwarded-for`, `x-forwarded-proto`,
        /// `x-forwarded-host` and `x-forwarded-port`, or `forwarded` alone. Name those that every trusted proxy sets
        /// itself: proxies pass on what a client sends in all others, so `Forwarded` and `X-Forwarded-*` that are not
        /// named are removed from requests. Empty: none are read.
        fields: Fields = List("x-forwarded-for"), "x-forwarded-for; x-forwarded-proto";
        /// Trusted proxies send a PROXY header, version 1 or 2, before the first byte of the client. A connection of
        /// theirs without one is closed. `proxies.fields` are not read then.
        protocol: bool = Bool, false;
    }
}

/// The proxies that are trusted (the setting `proxies.trusted`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Trusted {
    networks: Vec<IpNet>,
    /// Everyone who connects to a unix socket.
    unix: bool,
}

impl FromSetting<[String]> for Trusted {
    fn from_setting(list: &[String]) -> Result<Self, String> {
        Self::parse(list)
    }
}

impl Trusted {
    /// Reads a list of networks, addresses and `unix`.
    pub(crate) fn parse(list: &[String]) -> Result<Self, String> {
        let mut trusted = Self::default();
        for text in list {
            if text == "unix" {
                trusted.unix = true;
                continue;
            }
            let network = text.parse::<IpNet>().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
            let network = network.map_err(|_| {
                format!("\"{text}\" is no network: write 10.0.0.0/8, 192.0.2.7, fd00::/8, or unix for unix sockets")
            })?;
            trusted.networks.push(canonical(network));
        }
        Ok(trusted)
    }

    /// True if no proxy is trusted.
    pub(crate) fn is_empty(&self) -> bool {
        self.networks.is_empty() && !self.unix
    }

    /// True if everyone who connects to a unix socket is trusted.
    pub(crate) fn includes_unix(&self) -> bool {
        self.unix
    }

    /// True if anybody at all is trusted who connects over IPv4 or IPv6.
    pub(crate) fn includes_everybody(&self) -> bool {
        self.networks.iter().any(|network| network.prefix_len() == 0)
    }

    /// Whether the peer of a connection is a trusted proxy.
    pub(crate) fn includes(&self, peer: Peer) -> bool {
        peer.address.map_or(self.unix, |address| self.includes_ip(address.ip()))
    }

    fn includes_ip(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.networks.iter().any(|network| network.contains(&address))
    }
}

/// `::ffff:10.0.0.0/104` is `10.0.0.0/8`.
fn canonical(network: IpNet) -> IpNet {
    let mapped = match network {
        IpNet::V6(six) => six.addr().to_ipv4_mapped().zip(six.prefix_len().checked_sub(96)),
        IpNet::V4(_) => None,
    };
    mapped.and_then(|(address, length)| Ipv4Net::new(address, length).ok()).map_or(network, IpNet::V4)
}

#[cfg(test)]
#[path = "../tests/unit/proxies.rs"]
mod tests;
