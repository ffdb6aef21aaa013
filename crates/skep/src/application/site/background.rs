//! What runs beside the requests for as long as the application does.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use skep_units::panic;

use super::Site;
use skep_http::error::{Error, Result};

/// What [`App::background`](crate::App::background) was given.
pub struct BackgroundWork {
    name: &'static str,
    work: Work,
}

type Work = Box<dyn Fn(&Background<'_>) -> Result<()> + Send + Sync>;

/// Where background work runs.
#[derive(Clone, Copy)]
pub struct Background<'s> {
    /// The application.
    pub site: &'s Arc<Site>,
    /// How long it may go on once the server drains ([`Site::draining`]). After that the process ends.
    pub grace: Duration,
}

impl BackgroundWork {
    pub(crate) fn new(name: &'static str, work: Work) -> Self {
        Self { name, work }
    }

    /// How the log names it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Runs it on this thread until it returns. A failure or a panic goes to the log.
    pub fn run(&self, background: &Background<'_>) {
        let result = panic::catch(|| (self.work)(background)).unwrap_or_else(|why| Err(Error::internal(why)));
        if let Err(error) = result {
            tracing::error!(target: "skep::job", job = self.name, "{error}");
        }
    }
}

impl fmt::Debug for BackgroundWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

skep_units::opaque_debug!(Background<'_>);
