//! Guards: types that admit a request to a handler, or refuse it.
//!
//! A [`Guard`] is a field of a service (`#[guard] agent: Agent`), so that the handler has its value and cannot be
//! reached without it; or it is set before a prefix, for what does not need the value:
//! [`App::guard`](crate::App::guard). [`App::require`](crate::App::require) finds what has none.

mod access;
mod dynamic;
pub(crate) mod limit;
mod network;
mod prefix;
pub(crate) mod recheck;
mod scope;
mod state;

use std::any::{TypeId, type_name};

use crate::context::cx::Cx;
pub use crate::security::access_rule::{AccessRule, AddressRange, NotARange};
use skep_http::response::Result;

pub(crate) use access::AccessTable;
pub use access::UserName;
pub(crate) use dynamic::DynGuard;
pub use limit::{Count, Counters, Limited, RateLimit, too_many};
pub use network::{Either, FromNetwork, Network};
pub(crate) use prefix::{PrefixGuard, Reach};
pub use recheck::Recheck;
#[doc(hidden)]
pub use scope::{IsScope, ScopeColumn, scope};
pub use scope::{Scope, ScopeKind};
pub use state::State;

/// A condition that a request must meet before its handler runs: signed in, a role, a token, a rate limit.
///
/// [`check`](Self::check) returns a value, which the handler gets, or an error: an [`Error`](crate::Error), which
/// becomes the error page, or a [`Response`](crate::Response) by way of `Err(response.into())`, such as a redirect to
/// the page for signing in.
///
/// ```
/// use skep::guard::Guard;
/// use skep::prelude::*;
/// use skep::session::Key;
///
/// const NAME: Key<String> = Key::new("name");
///
/// /// Somebody who is signed in. Only the guard makes one.
/// struct Agent { name: String }
///
/// impl Guard for Agent {
///     async fn check(cx: &mut Cx<'_>) -> Result<Self> {
///         match cx.session().get(&NAME).await? {
///             Some(name) => Ok(Self { name }),
///             None => Err(Response::see_other(SignIn).into()),
///         }
///     }
/// }
///
/// #[derive(Service)]
/// #[service(GET "/tickets/{id}")]
/// struct Ticket { id: u32, #[guard] agent: Agent }
///
/// impl Handle for Ticket {
///     async fn handle(self, _cx: &mut Cx<'_>) -> Result {
///         Ok(Response::text(format!("ticket {} for {}", self.id, self.agent.name)))
///     }
/// }
///
/// #[derive(Service)]
/// #[service(GET "/sign-in", open = "it is how to get in")]
/// struct SignIn;
///
/// impl Handle for SignIn {
///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
///         cx.session().set(&NAME, &"Ada".to_owned()).await?;
///         // A link has no guards: only requests do.
///         Ok(Response::html(html! { a href=(Ticket::link(7)) { "Ticket 7" } }))
///     }
/// }
///
/// let client = skep::test::Client::new(App::new().serve(services![Ticket, SignIn]).require::<Agent>());
/// assert_eq!(client.get("/tickets/7").text(), r#"<a href="/tickets/7">Ticket 7</a>"#);
/// assert_eq!(client.get("/tickets/7").text(), "ticket 7 for Ada");
/// ```
///
/// # Order
/// After routing and the check of the origin, and inside all [layers](crate::layer::Layer): first the guards of
/// prefixes, then those of the service, in the order of its fields. Only then are parameters parsed and the body read,
/// so a client that is refused learns nothing of them and uploads nothing.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a guard",
    label = "this type cannot admit a request",
    note = "write `impl Guard for {Self} {{ async fn check(cx: &mut Cx<'_>) -> Result<Self> {{ ... }} }}`"
)]
pub trait Guard: Sized + 'static {
    /// What must be there when the application starts.
    const NEEDS: &'static [Need] = &[];

    /// False if its value is the same for all requests, such as that of [`State`]: it proves nobody's rows, so no
    /// [`Scope`] is made of it.
    #[doc(hidden)]
    const ADMITS: bool = true;

    /// Admits the request, or refuses it.
    #[expect(async_fn_in_trait, reason = "a handler stays on the thread that accepted its connection")]
    async fn check(cx: &mut Cx<'_>) -> Result<Self>;

    /// True if a request that passed this guard has passed `guard` too. Write it for a guard that checks another one,
    /// such as a role that implies being signed in: [`App::require`](crate::App::require) asks.
    ///
    /// ```
    /// use std::any::TypeId;
    /// use skep::guard::Guard;
    /// use skep::prelude::*;
    ///
    /// struct Agent;
    /// # impl Guard for Agent { async fn check(_cx: &mut Cx<'_>) -> Result<Self> { Ok(Self) } }
    /// struct Admin(Agent);
    ///
    /// impl Guard for Admin {
    ///     async fn check(cx: &mut Cx<'_>) -> Result<Self> {
    ///         let agent = Agent::check(cx).await?;
    ///         if cx.header(&skep::header::FROM) == Some("root") { Ok(Self(agent)) } else { Err(Error::forbidden("for administrators")) }
    ///     }
    ///
    ///     fn covers(guard: TypeId) -> bool {
    ///         guard == TypeId::of::<Self>() || Agent::covers(guard)
    ///     }
    /// }
    /// assert!(Admin::covers(TypeId::of::<Agent>()) && !Agent::covers(TypeId::of::<Admin>()));
    /// ```
    #[must_use]
    fn covers(guard: TypeId) -> bool {
        guard == TypeId::of::<Self>()
    }

    /// How a client proves who it is, for the OpenAPI document. `None`: the guard asks for nothing of that kind.
    #[must_use]
    fn security() -> Option<Security> {
        None
    }
}

