//! OpenTelemetry: spans, log lines and metrics for a receiver, over OTLP. With the feature `otlp`; without it there are
//! only the settings, which are refused.

#[cfg(feature = "otlp")]
mod exporter;
#[cfg(feature = "otlp")]
mod logs;
#[cfg(feature = "otlp")]
mod metrics;
#[cfg(feature = "otlp")]
mod sender;
mod settings;
#[cfg(feature = "otlp")]
mod spans;

#[cfg(feature = "otlp")]
pub use exporter::{Exporter, add_jobs};
pub use settings::{Endpoint, Pairs, Settings};
