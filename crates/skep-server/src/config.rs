//! The settings of a server, in one typed [`Config`].
//!
//! One [table](table::SETTINGS) names all settings that the server enforces. [`table`] adds those of others: limits of
//! the application, `log.*`, `otlp.*`; an application and `skep serve` add rows of their own. All [`sources`] fill the
//! same values; help and reference page are written from the same rows ([`page`]).
//!
//! Start reading at [`Reading::read`].

mod access;
mod fetch;
mod flags;

mod page;
mod sources;
mod table;
mod take;
#[cfg(test)]
#[path = "../tests/unit/config.rs"]
mod tests;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use skep::cache::Tiers;
use skep::link::BaseUrl;
use skep::mail::Mailbox;
use skep::settings::{RawSetting, Resolved, Row, Source, Table, Value, Values};
use skep::{Secret, compression, session, websocket};
use skep_observe::log::EventOutput;
use skep_observe::metrics::Queues;
use skep_observe::{log, metrics, otlp};

pub(crate) use access::Access;
pub(crate) use fetch::Fetch;
pub(crate) use flags::{Command, Flags};
pub use page::reference;
pub(crate) use page::{help, print};
pub(crate) use sources::Sources;

use crate::error::StartError;
use crate::proxies::{Fields, Trusted};

/// The settings of a server. Each field is a setting of the same name: `docs/reference/configuration.md`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Config {
    pub(crate) listen: Vec<Address>,
    pub(crate) mpm: Model,
    pub(crate) workers: usize,
    pub(crate) max_workers: usize,
    pub(crate) min_spare: usize,
    pub(crate) max_spare: usize,
    pub(crate) concurrency: usize,
    pub(crate) requests_per_worker: u64,
    pub(crate) max_memory: Option<u64>,
    pub(crate) max_age: Option<Duration>,
    pub(crate) hang_timeout: Option<Duration>,
    pub(crate) start_timeout: Duration,
    pub(crate) probe: Option<String>,
    pub(crate) supervise: bool,
    pub(crate) control: Option<PathBuf>,
    pub(crate) pid_file: Option<PathBuf>,
    pub(crate) user: Option<String>,
    pub(crate) group: Option<String>,
    pub(crate) no_new_privileges: bool,
    pub(crate) swap: Swap,
    pub(crate) data: PathBuf,
    pub(crate) database: Option<Secret<String>>,
    /// `databases.NAME.address`
    pub(crate) databases: HashMap<String, Secret<String>>,
    pub(crate) database_connections: usize,
    pub(crate) database_transactions: usize,
    pub(crate) database_timeout: Duration,
    pub(crate) database_notifications: usize,
    pub(crate) database_replica: Option<Secret<String>>,
    pub(crate) database_replica_lag: Duration,
    pub(crate) base_url: Option<BaseUrl>,
    pub(crate) hosts: Vec<String>,
    pub(crate) compression: compression::Options,
    pub(crate) cookies: Cookies,
    pub(crate) proxies: Proxies,
    pub(crate) secret: Option<PathBuf>,
    pub(crate) secret_keys: Option<Secret<String>>,
    pub(crate) mail: Mail,
    pub(crate) fetch: Fetch,
    pub(crate) access: Access,
    pub(crate) caches: Caches,
    pub(crate) grace: Duration,
    pub(crate) development: bool,
    pub(crate) backlog: i32,
    pub(crate) log: log::Settings,
    pub(crate) otlp: otlp::Settings,
    pub(crate) metrics: metrics::Settings,
    pub(crate) queues: Queues,
    pub(crate) session: session::Rules,
    pub(crate) status: Status,
    pub(crate) tls: Tls,
    /// Of the server.
    pub(crate) limits: Limits,
    /// Of the application.
    pub(crate) app_limits: skep::Limits,
    pub(crate) websocket: websocket::Options,
}

/// How requests are spread over processes and threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Model {
    /// One process, a thread for each core.
    #[default]
    Thread,
    /// Processes of one thread, forked from a parent.
    Prefork,
}

impl Model {
    /// As the setting `mpm` has it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Thread => "thread",
            Self::Prefork => "prefork",
        }
    }
}

/// The settings `swap.*`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Swap {
    pub(crate) watch: bool,
    pub(crate) allow_breaking_migration: bool,
}

