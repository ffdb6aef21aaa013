//! HTTP/1 messages as bytes (RFC 9112): heads, framing, chunks.
//!
//! Plain values in, plain values out: nothing here reads a socket, and nothing knows processes or applications. The
//! module `connection::http1` runs a connection with it.
//!
//! Start reading at [`HeadReader::read`].

mod chunked;
mod framing;
mod head;
mod limits;
mod response;

use http::StatusCode;

pub(crate) use chunked::{Chunked, Decoded};
pub(crate) use framing::{BodyLength, Framing};
pub(crate) use head::{Head, HeadReader};
pub(crate) use limits::Limits;
pub(crate) use response::{DATE_LINE, ResponseFields, ResponseLength, StatusLine, write_head};

/// Why a message is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rejection {
    pub(crate) status: StatusCode,
    pub(crate) message: &'static str,
}

pub(crate) type Validated<T = ()> = Result<T, Rejection>;

const fn reject(status: StatusCode, message: &'static str) -> Rejection {
    Rejection { status, message }
}

const fn bad_request(message: &'static str) -> Rejection {
    reject(StatusCode::BAD_REQUEST, message)
}
