//! How a connection ends: in order, so that the other side sees the last answer.
//!
//! A socket that is closed while bytes lie unread in it is reset, and a reset overtakes the answer. So we say that we
//! are done, and then read on for a while what nobody wants.

use std::future::poll_fn;
use std::time::Duration;

use http::header::{CONNECTION, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use skep::{Error, Response};

use super::socket::Socket;
use super::wire::Wire;
use super::{Bounds, Connection, Context, End, Expired};
use crate::log::Line;

/// How long, and how much, we read on.
const LINGER: Duration = Duration::from_secs(2);
const LINGER_BYTES: usize = 1 << 20;

/// Brings a connection to its end: an error page where one is due, what is still to be sent, goodbye.
pub(super) async fn close(connection: &Connection, end: End) {
    let error = match end {
        End::Broken(error) => return tracing::debug!(%error, peer = connection.peer_text, "connection broken"),
        End::Expired(Expired::Write) => {
            return tracing::debug!(peer = connection.peer_text, "the client does not read");
        }
        End::Expired(Expired::Idle) => None,
        End::Expired(Expired::Head) if !connection.wire().received() => None,
        End::Expired(Expired::Head) => Some(late()),
        End::Refused => {
            connection.wire().refusal().map(|refusal| Error::new(refusal.status).with_message(refusal.message))
        }
        End::Http(result) => of_http(connection, result),
    };
    // HTTP/2 has said goodbye in its own way.
    let error = error.filter(|_| !connection.wire().is_raw());
    let mut page = Vec::new();
    if let Some(error) = &error {
        let mut response = connection.context.local.failure(error);
        page = write_response(&mut response);
        log(connection, &response);
    }
    let linger = error.is_some() || connection.wire().has_unread();
    let patience = connection.context.limits.write_idle;
    let _ = tokio::time::timeout(patience, say_goodbye(connection, &page, linger)).await;
}

fn late() -> Error {
    Error::new(StatusCode::REQUEST_TIMEOUT).with_message("the request took too long to arrive")
}

/// The page that hyper's bare reply is replaced with, if there was one.
fn of_http(connection: &Connection, result: hyper::Result<()>) -> Option<Error> {
    let error = result.err()?;
    tracing::debug!(%error, peer = connection.peer_text, "connection ended");
    let status = connection.wire().automatic()?;
    Some(Error::new(status).with_cause(error))
}

async fn say_goodbye(connection: &Connection, page: &[u8], linger: bool) -> std::io::Result<()> {
    // A body may still be on its way; the page comes after it.
    poll_fn(|cx| connection.wire().poll_flush(cx)).await?;
    connection.wire().push(page);
    poll_fn(|cx| connection.wire().poll_flush(cx)).await?;
    poll_fn(|cx| connection.wire().poll_shutdown(cx)).await?;
    if linger {
        let _ = tokio::time::timeout(LINGER, discard(|cx| connection.wire().poll_discard(cx))).await;
    }
    Ok(())
}

async fn discard(mut poll: impl FnMut(&mut std::task::Context<'_>) -> std::task::Poll<std::io::Result<usize>>) {
    let mut left = LINGER_BYTES;
    while let Ok(count @ 1..) = poll_fn(&mut poll).await {
        let Some(rest) = left.checked_sub(count) else { return };
        left = rest;
    }
}

fn log(connection: &Connection, response: &Response) {
    if let Some(access) = &connection.context.access {
        access.write(&Line {
            peer: &connection.peer_text,
            method: "-",
            target: "-",
            status: Some(response.status()),
            bytes: response.body().len().unwrap_or(0),
            time: Duration::ZERO,
        });
    }
}

/// Turns away a connection that came when there were enough (503), without taking it in.
pub(crate) async fn refuse(context: &Context, socket: Socket) {
    let error = Error::new(StatusCode::SERVICE_UNAVAILABLE)
        .with_message("there are too many connections; try again in a moment")
        .with_header(RETRY_AFTER, HeaderValue::from_static("5"));
    let bytes = write_response(&mut context.local.failure(&error));
    let mut wire = Wire::new(socket, Bounds { bytes: 0, fields: 0, target: 0 });
    wire.push(&bytes);
    let _ = tokio::time::timeout(LINGER, async {
        poll_fn(|cx| wire.poll_flush(cx)).await?;
        poll_fn(|cx| wire.poll_shutdown(cx)).await?;
        discard(|cx| wire.poll_discard(cx)).await;
        Ok::<_, std::io::Error>(())
    })
    .await;
}

/// A whole response as bytes, for a connection that ends with it.
fn write_response(response: &mut Response) -> Vec<u8> {
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("close"));
    if let Ok(date) = HeaderValue::try_from(httpdate::fmt_http_date(std::time::SystemTime::now())) {
        headers.entry(http::header::DATE).or_insert(date);
    }
    let body = response.body().as_whole().unwrap_or_default().to_vec();
    response.headers_mut().insert(http::header::CONTENT_LENGTH, body.len().into());
    let status = response.status();
    let mut bytes =
        format!("HTTP/1.1 {} {}\r\n", status.as_str(), status.canonical_reason().unwrap_or("Error")).into_bytes();
    for (name, value) in response.headers() {
        bytes.extend_from_slice(name.as_str().as_bytes());
        bytes.extend_from_slice(b": ");
        bytes.extend_from_slice(value.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(&body);
    bytes
}
