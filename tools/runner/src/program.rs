//! The programs that take part, and the command that starts each.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Result;
use crate::build::{self, Need};
use crate::need::{Guest, Made};
use crate::site::data::Database;
use crate::site::{self, Site};

mod data;
mod isolate;
mod posts;

/// A program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    SkepHello {
        log: bool,
    },
    /// The hello, for more connections than one address may have by default.
    SkepIdle,
    /// The hello, with something that observes its requests.
    SkepObserved(Observed),
    SkepBlog {
        /// Pages are kept as the application says, and not made for each request.
        cached: bool,
    },
    SkepStatic,
    /// What web applications do all day; sessions are in memory.
    SkepTasks(Tasks),
    /// What knowing its user costs a page.
    SkepPeople(People),
    /// An application for what its processes cost; nothing is kept in caches.
    SkepProcesses {
        app: App,
        mpm: Mpm,
    },
    SkepPosts {
        mpm: Mpm,
        /// Pages are kept for an hour.
        cached: bool,
        sessions: Sessions,
    },
    Hyper,
    /// Hello and files over TLS, HTTP/1.1 and HTTP/2.
    HyperTls,
    Axum,
    AxumPosts,
    /// What `SkepTasks` does.
    AxumTasks {
        routes: u16,
    },
    Actix,
    Epoll,
    Go,
    /// Hello, an echo and files from Go's standard library.
    GoHttp {
        tls: bool,
    },
    Express,
    Nginx(Nginx),
    Lighttpd {
        tuned: bool,
    },
    /// lighttpd with this many processes of a program in C behind it.
    FastCgi {
        processes: u16,
    },
    Apache(Module),
    Nekotools,
    Ocsigen,
    Rails {
        /// Processes of puma; 0 is one that is its own parent.
        workers: u16,
        /// Behind nginx.
        proxied: bool,
    },
    /// `skep serve`.
    SkepServe(Served),
    /// The application of `peers/skep-component`, native.
    SkepApp,
    /// `wasmtime serve`.
    Wasmtime {
        guest: Guest,
        /// With the settings of the engine that `skep serve` has.
        tuned: bool,
    },
    AxumBlog {
        tuned: bool,
    },
    /// Pages and JSON from a database.
    SkepData(Database),
    AxumSqlx {
        database: Database,
        tuned: bool,
    },
    /// With tokio-postgres, as `ActixPostgres`.
    AxumPostgres,
    ActixPostgres,
    GoPgx,
    RailsData(Database),
    /// Not a server: it works alone and prints what it did.
    Markdown,
    /// Not a server: Perl's loggers, this one of them.
    Log4perl(&'static str),
}

/// An application with most of what there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tasks {
    /// How many routes are alike: 2 or 200.
    pub(crate) routes: u16,
    pub(crate) tls: bool,
}

/// Where the sessions of `SkepPeople` are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum People {
    /// Sealed, in the cookie.
    Cookie,
    /// In memory that processes share.
    Shared,
    /// The same, and users sign in.
    Accounts,
}

impl People {
    fn store(self) -> &'static str {
        match self {
            Self::Cookie => "session.store=cookie",
            Self::Shared | Self::Accounts => "cache.sessions.tiers=shared:16MiB",
        }
    }
}

/// How nginx is configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nginx {
    Plain,
    /// Files stay open.
    Tuned,
    /// The same, over TLS.
    Tls,
    /// The same as `Tuned`, compressed.
    Gzip,
    /// With room for connections that are idle.
    Idle,
}

/// What observes requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Observed {
    /// An access log in a file that is rotated.
    AccessLog,
    /// The flight recorder.
    Recorder,
    /// Metrics; they and the status page are fetched every second.
    Scraped,
}

/// What `skep serve` serves, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Served {
    pub(crate) guest: Guest,
    pub(crate) module_cache: &'static str,
    /// Entries of the table of [`Guest::App`].
    pub(crate) entries: u32,
    /// This number of applications, each of its own file.
    pub(crate) copies: u32,
    /// Begins with code that is not optimised; otherwise it waits for the compiler, for what is measured then is to be
    /// code of one kind.
    pub(crate) baseline: bool,
}

/// An application of Skep, for what its processes cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum App {
    Hello,
    /// A hello that has initialised 256 MiB.
    Heap,
    Blog,
}

/// How Skep shares out requests among processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mpm {
    /// One process, no supervisor.
    Alone,
    /// One thread, in a process under its supervisor.
    Thread,
    /// Processes of one thread under their supervisor.
    Prefork {
        workers: u16,
        /// How many requests each serves; 0 for no limit.
        requests: u32,
    },
}

/// Where Skep keeps sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sessions {
    /// Where it does if nobody says otherwise.
    Disk,
    Memory,
}

/// What Apache runs programs by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Module {
    /// None: it serves files, by threads.
    Event,
    Php {
        opcache: bool,
        /// How many connections a process serves; 0 for no limit.
        per_child: u32,
    },
    Neko,
}

