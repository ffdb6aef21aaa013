//! The limits of requests: each is one row, which its field, its default, its setting and its variable for components
//! follow from.

use crate::settings::{Kind, Row, Value};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const U32: u64 = 0xFFFF_FFFF;

/// Help, name, type, what the setting accepts, default; and of what a component keeps itself, the variable of its
/// environment (`wit/skep.wit`).
macro_rules! limits {
    ($($(#[doc = $help:literal])+ $field:ident: $type:ident = $kind:ident($range:expr), $default:expr $(, $variable:literal)?;)+) => {
        /// Limits of requests: the settings `limits.*` of the same names. Sizes are in bytes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Limits {
            $($(#[doc = $help])+ pub $field: $type,)+
        }

        impl Default for Limits {
            #[expect(clippy::cast_possible_truncation, reason = "defaults are small")]
            fn default() -> Self {
                const fn number(number: u64) -> u64 {
                    number
                }
                Self { $($field: number($default) as $type,)+ }
            }
        }

        impl Limits {
            /// Their settings, for a server.
            #[doc(hidden)]
            #[must_use]
            pub fn rows() -> Vec<Row> {
                vec![$(row(concat!("limits.", stringify!($field)), Kind::$kind($range), $default, concat!($($help),+))),+]
            }

            /// Stores the value of a setting, if it is one of these.
            #[doc(hidden)]
            pub fn set(&mut self, name: &str, value: &Value) -> Result<(), String> {
                if let (Some(field), Value::Number(number) | Value::Size(number)) = (name.strip_prefix("limits."), value) {
                    match field {
                        $(stringify!($field) => self.$field = (*number).try_into().map_err(too_large)?,)+
                        _ => {}
                    }
                }
                Ok(())
            }

            /// The variables, for a component.
            #[cfg(not(target_family = "wasm"))]
            pub(crate) fn to_environment(self) -> Vec<(String, String)> {
                vec![$($(($variable.to_owned(), self.$field.to_string()),)?)+]
            }

            /// Reads the variables that are set.
            #[cfg(any(target_family = "wasm", test))]
            pub(crate) fn read_environment(&mut self, variable: impl Fn(&str) -> Option<String>) -> Result<(), String> {
                $($(
                    if let Some(text) = variable($variable) {
                        self.$field = text.parse().map_err(|_| format!("{}={text:?} is no number", $variable))?;
                    }
                )?)+
                Ok(())
            }
        }
    };
}

limits! {
    /// Bytes of request bodies held in memory at once, by all requests of a process (503).
    bodies: u64 = Size(64 * KIB..=1024 * GIB), 256 * MIB, "SKEP_LIMIT_BODIES";
    /// Maximum size of a request's body, unless its service sets its own (413).
    body: u64 = Size(0..=1024 * GIB), MIB, "SKEP_LIMIT_BODY";
    /// Memory for counters of attempts and rates, 8 bytes each, for all threads and processes of a server together:
    /// failed sign-ins, mails that were asked for, rate limits, new sessions, one-shot forms. It is taken as it is
    /// used. A counter is forgotten when it is full again, never for another one; if there is no room for a new one, it
    /// is shared by clients of its network.
    counters: u64 = Size(KIB..=GIB), 4 * MIB;
    /// Maximum number of fields of a form (413).
    form_fields: usize = Number(1..=1_000_000), 1000, "SKEP_LIMIT_FORM_FIELDS";
    /// Maximum number of rows of a list in a form (413). Empty rows do not count.
    form_rows: usize = Number(1..=1_000_000), 256, "SKEP_LIMIT_FORM_ROWS";
    /// Maximum number of one-shot form submissions that a process remembers: without a database until the form expires,
    /// with one while they are processed. For one more, the oldest form counts as expired; if all are being processed,
    /// it is a 503.
    once: usize = Number(1..=100_000_000), 100_000, "SKEP_LIMIT_ONCE";
    /// Maximum number of one-shot forms from one IPv4 address or one /64 of IPv6 in a minute (429). The /56 around it
    /// has 4 times as many, the /48 or /24 32 times. 0 means no limit.
    once_per_address: u32 = Number(0..=U32), 1000, "SKEP_LIMIT_ONCE_PER_ADDRESS";
    /// Maximum size of a cached page (500 for a larger one, and for a stream).
    page: u64 = Size(KIB..=GIB), 8 * MIB, "SKEP_LIMIT_PAGE";
    /// Maximum number of entries of one type of page or fragment that a server adds to the cache in a minute. Beyond it
    /// they are made for their request alone. 0 means no limit.
    page_variants: u32 = Number(0..=U32), 10_000, "SKEP_LIMIT_PAGE_VARIANTS";
    /// Maximum number of query parameters (400).
    query_parameters: usize = Number(1..=1_000_000), 1000, "SKEP_LIMIT_QUERY_PARAMETERS";
    /// Maximum size of a session: names, and values as JSON (500 for the request that exceeds it).
    session: usize = Size(0..=16 * MIB), 64 * KIB, "SKEP_LIMIT_SESSION";
    /// Maximum size of all sessions, if no cache `sessions` is configured; they end in the same order.
    session_store: u64 = Size(64 * KIB..=1024 * GIB), GIB;
    /// Maximum number of sessions, if no cache `sessions` is configured; sessions of nobody end first, then the least
    /// recently used.
    sessions: u64 = Number(16..=1_000_000_000), 1_000_000;
    /// Maximum number of new sessions from one IPv4 address or one /64 of IPv6 in a minute (429). The /56 around it has
    /// 4 times as many, the /48 or /24 32 times. 0 means no limit.
    sessions_per_address: u32 = Number(0..=U32), 1000, "SKEP_LIMIT_SESSIONS_PER_ADDRESS";
    /// Maximum size of one uploaded file; its field shows an error. A field may allow less.
    upload_file: u64 = Size(0..=1024 * GIB), 16 * MIB, "SKEP_LIMIT_UPLOAD_FILE";
    /// Maximum disk space of uploaded files of requests in flight, for each process (503).
    upload_quota: u64 = Size(0..=1024 * GIB), GIB, "SKEP_LIMIT_UPLOAD_QUOTA";
    /// Maximum size of a form with files, unless its service sets its own (413).
    upload_total: u64 = Size(0..=1024 * GIB), 64 * MIB, "SKEP_LIMIT_UPLOAD_TOTAL";
    /// Maximum number of sessions of one user, if the application names their user; the oldest end first.
    user_sessions: usize = Number(1..=1000), 100, "SKEP_LIMIT_USER_SESSIONS";
}

fn row(name: &'static str, kind: Kind, default: u64, help: &'static str) -> Row {
    let default = match kind {
        Kind::Size(_) => skep_units::format_size(default),
        _ => default.to_string(),
    };
    let (default, help) = (default.into(), help.trim_start().into());
    Row { name: name.into(), kind, default, is_required: false, is_secret: false, flag: None, help }
}

fn too_large<E>(_: E) -> String {
    "the number is too large for this machine".to_owned()
}
