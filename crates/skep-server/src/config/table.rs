//! The server's table of settings. A new setting is a new row here and a field of [`Config`], and nothing else; a new
//! limit that the application keeps is a row of `setup/limits.rs` in `skep`, a setting of logs or metrics one of
//! `log/settings.rs`, `otlp/settings.rs` or `metrics/settings.rs` in `skep-observe`, and nothing else.

use std::borrow::Cow;

use skep::settings::{Kind, Row, Value};

use super::Config;
use super::take::Take;

/// The settings whose values are shown as `***`.
const SECRETS: [&str; 6] =
    ["access.NAME.headers", "database", "database_replica", "databases.NAME.address", "mail.smtp", "secret_keys"];

/// One setting of the server.
pub(crate) struct Setting {
    pub(crate) name: &'static str,
    kind: Kind,
    default: &'static str,
    /// A flag of its own, and the name of its argument.
    flag: &'static [(&'static str, &'static str)],
    /// Sentences. `--help` shows the first.
    help: &'static str,
    /// Stores a value, which is of this kind.
    pub(super) set: fn(&mut Config, &Value) -> Result<(), String>,
}

impl Setting {
    pub(super) fn row(&self) -> Row {
        Row {
            name: Cow::Borrowed(self.name),
            kind: self.kind.clone(),
            default: self.default.into(),
            is_required: false,
            is_secret: SECRETS.contains(&self.name),
            flag: self.flag.first().map(|(flag, argument)| (Cow::Borrowed(*flag), *argument)),
            help: self.help.into(),
        }
    }
}

/// Rows of settings: the name, which is the field of [`Config`], a flag if it has one, kind, default, help.
macro_rules! settings {
    ($($first:ident $(.$rest:ident)* $([$flag:literal $argument:literal])?: $kind:expr, $default:expr, $help:literal;)+) => {
        /// All settings, in the order of their names within each group.
        pub(crate) static SETTINGS: &[Setting] = &[$(Setting {
            name: concat!(stringify!($first) $(, ".", stringify!($rest))*),
            kind: $kind,
            default: $default,
            flag: &[$(($flag, $argument))?],
            help: $help,
            set: setter!($first $(.$rest)*),
        }),+];
    };
}

