//! Access rules by address, and two guards of which one will do.

use std::any::{TypeId, type_name};
use std::fmt;
use std::marker::PhantomData;
use std::net::IpAddr;

use super::{AddressRange, Guard, Security};
use crate::context::cx::Cx;
use skep_http::error::Error;
use skep_http::response::Result;

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
/// The address is that of the client; behind a proxy, the one that a [trusted proxy](crate::Cx::peer) reports. Who
/// comes without an address, such as over a unix socket, is in no network.
pub trait Network: 'static {
    /// The ranges, of which one must hold the address.
    const RANGES: &'static [AddressRange];
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

/// A guard: one of two will do. The second is asked if the first refuses, and who passes neither gets the answer of the
/// second. Both together are a pair, `(A, B)`.
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
