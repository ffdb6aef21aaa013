//! Bodies of requests that are read, and responses as a test asks for them.

use std::io::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};

use wasip2::http::types::{Fields, IncomingRequest, OutgoingBody, OutgoingResponse, ResponseOutparam};
use wasip2::io::streams::StreamError;

use super::text;

/// Reads all of the body, and says how much there was.
pub fn consume(request: &IncomingRequest, outparam: ResponseOutparam) {
    let body = request.consume().unwrap();
    let stream = body.stream().unwrap();
    let mut count = 0;
    let ended = loop {
        match stream.blocking_read(64 << 10) {
            Ok(bytes) => count += bytes.len(),
            Err(StreamError::Closed) => break "all".to_owned(),
            Err(StreamError::LastOperationFailed(error)) => break error.to_debug_string(),
        }
    };
    println!("read {count}: {ended}.");
    text(outparam, &format!("read {count}"));
}

/// `STATUS:LENGTH:BYTES`: claims a length, if it is a number, and writes `BYTES` bytes.
pub fn claims(query: &str, outparam: ResponseOutparam) {
    let mut parts = query.split(':');
    let mut next = || parts.next().unwrap();
    let (status, length, bytes) = (next().parse().unwrap(), next(), next().parse().unwrap());
    let fields: &[_] = if length.is_empty() { &[] } else { &[("content-length", length)] };
    send(status, fields, &"x".repeat(bytes), outparam);
}

/// `NAME=VALUE&...`: a page of 3000 bytes with these fields. `status` and `bytes` are not among them.
pub fn page(query: &str, outparam: ResponseOutparam) {
    let (mut status, mut bytes, mut fields) = (200, 3000, vec![("content-type", "text/html; charset=utf-8")]);
    for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
        match name {
            "status" => status = value.parse().unwrap(),
            "bytes" => bytes = value.parse().unwrap(),
            "content-type" => fields[0].1 = value,
            "tag" => fields.push(("etag", "\"x\"")),
            name => fields.push((name, value)),
        }
    }
    send(status, &fields, &"a page ".repeat(bytes / 7 + 1)[..bytes], outparam);
}

/// What the host refuses of it is its own affair.
fn send(status: u16, fields: &[(&str, &str)], body: &str, outparam: ResponseOutparam) {
    let headers = Fields::new();
    for (name, value) in fields {
        headers.append(name, value.as_bytes()).unwrap();
    }
    let response = OutgoingResponse::new(headers);
    response.set_status_code(status).unwrap();
    let outgoing = response.body().unwrap();
    ResponseOutparam::set(outparam, Ok(response));
    let mut stream = outgoing.write().unwrap();
    for piece in body.as_bytes().chunks(4096) {
        if stream.write_all(piece).is_err() {
            break;
        }
    }
    drop(stream);
    let _ = OutgoingBody::finish(outgoing, None);
}

/// `MIB:FILE`: takes so much memory, and holds it until the file is there.
pub fn hoard(query: &str, outparam: ResponseOutparam) {
    let (mib, file) = query.split_once(':').unwrap();
    let memory = vec![1u8; mib.parse::<usize>().unwrap() << 20];
    while !std::path::Path::new(file).exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    text(outparam, &std::hint::black_box(&memory).len().to_string());
}

/// True for the first request of an instance.
pub fn is_first() -> bool {
    static BEFORE: AtomicBool = AtomicBool::new(false);
    !BEFORE.swap(true, Ordering::Relaxed)
}

/// More than is gathered, and no end.
pub fn without_end(outparam: ResponseOutparam) {
    let response = OutgoingResponse::new(Fields::new());
    let body = response.body().unwrap();
    ResponseOutparam::set(outparam, Ok(response));
    let stream = body.write().unwrap();
    for _ in 0..100 {
        stream.blocking_write_and_flush(&[b'x'; 4096]).unwrap();
    }
    drop((stream, body));
}
