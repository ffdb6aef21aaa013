//! What is done again and again beside the requests.

use std::fmt;
use std::time::Duration;

use skep_units::panic;

use super::Site;
use skep_http::error::{Error, Result};

/// What is done again and again while the application runs: [`App::every`](crate::App::every).
pub struct Job {
    name: &'static str,
    period: Duration,
    work: Work,
}

type Work = Box<dyn Fn(&Site) -> Result<()> + Send + Sync>;

impl Job {
    pub(crate) fn new(name: &'static str, period: Duration, work: Work) -> Self {
        Self { name, period, work }
    }

    /// How the log names it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The time from the end of one run to the start of the next.
    #[must_use]
    pub fn period(&self) -> Duration {
        self.period
    }

    /// Runs it once, on this thread. A failure or a panic goes to the log, and the next run comes all the same.
    pub fn run(&self, site: &Site) {
        let result = panic::catch(|| (self.work)(site)).unwrap_or_else(|panicked| Err(Error::internal(panicked)));
        if let Err(error) = result {
            tracing::error!(target: "skep::job", job = self.name, "{error}");
        }
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} every {:?}", self.name, self.period)
    }
}
