//! The states of a worker.

use std::time::Duration;

/// What a worker should do with connections. The order is that of a worker's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WorkerState {
    /// Everything is ready, but nothing is accepted yet.
    Standby,
    Serving,
    /// Accept nothing, since another worker does; finish requests, and close each connection with its next response.
    Retiring,
    /// Accept the connections in the queue and no more; finish requests.
    Draining,
}

/// How long an idle connection of a retiring worker stays open for one more request. The response to it says
/// `Connection: close`, so no client sends a request into a connection that is being closed.
pub(crate) const LINGER: Duration = Duration::from_secs(1);

/// A worker thread has exited.
#[derive(Debug)]
pub(crate) struct WorkerExit {
    /// It was asked to.
    pub(crate) expected: bool,
}
