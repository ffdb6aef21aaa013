//! Where the status page has its overview from.

use std::sync::{Arc, Weak};
use std::time::Instant;

use skep::Site;

use crate::app_status;
use crate::config::Config;
use crate::overview::{Overview, SlotOverview, WorkerOverview};
use crate::procfs;
use crate::supervisor::send_command;
use crate::sys::scoreboard::Scoreboard;

/// Where an overview comes from.
#[derive(Debug)]
pub(crate) enum Source {
    /// The control socket of the supervisor that runs with these settings.
    Control(Box<Config>),
    /// This process.
    Process(Box<Process>),
}

/// A server without a supervisor.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) name: String,
    pub(crate) urls: Vec<String>,
    pub(crate) status_url: Option<String>,
    pub(crate) started: Instant,
    /// Weak: the status page does not keep the application open.
    pub(crate) site: Weak<Site>,
    pub(crate) scoreboard: Arc<Scoreboard>,
}

impl Source {
    pub(crate) fn overview(&self) -> Result<Overview, String> {
        match self {
            Self::Control(config) => {
                let reply = send_command(config, "status json")?;
                serde_json::from_str(&reply)
                    .map_err(|error| format!("the supervisor's status is not understood: {error}"))
            }
            Self::Process(process) => Ok(process.overview()),
        }
    }
}

impl Process {
    fn overview(&self) -> Overview {
        let process = std::process::id();
        let slots = SlotOverview::all(self.scoreboard.slots());
        let memory = procfs::memory(process.cast_signed()).unwrap_or_default();
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
        Overview {
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
        }
    }
}
