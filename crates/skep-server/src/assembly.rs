//! Builds the parts of a server from its settings.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use skep::cache::Tiers;
use skep::compression::Coding;
use skep::settings::RawSetting;
use skep::{Body, Request, Setup, Site, websocket};
use skep_observe::log::Logs;
use skep_observe::metrics::{Metrics, Recorder, Tracing};
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::{mpsc, watch};

use crate::authority::Hosts;
use crate::config::{Config, Model, credential};
use crate::connection::{RequestBudget, Rules};
use crate::error::StartError;
use crate::executable::Executable;
#[cfg(feature = "fetch")]
use crate::fetch;
use crate::handoff::{SlotRef, WorkerHandoff};
use crate::listener::Listener;
use crate::offload::Pool;
use crate::smtp;
use crate::worker::{ConnectionLimit, Worker};
use crate::worker_state::{WorkerExit, WorkerState};

/// The default cache of forked processes. A file would be shared just as well, but this memory has no name that must be
/// removed, and the system frees it with the last process. It starts empty at each start and swap; a new build could
/// not read old entries in any case.
const PREFORK_CACHE: &str = "shared:16MiB path=none";

/// What the application needs to know about where it runs.
pub(crate) fn app_setup(
    config: &Config,
    settings: Vec<RawSetting>,
    handoff: Option<&WorkerHandoff>,
) -> Result<Setup, StartError> {
    let mut setup = config.app.clone();
    setup.settings = settings;
    setup.databases = config.database_addresses();
    setup.sql = skep::sql::Options::new()
        .connections(config.database_connections)
        .transactions(config.database_transactions)
        .statement_timeout(config.database_timeout)
        .notifications(config.database_notifications)
        .replica(config.database_replica.as_ref().map(|address| address.reveal().clone()))
        .replica_lag(config.database_replica_lag);
    setup.caches = config.tiers().map(|(name, tiers)| (name.to_owned(), tiers.clone())).collect();
    let is_prefork = config.mpm == Model::Prefork;
    if is_prefork && !setup.caches.contains_key("default") {
        let tiers = Tiers::parse([PREFORK_CACHE]).map_err(|_| {
            StartError::new(
                "mpm = prefork without cache.default needs skep-server with the cargo feature `local-tiers`".into(),
            )
        })?;
        setup.caches.insert("default".into(), tiers);
    }
    if is_prefork || config.tiers().any(|(_, tiers)| tiers.needs().leaves_process) {
        // The supervisor has hashed the executable already.
        setup.build = handoff.map_or_else(build_number, |handoff| handoff.spec.build);
    }
    setup.several_processes = is_prefork || setup.cluster;
    setup.careful = handoff.is_some_and(|handoff| handoff.spec.additive_migrations_only);
    check_websocket(&setup.websocket, Coding::Gzip.is_built_in())?;
    setup.secret = setup.secret.or_else(credential);
    setup.offload = Arc::new(Pool::new(config.blocking.threads, config.blocking.queue));
    setup.access = config.access.iter().map(|(_, rule)| rule.to_rule()).collect();
    setup.mailer = smtp::mailer(&config.mail).map_err(StartError::new)?;
    #[cfg(feature = "fetch")]
    {
        setup.fetcher = Some(Arc::new(fetch::Client::new(&config.fetch)));
    }
    Ok(setup)
}

/// An application may turn the feature on without the server, which can compress then.
fn check_websocket(websocket: &websocket::Options, can_compress: bool) -> Result<(), StartError> {
    if websocket.compress > 0 && !can_compress {
        return Err(StartError::new(
            "websocket.compress needs skep-server with the cargo feature `compression`".into(),
        ));
    }
    Ok(())
}

/// The number of this build, if no supervisor has computed it.
fn build_number() -> u32 {
    Executable::of_process().map_or(0, |executable| executable.build())
}

