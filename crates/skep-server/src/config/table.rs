//! All settings of the server, in the order in which the reference has them.
//!
//! A setting is one row: here, or in the group of the part that keeps to it.

use std::path::PathBuf;
use std::time::Duration;

use skep::cache::Tiers;
use skep::sql::Options;
use skep::{Secret, Setup};
use skep_observe::{log, otlp};
use skep_settings::{GIB, HOUR, Named, SECOND, settings, words};

use super::{Cluster, Rule};
use crate::connection::Limits;
use crate::listener::{Address, StatusPage};
use crate::proxies::Proxies;
use crate::{authority, offload, outgoing, smtp, tls};

settings! {
    /// The settings of a server.
    #[derive(Clone, Debug)]
    pub(crate) struct Config in "" {
        /// Addresses to listen on: `127.0.0.1:8800`, `[::]:80`, `:8800` (every address), `localhost:8800`,
        /// `unix:/run/app.sock`, or `fd:3` for an inherited socket. `unix:/run/app.sock mode=0660 group=www-data` says
        /// who can connect to a unix socket: its file has these permissions and this group from its first moment on.
        /// The default of `mode` is 0666, everybody on this machine, as for a port of it; and 0660 if `proxies.trusted`
        /// has `unix`. Sockets of systemd (`LISTEN_FDS`) replace the default.
        listen: Vec<Address> = Addresses, "127.0.0.1:8800", flag "--listen" "ADDR";
        /// Process model. `thread`: one worker process with a thread for each core. `prefork`: processes of one thread
        /// each, forked from a parent that has initialised the application; a crash costs one of them.
        mpm: Model = Choice(Model::WORDS), Model::Thread.word(), flag "--mpm" "MODEL";
        /// Number of threads (`thread`), or of processes at the start (`prefork`). 0 is one for each core.
        workers: usize = Number(0..=1024), 0, flag "--workers" "N";
        /// `prefork`: maximum number of processes. Connections beyond what they serve wait in the backlog of the
        /// socket.
        max_workers: usize = Number(1..=4096), 64;
        /// `prefork`: fork more processes when fewer than this are idle.
        min_spare: usize = Number(1..=4096), 1;
        /// `prefork`: stop processes when more than this are idle and more than `workers` run.
        max_spare: usize = Number(1..=4096), 8;
        /// `prefork`: number of requests that a process handles at the same time. A process at this limit accepts no
        /// connection; further requests on its open connections wait.
        concurrency: usize = Number(1..=100_000), 1;
        /// Replace a worker after this number of requests, plus or minus a tenth. 0 means never. With `prefork` and 1,
        /// each request has a process of its own, forked from the initialised parent. Health checks (`/-/live`,
        /// `/-/ready`) do not count.
        requests_per_worker: u64 = Number(0..=1_000_000_000), 0;
        /// Replace a worker that uses more memory (proportional set size). 0 disables the check.
        max_memory: Option<u64> = Size(0..=1024 * GIB), 0;
        /// Replace a worker that is older than this. 0 disables the check.
        max_age: Option<Duration> = Duration(0..=366 * 24 * HOUR), 0;
        /// Replace a worker whose event loop makes no progress for this long; its stack is logged first. 0 disables the
        /// check.
        hang_timeout: Option<Duration> = Duration(0..=24 * HOUR), 30 * SECOND;
        /// Time for a worker to become ready, migrations and the application's start-up included.
        start_timeout: Duration = Duration(100..=24 * HOUR), 60 * SECOND;
        /// Path of a request that a worker answers before it counts as ready, such as `/`. A status of 400 or above
        /// fails the worker; during a swap, the old version keeps serving. Empty means no probe.
        probe: Option<String> = Text, "";
        /// Run workers under a supervisor. Without it, one plain process serves: it is not restarted after a crash, and
        /// there is no swap.
        supervise: bool = Bool, true;
        /// Unix socket of `--control`. Empty means `control` in the data directory.
        control: Option<PathBuf> = Path, "";
        /// File for the process id of the supervisor, removed at its end. Empty means none.
        pid_file: Option<PathBuf> = Path, "";
        /// User to become after sockets are bound (a name of `/etc/passwd`, or a number). Requires a start as root.
        /// Empty means no change.
        user: Option<String> = Text, "";
        /// Group to become after sockets are bound (a name of `/etc/group`, or a number). Empty means the user's own.
        group: Option<String> = Text, "";
        /// Set `PR_SET_NO_NEW_PRIVS`: no process started from here can gain privileges by set-user-ID programs. Turn it
        /// off for an application that sends mail through such a program.
        no_new_privileges: bool = Bool, true;
        app: Setup;
        cluster: Cluster;
        swap: Swap;
        databases: Named<NamedDatabase>;
        /// Connections of a thread to PostgreSQL for single statements. They are opened as they are needed. Reads of
        /// all its requests share half of them, rounded up; each write has one of the others for itself.
        database_connections: usize = Number(2..=64), Options::CONNECTIONS as u64;
        /// Most transactions that a thread has open at once on PostgreSQL, each on a connection of its own; more of
        /// them wait, as long as `database_timeout` at most.
        database_transactions: usize = Number(1..=64), Options::TRANSACTIONS as u64;
        /// How long a statement of a handler may take on PostgreSQL, and how long it waits for a connection. Then it is
        /// ended, and its request is a 503; if PostgreSQL hangs, half a second later, and of a write it is not known
        /// whether it was done. 0 means no limit.
        database_timeout: Duration = Duration(0..=HOUR), millis(Options::STATEMENT_TIMEOUT);
        /// Notifications of PostgreSQL that wait for one who listens, of 8,000 bytes at most each. One more, and all of
        /// them are dropped, and it receives `Missed`.
        database_notifications: usize = Number(1..=65_536), Options::NOTIFICATIONS as u64;
        /// Address of a replica (a hot standby) of the PostgreSQL database, for what handlers read by `cx.replica()`.
        /// Empty means none: they read from `database`.
        database_replica: Option<Secret<String>> = Text, "";
        /// How far behind the replica may be. One that is further behind, or cannot be reached, is not asked.
        database_replica_lag: Duration = Duration(0..=HOUR), millis(Options::REPLICA_LAG);
        /// Hosts that requests may name, without ports; others get 421. `*` is every host. If the list is empty: the
        /// host of `base_url` and the names of this machine (`localhost`, `127.0.0.1`, `[::1]`); with `development` but
        /// no `base_url`, names and addresses of this machine; otherwise every host.
        hosts: Vec<String> = List("example.org or *.example.org"), "", by authority::patterns;
        proxies: Proxies;
        mail: smtp::Settings;
        fetch: outgoing::Settings;
        access: Named<Rule>;
        caches: Named<Cache>;
        /// Grace period for requests in flight after TERM or INT.
        grace: Duration = Duration(0..=24 * HOUR), 10 * SECOND;
        /// Number of connections that may wait to be accepted, for each listening socket.
        backlog: i32 = Number(1..=65_535), 1024;
        log: log::Settings;
        otlp: otlp::Settings;
        status: StatusPage;
        tls: tls::Settings;
        blocking: offload::Limits;
        limits: Limits;
    }
}

