//! The networks that count as one client.

use std::fmt::{self, Display};
use std::net::IpAddr;

use crate::request::Peer;

/// Addresses that count as one client: [`Peer::subnets`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Subnet {
    bits: u128,
    length: u8,
    share: u32,
}

impl Subnet {
    /// How many times the limit of one client it has: it may hold many of them.
    #[must_use]
    pub fn share(self) -> u32 {
        self.share
    }
}

extension! {
    /// What a framework does with a subnet.
    pub trait SubnetExt for Subnet {
        /// No network: what is counted has this number.
        fn numbered(bits: u128) -> Self {
            Self { bits, ..Self::default() }
        }

        /// True if it is one of IPv6, and none of IPv4.
        fn is_in_version_6(&self) -> bool {
            self.length > 32
        }

        /// The length of its prefix, and its address.
        fn to_bytes(self) -> [u8; 17] {
            let mut bytes = [self.length; 17];
            bytes[1..].copy_from_slice(&self.bits.to_be_bytes());
            bytes
        }
    }
}

impl Default for Subnet {
    fn default() -> Self {
        Self { bits: 0, length: 0, share: 1 }
    }
}

impl Display for Subnet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}/{}", self.bits, self.length)
    }
}

/// The networks that a client counts for, the widest one first: /24 and /32 of IPv4, /48, /56 and /64 of IPv6, which
/// subscribers get. None without an address.
pub fn subnets(peer: Peer) -> impl DoubleEndedIterator<Item = Subnet> + Clone {
    let (bits, whole, lengths) = match peer.address.map(|address| address.ip().to_canonical()) {
        None => (0, 0, &[][..]),
        Some(IpAddr::V4(address)) => (u128::from(address.to_bits()), 32, &[(24, 32), (32, 1)][..]),
        Some(IpAddr::V6(address)) => (address.to_bits(), 128, &[(48, 32), (56, 4), (64, 1)][..]),
    };
    let network = move |(length, share): &(u8, u32)| {
        let host = u32::from(whole - length);
        Subnet { bits: bits >> host << host, length: *length, share: *share }
    };
    lengths.iter().map(network)
}

/// Where a client counts if the table is full.
pub fn widest(peer: Peer) -> Option<Subnet> {
    subnets(peer).next()
}
