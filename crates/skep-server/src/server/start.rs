//! The start of a process that serves with threads.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use skep::{App, Setup};
use skep_observe::log::{Logs, OwnSubscriber};
use tokio::sync::{mpsc, watch};

use super::Running;
use super::factory::Name;
use crate::assembly::{self, Counting, app_setup, probe};
use crate::background::Background;
use crate::config::{self, Model};
use crate::error::StartError;
use crate::handoff::{SlotRef, WorkerHandoff};
use crate::jobs::Jobs;
use crate::listener::Listeners;
use crate::resources::{check_limits, create_data_dir, max_connections, worker_count};
use crate::status_server::Alone;
use crate::tls;
use crate::worker::ConnectionLimit;
use crate::worker_state::WorkerState;

/// The process in which a server starts.
#[derive(Clone, Copy)]
pub(super) enum Host<'h> {
    /// One of its own, or of a program that does something else, too.
    Process,
    /// A worker of a supervisor.
    Worker(&'h WorkerHandoff),
    /// A test: nothing is left of the server.
    Test,
}

impl<'h> Host<'h> {
    fn handoff(self) -> Option<&'h WorkerHandoff> {
        if let Self::Worker(handoff) = self { Some(handoff) } else { None }
    }
}

/// The same without a data directory of its own.
fn temporary(mut setup: Setup) -> Setup {
    (setup.data, setup.temporary_database) = (PathBuf::new(), true);
    setup
}

/// `before` is called when everything is ready but nothing is accepted yet. A signal that is sent after the first
/// response must be handled, and one that is sent while the start takes long must end the process.
pub(super) fn start_with<T>(
    app: App,
    settings: config::Settings,
    subscriber: Option<OwnSubscriber>,
    host: Host<'_>,
    before: impl FnOnce() -> io::Result<T>,
) -> Result<(Running, T), StartError> {
    let config = &settings.config;
    let handoff = host.handoff();
    if config.mpm == Model::Prefork {
        return Err(StartError::new("mpm = prefork needs a supervisor: leave supervise = true".into()));
    }
    if handoff.is_none() {
        check_limits(config).map_err(StartError::new)?;
    }
    let name = Name::of(&app);
    let areas = |handoff: &WorkerHandoff| {
        Ok::<_, io::Error>(handoff.last_lines(&config.log, 1, handoff.spec.listeners.len())?.areas(0))
    };
    let logs = Logs::start(&config.log, subscriber, handoff.map(areas).transpose()?)?;
    // Addresses are bound first: a second server must not touch the data of the first one.
    let Listeners { workers, reached, files } = match handoff {
        Some(handoff) => Listeners { workers: handoff.listeners()?, ..Listeners::default() },
        None => {
            let defaulted = settings.values.is_default("listen");
            Listeners::bind(&config.listen, defaulted, worker_count(config), config.backlog)?
        }
    };
    let tls = tls::acceptor(&config.tls, true).map_err(StartError::new)?;
    let keeps_nothing = matches!(host, Host::Test) && settings.values.is_default("data");
    if !keeps_nothing {
        create_data_dir(config)?;
    }
    let background = config.caches_need_a_runtime().then(Background::start).transpose()?;
    let setup = app_setup(config, settings.application, handoff)?;
    let setup = if keeps_nothing { temporary(setup) } else { setup };
    let site = {
        let _entered = background.as_ref().map(|background| background.handle().enter());
        Arc::new(app.open(setup)?)
    };
    probe(&site, config)?;
    let urls = reached.iter().map(|address| address.url(tls.is_some())).collect();
    let first = if handoff.is_some() { WorkerState::Standby } else { WorkerState::Serving };
    let (sender, state) = watch::channel(first);
    let (exit_sender, exits) = mpsc::unbounded_channel();
    let mut running = Running {
        name: name.to_string(),
        urls,
        state: sender,
        workers: Vec::new(),
        exits,
        site: Some(Arc::clone(&site)),
        jobs: Some(Jobs::start(&site, background, config.grace)?),
        status: None,
        grace: config.grace,
        _files: files,
        logs: None,
    };
    let before = before()?;
    let alone = if handoff.is_none() { Alone::start(config, &running.name, &running.urls, &site)? } else { None };
    let metrics =
        handoff.map_or_else(|| alone.as_ref().map(|alone| &alone.metrics), |handoff| handoff.metrics.as_ref());
    let counting = metrics.map(|metrics| Counting::new(metrics, &site, config));
    let scoreboard =
        handoff.map_or_else(|| alone.as_ref().map(|alone| &alone.scoreboard), |handoff| Some(&handoff.scoreboard));
    let limit = ConnectionLimit::new(max_connections(config), &config.limits);
    for (number, listeners) in workers.into_iter().enumerate() {
        let slot = scoreboard.map(|scoreboard| SlotRef::new(scoreboard, number));
        let recorder = counting.as_ref().map(|counting| counting.recorder(number));
        let (tls, limit, state) = (tls.clone(), limit.clone(), state.clone());
        let worker = assembly::worker(config, &site, listeners, tls, &logs, limit, state, slot, recorder);
        running.workers.push(assembly::spawn(worker, exit_sender.clone())?);
    }
    running.status = alone.map(|alone| alone.server);
    running.logs = Some(logs);
    Ok((running, before))
}
