//! What one request may use.

use std::time::Duration;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) time: Duration,
    pub(crate) ticks: u64,
    pub(crate) fuel: Option<u64>,
    /// Time for the error page of a failed request, which another instance renders.
    pub(crate) error_page_time: Duration,
    /// Instances at once.
    pub(crate) instances: u32,
}
