//! The PROXY protocol, versions 1 and 2: a header before the first byte of the client, which names it.

use std::io;
use std::net::SocketAddr;

use ppp::{HeaderResult, v1, v2};
use skep::Peer;
use tokio::io::{AsyncRead, AsyncReadExt};

/// Bytes that every header has: those of `PROXY UNKNOWN\r\n`.
const SHORTEST: usize = 15;
/// What every header of version 2 begins with: the signature, the command, the family and the length of the rest.
const BINARY_START: usize = 16;
/// Version 1: `PROXY TCP6 ...\r\n`.
const LONGEST_LINE: usize = 107;
/// Version 2: addresses and additional values; `HAProxy` sends 536 bytes at most.
const LONGEST: usize = 4096;

/// Reads the header of a connection, and no byte behind it, and returns the client it names. If it names none
/// (`UNKNOWN`, `LOCAL`, a unix socket), that is the proxy itself; its fields are not read in any case, as of all
/// connections with a header.
///
/// # Errors
/// If the connection does not begin with a valid header.
pub(crate) async fn read_header(socket: &mut (impl AsyncRead + Unpin), peer: Peer) -> io::Result<Peer> {
    let mut bytes = vec![0; SHORTEST];
    socket.read_exact(&mut bytes).await?;
    if bytes.starts_with(v2::PROTOCOL_PREFIX) {
        bytes.push(socket.read_u8().await?);
        let length = usize::from(u16::from_be_bytes([bytes[14], bytes[15]]));
        if length > LONGEST {
            return Err(invalid("it is too long"));
        }
        bytes.resize(BINARY_START + length, 0);
        socket.read_exact(&mut bytes[BINARY_START..]).await?;
    } else {
        if !bytes.starts_with(b"PROXY ") {
            return Err(invalid("it begins with neither version"));
        }
        while !bytes.ends_with(b"\n") && bytes.len() < LONGEST_LINE {
            bytes.push(socket.read_u8().await?);
        }
    }
    match HeaderResult::parse(&bytes) {
        HeaderResult::V1(Ok(header)) => Ok(of_text(header.addresses, peer)),
        HeaderResult::V2(Ok(header)) => Ok(of_binary(&header, peer)),
        HeaderResult::V1(Err(error)) => Err(invalid(&error.to_string())),
        HeaderResult::V2(Err(error)) => Err(invalid(&error.to_string())),
    }
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("invalid PROXY header: {why}"))
}

fn of_text(addresses: v1::Addresses, peer: Peer) -> Peer {
    let address = match addresses {
        v1::Addresses::Unknown => None,
        v1::Addresses::Tcp4(pair) => Some(SocketAddr::new(pair.source_address.into(), pair.source_port)),
        v1::Addresses::Tcp6(pair) => Some(SocketAddr::new(pair.source_address.into(), pair.source_port)),
    };
    Peer::new(address.or(peer.address), peer.tls)
}

fn of_binary(header: &v2::Header<'_>, peer: Peer) -> Peer {
    // A health check of the proxy itself.
    if header.command == v2::Command::Local {
        return peer;
    }
    let address = match header.addresses {
        v2::Addresses::IPv4(pair) => Some(SocketAddr::new(pair.source_address.into(), pair.source_port)),
        v2::Addresses::IPv6(pair) => Some(SocketAddr::new(pair.source_address.into(), pair.source_port)),
        v2::Addresses::Unix(_) | v2::Addresses::Unspecified => None,
    };
    // PP2_CLIENT_SSL, the first bit of PP2_TYPE_SSL: the client has connected to the proxy over TLS.
    let tls = header
        .tlvs()
        .flatten()
        .any(|value| value.kind == v2::Type::SSL as u8 && value.value.first().is_some_and(|flags| flags & 1 == 1));
    Peer::new(address.or(peer.address), peer.tls || tls)
}

#[cfg(test)]
#[path = "../../tests/unit/proxies/protocol.rs"]
mod tests;
