//! Work beside the requests, for as long as the application runs.

use std::time::Duration;

use super::App;
use crate::application::site::{Background, BackgroundWork, Job, Site};
use skep_http::error::Result;

impl App {
    /// Runs a periodic background job on a blocking thread. `period` is the time from the end of one run to the start
    /// of the next, so runs never overlap. The log names the job by `name`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use skep::prelude::*;
    ///
    /// let app = App::new().every("tidy", Duration::from_secs(60), |_site| Ok(()));
    /// ```
    #[must_use]
    pub fn every(
        mut self,
        name: &'static str,
        period: Duration,
        work: impl Fn(&Site) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.jobs.push(Job::new(name, period, Box::new(work)));
        self
    }

    /// Runs work on a thread of its own for as long as the application runs, in the process that runs [periodic
    /// jobs](Self::every). It should return soon after the server drains ([`Site::draining`]); if it returns earlier,
    /// it is run again a second later. In a component, which has no threads, it is run once a second and should return
    /// when there is nothing to do.
    ///
    /// ```
    /// use skep::prelude::*;
    ///
    /// let app = App::new().background("relay", |background| {
    ///     while !background.site.draining().has_begun() {
    ///         // Wait for something, with a timeout.
    ///     }
    ///     Ok(())
    /// });
    /// ```
    #[must_use]
    pub fn background(
        mut self,
        name: &'static str,
        work: impl Fn(&Background<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.background.push(BackgroundWork::new(name, Box::new(work)));
        self
    }
}
