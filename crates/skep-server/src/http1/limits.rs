//! What the head of a request may take.

use skep_settings::{KIB, MIB, settings};

settings! {
    /// The settings `limits.*` that are kept while a head is read; for HTTP/2 by hyper (`connection/http2.rs`),
    /// `check_http2` (`connection/recipient.rs`) and `connection/exchange.rs`.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Limits in "limits" {
        /// Maximum size of request line and header fields together (431).
        header_bytes: usize = Size(8 * KIB..=16 * MIB), 64 * KIB;
        /// Maximum number of header fields of a request (431).
        header_fields: usize = Number(1..=10_000), 100;
        /// Maximum size of a request's target: path and query (414).
        url: usize = Size(64..=65_534), 8 * KIB;
    }
}
