//! For fuzz targets (`tools/fuzz`) only: what reads bytes of strangers before there is a request.

use std::io;

use http::HeaderMap;
use skep::Peer;

use crate::proxies::{self, Forwarded, Trusted};

/// The client, and the authority that it used, by these fields of a proxy with this address; networks of the list are trusted.
///
/// # Errors
/// If a network is none, or if the fields are refused: why.
pub fn forwarded(headers: &HeaderMap, trusted: &[String], proxy: Peer) -> Result<(Peer, Option<String>), String> {
    let forwarded = Forwarded::read(headers, &Trusted::parse(trusted)?).map_err(|why| why.0.to_owned())?;
    Ok((forwarded.apply(proxy), forwarded.host))
}

/// The client by a header of the PROXY protocol, which is taken from the front of `bytes`.
///
/// # Errors
/// If it is none.
pub async fn proxy_header(bytes: &mut &[u8], proxy: Peer) -> io::Result<Peer> {
    proxies::read_header(bytes, proxy).await
}