/// Two guards as one: both admit, the first one first.
impl<A: Guard, B: Guard> Guard for (A, B) {
    async fn check(cx: &mut Cx<'_>) -> Result<Self> {
        let first = A::check(cx).await?;
        Ok((first, B::check(cx).await?))
    }

    fn covers(guard: TypeId) -> bool {
        A::covers(guard) || B::covers(guard)
    }

    fn security() -> Option<Security> {
        A::security().or_else(B::security)
    }
}

/// How a client proves who it is: a security scheme of OpenAPI (3.1.1, 4.8.27).
///
/// ```
/// use skep::guard::Security;
/// assert_ne!(Security::Bearer, Security::Cookie { name: "session" });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Security {
    /// `Authorization: Bearer TOKEN` (RFC 6750).
    Bearer,
    /// `Authorization: Basic ...` (RFC 7617).
    Basic,
    /// A cookie of this name.
    Cookie {
        /// The name of the cookie.
        name: &'static str,
    },
    /// A header field of this name.
    Header {
        /// The name of the field, such as `x-api-key`.
        name: &'static str,
    },
}

/// Something that a guard needs of its application, checked before the first request: [`Guard::NEEDS`].
///
/// ```
/// use skep::guard::{Guard, Need};
/// use skep::prelude::*;
///
/// struct Member;
///
/// impl Guard for Member {
///     const NEEDS: &'static [Need] = &[Need::DATABASE, Need::state::<std::sync::atomic::AtomicU64>()];
///
///     async fn check(_cx: &mut Cx<'_>) -> Result<Self> { Ok(Self) }
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Need {
    pub(crate) kind: NeedKind,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum NeedKind {
    Database,
    State(fn() -> TypeId, fn() -> &'static str),
}

impl Need {
    /// A database: [`App::database`](crate::App::database).
    pub const DATABASE: Self = Self { kind: NeedKind::Database };

    /// A value of this type: [`App::state`](crate::App::state).
    #[must_use]
    pub const fn state<T: Send + Sync + 'static>() -> Self {
        Self { kind: NeedKind::State(TypeId::of::<T>, type_name::<T>) }
    }
}

/// A guard of a service, without its type. Written by `#[derive(Service)]`.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct GuardInfo {
    pub(crate) name: &'static str,
    pub(crate) covers: fn(TypeId) -> bool,
    pub(crate) security: fn() -> Option<Security>,
    pub(crate) needs: &'static [Need],
    /// False for what admits every request, such as [`State`].
    pub(crate) refuses: bool,
}

impl GuardInfo {
    /// A guard, by the name of its type as the service writes it.
    #[must_use]
    pub const fn of<G: Guard>(name: &'static str) -> Self {
        Self { name, covers: G::covers, security: G::security, needs: G::NEEDS, refuses: true }
    }

    /// A [`State`].
    #[must_use]
    pub const fn of_state<G: Guard>(name: &'static str) -> Self {
        Self { refuses: false, ..Self::of::<G>(name) }
    }
}