/// A worker that serves these listeners.
#[expect(clippy::too_many_arguments, reason = "each is a part of a worker")]
pub(crate) fn worker(
    config: &Config,
    site: &Arc<Site>,
    listeners: Vec<Listener>,
    tls: Option<crate::tls::Acceptor>,
    logs: &Logs,
    connections: ConnectionLimit,
    state: watch::Receiver<WorkerState>,
    slot_ref: Option<SlotRef>,
    metrics: Option<Recorder>,
) -> Worker {
    let rules = Rules {
        proxies: config.proxies.trusted.clone(),
        fields: config.proxies.fields.clone(),
        proxy_protocol: config.proxies.protocol,
        hosts: Hosts::new(&config.hosts, site.base_url(), site.hosts(), config.app.development),
        tls: tls.is_some(),
    };
    Worker {
        site: Arc::clone(site),
        listeners,
        tls,
        limits: config.limits,
        rules: Arc::new(rules),
        grace: config.grace,
        access: logs.access(),
        metrics,
        connections,
        state,
        slot_ref,
        budget: RequestBudget::unlimited(),
    }
}

/// What counts the requests of each thread, if something does. It is made before the threads are, and before a parent
/// forks.
#[derive(Clone, Debug)]
pub(crate) struct Counting {
    metrics: Arc<Metrics>,
    services: Arc<[u16]>,
    slow: Duration,
    tracing: Option<Tracing>,
}

impl Counting {
    /// Makes the services of the application known by name.
    pub(crate) fn new(metrics: &Arc<Metrics>, site: &Site, config: &Config) -> Self {
        let services = metrics.register(site.service_names(), site.service_routes());
        let tracing = || Tracing { one_in: config.otlp.sample_one_in, routes: site.service_routes().into() };
        let tracing = config.otlp.is_on().then(tracing);
        Self { metrics: Arc::clone(metrics), services, slow: config.status.slow, tracing }
    }

    pub(crate) fn recorder(&self, thread: usize) -> Recorder {
        self.metrics.recorder(thread, Arc::clone(&self.services), self.slow, self.tracing.clone())
    }
}

/// Runs a worker on a thread of its own, and reports its exit, a panic included.
pub(crate) fn spawn(worker: Worker, exits: mpsc::UnboundedSender<WorkerExit>) -> io::Result<JoinHandle<()>> {
    struct Report(mpsc::UnboundedSender<WorkerExit>, bool);
    impl Drop for Report {
        fn drop(&mut self) {
            let _ = self.0.send(WorkerExit { expected: self.1 });
        }
    }
    thread::Builder::new().name("worker".into()).spawn(move || {
        let mut report = Report(exits, false);
        let state = worker.state.clone();
        match worker.run() {
            Ok(()) => report.1 = *state.borrow() != WorkerState::Serving,
            Err(error) => tracing::error!(%error, "a worker thread failed"),
        }
    })
}

/// Sends the application the request of the setting `probe`, if there is one.
pub(crate) fn probe(site: &Arc<Site>, config: &Config) -> Result<(), StartError> {
    let Some(path) = &config.probe else { return Ok(()) };
    let request = http::Request::get(path.as_str()).header(http::header::HOST, "localhost").body(());
    let request = request.map_err(|error| StartError::new(format!("probe = {path}: {error}")))?;
    let request = Request::new(request.into_parts().0, Body::empty());
    let runtime = Builder::new_current_thread().enable_all().build_local(LocalOptions::default())?;
    let response =
        runtime.block_on(async { tokio::time::timeout(config.start_timeout, site.local().answer(request)).await });
    match response {
        Ok(response) if response.status().as_u16() < 400 => Ok(()),
        Ok(response) => Err(StartError::new(format!("the probe {path} failed with {}", response.status()))),
        Err(_) => Err(StartError::new(format!("the probe {path} timed out after {:?}", config.start_timeout))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_compressed_only_where_the_feature_is_built_in() {
        let mut options = skep::Setup::default().websocket;
        for (compress, can_compress, is_right) in [(0, false, true), (1, false, false), (1, true, true)] {
            options.compress = compress;
            assert_eq!(check_websocket(&options, can_compress).is_ok(), is_right, "{compress} {can_compress}");
        }
    }
}
