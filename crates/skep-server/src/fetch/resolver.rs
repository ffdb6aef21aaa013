//! From a name to the addresses that a connection may be made to.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::vec::IntoIter;

use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use tower_service::Service;

use crate::config::is_public;

/// Asks the system.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resolver {
    /// Gives no other addresses than those of the internet.
    pub(super) only_public: bool,
}

/// A name has no address that may be used.
#[derive(Debug)]
pub(super) struct NotPublic;

impl Service<Name> for Resolver {
    type Response = IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<IntoIter<SocketAddr>>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let only_public = self.only_public;
        Box::pin(async move {
            let all = GaiResolver::new().call(name).await?;
            let usable: Vec<_> = all.filter(|address| !only_public || is_public(address.ip())).collect();
            if only_public && usable.is_empty() {
                return Err(io::Error::other(NotPublic));
            }
            Ok(usable.into_iter())
        })
    }
}

impl fmt::Display for NotPublic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name has no address of the public internet")
    }
}

impl std::error::Error for NotPublic {}
