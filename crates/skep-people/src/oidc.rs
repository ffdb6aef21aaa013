//! Signing in with another provider by OpenID Connect. With the cargo feature `oidc`.
//!
//! The authorization code flow with PKCE (RFC 7636): [`Provider::begin`] sends the browser to the provider, and
//! [`Provider::complete`] makes of what it comes back with [`Claims`] that are verified. Which account they belong to
//! is the application's to say. Nothing here opens a socket: the provider is reached by [`Cx::fetch`](skep::Cx::fetch),
//! so `fetch.allow` must name its hosts. The how-to guide is `docs/guides/people/oidc.md`.
//!
//! Start reading at [`Provider::complete`]; `id_token` has what is asked of a token, `keys` which signatures count.

mod claims;
mod discovery;
mod error;
mod id_token;
mod keys;
mod provider;
mod query;
mod tokens;

pub use claims::Claims;
pub use error::OidcError;
pub use provider::Provider;
