//! Closing a connection so that the client receives the last response.
//!
//! Closing a socket with unread input resets the connection, and the reset may overtake the response. So this module
//! shuts down writing first, and discards input for a while.

use std::cell::RefCell;
use std::future::poll_fn;
use std::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderValue, StatusCode};
use skep::{Error, Response};
use skep_observe::log::AccessLine;
use skep_observe::metrics::Counter;

use super::socket::Socket;
use super::wire::Wire;
use super::{Connection, Context, End, TimedOut};
use crate::http1::{ResponseFields, ResponseLength, StatusLine, write_head};

/// How long, and how much, input is discarded.
const LINGER: Duration = Duration::from_secs(2);
const LINGER_BYTES: usize = 1 << 20;

/// How long a client that floods the server has to read that it is sent away.
const LAST_WORD: Duration = Duration::from_millis(100);

/// Closes a connection: sends an error page where one is due, and what is still to be sent.
pub(super) async fn close(connection: &Connection, end: End) {
    let error = match end {
        End::Io(error) => return tracing::debug!(%error, peer = connection.peer_text, "connection broken"),
        End::TimedOut(TimedOut::Write) => {
            return tracing::debug!(peer = connection.peer_text, "write timeout");
        }
        End::TimedOut(TimedOut::Gone) => {
            return tracing::debug!(peer = connection.peer_text, "the client left before its response");
        }
        End::TimedOut(why @ (TimedOut::Resets | TimedOut::ControlFrames)) => {
            let text = match why {
                TimedOut::Resets => "cancels too many requests (limits.http2_resets)",
                _ => "sends too many frames that carry nothing (limits.http2_control_frames)",
            };
            tracing::debug!(peer = connection.peer_text, "the client {text}");
            // GOAWAY tells it why, if it listens.
            let _ = tokio::time::timeout(LAST_WORD, finish(&connection.wire, &[], true)).await;
            return;
        }
        End::Done | End::TimedOut(TimedOut::Idle) => None,
        End::TimedOut(TimedOut::Head) if !connection.wire().received => None,
        End::TimedOut(TimedOut::Head) => {
            Some(Error::new(StatusCode::REQUEST_TIMEOUT).with_message("the request took too long to arrive"))
        }
        End::Rejected(rejection) => Some(Error::new(rejection.status).with_message(rejection.message)),
    };
    if error.as_ref().is_some_and(|error| error.status() == StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE) {
        connection.context.count_event(Counter::HeaderSize);
    }
    // HTTP/2 has sent GOAWAY.
    let error = error.filter(|_| !connection.wire().is_http2());
    let mut page = Vec::new();
    if let Some(error) = &error {
        let response = connection.context.local.failure(error);
        log(connection, &response);
        page = write_response(&connection.context, response);
    }
    let linger = error.is_some() || connection.wire().has_unread_input();
    let patience = connection.context.limits.write_idle;
    let _ = tokio::time::timeout(patience, finish(&connection.wire, &page, linger)).await;
}

async fn finish(wire: &RefCell<Wire>, page: &[u8], linger: bool) -> std::io::Result<()> {
    // The rest of a body comes before the page.
    poll_fn(|cx| wire.borrow_mut().poll_flush(cx)).await?;
    wire.borrow_mut().push(page);
    poll_fn(|cx| wire.borrow_mut().poll_flush(cx)).await?;
    poll_fn(|cx| wire.borrow_mut().poll_shutdown(cx)).await?;
    if linger {
        let _ = tokio::time::timeout(LINGER, discard(wire)).await;
    }
    Ok(())
}

async fn discard(wire: &RefCell<Wire>) {
    let mut left = LINGER_BYTES;
    while let Ok(count @ 1..) = poll_fn(|cx| wire.borrow_mut().poll_discard(cx)).await {
        let Some(rest) = left.checked_sub(count) else { return };
        left = rest;
    }
}

fn log(connection: &Connection, response: &Response) {
    if let Some(access) = &connection.context.access {
        access.write(&AccessLine {
            peer: &connection.peer_text,
            method: "-",
            target: "-",
            status: Some(response.status()),
            bytes: response.body().len().unwrap_or(0),
            ..AccessLine::default()
        });
    }
}

/// Rejects a connection because there are too many (503).
pub(crate) async fn reject(context: &Context, socket: Socket) {
    let error = Error::new(StatusCode::SERVICE_UNAVAILABLE)
        .with_message("there are too many connections; try again in a moment")
        .with_header(RETRY_AFTER, HeaderValue::from_static("5"));
    // Nothing else may have happened on this thread so far, or for a while.
    context.tick();
    let bytes = write_response(context, context.local.failure(&error));
    let wire = RefCell::new(Wire::new(socket));
    let _ = tokio::time::timeout(LINGER, finish(&wire, &bytes, true)).await;
}

/// Serialises a response with which a connection ends.
fn write_response(context: &Context, response: Response) -> Vec<u8> {
    let response = response.into_written();
    let body = response.body.as_whole().unwrap_or_default();
    let line = StatusLine { version_11: true, status: response.status };
    let (fields, length) = (ResponseFields::of(&response), ResponseLength::Known(body.len() as u64));
    let mut bytes = Vec::new();
    write_head(&mut bytes, line, fields, length, Some("close"), &context.date());
    bytes.extend_from_slice(body);
    bytes
}
