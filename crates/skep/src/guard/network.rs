//! Access rules by address, and two guards of which one will do.

use std::any::{TypeId, type_name};
use std::fmt;
use std::marker::PhantomData;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use super::{Guard, Security};
use crate::cx::Cx;
use crate::error::Error;
use crate::response::Result;

/// Addresses that may do something, for [`FromNetwork`].
///
/// ```
/// use skep::guard::{AddressRange, FromNetwork, Network};
/// use skep::prelude::*;
///
/// struct Office;
///
/// impl Network for Office {
///     const RANGES: &'static [AddressRange] =
///         &[AddressRange::v4([192, 0, 2, 0], 24), AddressRange::v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32)];
/// }
///
/// // Before everything below a prefix: services, files and mounts.
/// let app = App::new().files("/internal", skep::files::Files::dir("tests/site")).guard::<FromNetwork<Office>>("/internal");
/// assert_eq!(skep::test::Client::new(app).get("/internal/hello.txt").status(), 403);
/// ```
///
/// The address is that of the client; behind a proxy, the one that a [trusted proxy](crate::Cx::peer) reports. Who comes without an
/// address, such as over a unix socket, is in no network.
pub trait Network: 'static {
    /// The ranges, of which one must hold the address.
    const RANGES: &'static [AddressRange];
}

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

    /// IPv6 addresses. An example is at [`Network`].
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
        // A shift by all bits is none at all in Rust, so no bits are a case of their own.
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

error_text!(NotARange, |error| format_args!(
    "{:?} is no range of addresses: write 10.0.0.0/8, 2001:db8::/32 or one address",
    error.0
));

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
        if rest == 0 { Ok(Self { address, bits }) } else { Err(problem()) }
    }
}

/// A guard: admits clients whose address is in a [`Network`], which has an example. Others get a 403.
pub struct FromNetwork<N>(PhantomData<fn() -> N>);

impl<N: Network> Guard for FromNetwork<N> {
    async fn check(cx: &mut Cx<'_>) -> Result<Self> {
        let is_inside = |address: IpAddr| N::RANGES.iter().any(|range| range.holds(address));
        if cx.peer().address.is_some_and(|address| is_inside(address.ip())) {
            return Ok(Self(PhantomData));
        }
        Err(Error::forbidden("This is not open to your network."))
    }
}

impl<N> fmt::Debug for FromNetwork<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FromNetwork<{}>", type_name::<N>())
    }
}

/// A guard: one of two will do. The second is asked if the first refuses, and who passes neither gets the answer of the second. Both
/// together are a pair, `(A, B)`.
///
/// ```
/// use skep::guard::{AddressRange, Either, FromNetwork, Guard, Network};
/// use skep::prelude::*;
///
/// struct Here;
/// impl Network for Here {
///     const RANGES: &'static [AddressRange] = &[AddressRange::v4([127, 0, 0, 1], 32)];
/// }
///
/// struct Token;
/// impl Guard for Token {
///     async fn check(cx: &mut Cx<'_>) -> Result<Self> {
///         let token = cx.header(&skep::header::AUTHORIZATION);
///         if token == Some("Bearer letmein") { Ok(Self) } else { Err(Error::unauthorized("a token, please")) }
///     }
/// }
///
/// let app = App::new().files("/metrics", skep::files::Files::dir("tests/site")).guard::<Either<FromNetwork<Here>, Token>>("/metrics");
/// let client = skep::test::Client::new(app);
/// assert_eq!(client.get("/metrics/hello.txt").status(), 401);
/// let with_token = client.request(skep::Method::GET, "/metrics/hello.txt").header("authorization", "Bearer letmein").send();
/// assert_eq!(with_token.status(), 200);
/// ```
#[derive(Debug)]
pub enum Either<A, B> {
    /// The first one admits.
    First(A),
    /// The first one does not, and the second one does.
    Second(B),
}

impl<A: Guard, B: Guard> Guard for Either<A, B> {
    async fn check(cx: &mut Cx<'_>) -> Result<Self> {
        match A::check(cx).await {
            Ok(first) => Ok(Self::First(first)),
            Err(error) if error.is_ours() => Err(error),
            Err(_) => B::check(cx).await.map(Self::Second),
        }
    }

    fn covers(guard: TypeId) -> bool {
        guard == TypeId::of::<Self>() || (A::covers(guard) && B::covers(guard))
    }

    fn security() -> Option<Security> {
        A::security().or_else(B::security)
    }
}
