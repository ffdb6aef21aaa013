//! The settings of a server, in one typed [`Config`].
//!
//! The [`table`] names all settings of the server; an application and `skep serve` add rows of their own. All
//! [`sources`] fill the same values; help and reference page are written from the same rows ([`page`]).
//!
//! Start reading at [`Reading::read`].

mod access;
mod cluster;
mod flags;
mod page;
mod sources;
mod table;
#[cfg(test)]
#[path = "../tests/unit/config.rs"]
mod tests;

use std::collections::HashMap;
use std::path::PathBuf;

use skep::Secret;
use skep::cache::Tiers;
use skep::settings::{RawSetting, Row, Source, Table, Values};
use skep_observe::log::EventOutput;
use skep_observe::metrics::Queues;
use skep_settings::Group;

pub(crate) use access::Rule;
use cluster::Cluster;
pub(crate) use flags::{Command, Flags};
pub use page::reference;
pub(crate) use page::{help, print};
pub(crate) use sources::Sources;
pub(crate) use table::{Config, Model};

use crate::error::StartError;
use crate::listener::{Address, UnixAddress};
use table::NamedDatabase;

/// All that is needed to read settings.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) flags: Flags,
    /// What the program has fixed.
    pub(crate) fixed: Vec<RawSetting>,
    pub(crate) sources: Sources,
    /// Rows of the program around the application, such as `skep serve`.
    pub(crate) rows: Vec<Row>,
}

/// Settings that were read.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) config: Config,
    pub(crate) values: Values,
    /// What the sources say about the application's settings.
    pub(crate) application: Vec<RawSetting>,
}

/// The table of the server and `more` rows: as in a file, settings without a table, and then table by table, in the
/// order in which they are first named. All `limits.*` are in the order of their names.
pub(crate) fn table(more: &[Row]) -> Table {
    let of = |row: &Row| row.name.split_once('.').map(|(table, _)| table.to_owned());
    let mut rows = Config::rows();
    rows.extend(more.iter().cloned());
    let tables: Vec<_> = rows.iter().map(of).collect();
    rows.sort_by_cached_key(|row| {
        let table = of(row);
        let name = table.as_deref().filter(|table| *table == "limits").map(|_| row.name.clone());
        (table.is_some().then(|| tables.iter().position(|first| *first == table)), name)
    });
    Table::new(rows)
}

impl Reading {
    /// Reads all sources, and names all that is wrong in them.
    ///
    /// `application`: the rows of the application, where it is known. The supervisor does not make the application;
    /// there, settings that may be the application's are not judged.
    pub(crate) fn read(&self, application: Option<&[Row]>) -> Result<Settings, StartError> {
        let own = table(&self.rows);
        let rows: Vec<Row> = self.rows.iter().chain(application.unwrap_or_default()).cloned().collect();
        let all = table(&rows);
        let mut problems = clashes(&own, application.unwrap_or_default());
        let raw = self.sources.read(&self.flags, &self.fixed, &all)?;
        let may_be_judged = |raw: &RawSetting| application.is_some() || !may_be_of_application(&own, raw);
        let (raw, _) = raw.into_iter().partition::<Vec<_>, _>(may_be_judged);
        let is_of_application = |raw: &&RawSetting| own.row(&raw.name).is_none() && all.row(&raw.name).is_some();
        let of_application = raw.iter().filter(is_of_application).cloned().collect();
        let (values, more) = all.resolve(raw);
        problems.extend(more);
        let config = Config::from_values(&values, &mut problems);
        if problems.is_empty() {
            Ok(Settings { config, values, application: of_application })
        } else {
            Err(StartError::new(problems.join("\n")))
        }
    }
}

/// True if this is the setting of an application: it is in no table of the server.
fn may_be_of_application(own: &Table, raw: &RawSetting) -> bool {
    let table = |name: &str| name.split_once('.').map(|(table, _)| table.to_owned());
    match &raw.source {
        Source::Environment(_) => own.row(&raw.name).is_none(),
        _ => table(&raw.name).is_some_and(|of| own.rows().iter().all(|row| table(&row.name).as_deref() != Some(&of))),
    }
}

fn clashes(own: &Table, application: &[Row]) -> Vec<String> {
    let table = |row: &Row| row.name.split('.').next().map(ToOwned::to_owned);
    let mut taken: Vec<String> = application.iter().filter_map(table).collect();
    taken.dedup();
    taken.retain(|name| own.rows().iter().any(|row| table(row).as_ref() == Some(name)));
    let problem =
        |name: String| format!("the table \"{name}\" is the server's: give the application's settings another one");
    taken.into_iter().map(problem).collect()
}

