//! What a server takes while it is loaded.

use super::proc::{Spent, Usage, Watched};
use crate::load::{Figures, Watch};

/// Reads a server's counters when measuring begins and when it ends.
///
/// ```no_run
/// use skep_bench::load::{self, Plan};
/// use skep_bench::server::{Meter, Watched};
///
/// let mut meter = Meter::new(Watched::process(4711)?);
/// let figures = load::run_watched(&Plan::of("http://127.0.0.1:8080/".parse()?), &mut meter)?;
/// println!("{:?} in {} answers", meter.spent(), figures.answers);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Meter {
    watched: Watched,
    before: Option<Usage>,
    spent: Option<Spent>,
    memory: Option<f64>,
}

impl Meter {
    /// For these processes. See [`Meter`].
    #[must_use]
    pub fn new(watched: Watched) -> Self {
        Self { watched, before: None, spent: None, memory: None }
    }

    /// What the load took, once it is over. See [`Meter`].
    #[must_use]
    pub fn spent(&self) -> Option<Spent> {
        self.spent
    }

    /// PSS at its end, in megabytes, with all connections open. See [`Meter`].
    #[must_use]
    pub fn memory(&self) -> Option<f64> {
        self.memory
    }
}

impl Watch for Meter {
    fn begins(&mut self) {
        self.before = self.watched.usage().ok();
    }

    fn goes_on(&mut self, _: &Figures) {}

    fn ends(&mut self) {
        // The counters first: reading the memory takes the longest, and takes time of the server's own.
        self.spent = self.watched.usage().ok().zip(self.before.as_ref()).map(|(now, before)| now.since(before));
        self.memory = self.watched.memory().ok();
    }
}
