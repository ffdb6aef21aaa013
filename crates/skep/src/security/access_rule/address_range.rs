//! Ranges of addresses, as CIDR has them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// The addresses whose first bits are these, as CIDR has them (RFC 4632).
///
/// ```
/// use skep::guard::AddressRange;
///
/// let range = AddressRange::v4([10, 0, 0, 0], 8);
/// assert!(range.holds("10.1.2.3".parse().unwrap()) && range.holds("::ffff:10.1.2.3".parse().unwrap()));
/// assert!(!range.holds("11.0.0.0".parse().unwrap()) && !range.holds("::1".parse().unwrap()));
/// ```
///
/// More bits than an address has do not compile in a constant:
///
/// ```compile_fail,E0080
/// const WRONG: skep::guard::AddressRange = skep::guard::AddressRange::v4([10, 0, 0, 0], 33);
/// # let _ = WRONG;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRange {
    address: IpAddr,
    bits: u32,
}

impl AddressRange {
    /// IPv4 addresses. An example is at [`AddressRange`].
    ///
    /// # Panics
    /// If there are more than 32 bits.
    #[must_use]
    pub const fn v4(address: [u8; 4], bits: u32) -> Self {
        assert!(bits <= 32, "an IPv4 address has 32 bits");
        let [a, b, c, d] = address;
        Self { address: IpAddr::V4(Ipv4Addr::new(a, b, c, d)), bits }
    }

    /// IPv6 addresses. An example is at [`Network`](crate::guard::Network).
    ///
    /// # Panics
    /// If there are more than 128 bits.
    #[must_use]
    #[expect(clippy::many_single_char_names, reason = "they are the eight parts of an address")]
    pub const fn v6(address: [u16; 8], bits: u32) -> Self {
        assert!(bits <= 128, "an IPv6 address has 128 bits");
        let [a, b, c, d, e, f, g, h] = address;
        Self { address: IpAddr::V6(Ipv6Addr::new(a, b, c, d, e, f, g, h)), bits }
    }

    /// True if an address is one of these. An example is at [`AddressRange`].
    #[must_use]
    pub fn holds(self, address: IpAddr) -> bool {
        // A shift by all bits overflows in Rust, so no bits are a case of their own.
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                self.bits == 0 || (own.to_bits() ^ other.to_bits()) >> (32 - self.bits) == 0
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                self.bits == 0 || (own.to_bits() ^ other.to_bits()) >> (128 - self.bits) == 0
            }
            _ => false,
        }
    }
}

/// Why a text is no [`AddressRange`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotARange(String);

skep_units::error_text!(NotARange, |error| format_args!(
    "{:?} is no range of addresses: write 10.0.0.0/8, 2001:db8::/32 or one address",
    error.0
));

skep_settings::from_text!(AddressRange);

impl FromStr for AddressRange {
    type Err = NotARange;

    /// `10.0.0.0/8`, `2001:db8::/32`, or one address. Bits after the range must be 0: else one of the two is a slip.
    fn from_str(text: &str) -> Result<Self, NotARange> {
        let problem = || NotARange(text.to_owned());
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| problem())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = bits.map_or(Ok(most), |bits| bits.parse::<u8>().map(u32::from).map_err(|_| problem()))?;
        let rest = match address {
            _ if bits > most => return Err(problem()),
            _ if bits == most => 0,
            IpAddr::V4(address) => u128::from(address.to_bits() & (u32::MAX >> bits)),
            IpAddr::V6(address) => address.to_bits() & (u128::MAX >> bits),
        };
        // `::ffff:10.0.0.0/104` is `10.0.0.0/8`: clients have the shorter form.
        let four = match address {
            IpAddr::V6(six) => six.to_ipv4_mapped().zip(bits.checked_sub(96)),
            IpAddr::V4(_) => None,
        };
        let (address, bits) = four.map_or((address, bits), |(address, bits)| (address.into(), bits));
        if rest == 0 { Ok(Self { address, bits }) } else { Err(problem()) }
    }
}
