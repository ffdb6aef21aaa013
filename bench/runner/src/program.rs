//! The programs that take part, and the command that starts each.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

use crate::Result;
use crate::build::{self, Need};
use crate::site::{self, Site};

mod apache;

/// A program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    SkepHello {
        log: bool,
    },
    SkepBlog {
        /// Pages are kept as the application says, and not made for each request.
        cached: bool,
    },
    SkepStatic,
    /// An application under its supervisor, as it would be deployed.
    SkepProcesses {
        app: App,
        model: Model,
    },
    Hyper,
    Axum,
    Actix,
    Epoll,
    Nginx {
        tuned: bool,
    },
    Lighttpd {
        tuned: bool,
    },
    AxumBlog {
        tuned: bool,
    },
    /// With `mod_php`.
    Apache {
        /// `MaxConnectionsPerChild`.
        per_child: u32,
    },
    /// Not a server: it works alone and prints what it did.
    Markdown,
}

/// An application of Skep, for what its processes cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum App {
    Hello,
    /// A hello that has initialised 256 MiB.
    Heap,
    Blog,
}

/// What a worker is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Model {
    Thread,
    Prefork { requests_per_worker: u32 },
}

/// What a server is started with.
pub(crate) struct Place {
    pub(crate) port: u16,
    /// Its own directory. What it keeps there is still there when it is started again.
    pub(crate) dir: PathBuf,
}

impl Program {
    /// What must be there before it can start.
    pub(crate) fn need(self) -> Need {
        match self {
            Self::SkepBlog { .. } | Self::SkepProcesses { app: App::Blog, .. } => Need::Skep("blog"),
            Self::SkepHello { .. } | Self::SkepProcesses { app: App::Hello, .. } => Need::Skep("hello"),
            Self::SkepProcesses { app: App::Heap, .. } => Need::Alone("skep-heap"),
            Self::SkepStatic => Need::Alone("skep-static"),
            Self::Hyper => Need::Peer("peer-hyper"),
            Self::Axum => Need::Peer("peer-axum"),
            Self::Actix => Need::Peer("peer-actix"),
            Self::Epoll => Need::Peer("peer-epoll"),
            Self::AxumBlog { .. } => Need::Peer("peer-axum-blog"),
            Self::Markdown => Need::Peer("peer-markdown"),
            Self::Nginx { .. } => Need::Debian { command: "nginx", package: "nginx-light" },
            Self::Lighttpd { .. } => Need::Debian { command: "lighttpd", package: "lighttpd" },
            Self::Apache { .. } => {
                Need::Debian { command: "apache2", package: "apache2 libapache2-mod-php php-cli php-sqlite3" }
            }
        }
    }

    /// The command that serves at this place.
    pub(crate) fn command(self, place: &Place, site: &Site) -> Result<Command> {
        let mut command = Command::new(build::executable(self.need()));
        match self {
            Self::SkepHello { log } => skep(&mut command, place, log),
            Self::SkepBlog { cached } => {
                site::write_articles(&place.dir)?;
                skep(&mut command, place, false);
                if !cached {
                    command.args(["--set", "cache.pages.tiers=null"]);
                }
            }
            Self::SkepProcesses { app, model } => {
                if app == App::Blog {
                    site::write_articles(&place.dir)?;
                }
                processes(&mut command, place, model);
            }
            Self::SkepStatic => {
                skep(&mut command, place, false);
                command.env("STATIC_DIR", site.files());
            }
            Self::Hyper | Self::Axum | Self::Actix | Self::Epoll => {
                command.arg(place.port.to_string());
            }
            Self::AxumBlog { tuned } => {
                command.arg(place.port.to_string()).arg(&place.dir).args(tuned.then_some("tuned"));
            }
            Self::Nginx { tuned } => {
                let file = site::write_nginx(place, site, tuned)?;
                command.args(["-e", "stderr", "-p"]).arg(&place.dir).arg("-c").arg(file);
            }
            Self::Lighttpd { tuned } => {
                command.args(["-D", "-f"]).arg(site::write_lighttpd(place, site, tuned)?);
            }
            Self::Apache { per_child } => {
                command.args(["-D", "FOREGROUND", "-f"]).arg(apache::write(place, per_child)?);
            }
            Self::Markdown => return Err("peer-markdown is not a server".into()),
        }
        Ok(command)
    }

    /// The command as a record shows it: without this machine's paths and ports.
    pub(crate) fn shown(self, site: &Site) -> String {
        let place = Place { port: 0, dir: site.folder("shown") };
        let line = match self.command(&place, site) {
            Ok(command) => line(&command),
            Err(_) => format!("{} SECONDS", build::executable(self.need()).display()),
        };
        let repository = format!("{}/", build::repository().display());
        line.replace(&place.dir.display().to_string(), "DIR")
            .replace(&repository, "")
            .replace("127.0.0.1:0", "127.0.0.1:PORT")
    }
}

fn line(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

/// The flags that every Skep application has. One process, as its peers are: what is measured is the one that was started.
fn skep(command: &mut Command, place: &Place, log: bool) {
    flags(command, place, log);
    command.args(["--set", "supervise=false"]);
}

/// The same under a supervisor; nothing is kept in caches, so that each request is one.
fn processes(command: &mut Command, place: &Place, model: Model) {
    flags(command, place, false);
    command.args(["--set", "cache.pages.tiers=null"]);
    if let Model::Prefork { requests_per_worker } = model {
        command.args(["--set", "mpm=prefork", "--set", &format!("requests_per_worker={requests_per_worker}")]);
    }
}

fn flags(command: &mut Command, place: &Place, log: bool) {
    command.arg("--listen").arg(format!("127.0.0.1:{}", place.port));
    command.args(["--workers", "1", "--set", &format!("log.access={log}"), "--data"]).arg(&place.dir);
}
