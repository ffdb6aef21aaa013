//! Where the status page has its overview from.

use std::sync::{Arc, Weak};
use std::time::Instant;

use skep::Site;
use skep_observe::overview::{Overview, WorkerOverview};
use skep_observe::status::OverviewSource;
use skep_observe::{app_status, process};

use crate::config::Config;
use crate::supervisor::send_command;
use crate::sys::scoreboard::{Scoreboard, Slot};

/// The control socket of the supervisor that runs with these settings.
#[derive(Debug)]
pub(super) struct Control(pub(super) Config);

/// A server without a supervisor.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) name: String,
    pub(super) urls: Vec<String>,
    pub(super) status_url: Option<String>,
    pub(super) started: Instant,
    /// Weak: the status page does not keep the application open.
    pub(super) site: Weak<Site>,
    pub(super) scoreboard: Arc<Scoreboard>,
}

impl OverviewSource for Control {
    fn overview(&self) -> Result<Overview, String> {
        let reply = send_command(&self.0, "status json")?;
        serde_json::from_str(&reply).map_err(|error| format!("the supervisor's status is not understood: {error}"))
    }
}

impl OverviewSource for Process {
    fn overview(&self) -> Result<Overview, String> {
        let process = std::process::id();
        let slots = Slot::overviews(self.scoreboard.slots());
        let memory = process::memory(process.cast_signed()).unwrap_or_default();
        let uptime = self.started.elapsed().as_secs_f64();
        let application = self.site.upgrade().map(|site| app_status::of(&site, true)).unwrap_or_default();
        let worker = WorkerOverview {
            process,
            state: "ready".into(),
            since: uptime,
            requests: slots.iter().map(|slot| slot.requests).sum(),
            memory,
            slots,
            ..WorkerOverview::default()
        };
        Ok(Overview {
            name: self.name.clone(),
            mpm: "thread".into(),
            process,
            uptime,
            memory,
            urls: self.urls.clone(),
            status_url: self.status_url.clone(),
            workers: vec![worker],
            application: serde_json::from_str(&application).ok(),
            ..Overview::default()
        })
    }
}