/// What a server is started with.
pub(crate) struct StartOptions {
    pub(crate) port: u16,
    /// For a server behind the first.
    pub(crate) second: u16,
    /// Its own directory. What it keeps there is still there when it is started again.
    pub(crate) dir: PathBuf,
}

impl Program {
    /// What must be there before it can start; the first of it is what is started.
    pub(crate) fn needs(self) -> Vec<Need> {
        match self {
            Self::SkepHello { .. }
            | Self::SkepIdle
            | Self::SkepObserved(_)
            | Self::SkepProcesses { app: App::Hello, .. } => {
                vec![Need::Skep("hello")]
            }
            Self::SkepBlog { .. } | Self::SkepProcesses { app: App::Blog, .. } => vec![Need::Skep("blog")],
            Self::SkepProcesses { app: App::Heap, .. } => vec![Need::Ours("skep-heap")],
            Self::SkepStatic => vec![Need::Ours("skep-static")],
            Self::SkepTasks(_) => vec![Need::Ours("skep-tasks")],
            Self::SkepPeople(_) => vec![Need::Ours("skep-accounts")],
            Self::Hyper => vec![Need::Peer("peer-hyper")],
            Self::HyperTls => vec![Need::Peer("peer-hyper-tls")],
            Self::AxumTasks { .. } => vec![Need::Peer("peer-axum-tasks")],
            Self::GoHttp { .. } => vec![Need::Made(Made::GoHttp)],
            Self::Axum => vec![Need::Peer("peer-axum")],
            Self::Actix => vec![Need::Peer("peer-actix")],
            Self::Epoll => vec![Need::Peer("peer-epoll")],
            Self::AxumBlog { .. } => vec![Need::Peer("peer-axum-blog")],
            Self::Markdown => vec![Need::Peer("peer-markdown")],
            Self::Nginx(_) => vec![Need::debian("nginx", "nginx-light")],
            Self::Lighttpd { .. } => vec![Need::debian("lighttpd", "lighttpd")],
            Self::SkepPosts { .. } => vec![Need::Ours("skep-posts"), Need::SQLITE],
            Self::AxumPosts => vec![Need::Peer("peer-axum-posts"), Need::SQLITE],
            Self::Go => vec![Need::Made(Made::Go), Need::SQLITE],
            Self::Express => vec![Need::program("node", "from its makers"), Need::Made(Made::Express), Need::SQLITE],
            Self::FastCgi { .. } => vec![Need::debian("lighttpd", "lighttpd"), Need::Made(Made::FastCgi)],
            Self::Apache(module) => posts::apache_needs(module),
            Self::Nekotools => vec![Need::debian("nekotools", "neko"), Need::Made(Made::Neko), Need::SQLITE],
            Self::Ocsigen => posts::ocsigen_needs(),
            Self::Rails { proxied, .. } => posts::rails_needs(proxied),
            Self::SkepServe(Served { guest, .. }) => isolate::needs(guest),
            Self::SkepApp => vec![Need::Ours("skep-component"), Need::SQLITE],
            Self::Wasmtime { guest, .. } => vec![Need::Wasmtime, Need::Made(Made::Component(guest))],
            Self::Log4perl(_) => posts::log4perl_needs(),
            Self::SkepData(_)
            | Self::AxumSqlx { .. }
            | Self::AxumPostgres
            | Self::ActixPostgres
            | Self::GoPgx
            | Self::RailsData(_) => self.data_needs(),
        }
    }

    /// Whether it answers requests.
    pub(crate) fn is_server(self) -> bool {
        !matches!(self, Self::Markdown | Self::Log4perl(_))
    }

    /// Whether it answers over TLS only.
    pub(crate) fn speaks_tls(self) -> bool {
        matches!(
            self,
            Self::SkepTasks(Tasks { tls: true, .. })
                | Self::HyperTls
                | Self::GoHttp { tls: true }
                | Self::Nginx(Nginx::Tls)
        )
    }

