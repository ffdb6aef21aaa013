//! Messages of HTTP/1: what is read of them depends neither on how they arrive nor on who reads them.
#![allow(unreachable_pub, reason = "as a module of a test nobody reaches it")]

use std::cell::RefCell;
use std::rc::Rc;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use skep_server::fuzz;
use tokio::io::AsyncWriteExt;

use super::framing::{self, Seen};

/// Fields that another parser can hold.
const FIELDS: usize = 128;

/// A head is the same wherever it is cut (the first two bytes say where). What is accepted is what a plain reading of
/// the rules accepts, and no more, and what `httparse` reads.
///
/// # Panics
/// If that does not hold.
pub fn head(data: &[u8]) {
    let Some((cut, bytes)) = data.split_first_chunk() else { return };
    let cut = usize::from(u16::from_le_bytes(*cut)) % (bytes.len() + 1);
    let (whole, parts) = (fuzz::head(&[bytes]), fuzz::head(&[&bytes[..cut], &bytes[cut..]]));
    // What cannot become a head may be rejected sooner or later.
    let is_rejected = |head: &Result<Option<_>, u16>| !matches!(head, Ok(Some(_)));
    assert!(is_rejected(&whole) && is_rejected(&parts) || shown(&whole) == shown(&parts), "cut at {cut}: {parts:?}");
    let ours = whole.as_ref().ok().and_then(Option::as_ref);
    let seen = ours.map(|head| (head.length, head.parts.headers.clone(), head.body));
    assert_eq!(seen, by_the_rules(bytes), "{}", bytes.escape_ascii());
    let Ok(Some(head)) = whole else { return };
    // Later minor versions and more fields are not its own.
    let start = bytes.iter().position(|byte| !matches!(byte, b'\r' | b'\n')).expect("there is a request line");
    let mut text = bytes[start..head.length].to_vec();
    let line = text.iter().position(|byte| *byte == b'\r').expect("the request line has an end");
    if text[line - 1] != b'0' {
        text[line - 1] = b'1';
    }
    let mut fields = [httparse::EMPTY_HEADER; FIELDS];
    let mut other = httparse::Request::new(&mut fields);
    assert_eq!(other.parse(&text), Ok(httparse::Status::Complete(text.len())), "{}", text.escape_ascii());
    assert_eq!(other.method, Some(head.parts.method.as_str()));
    let target = other.path.expect("complete");
    assert!(
        head.parts.uri == *target || target.contains('#') || head.parts.uri.to_string().starts_with(target),
        "{target}"
    );
    assert_eq!(other.headers.len(), head.parts.headers.len());
    for field in other.headers.iter() {
        let mut values = head.parts.headers.get_all(field.name).into_iter();
        assert!(values.any(|value| value.as_bytes() == field.value), "{}: {}", field.name, field.value.escape_ascii());
    }
}

/// A head as RFC 9112 has it, without anything that readers disagree on: its length, its fields, and the length of its
/// body unless that is in chunks. `None` if it is rejected or not complete. It is read slowly and in the simplest way,
/// to be held against what reads it fast.
fn by_the_rules(bytes: &[u8]) -> Option<(usize, HeaderMap, Option<u64>)> {
    let empty = bytes.chunks(2).take_while(|pair| pair == b"\r\n").count() * 2;
    let length = bytes[empty..].windows(4).position(|four| four == b"\r\n\r\n")?;
    let text: String = bytes[empty..empty + length].iter().map(|byte| char::from(*byte)).collect();
    let is_clean = !text.replace("\r\n", "").contains(|letter: char| letter.is_ascii_control() && letter != '\t');
    let mut lines = text.split("\r\n");
    let [method, target, version] = lines.next()?.split(' ').collect::<Vec<_>>()[..] else { return None };
    let minor = version.strip_prefix("HTTP/1.").filter(|minor| minor.len() == 1)?.parse::<u8>().ok()?;
    let fields: Vec<(&str, &str)> = lines.map(field_by_the_rules).collect::<Option<_>>()?;
    let is_small = empty + length + 4 <= 64 << 10 && target.len() <= 8 << 10 && fields.len() <= 100;
    let is_sound = is_clean && is_small && is_token(method) && is_target(target);
    let (body, map) = (body_by_the_rules(&fields, minor > 0)?, map_of(&fields)?);
    is_sound.then_some((empty + length + 4, map, body))
}

fn field_by_the_rules(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(':')?;
    is_token(name).then_some((name, value.trim_matches([' ', '\t'])))
}

