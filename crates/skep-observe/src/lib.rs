//! What a server of Skep shows of itself: logs, metrics, the status page, and all of them for OpenTelemetry.
//!
//! It opens no listener, starts no process and handles no request of an application: `skep-server` does, and fills the
//! [`Overview`](overview::Overview) that the status page is made of. Applications use `skep-server` only.
//!
//! | module | what it does |
//! |---|---|
//! | [`log`] | the subscriber for events of [`tracing`], and the access log |
//! | [`metrics`] | what requests cost, in memory that outlives workers |
//! | [`overview`], [`numbers`] | the status, as values; how people read them |
//! | [`app_status`] | the part of the status that the application reports |
//! | [`status`] | the status page: metrics, HTML, history |
//! | [`otlp`] | sends spans, metrics and log lines to a receiver of OpenTelemetry |
//! | [`process`], [`clock`] | memory and processor time of processes; the clocks that processes share |
//! | [`shared_words`] | memory that processes share |
//! | `sys` | the few places that need `unsafe` |

pub mod app_status;
pub mod clock;
pub mod log;
pub mod metrics;
pub mod numbers;
pub mod otlp;
pub mod overview;
pub mod process;
pub mod status;
mod sys;

pub use sys::shared_words;