/// The settings `cache.NAME.tiers`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Caches {
    pub(crate) tiers: HashMap<String, Tiers>,
    /// Some are shared with other processes, or outlive this one.
    pub(crate) leave_the_process: bool,
    /// Some are asked over a connection.
    pub(crate) need_a_runtime: bool,
}

/// The settings `cookies.*`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cookies {
    /// Always, whatever the connection.
    pub(crate) secure: bool,
}

/// The settings `proxies.*`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Proxies {
    pub(crate) trusted: Trusted,
    pub(crate) fields: Fields,
    pub(crate) protocol: bool,
}

/// The settings `mail.*`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Mail {
    pub(crate) smtp: Option<Secret<String>>,
    pub(crate) from: Option<Mailbox>,
    pub(crate) notices: bool,
    pub(crate) timeout: Duration,
}

/// The settings `status.*`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Status {
    pub(crate) listen: StatusAddress,
}

/// Where the status page is: an address of this machine that others do not reach, or nowhere.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StatusAddress(pub(crate) Option<Address>);

/// The settings `tls.*`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tls {
    pub(crate) certificate: Option<PathBuf>,
    pub(crate) key: Option<PathBuf>,
    pub(crate) self_signed: bool,
}

/// The settings `limits.*` that the server enforces; those of the application are in [`skep::Limits`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    pub(crate) blocking_queue: usize,
    pub(crate) blocking_threads: usize,
    pub(crate) body_idle: Duration,
    pub(crate) body_rate: u64,
    pub(crate) body_time: Option<Duration>,
    pub(crate) compressions: u64,
    pub(crate) connections: usize,
    pub(crate) connections_per_address: usize,
    pub(crate) fetch_body: u64,
    pub(crate) fetch_time: Duration,
    pub(crate) fetches_per_host: usize,
    pub(crate) half_closed: Duration,
    pub(crate) header_bytes: usize,
    pub(crate) header_fields: usize,
    pub(crate) header_time: Duration,
    pub(crate) http2_control_frames: u32,
    pub(crate) http2_resets: u32,
    pub(crate) http2_streams: u32,
    pub(crate) keep_alive: Duration,
    pub(crate) mail_bytes: u32,
    pub(crate) mail_queue: usize,
    pub(crate) request_time: Option<Duration>,
    pub(crate) requests_per_connection: u32,
    pub(crate) tls_handshake: Duration,
    pub(crate) unread_body: u64,
    pub(crate) unsent: usize,
    pub(crate) url: usize,
    pub(crate) write_idle: Duration,
}

/// Where to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// An address, or those that a name stands for.
    Tcp {
        said: String,
        addresses: Vec<SocketAddr>,
    },
    Unix(UnixAddress),
    /// A socket that this process was started with.
    Inherited(i32),
}

/// A unix socket to listen on: `unix:/run/blog/blog.sock mode=0660 group=www-data`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct UnixAddress {
    pub(crate) path: PathBuf,
    /// Who can connect: the permissions of its file.
    pub(crate) mode: Option<u32>,
    pub(crate) group: Option<String>,
}

impl UnixAddress {
    /// Everybody on this machine can connect, as to a port of it.
    const EVERYBODY: u32 = 0o666;
    /// Its user and group can: each client is a trusted proxy.
    const GROUP: u32 = 0o660;
    const OWNER: u32 = 0o600;

    /// Its permissions, with those of the setting if nothing else is said.
    pub(crate) fn mode(&self) -> u32 {
        self.mode.unwrap_or(Self::OWNER)
    }
}

impl Address {
    pub(crate) fn unix(&self) -> Option<&UnixAddress> {
        match self {
            Self::Unix(address) => Some(address),
            _ => None,
        }
    }

    pub(crate) fn unix_path(&self) -> Option<&Path> {
        self.unix().map(|address| &*address.path)
    }
}

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

/// The table of the server, with the limits of the application and `more` rows. Limits are in the order of their names.
pub(crate) fn table(more: &[Row]) -> Table {
    let mut rows: Vec<Row> = table::SETTINGS.iter().map(table::Setting::row).collect();
    insert_after(&mut rows, "backlog", log::Settings::rows().into_iter().chain(otlp::Settings::rows()));
    insert_after(&mut rows, "status.listen", metrics::Settings::rows());
    let is_limit = |row: &Row| row.name.starts_with("limits.");
    let at = rows.iter().position(is_limit).unwrap_or(rows.len());
    rows.splice(at..at, skep::Limits::rows().into_iter().chain(Queues::rows()));
    let end = rows.iter().rposition(is_limit).map_or(at, |last| last + 1);
    rows[at..end].sort_by(|one, other| one.name.cmp(&other.name));
    rows.extend(more.iter().cloned());
    Table::new(rows)
}