settings! {
    /// Other versions of the application.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Swap in "swap" {
        /// Check the executable on disk each second, and swap to it when it has changed.
        watch: bool = Bool, false;
    }
}

settings! {
    /// A database besides that of the setting `database`.
    #[derive(Clone, Debug)]
    pub(crate) struct NamedDatabase in "databases.NAME" {
        /// Address of a PostgreSQL database, as of `database`, for the database NAME of the application
        /// (`App::database_of`). Empty means SQLite: `databases/NAME/database.sqlite` in the data directory.
        address: Option<Secret<String>> = Text, "";
    }
}

settings! {
    /// One cache.
    #[derive(Clone, Debug)]
    pub(crate) struct Cache in "cache.NAME" {
        /// Tiers of the cache NAME, from near to far: `pages` (pages and fragments), `sessions` (default:
        /// `sessions.sqlite` in the data directory), a store of the application, or `default` for all others (with
        /// `prefork`, `shared:16MiB path=none` unless set). Counters (`skep-limits`, `skep-mails`, `skep-sign-in`) are
        /// in a table of their own (`limits.counters`) unless named here. Each tier is `memory:SIZE`, `shared:SIZE`
        /// (among processes), `file:SIZE path=DIR`, `sqlite:FILE`, `memcached:HOST`, `redis:HOST` or `null`; [the page
        /// of the cache](cache.md#drivers) has their options. In a file: `[cache.pages] tiers = ["...", "..."]`.
        tiers: Tiers = Tiers, "memory:16MiB", by tiers;
    }
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

words! { Model { Thread = "thread", Prefork = "prefork" } }

fn tiers(list: &[String]) -> Result<Tiers, String> {
    Tiers::parse(list).map_err(|problem| problem.to_string())
}

/// A default of `skep-sql` in the unit of rows.
#[expect(clippy::cast_possible_truncation, reason = "it is a minute at most")]
const fn millis(time: Duration) -> u64 {
    time.as_millis() as u64
}
