//! The settings of a server, in one typed [`Config`].
//!
//! There is one table of settings ([`table`]). Flags, file, environment and program fill the same values ([`layers`]);
//! help and reference page are written from the same rows ([`page`]). There is no second list.
//!
//! Start reading at [`Config::read`].

mod error;
mod flags;
mod layers;
mod nearest;
mod page;
mod table;
mod take;
mod value;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use skep::cache::{NotTiers, Tiers};
use skep::link::BaseUrl;

pub(crate) use error::ConfigError;
pub use flags::flags;
pub(crate) use flags::{Command, Flags};
pub(crate) use layers::{Fixed, Sources, is_default};
pub use page::reference;
pub(crate) use page::{help, print};

/// What a server was told. Each field is a setting of the same name; `docs/configuration.md` says what they mean.
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
    pub(crate) base_url: Option<BaseUrl>,
    pub(crate) secret: Option<PathBuf>,
    pub(crate) caches: Caches,
    pub(crate) grace: Duration,
    pub(crate) development: bool,
    pub(crate) backlog: i32,
    pub(crate) log: Log,
    pub(crate) session: Session,
    pub(crate) tls: Tls,
    pub(crate) limits: Limits,
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

/// The settings `log.*`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    pub(crate) access: bool,
    pub(crate) level: String,
    pub(crate) buffer: usize,
}

/// The settings `session.*`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Session {
    pub(crate) idle: Duration,
    pub(crate) life: Duration,
}

/// The settings `tls.*`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tls {
    pub(crate) certificate: Option<PathBuf>,
    pub(crate) key: Option<PathBuf>,
    pub(crate) self_signed: bool,
}

/// The settings `limits.*`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Limits {
    pub(crate) blocking_threads: usize,
    pub(crate) body: u64,
    pub(crate) body_idle: Duration,
    pub(crate) connections: usize,
    pub(crate) form_fields: usize,
    pub(crate) header_bytes: usize,
    pub(crate) header_fields: usize,
    pub(crate) header_time: Duration,
    pub(crate) http2_resets: usize,
    pub(crate) http2_streams: u32,
    pub(crate) keep_alive: Duration,
    pub(crate) once: usize,
    pub(crate) page: u64,
    pub(crate) query_parameters: usize,
    pub(crate) requests_per_connection: u32,
    pub(crate) session: usize,
    pub(crate) sessions: u64,
    pub(crate) tls_handshake: Duration,
    pub(crate) upload_file: u64,
    pub(crate) upload_quota: u64,
    pub(crate) upload_total: u64,
    pub(crate) user_sessions: usize,
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
    Unix(PathBuf),
    /// A socket that this process was started with.
    Inherited(i32),
}

impl Config {
    /// Reads all layers, and names all that is wrong in them.
    pub(crate) fn read(
        flags: &Flags,
        fixed: &[Fixed],
        sources: &Sources,
    ) -> Result<(Self, layers::Values), ConfigError> {
        let (values, mut problems) = layers::read(flags, fixed, sources)?;
        let mut config = Self::default();
        for (setting, known) in table::SETTINGS.iter().zip(values.iter()) {
            if let Err(problem) = (setting.set)(&mut config, &known.value) {
                problems.push(format!("{}: {} = {}: {problem}", known.from, setting.name, known.value));
            }
        }
        for known in values.iter().skip(table::SETTINGS.len()) {
            if let Err(problem) = config.caches.take(known) {
                problems.push(format!("{}: {} = \"{}\": {problem}", known.from, known.name, known.value));
            }
        }
        if problems.is_empty() { Ok((config, values)) } else { Err(ConfigError::new(problems)) }
    }
}

impl Caches {
    fn take(&mut self, known: &layers::Known) -> Result<(), NotTiers> {
        let (Some(name), value::Value::List(list)) = (table::cache_of(&known.name), &known.value) else {
            return Ok(());
        };
        let tiers = Tiers::parse(list)?;
        self.leave_the_process |= tiers.needs().leaves_process;
        self.need_a_runtime |= tiers.needs().runtime;
        self.tiers.insert(name.to_owned(), tiers);
        Ok(())
    }
}
