//! The programs that take part, and the command that starts each.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

use crate::Result;
use crate::build::{self, Need};
use crate::site::{self, Site};

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
    /// Not a server: it works alone and prints what it did.
    Markdown,
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
            Self::SkepHello { .. } => Need::Skep("hello"),
            Self::SkepBlog { .. } => Need::Skep("blog"),
            Self::SkepStatic => Need::Alone("skep-static"),
            Self::Hyper => Need::Peer("peer-hyper"),
            Self::Axum => Need::Peer("peer-axum"),
            Self::Actix => Need::Peer("peer-actix"),
            Self::Epoll => Need::Peer("peer-epoll"),
            Self::AxumBlog { .. } => Need::Peer("peer-axum-blog"),
            Self::Markdown => Need::Peer("peer-markdown"),
            Self::Nginx { .. } => Need::Debian { command: "nginx", package: "nginx-light" },
            Self::Lighttpd { .. } => Need::Debian { command: "lighttpd", package: "lighttpd" },
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

/// The flags that every Skep application has.
fn skep(command: &mut Command, place: &Place, log: bool) {
    command.arg("--listen").arg(format!("127.0.0.1:{}", place.port));
    command.args(["--workers", "1", "--set", &format!("log.access={log}"), "--data"]).arg(&place.dir);
}
