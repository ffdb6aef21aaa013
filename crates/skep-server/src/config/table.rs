//! The table of settings. A new setting is a new row here, and nowhere else.

use super::Config;
use super::take::Take;
use super::value::{Kind, Value};

/// One setting.
pub(crate) struct Setting {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) default: &'static str,
    /// A flag of its own, and what follows it. A switch takes nothing.
    flag: &'static [(&'static str, &'static str)],
    /// Sentences. The first is what `--help` shows.
    pub(crate) help: &'static str,
    /// Puts a value, which is of this kind, into its place.
    pub(crate) set: fn(&mut Config, &Value) -> Result<(), String>,
}

impl Setting {
    /// The setting's own flag, and the name of what follows it.
    pub(crate) fn flag(&self) -> Option<(&'static str, &'static str)> {
        self.flag.first().copied()
    }
}

/// The setting of which there is one for each cache.
pub(super) const CACHE: &str = "cache.NAME.tiers";

/// The cache that a setting is of.
pub(super) fn cache_of(setting: &str) -> Option<&str> {
    let name = setting.strip_prefix("cache.")?.strip_suffix(".tiers")?;
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_';
    ((1..=64).contains(&name.len()) && name.bytes().all(fits)).then_some(name)
}

/// A row: name, kind, default, help, place in [`Config`], and a flag if it has one.
macro_rules! row {
    ($name:literal, $kind:expr, $default:literal, $help:literal, $($place:ident).+ $(, $flag:literal $argument:literal)?) => {
        Setting {
            name: $name,
            kind: $kind,
            default: $default,
            flag: &[$(($flag, $argument))?],
            help: $help,
            set: |config, value| {
                config.$($place).+ = Take::take(value)?;
                Ok(())
            },
        }
    };
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const SECOND: u64 = 1000;
const HOUR: u64 = 3600 * SECOND;
const DAY: u64 = 24 * HOUR;

/// All settings, in the order of their names within each group.
pub(crate) static SETTINGS: &[Setting] = &[
    row!("listen", Kind::Addresses, "127.0.0.1:8800",
        "Where to listen: `127.0.0.1:8800`, `[::]:80`, `:8800` (every address), `localhost:8800`, `unix:/run/app.sock`, or \
         `fd:3` for a socket that was opened by whoever started this process. Sockets of systemd (`LISTEN_FDS`) take the \
         place of the default.",
        listen, "--listen" "ADDR"),
    row!("mpm", Kind::Choice(&["thread", "prefork"]), "thread",
        "The process model. `thread`: one worker process with a thread for each core. `prefork`: processes with one thread each, \
         forked from a parent that has initialised the application; what hurts one does not reach the others.",
        mpm, "--mpm" "MODEL"),
    row!("workers", Kind::Count(0..=1024), "0",
        "With `thread` the number of threads that serve, with `prefork` the number of processes to begin with; 0 is one for each \
         processor core.",
        workers, "--workers" "N"),
    row!(
        "max_workers",
        Kind::Count(1..=4096),
        "64",
        "`prefork`: the most processes. Connections beyond what they serve wait in the queue of the socket.",
        max_workers
    ),
    row!(
        "min_spare",
        Kind::Count(1..=4096),
        "1",
        "`prefork`: when fewer processes than this are free, more are forked.",
        min_spare
    ),
    row!(
        "max_spare",
        Kind::Count(1..=4096),
        "8",
        "`prefork`: when more processes than this are free, and more than `workers` are there, some are let go.",
        max_spare
    ),
    row!(
        "concurrency",
        Kind::Count(1..=100_000),
        "1",
        "`prefork`: how many requests a process handles at once. A process that does so many accepts no connection; requests on \
         connections that it has kept wait.",
        concurrency
    ),
    row!(
        "requests_per_worker",
        Kind::Count(0..=1_000_000_000),
        "0",
        "After so many requests, give or take a tenth, a worker is replaced; 0 is never. With `prefork` and 1, each request has a process \
         of its own, which begins with what initialisation has left in memory. Health checks (`/-/live`, `/-/ready`) are not counted.",
        requests_per_worker
    ),
    row!(
        "max_memory",
        Kind::Size(0..=1024 * GIB),
        "0",
        "A worker that takes more memory (proportional set size) is replaced; 0 is any amount.",
        max_memory
    ),
    row!("max_age", Kind::Time(0..=366 * 24 * HOUR), "0", "A worker that is older is replaced; 0 is any age.", max_age),
    row!(
        "hang_timeout",
        Kind::Time(0..=24 * HOUR),
        "30s",
        "A worker of which a thread does not get on for so long is replaced, after the log has shown where it stands; 0 is never.",
        hang_timeout
    ),
    row!(
        "start_timeout",
        Kind::Time(100..=24 * HOUR),
        "60s",
        "How long a worker may take until it is ready; migrations and what the application does at its start are part of it.",
        start_timeout
    ),
    row!(
        "probe",
        Kind::Word,
        "",
        "The path of a request that a worker answers to itself before it counts as ready, such as `/`. An answer of 400 or above means that \
         it is not: at a swap, the old version goes on.",
        probe
    ),
    row!(
        "supervise",
        Kind::Switch,
        "true",
        "Whether a supervisor watches over the workers. Without it, one plain process serves: a death is an end, and there is no swap.",
        supervise
    ),
    row!(
        "control",
        Kind::Path,
        "",
        "The unix socket that `--control` talks to. If empty, it is `control` in the folder for data.",
        control
    ),
    row!(
        "pid_file",
        Kind::Path,
        "",
        "The supervisor writes the number of its process here, and removes the file at its end.",
        pid_file
    ),
    row!(
        "user",
        Kind::Word,
        "",
        "After sockets are bound, become this user (a name of `/etc/passwd`, or a number). It needs to be started as root.",
        user
    ),
    row!(
        "group",
        Kind::Word,
        "",
        "After sockets are bound, become this group (a name of `/etc/group`, or a number); the user's own if empty.",
        group
    ),
    row!(
        "no_new_privileges",
        Kind::Switch,
        "true",
        "Nothing that is started from here can gain rights by set-user-ID programs (`PR_SET_NO_NEW_PRIVS`). An application that sends mail \
         through such a program turns it off.",
        no_new_privileges
    ),
    row!(
        "swap.watch",
        Kind::Switch,
        "false",
        "Looks at the executable on disk once a second, and swaps to it when it has changed.",
        swap.watch
    ),
    row!("swap.allow_breaking_migration", Kind::Switch, "false",
        "A swap runs migrations, too, that the old version may not get on with: those that do more than add.",
        swap.allow_breaking_migration, "--allow-breaking-migration" ""),
    row!("data", Kind::Path, "data",
        "The folder for everything that outlives the process. It is created if it is missing.",
        data, "--data" "DIR"),
    row!(
        "base_url",
        Kind::Url,
        "",
        "Scheme and host under which the site is reached, such as `https://example.org`. Feeds, mails and whatever else \
         leaves the site begin with it; without it, with what a request says, which anybody can write. A path has no \
         place in it: links know theirs while they compile.",
        base_url, "--base-url" "URL"
    ),
    row!(
        "secret",
        Kind::Path,
        "",
        "The file with the keys that seal what browsers keep for the application, each 64 hexadecimal digits on a line: the \
         first one seals, all of them open. If empty, it is `secret` in the folder for data, made when it is first needed.",
        secret
    ),
    Setting {
        name: CACHE,
        kind: Kind::Tiers,
        default: "memory:16MiB",
        flag: &[],
        help: "Where the cache NAME keeps its values: `pages` (pages and fragments), `sessions` (if not said, `sessions.sqlite` in the \
               folder for data), a store of the application, or `default` for all others that have no tiers of their own (with \
               `prefork` it is `shared:16MiB path=none`, unless set). From near to far, each `memory:SIZE`, `shared:SIZE` (among processes), \
               `file:SIZE path=DIR`, `sqlite:FILE`, `memcached:HOST`, `redis:HOST` or `null`; \
               [cache-drivers.md](cache-drivers.md) has their options. In a file it is `[cache.pages] tiers = [\"...\", \"...\"]`.",
        // The values have names of their own: `Config::read` takes them.
        set: |_, _| Ok(()),
    },
    row!(
        "grace",
        Kind::Time(0..=24 * HOUR),
        "10s",
        "How long requests may go on after TERM or INT before the process ends.",
        grace
    ),
    row!(
        "development",
        Kind::Switch,
        "false",
        "Error pages show everything, causes included. Never set it where strangers can look.",
        development
    ),
    row!(
        "backlog",
        Kind::Count(1..=65_535),
        "1024",
        "How many connections may wait to be accepted, for each listening socket.",
        backlog
    ),
    row!(
        "log.access",
        Kind::Switch,
        "true",
        "A line for each request on standard output: time, peer, method, target, status, bytes of the body, microseconds. \
         Values of query parameters that are usually secret (`password`, `token`, ...) are replaced by `***`.",
        log.access
    ),
    row!(
        "log.buffer",
        Kind::Size(KIB..=GIB),
        "256KiB",
        "How much may wait to be written, for each thread. Beyond it lines are dropped and counted; a request never waits.",
        log.buffer
    ),
    row!(
        "log.level",
        Kind::Choice(&["error", "warn", "info", "debug", "trace"]),
        "info",
        "The least important events that are written to standard error.",
        log.level
    ),
    row!(
        "session.idle",
        Kind::Time(60 * SECOND..=400 * DAY),
        "14d",
        "A session that nobody uses for so long ends, to within ten minutes or an eighth of it, whichever is less.",
        session.idle
    ),
    row!(
        "session.life",
        Kind::Time(60 * SECOND..=400 * DAY),
        "90d",
        "A session ends so long after it began or was renewed, however much it is used. Browsers keep no cookie for longer          than 400 days.",
        session.life
    ),
    row!("tls.certificate", Kind::Path, "",
        "The certificate chain as a PEM file, the server's own first. With it, TCP listeners speak TLS.",
        tls.certificate, "--tls-cert" "FILE"),
    row!("tls.key", Kind::Path, "",
        "The private key of the certificate as a PEM file.",
        tls.key, "--tls-key" "FILE"),
    row!("tls.self_signed", Kind::Switch, "false",
        "TLS with a certificate for localhost that is made at start. For trying only: browsers warn of it.",
        tls.self_signed, "--tls-self-signed" ""),
    row!(
        "limits.blocking_threads",
        Kind::Count(1..=4096),
        "16",
        "The most threads for work that blocks. They start when there is such work and end when there is none.",
        limits.blocking_threads
    ),
    row!(
        "limits.body",
        Kind::Size(0..=1024 * GIB),
        "1MiB",
        "The most bytes of a request's body, unless a service says otherwise for itself (413).",
        limits.body
    ),
    row!(
        "limits.body_idle",
        Kind::Time(10..=HOUR),
        "30s",
        "How long a request's body may be silent while the application waits for it (408).",
        limits.body_idle
    ),
    row!(
        "limits.connections",
        Kind::Count(1..=10_000_000),
        "20000",
        "The most connections at a time (503). It cannot be more than the process may open files.",
        limits.connections
    ),
    row!(
        "limits.form_fields",
        Kind::Count(1..=1_000_000),
        "1000",
        "The most fields of a form (413).",
        limits.form_fields
    ),
    row!(
        "limits.header_bytes",
        Kind::Size(8 * KIB..=16 * MIB),
        "64KiB",
        "The most bytes of a request's head: request line and header fields together (431).",
        limits.header_bytes
    ),
    row!(
        "limits.header_fields",
        Kind::Count(1..=10_000),
        "100",
        "The most header fields of a request (431).",
        limits.header_fields
    ),
    row!(
        "limits.header_time",
        Kind::Time(10..=HOUR),
        "10s",
        "How long a request's head may take to arrive (408). A new connection that stays silent for so long is closed.",
        limits.header_time
    ),
    row!(
        "limits.http2_resets",
        Kind::Count(1..=10_000),
        "20",
        "How many HTTP/2 streams a client may open and cancel before they are answered, until its connection is closed.",
        limits.http2_resets
    ),
    row!(
        "limits.http2_streams",
        Kind::Count(1..=10_000),
        "100",
        "The most requests at a time on one HTTP/2 connection.",
        limits.http2_streams
    ),
    row!(
        "limits.keep_alive",
        Kind::Time(10..=24 * HOUR),
        "75s",
        "How long a connection may wait for its next request before it is closed.",
        limits.keep_alive
    ),
    row!(
        "limits.once",
        Kind::Count(1..=100_000_000),
        "100000",
        "The most submissions of one-shot forms that a process keeps in mind (503). Without a database they are kept until \
         the time of their form is over, with one only while they are being answered.",
        limits.once
    ),
    row!(
        "limits.page",
        Kind::Size(KIB..=GIB),
        "8MiB",
        "The most bytes of a page that is kept for all (500 for one that is larger, a stream among them).",
        limits.page
    ),
    row!(
        "limits.query_parameters",
        Kind::Count(1..=1_000_000),
        "1000",
        "The most parameters of a query (400).",
        limits.query_parameters
    ),
    row!(
        "limits.requests_per_connection",
        Kind::Count(0..=4_294_967_295),
        "0",
        "How many requests one HTTP/1 connection may bring before it is closed; 0 is any number.",
        limits.requests_per_connection
    ),
    row!(
        "limits.session",
        Kind::Size(0..=16 * MIB),
        "64KiB",
        "The most bytes of one session: its names, and its values as JSON (500 for the request that wants to store more).",
        limits.session
    ),
    row!(
        "limits.sessions",
        Kind::Count(16..=1_000_000_000),
        "1000000",
        "The most sessions in all, if no cache `sessions` is configured: those end that nobody used for longest.",
        limits.sessions
    ),
    row!(
        "limits.tls_handshake",
        Kind::Time(10..=HOUR),
        "10s",
        "How long a TLS handshake may take before the connection is closed.",
        limits.tls_handshake
    ),
    row!(
        "limits.upload_file",
        Kind::Size(0..=1024 * GIB),
        "16MiB",
        "The most bytes of one file that a form brings; its field says so. A field may allow fewer.",
        limits.upload_file
    ),
    row!(
        "limits.upload_quota",
        Kind::Size(0..=1024 * GIB),
        "1GiB",
        "The most bytes of the disk that files take whose requests are being answered, for each process (503).",
        limits.upload_quota
    ),
    row!(
        "limits.upload_total",
        Kind::Size(0..=1024 * GIB),
        "64MiB",
        "The most bytes of a form that holds files, unless a service says otherwise for itself (413).",
        limits.upload_total
    ),
    row!(
        "limits.url",
        Kind::Size(64..=65_534),
        "8KiB",
        "The most bytes of a request's target: path and query together (414).",
        limits.url
    ),
    row!(
        "limits.user_sessions",
        Kind::Count(1..=1000),
        "100",
        "The most sessions of one user, if the application says whose they are: the oldest end.",
        limits.user_sessions
    ),
    row!(
        "limits.write_idle",
        Kind::Time(10..=HOUR),
        "30s",
        "How long a client may take nothing of an answer before its connection is closed.",
        limits.write_idle
    ),
];
