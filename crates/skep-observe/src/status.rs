//! The status page: `/-/metrics`, `/-/status`, 24 hours of history.
//!
//! It knows the server from what an [`OverviewSource`] says and from its [`Metrics`](crate::metrics::Metrics). Who
//! serves it, on which address, is the server's part.
//!
//! | module | what it does |
//! |---|---|
//! | `observer` | puts overview and metrics together, and remembers |
//! | `totals` | counters of processes that come and go, as counters that only grow |
//! | `exposition` | the text that Prometheus reads |
//! | `history` | the file of 24 hours |
//! | `pages`, `page`, `plot` | what answers requests; HTML; SVG |

pub(crate) mod exposition;
mod history;
pub(crate) mod observer;
mod page;
mod pages;
mod plot;
mod totals;

use std::sync::Arc;

use skep::{App, Site};

pub use observer::{Observer, OverviewSource};
use pages::Pages;

/// The status page as an application, which also writes its history.
#[must_use]
pub fn app(observer: &Arc<Observer>) -> App {
    let sampler = Arc::clone(observer);
    let sample = move |_: &Site| {
        sampler.sample();
        Ok(())
    };
    let app = App::new().name("skep-status", env!("CARGO_PKG_VERSION")).mount("/", Pages::new(observer));
    app.every("history", history::INTERVAL, sample)
}