fn insert_after(rows: &mut Vec<Row>, name: &str, more: impl IntoIterator<Item = Row>) {
    let at = rows.iter().position(|row| row.name == name).map_or(rows.len(), |at| at + 1);
    rows.splice(at..at, more);
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
        Queues { spans: if_on(true, self.queues.spans), log_records: if_on(exports_logs, self.queues.log_records) }
    }

    fn from_values(values: &Values, problems: &mut Vec<String>) -> Self {
        let mut config = Self::default();
        for resolved in values.iter() {
            let Resolved { name, value, source, .. } = resolved;
            let taken = match table::SETTINGS.iter().find(|setting| setting.name == name) {
                Some(setting) => (setting.set)(&mut config, value),
                None => config.take_of_others(name, value),
            };
            if let Err(problem) = taken {
                problems.push(format!("{source}: {name} = \"{value}\": {problem}"));
            }
        }
        let usual = if config.proxies.trusted.includes_unix() { UnixAddress::GROUP } else { UnixAddress::EVERYBODY };
        for address in &mut config.listen {
            if let Address::Unix(address) = address {
                address.mode.get_or_insert(usual);
            }
        }
        problems.extend(config.access.problems());
        if config.log.outputs.iter().any(EventOutput::is_otlp) && !config.otlp.is_on() {
            let source = values.get("log.outputs").map_or(&Source::Default, |resolved| &resolved.source);
            problems.push(format!("{source}: log.outputs: the output otlp needs the setting otlp.endpoint"));
        }
        if config.database_replica.is_some() && config.database.is_none() {
            let source = values.get("database_replica").map_or(&Source::Default, |resolved| &resolved.source);
            problems.push(format!(
                "{source}: database_replica needs the setting database: the PostgreSQL that it replicates"
            ));
        }
        if config.mail.smtp.is_some() && config.mail.from.is_none() {
            let source = values.get("mail.smtp").map_or(&Source::Default, |resolved| &resolved.source);
            problems
                .push(format!("{source}: mail.smtp needs the setting mail.from: the sender of mail that names none"));
        }
        let is_target = |path: &String| path.parse::<http::uri::PathAndQuery>().is_ok();
        let is_path = |path: &String| path.starts_with('/') && path.is_ascii() && is_target(path);
        if let Some(path) = config.probe.as_ref().filter(|path| !is_path(path)) {
            let source = values.get("probe").map_or(&Source::Default, |resolved| &resolved.source);
            problems.push(format!("{source}: probe = \"{path}\": expected a path, such as / or /health"));
        }
        config
    }
}

impl Config {
    /// Stores a setting whose row is in another table.
    fn take_of_others(&mut self, name: &str, value: &Value) -> Result<(), String> {
        self.take_database(name, value);
        self.app_limits.set(name, value)?;
        self.log.set(name, value)?;
        self.metrics.set(name, value)?;
        self.otlp.set(name, value)?;
        self.queues.set(name, value)?;
        self.caches.take(name, value)?;
        self.access.take(name, value)
    }

    fn take_database(&mut self, setting: &str, value: &Value) {
        let name = setting.strip_prefix("databases.").and_then(|name| name.strip_suffix(".address"));
        let address = Some(value.to_string()).filter(|address| !address.is_empty());
        if let (Some(name), Some(address)) = (name, address) {
            self.databases.insert(name.to_owned(), Secret::new(address));
        }
    }
}

impl Caches {
    fn take(&mut self, setting: &str, value: &Value) -> Result<(), String> {
        let name = setting.strip_prefix("cache.").and_then(|name| name.strip_suffix(".tiers"));
        let (Some(name), Value::List(list)) = (name, value) else { return Ok(()) };
        let tiers = Tiers::parse(list).map_err(|problem| problem.to_string())?;
        self.leave_the_process |= tiers.needs().leaves_process;
        self.need_a_runtime |= tiers.needs().runtime;
        self.tiers.insert(name.to_owned(), tiers);
        Ok(())
    }
}