/// RFC 9112, 3.2 and 6.3. The inner `None` is a body in chunks.
#[allow(clippy::option_option, reason = "the outer one is for `?`")]
fn body_by_the_rules(fields: &[(&str, &str)], version_11: bool) -> Option<Option<u64>> {
    let all = |name: &str| -> Vec<&str> {
        fields.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| *value).collect()
    };
    match all("host")[..] {
        [] if version_11 => return None,
        [] | [""] => {}
        [host] if fuzz::is_host(host.as_bytes()) => {}
        _ => return None,
    }
    match (&all("transfer-encoding")[..], &all("content-length")[..]) {
        ([], []) => Some(Some(0)),
        ([], [length]) if !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit()) => {
            length.parse().ok().filter(|length| *length <= 1 << 60).map(Some)
        }
        ([coding], []) if version_11 && coding.eq_ignore_ascii_case("chunked") => Some(None),
        _ => None,
    }
}

fn is_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

fn is_target(target: &str) -> bool {
    let bytes = latin1(target);
    let is_scheme = |scheme: &str| {
        let is_letter = |byte: u8| byte.is_ascii_alphabetic();
        scheme.bytes().next().is_some_and(is_letter)
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    };
    let uri = http::Uri::try_from(&bytes[..]);
    !bytes.iter().any(|byte| matches!(byte, 0..=b' ' | b'#' | 0x7f))
        && uri.is_ok_and(|uri| uri.scheme_str().is_none_or(is_scheme))
}

fn map_of(fields: &[(&str, &str)]) -> Option<HeaderMap> {
    let mut map = HeaderMap::new();
    for (name, value) in fields {
        let (name, value) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_bytes(&latin1(value)));
        map.append(name.ok()?, value.ok()?);
    }
    Some(map)
}

fn latin1(text: &str) -> Vec<u8> {
    text.chars().map(|letter| u8::try_from(letter).expect("each was a byte")).collect()
}

/// A body in chunks is the same wherever it is cut, and the same again when its data is sent in one chunk.
///
/// # Panics
/// If that does not hold.
pub fn chunks(data: &[u8]) {
    let Some((cut, bytes)) = data.split_first_chunk() else { return };
    let cut = usize::from(u16::from_le_bytes(*cut)) % (bytes.len() + 1);
    let whole = fuzz::chunks(&[bytes]);
    assert_eq!(whole, fuzz::chunks(&[&bytes[..cut], &bytes[cut..]]), "cut at {cut}");
    let Ok(Some((body, length))) = whole else { return };
    assert!(bytes[..length].ends_with(b"\r\n") && body.len() < length);
    let mut again = if body.is_empty() { Vec::new() } else { format!("{:x}\r\n", body.len()).into_bytes() };
    again.extend_from_slice(&body);
    again.extend_from_slice(if body.is_empty() { b"0\r\n\r\n" } else { b"\r\n0\r\n\r\n" });
    assert_eq!(fuzz::chunks(&[&again]), Ok(Some((body, again.len()))));
}

/// Messages that follow each other on a connection are for hyper what they are for us.
///
/// # Panics
/// If that does not hold.
pub fn messages(data: &[u8]) {
    let (ours, end) = fuzz::messages(data);
    // hyper refuses a later minor version.
    if ours.is_empty() || later_version(data) || has_many_lines(data) {
        return;
    }
    // It may be more lenient.
    let may_read_on = end == fuzz::MessagesEnd::Rejected;
    framing::compare("hyper", data, &ours, may_read_on, &of_hyper(data), |_| None);
}

/// hyper has a limit of its own for trailers.
fn has_many_lines(data: &[u8]) -> bool {
    data.split(|byte| *byte == b'\n').count() > 60
}

fn later_version(data: &[u8]) -> bool {
    data.windows(8).any(|part| part.starts_with(b"HTTP/1.") && part[7].is_ascii_digit() && part[7] > b'1')
}

/// What a server with hyper reads, with its usual settings.
fn of_hyper(data: &[u8]) -> Vec<Seen> {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let service = service_fn(|request: http::Request<Incoming>| {
        let seen = Rc::clone(&seen);
        async move {
            let (parts, body) = request.into_parts();
            let body = body.collect().await?.to_bytes().to_vec();
            seen.borrow_mut().push(Seen::new(&parts, body));
            // Not a success, with which CONNECT would end HTTP.
            let mut response = http::Response::new(Empty::<Bytes>::new());
            *response.status_mut() = http::StatusCode::NOT_FOUND;
            Ok::<_, hyper::Error>(response)
        }
    });
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let (mut client, server) = tokio::io::duplex(1 << 20);
        client.write_all(data).await.expect("there is room");
        client.shutdown().await.expect("it is open");
        let _ = http1::Builder::new().half_close(true).serve_connection(TokioIo::new(server), service).await;
    });
    seen.take()
}

fn shown(head: &Result<Option<fuzz::ReadHead>, u16>) -> String {
    format!("{head:?}")
}
