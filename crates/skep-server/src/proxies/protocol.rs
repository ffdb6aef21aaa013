//! The PROXY protocol, versions 1 and 2: a header before the first byte of the client, which names it.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use skep::Peer;
use tokio::io::{AsyncRead, AsyncReadExt};

/// What a header of version 2 begins with.
const SIGNATURE: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";
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
    if bytes.starts_with(SIGNATURE) {
        bytes.push(socket.read_u8().await?);
        let length = usize::from(u16::from_be_bytes([bytes[14], bytes[15]]));
        if length > LONGEST {
            return Err(invalid("it is too long"));
        }
        bytes.resize(BINARY_START + length, 0);
        socket.read_exact(&mut bytes[BINARY_START..]).await?;
        return of_binary(&bytes, peer).ok_or_else(|| invalid("its addresses cannot be read"));
    }
    if !bytes.starts_with(b"PROXY ") {
        return Err(invalid("it begins with neither version"));
    }
    while !bytes.ends_with(b"\n") && bytes.len() < LONGEST_LINE {
        bytes.push(socket.read_u8().await?);
    }
    of_text(&bytes, peer).ok_or_else(|| invalid("its addresses cannot be read"))
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("invalid PROXY header: {why}"))
}

/// The client of `PROXY TCP4 192.0.2.1 10.0.0.1 4711 80\r\n`.
fn of_text(line: &[u8], proxy: Peer) -> Option<Peer> {
    let line = line.strip_suffix(b"\r\n")?;
    // Whatever follows is to be ignored.
    if line.split(|byte| *byte == b' ').nth(1) == Some(b"UNKNOWN") {
        return Some(proxy);
    }
    let mut words = str::from_utf8(line).ok()?.split(' ').skip(1);
    let (family, rest) = (words.next()?, words.collect::<Vec<_>>());
    let [source, destination, port, own_port] = rest[..] else { return None };
    let address = |text: &str| -> Option<IpAddr> {
        match family {
            "TCP4" => text.parse::<Ipv4Addr>().ok().map(Into::into),
            "TCP6" => text.parse::<Ipv6Addr>().ok().map(Into::into),
            _ => None,
        }
    };
    // Both must be right, though only the client's is used.
    let (source, _, port, _) = (address(source)?, address(destination)?, number(port)?, number(own_port)?);
    Some(Peer::new(Some(SocketAddr::new(source, port)), proxy.tls))
}

/// A port, written by digits alone.
fn number(text: &str) -> Option<u16> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The client of a header of version 2, which is there with as many bytes as it says.
fn of_binary(header: &[u8], proxy: Peer) -> Option<Peer> {
    let (start, rest) = header.split_first_chunk::<BINARY_START>()?;
    match start[12] {
        // A health check of the proxy itself.
        0x20 => return Some(proxy),
        0x21 => {}
        _ => return None,
    }
    // The high half is the family, the low one says whether it is a stream.
    let (address, values) = match start[13] {
        0x11 | 0x12 => {
            let (pair, values) = rest.split_first_chunk::<12>()?;
            (Some(SocketAddr::new(Ipv4Addr::from(*pair.first_chunk()?).into(), port(&pair[8..])?)), values)
        }
        0x21 | 0x22 => {
            let (pair, values) = rest.split_first_chunk::<36>()?;
            (Some(SocketAddr::new(Ipv6Addr::from(*pair.first_chunk()?).into(), port(&pair[32..])?)), values)
        }
        0x31 | 0x32 => (None, rest.get(216..)?),
        0x00 => (None, rest),
        _ => return None,
    };
    Some(Peer::new(address.or(proxy.address), proxy.tls || is_over_tls(values)))
}

fn port(bytes: &[u8]) -> Option<u16> {
    bytes.first_chunk().copied().map(u16::from_be_bytes)
}

/// `PP2_CLIENT_SSL`, the first bit of any `PP2_TYPE_SSL`: the client has connected to the proxy over TLS.
fn is_over_tls(mut values: &[u8]) -> bool {
    const SSL: u8 = 0x20;
    while let Some(([kind, length @ ..], rest)) = values.split_first_chunk::<3>() {
        let Some((value, rest)) = rest.split_at_checked(u16::from_be_bytes(*length).into()) else { return false };
        if *kind == SSL && value.first().is_some_and(|flags| flags & 1 == 1) {
            return true;
        }
        values = rest;
    }
    false
}

#[cfg(test)]
#[path = "../../tests/unit/proxies/protocol.rs"]
mod tests;
