//! Why a guest gave no answer, and what its client and the log are told.
//!
//! The client sees a status and an id. The log line of that id has the rest: the trap, and where in the guest it was.

use std::fmt::Write;
use std::sync::atomic::Ordering;

use http::header::RETRY_AFTER;
use http::{HeaderValue, StatusCode};
use skep::Error;
use skep::cx::RequestId;
use wasmtime::{PoolConcurrencyLimitError, Result, Trap, WasmBacktrace};
use wasmtime_wasi::I32Exit;

use crate::instance::{Instance, Late};
use crate::ready::Ready;

/// Why there is no answer, or only a part of one.
#[derive(Clone, Debug)]
pub(super) enum Failure {
    /// All instances are at work.
    Full,
    /// The `Host` of the request is not text.
    Host,
    /// It took too long.
    Late,
    /// It computed too much.
    Fuel,
    /// It returned and had said nothing.
    Silent,
    /// It did not finish the body that it had begun.
    Broken,
    /// It answered with an error instead of a response.
    Code(String),
    /// It trapped: what, and where.
    Trap(String),
}

/// Bytes that are told of what a guest says itself.
const TOLD: usize = 1 << 10;

/// Functions of a trap's backtrace that are told: the innermost.
const FRAMES: usize = 12;

/// What went wrong, and where in the guest, in one line: the cause first, since it matters most.
pub(crate) fn told(error: &wasmtime::Error) -> String {
    let backtrace = error.downcast_ref::<WasmBacktrace>();
    let mut text = match error.downcast_ref::<I32Exit>() {
        Some(exit) => format!("it called exit({})", exit.0),
        // Above the root is where it was, and nothing else.
        None if backtrace.is_some() => error.root_cause().to_string(),
        None => format!("{error:#}"),
    };
    let Some(backtrace) = backtrace else { return text };
    for (number, frame) in backtrace.frames().iter().take(FRAMES).enumerate() {
        text.push_str(if number == 0 { ", in " } else { " < " });
        let _ = match frame.func_name() {
            Some(name) => write!(text, "{name}"),
            None => write!(text, "function {}", frame.func_index()),
        };
        if let Some(offset) = frame.module_offset() {
            let _ = write!(text, " (0x{offset:x})");
        }
    }
    if backtrace.frames().len() > FRAMES {
        text.push_str(" < ...");
    }
    text
}

impl Failure {
    /// How a guest ended.
    pub(super) fn of(result: Result<()>, instance: &Instance, ready: &Ready) -> Result<(), Self> {
        let Err(error) = result else { return Ok(()) };
        if error.is::<Late>() {
            return Err(Self::Late);
        }
        if error.is::<PoolConcurrencyLimitError>() {
            return Err(Self::Full);
        }
        if error.downcast_ref() == Some(&Trap::OutOfFuel) {
            return Err(Self::Fuel);
        }
        let mut text = told(&error);
        if instance.store.data().was_refused_memory() {
            text = format!(
                "it asked for more memory than the {} KiB it may have, and then {text}",
                ready.grants.memory >> 10
            );
        }
        Err(Self::Trap(text))
    }

    /// What the client is told.
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::Host => StatusCode::BAD_REQUEST,
            Self::Full => StatusCode::SERVICE_UNAVAILABLE,
            Self::Late | Self::Fuel => StatusCode::GATEWAY_TIMEOUT,
            Self::Silent | Self::Broken | Self::Code(_) | Self::Trap(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// For the client, who sees a status and an id, and for the log.
    pub(super) fn into_error(self, ready: &Ready) -> Error {
        let counts = &ready.counts;
        let kinds = match self {
            Self::Host => &[][..],
            Self::Full => &[&counts.failed, &counts.refused],
            Self::Late | Self::Fuel => &[&counts.failed, &counts.killed],
            _ => &[&counts.failed],
        };
        for count in kinds {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let text = format!("{} ({}): {}", ready.grants.name, ready.hash, self.text(ready));
        let error = Error::new(self.status());
        let error = match self {
            Self::Host => return Error::bad_request("the name of the host is not text"),
            Self::Full => error.with_header(RETRY_AFTER, HeaderValue::from_static("1")),
            _ => error,
        };
        error.with_cause(text)
    }

    /// True if it was this request's own fault, and another instance may say so.
    pub(super) fn is_its_own(&self) -> bool {
        !matches!(self, Self::Full | Self::Host)
    }

    /// For the log alone: the answer has begun.
    pub(super) fn log(self, ready: &Ready, id: RequestId) {
        let error = self.into_error(ready);
        tracing::error!(target: "skep::request", %id, "an answer broke off: {error}");
    }

    pub(super) fn text(&self, ready: &Ready) -> String {
        match self {
            Self::Host => "the name of the host is not text".to_owned(),
            Self::Full => format!("all {} instances are at work (--instances)", ready.limits.instances),
            Self::Late => format!("took longer than {:?} (--time)", ready.limits.time),
            Self::Fuel => format!("used up its fuel of {} (--fuel)", ready.limits.fuel.unwrap_or_default()),
            Self::Silent => "returned without an answer".to_owned(),
            Self::Broken => "did not finish its answer".to_owned(),
            Self::Code(code) => format!("answered with an error: {code}"),
            Self::Trap(text) => text[..text.floor_char_boundary(TOLD)].to_owned(),
        }
    }
}