impl Config {
    /// True if each request has a process of its own.
    pub(crate) fn is_process_per_request(&self) -> bool {
        self.mpm == Model::Prefork && self.requests_per_worker == 1
    }

    /// True if requests are counted: for a status page, or for a receiver of metrics.
    pub(crate) fn is_observed(&self) -> bool {
        self.status.listen.0.is_some() || self.otlp.is_on()
    }

    /// The lengths of the queues to the process that exports.
    pub(crate) fn queues(&self) -> Queues {
        let exports_logs = self.log.outputs.iter().any(EventOutput::is_otlp);
        let if_on = |is_on: bool, length| if self.otlp.is_on() && is_on { length } else { 0 };
        Queues { spans: if_on(true, self.otlp.spans), log_records: if_on(exports_logs, self.otlp.log_records) }
    }

    /// The tiers of caches by name.
    pub(crate) fn tiers(&self) -> impl Iterator<Item = (&str, &Tiers)> {
        self.caches.iter().map(|(name, cache)| (name, &cache.tiers))
    }

    /// True if a cache is asked over a connection.
    pub(crate) fn caches_need_a_runtime(&self) -> bool {
        self.tiers().any(|(_, tiers)| tiers.needs().runtime)
    }

    /// The addresses of databases by name.
    pub(crate) fn database_addresses(&self) -> HashMap<String, Secret<String>> {
        let address = |(name, database): (&str, &NamedDatabase)| Some((name.to_owned(), database.address.clone()?));
        self.databases.iter().filter_map(address).collect()
    }

    fn from_values(values: &Values, problems: &mut Vec<String>) -> Self {
        let mut config = Self::default();
        for resolved in values.iter() {
            if let Some(Err(problem)) = config.set(&resolved.name, &resolved.value) {
                problems.push(resolved.refused(&problem));
            }
        }
        let usual = if config.proxies.trusted.includes_unix() { UnixAddress::GROUP } else { UnixAddress::EVERYBODY };
        for address in &mut config.listen {
            if let Address::Unix(address) = address {
                address.mode.get_or_insert(usual);
            }
        }
        problems.extend(config.access.iter().filter_map(|(name, rule)| rule.problem(name)));
        let has_keys = config.app.secret.is_some() || config.app.secret_keys.is_some() || credential().is_some();
        let cluster = config.switch_to_cluster(has_keys);
        let contradictions = config.contradictions().map(|(name, problem)| (name.to_owned(), problem));
        problems.extend(cluster.into_iter().chain(contradictions).map(|(name, problem)| {
            let source = values.get(&name).map_or(&Source::Default, |resolved| &resolved.source);
            format!("{source}: {name}{problem}")
        }));
        config
    }

    /// Settings that lack another one, and why.
    fn contradictions(&self) -> impl Iterator<Item = (&'static str, String)> {
        let exports_logs = self.log.outputs.iter().any(EventOutput::is_otlp);
        let is_path =
            |path: &str| path.starts_with('/') && path.is_ascii() && path.parse::<http::uri::PathAndQuery>().is_ok();
        let probe = self.probe.as_deref().filter(|path| !is_path(path));
        let otlp = ": the output otlp needs the setting otlp.endpoint";
        let replica = " needs the setting database: the PostgreSQL that it replicates";
        let smtp = " needs the setting mail.from: the sender of mail that names none";
        let problems = [
            (exports_logs && !self.otlp.is_on()).then(|| ("log.outputs", otlp.to_owned())),
            (self.database_replica.is_some() && self.app.database.is_none())
                .then(|| ("database_replica", replica.to_owned())),
            (self.mail.smtp.is_some() && self.app.mail_from.is_none()).then(|| ("mail.smtp", smtp.to_owned())),
            probe.map(|path| ("probe", format!(" = \"{path}\": expected a path, such as / or /health"))),
        ];
        problems.into_iter().flatten()
    }
}

/// The keys that systemd passes to this service (systemd.exec(5), `LoadCredential=`).
pub(crate) fn credential() -> Option<PathBuf> {
    let folder = std::env::var_os("CREDENTIALS_DIRECTORY")?;
    Some(PathBuf::from(folder).join("skep-secret")).filter(|file| file.exists())
}
