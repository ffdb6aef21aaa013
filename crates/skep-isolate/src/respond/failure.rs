//! Why a guest gave no response.
//!
//! The client sees a status and an id. The log line with that id has the trap and its place in the guest.

use std::sync::atomic::Ordering;

use http::header::RETRY_AFTER;
use http::{HeaderValue, StatusCode};
use skep::Error;
use skep::request::RequestId;
use wasmtime::{PoolConcurrencyLimitError, Trap};

use crate::instance::Instance;
use crate::program::Program;
use crate::state::Refused;
use crate::trap::{Late, describe};
use crate::version::Version;

/// Why there is no response, or only a part of one.
#[derive(Clone, Debug)]
pub(super) enum Failure {
    /// All instances are busy.
    Full,
    /// The memory of all instances together is used up.
    Memory,
    /// The `Host` of the request is not text.
    Host,
    /// It took too long.
    Late,
    /// It computed too much.
    Fuel,
    /// It returned without a response.
    Silent,
    /// It did not finish its body.
    Broken,
    /// It returned an error instead of a response.
    Code(String),
    /// It trapped: what, and where.
    Trap(String),
}

/// Bytes of a guest's own text that are logged.
const TEXT: usize = 1 << 10;

impl Failure {
    /// How a guest ended.
    pub(super) fn of(error: &wasmtime::Error, instance: &Instance, program: &Program) -> Self {
        if error.is::<Late>() {
            return Self::Late;
        }
        if error.is::<PoolConcurrencyLimitError>() {
            return Self::Full;
        }
        if error.downcast_ref() == Some(&Trap::OutOfFuel) {
            return Self::Fuel;
        }
        let text = describe(error);
        match instance.was_refused_memory() {
            None => Self::Trap(text),
            Some(Refused::Total) => Self::Memory,
            Some(Refused::Own) => {
                let most = program.grants.memory >> 10;
                Self::Trap(format!("it asked for more memory than the {most} KiB it may have, and then {text}"))
            }
        }
    }

    /// The status for the client.
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::Host => StatusCode::BAD_REQUEST,
            Self::Full | Self::Memory => StatusCode::SERVICE_UNAVAILABLE,
            Self::Late | Self::Fuel => StatusCode::GATEWAY_TIMEOUT,
            Self::Silent | Self::Broken | Self::Code(_) | Self::Trap(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// For the client, who sees a status and an id, and for the log.
    pub(super) fn into_error(self, version: &Version) -> Error {
        let counts = &version.counts;
        let kinds = match self {
            Self::Host => &[][..],
            Self::Full | Self::Memory => &[&counts.failed, &counts.refused],
            Self::Late | Self::Fuel => &[&counts.failed, &counts.killed],
            _ => &[&counts.failed],
        };
        for count in kinds {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let text = format!("{} ({}): {}", version.app(), version.hash, self.text(version));
        let error = Error::new(self.status());
        let error = match self {
            Self::Host => return Error::bad_request("the name of the host is not text"),
            Self::Full | Self::Memory => error.with_header(RETRY_AFTER, HeaderValue::from_static("1")),
            _ => error,
        };
        error.with_cause(text)
    }

    /// True if the guest failed, and another instance may render the error page.
    pub(super) fn is_its_own(&self) -> bool {
        !matches!(self, Self::Full | Self::Memory | Self::Host)
    }

    /// For the log only: the response has begun.
    pub(super) fn log(self, version: &Version, id: RequestId) {
        let error = self.into_error(version);
        tracing::error!(target: "skep::request", %id, "a response broke off: {error}");
    }

    pub(super) fn text(&self, version: &Version) -> String {
        match self {
            Self::Host => "the name of the host is not text".to_owned(),
            Self::Full => format!("all {} instances are busy (--instances)", version.program.limits.instances),
            Self::Memory => {
                let limit = version.program.grants.total_memory.limit >> 20;
                format!("all instances together have no more than {limit} MiB of memory (--total-memory)")
            }
            Self::Late => format!("took longer than {:?} (--time)", version.program.limits.time),
            Self::Fuel => format!("used up its fuel of {} (--fuel)", version.program.limits.fuel.unwrap_or_default()),
            Self::Silent => "returned without a response".to_owned(),
            Self::Broken => "did not finish its response".to_owned(),
            Self::Code(code) => format!("returned an error: {code}"),
            Self::Trap(text) => text[..text.floor_char_boundary(TEXT)].to_owned(),
        }
    }
}