macro_rules! setter {
    // `Access::take` stores them.
    (access.NAME.$part:ident) => {
        |_, _| Ok(())
    };
    // `Config::take_database` stores them.
    (databases.NAME.address) => {
        |_, _| Ok(())
    };
    // `Caches::take` stores them.
    (cache.NAME.tiers) => {
        |_, _| Ok(())
    };
    ($($field:ident).+) => {
        |config, value| {
            config.$($field).+ = Take::take(value)?;
            Ok(())
        }
    };
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const SECOND: u64 = 1000;
const HOUR: u64 = 3600 * SECOND;
const DAY: u64 = 24 * HOUR;

settings! {
    listen ["--listen" "ADDR"]: Kind::Addresses, "127.0.0.1:8800",
        "Addresses to listen on: `127.0.0.1:8800`, `[::]:80`, `:8800` (every address), `localhost:8800`, `unix:/run/app.sock`, or `fd:3` for an inherited socket. `unix:/run/app.sock mode=0660 group=www-data` says who can connect to a unix socket: its file has these permissions and this group from its first moment on. The default of `mode` is 0666, everybody on this machine, as for a port of it; and 0660 if `proxies.trusted` has `unix`. Sockets of systemd (`LISTEN_FDS`) replace the default.";
    mpm ["--mpm" "MODEL"]: Kind::Choice(&["thread", "prefork"]), "thread",
        "Process model. `thread`: one worker process with a thread for each core. `prefork`: processes of one thread each, forked from a parent that has initialised the application; a crash costs one of them.";
    workers ["--workers" "N"]: Kind::Number(0..=1024), "0",
        "Number of threads (`thread`), or of processes at the start (`prefork`). 0 is one for each core.";
    max_workers: Kind::Number(1..=4096), "64",
        "`prefork`: maximum number of processes. Connections beyond what they serve wait in the backlog of the socket.";
    min_spare: Kind::Number(1..=4096), "1",
        "`prefork`: fork more processes when fewer than this are idle.";
    max_spare: Kind::Number(1..=4096), "8",
        "`prefork`: stop processes when more than this are idle and more than `workers` run.";
    concurrency: Kind::Number(1..=100_000), "1",
        "`prefork`: number of requests that a process handles at the same time. A process at this limit accepts no connection; further requests on its open connections wait.";
    requests_per_worker: Kind::Number(0..=1_000_000_000), "0",
        "Replace a worker after this number of requests, plus or minus a tenth. 0 means never. With `prefork` and 1, each request has a process of its own, forked from the initialised parent. Health checks (`/-/live`, `/-/ready`) do not count.";
    max_memory: Kind::Size(0..=1024 * GIB), "0",
        "Replace a worker that uses more memory (proportional set size). 0 disables the check.";
    max_age: Kind::Duration(0..=366 * 24 * HOUR), "0",
        "Replace a worker that is older than this. 0 disables the check.";
    hang_timeout: Kind::Duration(0..=24 * HOUR), "30s",
        "Replace a worker whose event loop makes no progress for this long; its stack is logged first. 0 disables the check.";
    start_timeout: Kind::Duration(100..=24 * HOUR), "60s",
        "Time for a worker to become ready, migrations and the application's start-up included.";
    probe: Kind::Text, "",
        "Path of a request that a worker answers before it counts as ready, such as `/`. A status of 400 or above fails the worker; during a swap, the old version keeps serving. Empty means no probe.";
    supervise: Kind::Bool, "true",
        "Run workers under a supervisor. Without it, one plain process serves: it is not restarted after a crash, and there is no swap.";
    control: Kind::Path, "",
        "Unix socket of `--control`. Empty means `control` in the data directory.";
    pid_file: Kind::Path, "",
        "File for the process id of the supervisor, removed at its end. Empty means none.";
    user: Kind::Text, "",
        "User to become after sockets are bound (a name of `/etc/passwd`, or a number). Requires a start as root. Empty means no change.";
    group: Kind::Text, "",
        "Group to become after sockets are bound (a name of `/etc/group`, or a number). Empty means the user's own.";
    no_new_privileges: Kind::Bool, "true",
        "Set `PR_SET_NO_NEW_PRIVS`: no process started from here can gain privileges by set-user-ID programs. Turn it off for an application that sends mail through such a program.";
    swap.watch: Kind::Bool, "false",
        "Check the executable on disk each second, and swap to it when it has changed.";
    swap.allow_breaking_migration ["--allow-breaking-migration" ""]: Kind::Bool, "false",
        "Allow a swap to run migrations that the old version may not work with: those that do more than add.";
    data ["--data" "DIR"]: Kind::Path, "data",
        "Data directory: everything that outlives the process. It is created if it is missing.";
    database: Kind::Text, "",
        "Address of a PostgreSQL database, `postgres://USER:PASSWORD@HOST/NAME`; over a unix socket `postgres:///NAME?host=/run/postgresql&user=USER`. Needs the cargo feature `postgres`; [the guide](../guides/data/postgresql.md) has its parameters. Empty means SQLite: `database.sqlite` in the data directory.";
    databases.NAME.address: Kind::Text, "",
        "Address of a PostgreSQL database, as of `database`, for the database NAME of the application (`App::database_of`). Empty means SQLite: `databases/NAME/database.sqlite` in the data directory.";
    database_connections: Kind::Number(2..=64), "4",
        "Connections of a thread to PostgreSQL for single statements. They are opened as they are needed. Reads of all its requests share half of them, rounded up; each write has one of the others for itself.";
    database_transactions: Kind::Number(1..=64), "4",
        "Most transactions that a thread has open at once on PostgreSQL, each on a connection of its own; more of them wait, as long as `database_timeout` at most.";
    database_timeout: Kind::Duration(0..=HOUR), "30s",
        "How long a statement of a handler may take on PostgreSQL, and how long it waits for a connection. Then it is ended, and its request is a 503; if PostgreSQL hangs, half a second later, and of a write it is not known whether it was done. 0 means no limit.";
    database_notifications: Kind::Number(1..=65_536), "64",
        "Notifications of PostgreSQL that wait for one who listens, of 8,000 bytes at most each. One more, and all of them are dropped, and it receives `Missed`.";
    database_replica: Kind::Text, "",
        "Address of a replica (a hot standby) of the PostgreSQL database, for what handlers read by `cx.replica()`. Empty means none: they read from `database`.";
    database_replica_lag: Kind::Duration(0..=HOUR), "10s",
        "How far behind the replica may be. One that is further behind, or cannot be reached, is not asked.";
    base_url ["--base-url" "URL"]: Kind::Url, "",
        "Scheme and host of the site, such as `https://example.org`, for links in feeds and mails. Without it, they are built from the `Host` field of a request, which clients can forge. It has no path.";
    hosts: Kind::List("example.org or *.example.org"), "",
        "Hosts that requests may name, without ports; others get 421. `*` is every host. If the list is empty: the host of `base_url` and the names of this machine (`localhost`, `127.0.0.1`, `[::1]`); with `development` but no `base_url`, names and addresses of this machine; otherwise every host.";
    compression.codings: Kind::List("br, gzip or zstd"), if cfg!(feature = "compression") { "br; gzip" } else { "" },
        "Codings in which responses are compressed for clients that accept them, best first. `zstd` needs the cargo feature `zstd`. Empty: none.";
    compression.min_size: Kind::Size(0..=GIB), "1KiB",
        "Smallest body that is compressed.";
    compression.brotli_level: Kind::Number(0..=11), "4",
        "Level of `br`: higher ones are smaller and take longer.";
    compression.gzip_level: Kind::Number(1..=9), "5",
        "Level of `gzip`.";
    compression.zstd_level: Kind::Number(1..=19), "3",
        "Level of `zstd`.";
    compression.page_level: Kind::Number(0..=11), "6",
        "Level of `br` for pages in the cache, which are compressed once.";
    compression.private: Kind::Choice(&["never", "same-origin", "always"]), "same-origin",
        "Compression of responses that hold what is one user's: the handler has read a cookie or the session, or sets one. The length of a compressed page which repeats what a request brings can tell another site a secret in it (BREACH), so `same-origin` compresses those to requests which browsers mark as caused by no other site (`Sec-Fetch-Site`). `Response::with_compression` decides for one response.";
    cookies.secure: Kind::Choice(&["auto", "always"]), "auto",
        "Whether cookies are `Secure` and have the prefix `__Host-`. `auto`: if the client's connection is encrypted, as far as the server or a trusted proxy knows, or `base_url` begins with `https://`.";
    proxies.trusted: Kind::List("192.0.2.7, 10.0.0.0/8 or unix"), "",
        "Proxies in front of this server: addresses, networks, and `unix` for everyone who connects to a unix socket. Of what they report in the fields of `proxies.fields`, the rightmost address that is not trusted is the client's. The fields of all others are removed from their requests.";
    proxies.fields: Kind::List("x-forwarded-for"), "x-forwarded-for; x-forwarded-proto",
        "Header fields in which trusted proxies report clients: `x-forwarded-for`, `x-forwarded-proto`, `x-forwarded-host` and `x-forwarded-port`, or `forwarded` alone. Name those that every trusted proxy sets itself: proxies pass on what a client sends in all others, so `Forwarded` and `X-Forwarded-*` that are not named are removed from requests. Empty: none are read.";
    proxies.protocol: Kind::Bool, "false",
        "Trusted proxies send a PROXY header, version 1 or 2, before the first byte of the client. A connection of theirs without one is closed. `proxies.fields` are not read then.";
    secret: Kind::Path, "",
        "File with the keys that seal cookies and tokens, each 64 hexadecimal digits on a line: the first one seals, all of them open. Outside of `development` it must be there; `--generate-secret` prints a key. Empty means the credential `skep-secret` of systemd (`LoadCredential=skep-secret:FILE`) if there is one, and else `secret` in the data directory, created when it is first needed.";
    secret_keys: Kind::Text, "",
        "The keys themselves instead of a file, for environments that pass secrets in variables. Separated by spaces or line breaks. Empty means those of `secret`.";
    mail.smtp: Kind::Text, "",
        "Mail server, by its URL: `smtps://user:password@mail.example.org` (TLS), `smtp://user:password@mail.example.org:587?tls=required` (STARTTLS), `smtp://localhost` (neither). Needs the cargo feature `smtp`. Empty means none: mail is written to the log with `development`, and is an error otherwise.";
    mail.from: Kind::Text, "",
        "Sender of mail that names none, such as `Shop <shop@example.org>`, or `\"Shop, Berlin\" <shop@example.org>`. Needed with `mail.smtp`.";
    mail.notices: Kind::Bool, "true",
        "Tell owners of accounts by mail what has happened to them: a sign-in from a new device, another password, a new second factor or passkey, another address. Sends nothing without a way to send mail.";
    mail.timeout: Kind::Duration(SECOND..=HOUR), "30s",
        "Time to hand a mail over to the mail server, a second attempt after a broken connection included.";
    fetch.allow: Kind::List("api.example.org, 10.0.0.7:8080, * or private"), "",
        "Hosts that handlers may send requests to (`cx.fetch`): `api.example.org`, with a port (`api.example.org:8443`), `*.example.org`, or `*` for all. The address that a host leads to must be of the public internet or one of the list itself (`10.0.0.7:8080`); the word `private` in the list allows all. Needs the cargo feature `fetch`. Empty means none. In a component, `--allow-out` says it instead.";
    access.NAME.prefix: Kind::Text, "",
        "Path below which the access rule NAME says who may reach services, files and mounts, such as `/admin`. `//admin` and `/%61dmin` are below it, too. A rule has at least one of the conditions below; all kinds that it has must be met, and where several rules hold, all must admit. Others get a 403. In a file: `[access.office] prefix = \"/admin\"`, `allow = [\"10.0.0.0/8\"]`.";
    access.NAME.allow: Kind::List("10.0.0.0/8"), "",
        "Addresses and networks of clients that the rule admits, no others. A client without an address (unix sockets) is refused. Behind a proxy, set `proxies.trusted`.";
    access.NAME.deny: Kind::List("192.0.2.0/24"), "",
        "Addresses and networks of clients that the rule refuses, even if `access.NAME.allow` has them.";
    access.NAME.headers: Kind::List("x-gateway=secret"), "",
        "Header fields with their values, of which a request must have one. The values may be secrets.";
    access.NAME.users: Kind::List("ann"), "",
        "Users that the rule admits, by the name that the application gives (`App::access_users`). Nobody signed in is a 401.";
    cache.NAME.tiers: Kind::Tiers, "memory:16MiB",
        "Tiers of the cache NAME, from near to far: `pages` (pages and fragments), `sessions` (default: `sessions.sqlite` in the data \
         directory), a store of the application, or `default` for all others (with `prefork`, `shared:16MiB path=none` unless set). \
         Counters (`skep-limits`, `skep-mails`, `skep-sign-in`) are in a table of their own (`limits.counters`) unless named here. \
         Each tier is `memory:SIZE`, `shared:SIZE` (among processes), `file:SIZE path=DIR`, `sqlite:FILE`, `memcached:HOST`, \
         `redis:HOST` or `null`; [the page of the cache](cache.md#drivers) has their options. In a file: \
         `[cache.pages] tiers = [\"...\", \"...\"]`.";
    grace: Kind::Duration(0..=24 * HOUR), "10s",
        "Grace period for requests in flight after TERM or INT.";
    development: Kind::Bool, "false",
        "Show all details on error pages, causes included. Never set it where strangers have access.";
    backlog: Kind::Number(1..=65_535), "1024",
        "Number of connections that may wait to be accepted, for each listening socket.";
    session.idle: Kind::Duration(60 * SECOND..=400 * DAY), "14d",
        "End a session that is not used for this long, to within ten minutes or an eighth of it, whichever is less. One that belongs to no user (`Session::belongs_to`) ends after three quarters of it.";
    session.store: Kind::Choice(&["server", "cookie"]), "server",
        "Where sessions are kept: `server`, in the cache `sessions`; or `cookie`, sealed with the application's keys in the cookie itself, which needs no store and has room for about 2.8 KB. With `cookie`, a user's sessions can be neither listed nor ended from elsewhere, accounts (`skep_people`) are refused, and of changes at the same time the last one counts.";
    session.cookie: Kind::Choice(&["browser", "lasting"]), "browser",
        "How long browsers keep the cookie of a session: `browser`, until they are closed, so that nobody else finds it on a computer that several people use; or `lasting`, as long as `session.life`. Remember-me (`skep_people::remember`) has a cookie of its own, which lasts 60 days.";
    session.life: Kind::Duration(60 * SECOND..=400 * DAY), "90d",
        "End a session this long after it began or was renewed, even if it is used. Browsers keep cookies for at most 400 days.";
    status.listen: Kind::Text, "",
        "Address of `/-/status` and `/-/metrics`: a loopback address such as `127.0.0.1:9100`, or `unix:/run/app/status.sock`, whose `mode` is 0600 unless it is set as for `listen`. Empty means none, and nothing is counted.";
    tls.certificate ["--tls-cert" "FILE"]: Kind::Path, "",
        "Certificate chain as a PEM file, the server's own first. With it, TCP listeners speak TLS.";
    tls.key ["--tls-key" "FILE"]: Kind::Path, "",
        "Private key of the certificate as a PEM file.";
    tls.self_signed ["--tls-self-signed" ""]: Kind::Bool, "false",
        "Use TLS with a certificate for localhost that is made at the start. For development: browsers warn about it.";
    limits.blocking_queue: Kind::Number(1..=10_000_000), "4096",
        "Maximum number of pieces of blocking work that wait for a thread (503). What belongs to a request that was cancelled is skipped.";
    limits.blocking_threads: Kind::Number(1..=4096), "16",
        "Maximum number of threads for blocking work. They start on demand and end when idle.";
    limits.body_idle: Kind::Duration(10..=HOUR), "30s",
        "Timeout for the next bytes of a request's body (408).";
    limits.body_rate: Kind::Size(0..=GIB), "500",
        "Minimum rate of a request's body in bytes a second, on average and after the first `limits.body_idle` (408). The time in which the application does not read does not count. 0 means none.";
    limits.body_time: Kind::Duration(0..=24 * HOUR), "1h",
        "Total time that the server waits for a request's body (408). 0 means no limit.";
    limits.compressions: Kind::Number(0..=10_000_000), "200",
        "Maximum number of response bodies that are compressed piece by piece at the same time, for each process: those above 32 KiB, and streams. Each takes about a mebibyte with `br`. Others are sent as they are.";
    limits.connections: Kind::Number(1..=10_000_000), "20000",
        "Maximum number of open connections (503). The limit of open files may lower it.";
    limits.connections_per_address: Kind::Number(0..=10_000_000), "5000",
        "Maximum number of open connections of one IPv4 address or one /64 of IPv6, for each process (503). Trusted proxies have no such limit. 0 means no limit.";
    limits.fetch_body: Kind::Size(0..=GIB), "8MiB",
        "Maximum size of the body of a response to `cx.fetch` (an error for the handler, 502 if it does not expect one).";
    limits.fetch_time: Kind::Duration(10..=HOUR), "10s",
        "Time for a `cx.fetch`, from the call to the last byte of the response, waiting for a connection included (504).";
    limits.fetches_per_host: Kind::Number(1..=100_000), "64",
        "Maximum number of `cx.fetch` in progress to one host and port, for each process; others wait for their turn. As many connections are kept open for later ones by each thread, for 30 seconds.";
    limits.half_closed: Kind::Duration(0..=24 * HOUR), "10s",
        "Time for the response to a client that has closed its sending side, since it last took a byte: over TCP it may wait for the response or be gone, and only the next byte sent shows which. 0 gives its request up at once.";
    limits.header_bytes: Kind::Size(8 * KIB..=16 * MIB), "64KiB",
        "Maximum size of request line and header fields together (431).";
    limits.header_fields: Kind::Number(1..=10_000), "100",
        "Maximum number of header fields of a request (431).";
    limits.header_time: Kind::Duration(10..=HOUR), "10s",
        "Timeout for a request's header section (408). A new connection without a request is closed after this time.";
    limits.http2_control_frames: Kind::Number(10..=1_000_000), "1000",
        "Number of HTTP/2 frames that carry neither a request nor a body, such as pings and settings, and of requests beyond limits.http2_streams. Refilled by a tenth each second, and by four with each frame of a response; more close the connection.";
    limits.http2_resets: Kind::Number(1..=10_000), "100",
        "Number of HTTP/2 streams that a client may cancel before they are answered, refilled by a tenth each second; more close its connection.";
    limits.http2_streams: Kind::Number(1..=10_000), "100",
        "Maximum number of concurrent requests on one HTTP/2 connection.";
    limits.keep_alive: Kind::Duration(10..=24 * HOUR), "75s",
        "Idle time after which a connection is closed.";
    limits.mail_bytes: Kind::Size(64 * KIB..=GIB), "32MiB",
        "Bytes of mails, attachments included, that wait for the mail server or are being sent, for each process. More are not sent.";
    limits.mail_queue: Kind::Number(1..=1_000_000), "1000",
        "Mails that wait for the mail server, for each process. More are not sent.";
    limits.request_time: Kind::Duration(0..=24 * HOUR), "1m",
        "Time for the application to begin its response, after the request's body has arrived (503). The body of a response may take longer. 0 means no limit.";
    limits.requests_per_connection: Kind::Number(0..=4_294_967_295), "0",
        "Number of requests after which an HTTP/1 connection is closed. 0 means no limit.";
    limits.tls_handshake: Kind::Duration(10..=HOUR), "10s",
        "Timeout for a TLS handshake.";
    limits.unread_body: Kind::Size(0..=GIB), "256KiB",
        "Bytes of a request's body that are received and dropped if its handler has not read them, so that another request can follow on the connection (HTTP/1). If there are more, or the rest does not come within `limits.keep_alive`, it is closed.";
    limits.unsent: Kind::Size(MIB..=1024 * GIB), "256MiB",
        "Bytes of responses that wait for their clients at once, for each process (503). A connection that holds a 128th of it begins no further response; when half of it is held, `limits.write_idle` is at most a second. Streams, files and what a cache holds do not count.";
    limits.url: Kind::Size(64..=65_534), "8KiB",
        "Maximum size of a request's target: path and query (414).";
    limits.write_idle: Kind::Duration(10..=HOUR), "30s",
        "Close a connection whose client accepts no bytes of the response for this long. Of HTTP/2, also reset a stream whose client takes fewer than 16 KiB of the body in this time.";
    websocket.message: Kind::Size(125..=GIB), "1MiB",
        "Maximum size of a message that a WebSocket receives. A larger one closes it (1009).";
    websocket.ping: Kind::Duration(0..=24 * HOUR), "30s",
        "Ping the peer of a WebSocket that sends nothing for this long, and give it up after twice of it. 0: never.";
}
