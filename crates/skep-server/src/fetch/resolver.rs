//! Connections to the addresses of a name that a request may go to.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::vec::IntoIter;

use http::Uri;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;

use crate::outgoing::{NOT_ADMITTED, Reach};

/// Makes connections.
#[derive(Clone, Debug)]
pub(super) struct Connector(pub(super) Arc<Reach>);

/// Asks the system, for a connection to this port.
#[derive(Clone, Debug)]
struct Resolver {
    reach: Arc<Reach>,
    port: u16,
}

/// A name has no address that may be used.
#[derive(Debug)]
pub(super) struct NotAdmitted;

type Connecting<T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send>>;

impl Service<Uri> for Connector {
    type Response = TokioIo<TcpStream>;
    type Error = Box<dyn Error + Send + Sync>;
    type Future = Connecting<Self::Response, Self::Error>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        let resolver = Resolver { reach: Arc::clone(&self.0), port: super::port(&to) };
        let mut http = HttpConnector::new_with_resolver(resolver);
        http.enforce_http(false);
        http.set_nodelay(true);
        Box::pin(async move { http.call(to).await.map_err(Into::into) })
    }
}

impl Service<Name> for Resolver {
    type Response = IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = Connecting<Self::Response, io::Error>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let Self { reach, port } = self.clone();
        Box::pin(async move {
            let all = GaiResolver::new().call(name).await?;
            let is_admitted = |address: &SocketAddr| reach.admits(SocketAddr::new(address.ip(), port));
            let usable: Vec<_> = all.filter(is_admitted).collect();
            if usable.is_empty() {
                return Err(io::Error::other(NotAdmitted));
            }
            Ok(usable.into_iter())
        })
    }
}

impl fmt::Display for NotAdmitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NOT_ADMITTED)
    }
}

impl Error for NotAdmitted {}
