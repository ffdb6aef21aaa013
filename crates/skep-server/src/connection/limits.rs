//! What a connection may take.
//!
//! | limit | is enforced in |
//! |---|---|
//! | `body_idle`, `body_rate`, `body_time` | `connection/request_body.rs` |
//! | `connections` | `worker/connection_limit.rs`; `resources.rs` lowers it to what the system allows |
//! | `connections_per_address` | `worker/connection_limit.rs` |
//! | `half_closed`, `unread_body` | `connection/http1.rs` |
//! | `header_time`, `keep_alive`, `write_idle` | `connection.rs`, by the clock of `connection/context.rs` |
//! | `http2_control_frames`, `http2_resets`, `http2_streams` | `connection/http2.rs` |
//! | `request_time`, `requests_per_connection` | `connection/exchange.rs` |
//! | `tls_handshake` | `worker.rs` |
//! | `unsent` | `connection/unsent.rs` |

use std::time::Duration;

use skep_settings::{GIB, HOUR, KIB, MIB, MINUTE, SECOND, settings};

use crate::http1;

settings! {
    /// The settings `limits.*` that connections keep to; those of the application are in [`skep::Limits`], and others
    /// with what keeps to them.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Limits in "limits" {
        head: http1::Limits;
        /// Timeout for the next bytes of a request's body (408).
        body_idle: Duration = Duration(10..=HOUR), 30 * SECOND;
        /// Minimum rate of a request's body in bytes a second, on average and after the first `limits.body_idle` (408).
        /// The time in which the application does not read does not count. 0 means none.
        body_rate: u64 = Size(0..=GIB), 500;
        /// Total time that the server waits for a request's body (408). 0 means no limit.
        body_time: Option<Duration> = Duration(0..=24 * HOUR), HOUR;
        /// Maximum number of open connections (503). The limit of open files may lower it.
        connections: usize = Number(1..=10_000_000), 20_000;
        /// Maximum number of open connections of one IPv4 address or one /64 of IPv6, for each process (503). Trusted
        /// proxies have no such limit. 0 means no limit.
        connections_per_address: usize = Number(0..=10_000_000), 5000;
        /// Time for the response to a client that has closed its sending side, since it last took a byte: over TCP it
        /// may wait for the response or be gone, and only the next byte sent shows which. 0 gives its request up at
        /// once.
        half_closed: Duration = Duration(0..=24 * HOUR), 10 * SECOND;
        /// Timeout for a request's header section (408). A new connection without a request is closed after this time.
        header_time: Duration = Duration(10..=HOUR), 10 * SECOND;
        /// Number of HTTP/2 frames that carry neither a request nor a body, such as pings and settings, and of requests
        /// beyond limits.http2_streams. Refilled by a tenth each second, and by four with each frame of a response;
        /// more close the connection.
        http2_control_frames: u32 = Number(10..=1_000_000), 1000;
        /// Number of HTTP/2 streams that a client may cancel before they are answered, refilled by a tenth each second;
        /// more close its connection.
        http2_resets: u32 = Number(1..=10_000), 100;
        /// Maximum number of concurrent requests on one HTTP/2 connection.
        http2_streams: u32 = Number(1..=10_000), 100;
        /// Idle time after which a connection is closed.
        keep_alive: Duration = Duration(10..=24 * HOUR), 75 * SECOND;
        /// Time for the application to begin its response, after the request's body has arrived (503). The body of a
        /// response may take longer. 0 means no limit.
        request_time: Option<Duration> = Duration(0..=24 * HOUR), MINUTE;
        /// Number of requests after which an HTTP/1 connection is closed. 0 means no limit.
        requests_per_connection: u32 = Number(0..=4_294_967_295), 0;
        /// Timeout for a TLS handshake.
        tls_handshake: Duration = Duration(10..=HOUR), 10 * SECOND;
        /// Bytes of a request's body that are received and dropped if its handler has not read them, so that another
        /// request can follow on the connection (HTTP/1). If there are more, or the rest does not come within
        /// `limits.keep_alive`, it is closed.
        unread_body: u64 = Size(0..=GIB), 256 * KIB;
        /// Bytes of responses that wait for their clients at once, for each process (503). A connection that holds a
        /// 128th of it begins no further response; when half of it is held, `limits.write_idle` is at most a second.
        /// Streams, files and what a cache holds do not count.
        unsent: usize = Size(MIB..=1024 * GIB), 256 * MIB;
        /// Close a connection whose client accepts no bytes of the response for this long. Of HTTP/2, also reset a
        /// stream whose client takes fewer than 16 KiB of the body in this time.
        write_idle: Duration = Duration(10..=HOUR), 30 * SECOND;
    }
}
