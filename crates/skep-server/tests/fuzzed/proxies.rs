//! What proxies report of a client, and what clients write to look like it.
#![allow(unreachable_pub, reason = "as a module of a test nobody reaches it")]

use std::future::Future;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use http::{HeaderMap, HeaderName, HeaderValue};
use skep::Peer;
use skep_server::fuzz;

const FIELDS: [&str; 5] = ["forwarded", "x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "x-forwarded-port"];

const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 9));

fn proxy() -> Peer {
    Peer::new("10.0.0.1:80".parse().ok(), false)
}

/// Whatever fields a client sends, it has the address from which it connected to the proxy, or it is refused. Each line
/// is a field; its first byte says which.
///
/// # Panics
/// If that does not hold.
pub fn forwarded(data: &[u8]) {
    let mut sent = HeaderMap::new();
    for line in data.split(|byte| *byte == b'\n') {
        let Some((name, value)) = line.split_first() else { continue };
        let Ok(value) = HeaderValue::from_bytes(value) else { continue };
        sent.append(FIELDS[usize::from(*name) % FIELDS.len()], value);
    }
    let trusted = ["10.0.0.0/8".to_owned()];
    let [standard, legacy] =
        [&FIELDS[..1], &FIELDS[1..]].map(|names| names.iter().copied().map(str::to_owned).collect());
    let read = |headers: &HeaderMap, fields: &Vec<String>| fuzz::forwarded(headers, [&trusted, fields], proxy());
    for fields in [&legacy, &standard] {
        if let Ok((_, Some(host))) = read(&sent, fields) {
            assert!(host.bytes().all(|byte| byte.is_ascii_graphic() && !b"/\\@?#".contains(&byte)), "{host:?}");
        }
    }
    for (fields, name, address) in
        [(&standard, "forwarded", "for=192.0.2.9"), (&legacy, "x-forwarded-for", "192.0.2.9")]
    {
        // An empty element at the end, or none, makes no difference.
        for headers in [with_field(&sent, name, address), with_element(&sent, name, address), {
            let mut headers = with_element(&sent, name, address);
            headers.append(name, HeaderValue::from_static(" , "));
            headers
        }] {
            let Ok((peer, _)) = read(&headers, fields) else { continue };
            assert_eq!(peer.address.map(|address| address.ip()), Some(CLIENT), "{headers:?}");
        }
    }
}

/// A proxy adds a field of its own.
fn with_field(sent: &HeaderMap, name: &'static str, address: &'static str) -> HeaderMap {
    let mut headers = sent.clone();
    headers.append(name, HeaderValue::from_static(address));
    headers
}

/// A proxy makes one field of all, and adds an element.
fn with_element(sent: &HeaderMap, name: &'static str, address: &'static str) -> HeaderMap {
    let mut values: Vec<&[u8]> = sent.get_all(name).into_iter().map(HeaderValue::as_bytes).collect();
    values.push(address.as_bytes());
    let mut headers = sent.clone();
    let value = HeaderValue::from_bytes(&values.join(&b", "[..])).expect("the parts are values");
    headers.insert(HeaderName::from_static(name), value);
    headers
}

/// A header of the PROXY protocol is read the same whatever is behind it, and nothing behind it is taken.
///
/// # Panics
/// If that does not hold.
pub fn proxy_header(data: &[u8]) {
    let Some((peer, rest)) = read(data) else { return };
    let header = &data[..data.len() - rest];
    assert!(header.len() <= 16 + 4096, "{} bytes", header.len());
    assert_eq!(read(header), Some((peer, 0)));
    assert_eq!(read(&[header, b"GET / HTTP/1.1\r\n"].concat()), Some((peer, 16)));
    assert!(header.is_empty() || read(&header[..header.len() - 1]).is_none(), "a part of a header is one");
}

/// The client, and the number of bytes behind.
fn read(mut bytes: &[u8]) -> Option<(Peer, usize)> {
    let peer = match pin!(fuzz::proxy_header(&mut bytes, proxy())).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(peer) => peer.ok()?,
        Poll::Pending => panic!("bytes in memory are there at once"),
    };
    Some((peer, bytes.len()))
}
