//! The bytes of a file, as they come.

use bytes::Bytes;
use http_body_util::BodyExt;
use skep::Body;

use crate::error::{Outcome, Problem};

/// What is known of a file once it is written.
#[derive(Debug)]
pub(crate) struct Written {
    pub(crate) size: u64,
    /// In hexadecimal digits.
    pub(crate) sha256: String,
}

/// The next bytes; `None` at the end.
pub(crate) async fn next(body: &mut Body) -> Outcome<Option<Bytes>> {
    while let Some(frame) = body.frame().await {
        if let Ok(bytes) = frame.map_err(Problem::Broken)?.into_data() {
            return Ok(Some(bytes));
        }
    }
    Ok(None)
}