    /// What is fetched from the server's second port every second while it is under load.
    pub(crate) fn scraped(self) -> &'static [&'static str] {
        if self == Self::SkepObserved(Observed::Scraped) { &["/-/metrics", "/-/status"] } else { &[] }
    }

    /// The command that serves at this place, or that works for some seconds.
    pub(crate) fn command(self, place: &StartOptions, site: &Site) -> Result<Command> {
        let mut command = Command::new(self.executable());
        match self {
            Self::SkepHello { log } => skep(&mut command, place, Mpm::Alone, log),
            Self::SkepIdle => {
                skep(&mut command, place, Mpm::Alone, false);
                command.args(["--set", "limits.connections_per_address=0"]);
            }
            Self::SkepObserved(observed) => {
                skep(&mut command, place, Mpm::Alone, observed == Observed::AccessLog);
                command.args(["--set", &observed.setting(place)]);
            }
            Self::SkepBlog { cached } => {
                site::write_articles(&place.dir)?;
                skep(&mut command, place, Mpm::Alone, false);
                if !cached {
                    command.args(UNCACHED);
                }
            }
            Self::SkepProcesses { app, mpm } => {
                if app == App::Blog {
                    site::write_articles(&place.dir)?;
                }
                skep(&mut command, place, mpm, false);
                command.args(UNCACHED);
            }
            Self::SkepStatic => {
                skep(&mut command, place, Mpm::Alone, false);
                command.env("STATIC_DIR", site.files());
            }
            Self::SkepTasks(tasks) => skep_tasks(&mut command, place, site, tasks),
            Self::SkepPeople(people) => {
                skep(&mut command, place, Mpm::Alone, false);
                // The load has one address.
                command.args(["--set", "limits.sessions_per_address=0", "--set", people.store()]);
                command.envs((people == People::Accounts).then_some(("PEOPLE_ACCOUNTS", "1")));
            }
            Self::Hyper | Self::Axum | Self::Actix | Self::Epoll => {
                command.arg(place.port.to_string());
            }
            Self::HyperTls => {
                command.arg(place.port.to_string()).args([site.certificate(), site.key(), site.files()]);
            }
            Self::AxumTasks { routes } => {
                command.args([place.port, routes].map(|number| number.to_string()));
            }
            Self::GoHttp { tls } => {
                command.env("GOMAXPROCS", "1").arg(place.port.to_string()).arg(site.files());
                command.args(tls.then(|| [site.certificate(), site.key()]).into_iter().flatten());
            }
            Self::AxumBlog { tuned } => {
                command.arg(place.port.to_string()).arg(&place.dir).args(tuned.then_some("tuned"));
            }
            Self::Nginx(nginx) => {
                let file = site::write_nginx(place, site, nginx)?;
                command.args(["-e", "stderr", "-p"]).arg(&place.dir).arg("-c").arg(file);
            }
            Self::Lighttpd { tuned } => {
                command.args(["-D", "-f"]).arg(site::write_lighttpd(place, site, tuned)?);
            }
            Self::Markdown => {}
            _ if self.database().is_some() => data::command(self, &mut command, place, site)?,
            Self::SkepServe(served) => isolate::serve(served, &mut command, place, site)?,
            Self::SkepApp => isolate::native(&mut command, place, site)?,
            Self::Wasmtime { guest, tuned } => isolate::wasmtime(guest, tuned, &mut command, place),
            _ => posts::command(self, &mut command, place, site)?,
        }
        Ok(command)
    }

    /// What is started.
    pub(crate) fn executable(self) -> PathBuf {
        self.needs().first().map(|need| build::executable(*need)).unwrap_or_default()
    }

    /// The command as a record shows it: without this machine's paths and ports.
    pub(crate) fn shown(self, site: &Site) -> String {
        let place = StartOptions { port: 0, second: 0, dir: site.folder("shown") };
        let line = match self.command(&place, site) {
            Ok(command) => line(&command),
            Err(_) => self.executable().display().to_string(),
        };
        let repository = format!("{}/", build::repository().display());
        line.replace(&place.dir.display().to_string(), "DIR")
            .replace(&site.folder("").display().to_string(), "SITE/")
            .replace(&repository, "")
            .replace("127.0.0.1:0", "127.0.0.1:PORT")
    }
}

impl Observed {
    fn setting(self, place: &StartOptions) -> String {
        match self {
            Self::AccessLog => {
                format!("log.access_outputs=file:{}/access.log rotate=64MiB keep=1", place.dir.display())
            }
            Self::Recorder => "log.recorder=4KiB".into(),
            Self::Scraped => format!("status.listen=127.0.0.1:{}", place.second),
        }
    }
}

fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

fn skep_tasks(command: &mut Command, place: &StartOptions, site: &Site, Tasks { routes, tls }: Tasks) {
    skep(command, place, Mpm::Alone, false);
    // The load has one address; axum's sessions are in memory, too.
    command.args(["--set", "limits.sessions_per_address=0", "--set", "cache.sessions.tiers=memory:16MiB"]);
    if tls {
        command.arg("--tls-cert").arg(site.certificate()).arg("--tls-key").arg(site.key());
    }
    command.env("TASKS_FILES", site.files()).env("TASKS_ROUTES", routes.to_string());
}

/// Pages are made for each request.
const UNCACHED: &[&str] = &["--set", "cache.pages.tiers=null"];

/// The flags that every Skep application has. Without a supervisor it is one process, as most of its peers are.
fn skep(command: &mut Command, place: &StartOptions, mpm: Mpm, log: bool) {
    command.arg("--listen").arg(format!("127.0.0.1:{}", place.port));
    command.args(["--set", &format!("log.access={log}"), "--data"]).arg(&place.dir);
    match mpm {
        Mpm::Alone => command.args(["--workers", "1", "--set", "supervise=false"]),
        Mpm::Thread => command.args(["--workers", "1"]),
        Mpm::Prefork { workers, requests } => {
            command.args(["--workers", &workers.to_string(), "--set", "mpm=prefork"]);
            command.args(["--set", &format!("requests_per_worker={requests}")])
        }
    };
}

/// A file of a peer's folder.
pub(crate) fn peer(file: &str) -> PathBuf {
    Path::new(build::tools()).join("peers").join(file)
}
