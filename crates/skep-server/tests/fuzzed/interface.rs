//! For fuzz targets (`tools/fuzz`) only: what reads bytes of strangers before there is a request.

use std::io;
use std::ops::Range;

use http::HeaderMap;
use http::request::Parts;
use skep::Peer;

use crate::authority;
use crate::connection::http2::Traffic;
use crate::http1::{BodyLength, Chunked, Decoded, HeadReader, Limits};
use crate::proxies::{self, Fields, Forwarded, Trusted};

/// A head that was accepted.
#[derive(Debug)]
pub struct ReadHead {
    /// Its bytes.
    pub length: usize,
    /// The request without its body.
    pub parts: Parts,
    /// The length of the body; `None` if it is chunked.
    pub body: Option<u64>,
    /// True if another request may follow.
    pub keeps_alive: bool,
}

/// The head that these bytes begin with, which arrive piece by piece, once it is complete.
///
/// # Errors
/// If it is rejected: the status.
pub fn head(pieces: &[&[u8]]) -> Result<Option<ReadHead>, u16> {
    let limits = Limits { header_bytes: 64 << 10, header_fields: 100, url: 8 << 10 };
    let (mut reader, mut bytes) = (HeadReader::default(), Vec::new());
    for piece in pieces {
        bytes.extend_from_slice(piece);
        if let Some((head, length)) =
            reader.read(&bytes, &limits, b"").map_err(|rejection| rejection.status.as_u16())?
        {
            let body = if let BodyLength::Known(length) = head.body { Some(length) } else { None };
            let keeps_alive = head.framing.keeps_alive();
            return Ok(Some(ReadHead { length, parts: (*head.parts).into(), body, keeps_alive }));
        }
    }
    Ok(None)
}

/// A complete request.
#[derive(Debug)]
pub struct Message {
    /// The request without its body.
    pub parts: Parts,
    /// The data of its body.
    pub body: Vec<u8>,
    /// Its head in the bytes, with empty lines before it, and the body as it was sent.
    pub bytes: (Range<usize>, Range<usize>),
}

/// Why no other message follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessagesEnd {
    /// Nothing, or a part of a message, is left.
    Incomplete,
    /// The last message ends the connection.
    Closed,
    /// What follows is rejected.
    Rejected,
}

/// The complete messages that these bytes begin with, one after another.
#[must_use]
pub fn messages(bytes: &[u8]) -> (Vec<Message>, MessagesEnd) {
    let (mut messages, mut at) = (Vec::new(), 0);
    let end = loop {
        let head = match head(&[&bytes[at..]]) {
            Ok(Some(head)) => head,
            Ok(None) => break MessagesEnd::Incomplete,
            Err(_) => break MessagesEnd::Rejected,
        };
        let body_at = at + head.length;
        let rest = &bytes[body_at..];
        let body = match head.body.map(|length| usize::try_from(length).unwrap_or(usize::MAX)) {
            None => chunks(&[rest]),
            Some(length) => Ok(rest.get(..length).map(|body| (body.to_vec(), length))),
        };
        let (body, length) = match body {
            Ok(Some(body)) => body,
            Ok(None) => break MessagesEnd::Incomplete,
            Err(_) => break MessagesEnd::Rejected,
        };
        messages.push(Message { parts: head.parts, body, bytes: (at..body_at, body_at..body_at + length) });
        at = body_at + length;
        if !head.keeps_alive {
            break MessagesEnd::Closed;
        }
    };
    (messages, end)
}

/// True if this is a host, with or without a port.
#[must_use]
pub fn is_host(authority: &[u8]) -> bool {
    authority::is_valid(authority)
}

/// The data of a body in chunks, which arrives piece by piece, and how many bytes it had, once it is complete.
///
/// # Errors
/// If it is rejected: the status.
pub fn chunks(pieces: &[&[u8]]) -> Result<Option<(Vec<u8>, usize)>, u16> {
    let (mut chunked, mut data, mut length) = (Chunked::default(), Vec::new(), 0);
    for piece in pieces {
        let mut rest = *piece;
        loop {
            // As connections do; bytes in several pieces are read without, so that both are compared.
            if pieces.len() == 1 {
                let taken = chunked.take_small(rest, &mut data);
                (rest, length) = (&rest[taken..], length + taken);
            }
            let (taken, decoded) = chunked.decode(rest).map_err(|rejection| rejection.status.as_u16())?;
            (rest, length) = (&rest[taken..], length + taken);
            match decoded {
                Decoded::Data(bytes) => data.extend_from_slice(bytes),
                Decoded::More => break,
                Decoded::End => return Ok(Some((data, length))),
            }
        }
    }
    Ok(None)
}

/// What hyper gets of the bytes of an HTTP/2 client, which arrive piece by piece.
#[must_use]
pub fn http2(pieces: &[&[u8]]) -> Vec<u8> {
    let (mut traffic, mut bytes) = (Traffic::new(u32::MAX, 0), Vec::new());
    for piece in pieces {
        traffic.receive(piece, 0, |part| bytes.extend_from_slice(part));
    }
    [bytes, traffic.take_held()].concat()
}

/// The client, and the authority that it used, by the fields of a proxy with this address; it writes those of the list
/// `fields`, and networks of the list `trusted` are trusted.
///
/// # Errors
/// If a list is invalid, or if the fields are refused: why.
pub fn forwarded(
    headers: &HeaderMap,
    [trusted, fields]: [&[String]; 2],
    proxy: Peer,
) -> Result<(Peer, Option<String>), String> {
    let fields = Fields::parse(fields)?;
    let forwarded =
        Forwarded::read(&headers.clone().into(), &Trusted::parse(trusted)?, &fields).map_err(|why| why.0.to_owned())?;
    Ok((forwarded.apply(proxy), forwarded.host))
}

/// The client by a header of the PROXY protocol, which is taken from the front of `bytes`.
///
/// # Errors
/// If the header is malformed.
pub async fn proxy_header(bytes: &mut &[u8], proxy: Peer) -> io::Result<Peer> {
    proxies::read_header(bytes, proxy).await
}
