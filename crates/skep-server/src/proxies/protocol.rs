//! The PROXY protocol, versions 1 and 2: a header before the first byte of the client, which names it.

use std::io;

use ppp::{HeaderResult, v1, v2};
use skep::Peer;
use tokio::io::{AsyncRead, AsyncReadExt};

use super::client;

/// Bytes that every header has: those of `PROXY UNKNOWN\r\n`.
const SHORTEST: usize = 15;
/// What every header of version 2 begins with: the signature, the command, the family and the length of the rest.
const BINARY_START: usize = 16;
/// Version 1: `PROXY TCP6 ...\r\n`.
const LONGEST_LINE: usize = 107;
/// Version 2: addresses and additional values; `HAProxy` sends 536 bytes at most.
const LONGEST: usize = 4096;

/// Reads the header of a connection, and no byte behind it, and returns the client it names.
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
        v1::Addresses::Tcp4(pair) => Some(client(pair.source_address.into(), pair.source_port)),
        v1::Addresses::Tcp6(pair) => Some(client(pair.source_address.into(), pair.source_port)),
    };
    Peer::new(address.or(peer.address), peer.tls)
}

fn of_binary(header: &v2::Header<'_>, peer: Peer) -> Peer {
    // A health check of the proxy itself.
    if header.command == v2::Command::Local {
        return peer;
    }
    let address = match header.addresses {
        v2::Addresses::IPv4(pair) => Some(client(pair.source_address.into(), pair.source_port)),
        v2::Addresses::IPv6(pair) => Some(client(pair.source_address.into(), pair.source_port)),
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
mod tests {
    use super::*;

    fn read(mut bytes: &[u8]) -> Result<(String, bool, usize), String> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let proxy = Peer::new("10.0.0.1:1".parse().ok(), false);
        let peer = runtime.block_on(read_header(&mut bytes, proxy)).map_err(|error| error.to_string())?;
        Ok((peer.address.unwrap().to_string(), peer.tls, bytes.len()))
    }

    fn binary(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
        let length = u16::try_from(rest.len()).unwrap().to_be_bytes();
        [v2::PROTOCOL_PREFIX, &[0x20 | command, family], &length, rest].concat()
    }

    #[test]
    fn the_client_of_either_version_is_read_and_nothing_behind_it() {
        let text = b"PROXY TCP4 192.0.2.1 10.0.0.1 4711 80\r\nGET /";
        assert_eq!(read(text), Ok(("192.0.2.1:4711".to_owned(), false, 5)));
        assert_eq!(read(b"PROXY TCP6 2001:db8::1 ::1 4711 80\r\n").unwrap().0, "[2001:db8::1]:4711");
        assert_eq!(read(b"PROXY UNKNOWN\r\nG"), Ok(("10.0.0.1:1".to_owned(), false, 1)));
        let v4 = [192, 0, 2, 1, 10, 0, 0, 1, 0x12, 0x67, 0, 80];
        assert_eq!(
            read(&[binary(1, 0x11, &v4), b"GET".to_vec()].concat()),
            Ok(("192.0.2.1:4711".to_owned(), false, 3))
        );
        assert_eq!(read(&binary(0, 0, &[])), Ok(("10.0.0.1:1".to_owned(), false, 0)), "a health check");
        let over_tls = [&v4[..], &[0x20, 0, 5, 1, 0, 0, 0, 0]].concat();
        assert_eq!(read(&binary(1, 0x11, &over_tls)), Ok(("192.0.2.1:4711".to_owned(), true, 0)));
    }

    #[test]
    fn anything_else_is_an_error() {
        assert!(read(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap_err().contains("neither version"));
        assert!(read(&[b"PROXY TCP4 ", &[b'1'; 200][..]].concat()).is_err());
        assert!(read(b"PROXY TCP4 999.0.2.1 10.0.0.1 4711 80\r\n").is_err());
        assert!(read(&binary(1, 0x11, &[1, 2, 3])).is_err(), "too short for its addresses");
        assert!(read(&[v2::PROTOCOL_PREFIX, &[0x21, 0x11, 0xff, 0xff]].concat()).unwrap_err().contains("too long"));
        assert!(read(b"PROXY").is_err());
        let mut random = fastrand::Rng::with_seed(11);
        for _ in 0..5_000 {
            let mut bytes =
                binary(1, random.u8(..), &(0..random.usize(0..60)).map(|_| random.u8(..)).collect::<Vec<_>>());
            let at = random.usize(12..bytes.len());
            bytes[at] = random.u8(..);
            let _ = read(&bytes);
        }
    }
}
