//! The settings of metrics.

use std::time::Duration;

use skep::settings::Kind;

use crate::settings::{HOUR, settings};

settings! {
    /// The settings `status.*` of what is counted.
    Settings of "status":
    /// List requests that take longer than this on the status page, with where the time went.
    slow: Duration = Kind::Duration(1..=HOUR), "500ms";
}

settings! {
    /// The lengths of the queues to the process that exports: the settings `limits.*` of the same names.
    Queues of "limits":
    /// Log lines that wait to be sent to `otlp.endpoint`, of all processes together, up to 4 KiB each. More wait in
    /// `log.buffer` and `log.reserve` of their processes.
    log_records: usize = Kind::Number(16..=1_000_000), "2048";
    /// Spans that wait to be sent to `otlp.endpoint`, of all processes together, 1 KiB each. More are dropped and
    /// counted.
    spans: usize = Kind::Number(16..=1_000_000), "8192";
}
