//! The limits of requests that an application keeps to.
//!
//! They are enforced where that of which they are limits is read or kept:
//!
//! | limit | in |
//! |---|---|
//! | `body`, `bodies` | `Cx::read_body` (`context/cx.rs`), for the endpoint that `application/site.rs` has found |
//! | `query_parameters` | `application/site.rs` |
//! | `form_fields`, `form_rows` | `application/endpoint.rs`, `contract/form/rows.rs` |
//! | `upload_file`, `upload_quota`, `upload_total` | `contract/form/receive.rs` |
//! | `once`, `once_per_address` | `application/endpoint/once.rs` |
//! | `page`, `page_variants` | `contract/page.rs`, `context/cache/kept.rs` |
//! | `session`, `sessions`, `session_store`, `user_sessions` | `context/session/store.rs` |
//! | `sessions_per_address` | `context/session.rs` |
//! | `counters` | the table of counters itself, opened in `application/app/database.rs` |

use skep_settings::{GIB, KIB, MIB, settings};

const U32: u64 = 0xFFFF_FFFF;

settings! {
    /// Limits of requests: the settings `limits.*` of the same names. Sizes are in bytes. Variables are those of a
    /// component's environment (`wit/skep.wit`): without one, the limit is of what its host keeps.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Limits in "limits" {
        /// Bytes of request bodies held in memory at once, by all requests of a process (503).
        bodies: u64 = Size(64 * KIB..=1024 * GIB), 256 * MIB, variable "SKEP_LIMIT_BODIES" as number;
        /// Maximum size of a request's body, unless its service sets its own (413).
        body: u64 = Size(0..=1024 * GIB), MIB, variable "SKEP_LIMIT_BODY" as number;
        /// Memory for counters of attempts and rates, 8 bytes each, for all threads and processes of a server together:
        /// failed sign-ins, mails that were asked for, rate limits, new sessions, one-shot forms. It is taken as it is
        /// used. A counter is forgotten when it is full again, never for another one; if there is no room for a new
        /// one, it is shared by clients of its network.
        counters: u64 = Size(KIB..=GIB), 4 * MIB;
        /// Maximum number of fields of a form (413).
        form_fields: usize = Number(1..=1_000_000), 1000, variable "SKEP_LIMIT_FORM_FIELDS" as number;
        /// Maximum number of rows of a list in a form (413). Empty rows do not count.
        form_rows: usize = Number(1..=1_000_000), 256, variable "SKEP_LIMIT_FORM_ROWS" as number;
        /// Maximum number of one-shot form submissions that a process remembers: without a database until the form
        /// expires, with one while they are processed. For one more, the oldest form counts as expired; if all are
        /// being processed, it is a 503.
        once: usize = Number(1..=100_000_000), 100_000, variable "SKEP_LIMIT_ONCE" as number;
        /// Maximum number of one-shot forms from one IPv4 address or one /64 of IPv6 in a minute (429). The /56 around
        /// it has 4 times as many, the /48 or /24 32 times. 0 means no limit.
        once_per_address: u32 = Number(0..=U32), 1000, variable "SKEP_LIMIT_ONCE_PER_ADDRESS" as number;
        /// Maximum size of a cached page (500 for a larger one, and for a stream).
        page: u64 = Size(KIB..=GIB), 8 * MIB, variable "SKEP_LIMIT_PAGE" as number;
        /// Maximum number of entries of one type of page or fragment that a server adds to the cache in a minute.
        /// Beyond it they are made for their request alone. 0 means no limit.
        page_variants: u32 = Number(0..=U32), 10_000, variable "SKEP_LIMIT_PAGE_VARIANTS" as number;
        /// Maximum number of query parameters (400).
        query_parameters: usize = Number(1..=1_000_000), 1000, variable "SKEP_LIMIT_QUERY_PARAMETERS" as number;
        /// Maximum size of a session: names, and values as JSON (500 for the request that exceeds it).
        session: usize = Size(0..=16 * MIB), 64 * KIB, variable "SKEP_LIMIT_SESSION" as number;
        /// Maximum size of all sessions, if no cache `sessions` is configured; they end in the same order.
        session_store: u64 = Size(64 * KIB..=1024 * GIB), GIB;
        /// Maximum number of sessions, if no cache `sessions` is configured; sessions of nobody end first, then the
        /// least recently used.
        sessions: u64 = Number(16..=1_000_000_000), 1_000_000;
        /// Maximum number of new sessions from one IPv4 address or one /64 of IPv6 in a minute (429). The /56 around it
        /// has 4 times as many, the /48 or /24 32 times. 0 means no limit.
        sessions_per_address: u32 = Number(0..=U32), 1000, variable "SKEP_LIMIT_SESSIONS_PER_ADDRESS" as number;
        /// Maximum size of one uploaded file; its field shows an error. A field may allow less.
        upload_file: u64 = Size(0..=1024 * GIB), 16 * MIB, variable "SKEP_LIMIT_UPLOAD_FILE" as number;
        /// Maximum disk space of uploaded files of requests in flight, for each process (503).
        upload_quota: u64 = Size(0..=1024 * GIB), GIB, variable "SKEP_LIMIT_UPLOAD_QUOTA" as number;
        /// Maximum size of a form with files, unless its service sets its own (413).
        upload_total: u64 = Size(0..=1024 * GIB), 64 * MIB, variable "SKEP_LIMIT_UPLOAD_TOTAL" as number;
        /// Maximum number of sessions of one user, if the application names their user; the oldest end first.
        user_sessions: usize = Number(1..=1000), 100, variable "SKEP_LIMIT_USER_SESSIONS" as number;
    }
}
