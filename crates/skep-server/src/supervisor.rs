//! Keeps workers alive.
//!
//! A supervisor binds the sockets, starts workers, hears of their deaths, and starts others in their place. It accepts no
//! connection and runs no application code, so no request can bring it down. It has one thread, and waits in one place.
//!
//! | module | what it does |
//! |---|---|
//! | `child` | a worker, as it is seen from here |
//! | `life` | what happens when one is ready, dies, hangs, or had its share |
//! | `swap` | another version takes over |
//! | `backoff` | how long to wait after a death |
//! | `executable` | a version: the file that is executed |
//! | `control`, `status` | words on a socket, and the answer to the first of them |
//! | `upgrade` | another version of the supervisor itself |
//! | `systemd`, `privileges` | what is told, and what is given up |
//!
//! Start reading at [`Supervisor::run`]. How a worker works, [`worker`](crate::worker) and [`prefork`](crate::prefork) decide.

mod backoff;
mod child;
mod control;
mod executable;
mod life;
mod privileges;
mod status;
mod swap;
mod systemd;
mod upgrade;

use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

pub(crate) use backoff::Backoff;
use child::Child;
pub(crate) use child::{ask_for_stack, how_it_ended, memory, stack_signal, where_it_is};
use control::Control;
pub(crate) use control::ask;
pub(crate) use executable::Executable;
pub(crate) use life::jittered;
use privileges::Identity;
use systemd::Systemd;

use crate::config::{Config, Model};
use crate::listener::{Listeners, SocketFile};
use crate::log::{Files, Logs};
use crate::server::{StartError, make_folder, say, workers};
use crate::sys;

/// A supervisor, which has bound its sockets.
pub(crate) struct Supervisor {
    name: String,
    config: Config,
    urls: Vec<String>,
    /// For each thread of a worker its listening sockets; none when the end has come.
    sockets: Vec<Vec<OwnedFd>>,
    _files: Vec<SocketFile>,
    _pid_file: Option<PidFile>,
    log_files: Files,
    executable: Rc<Executable>,
    signals: OwnedFd,
    control: Option<Control>,
    systemd: Systemd,
    since: Instant,
    /// The number of the last worker.
    number: u32,
    /// Accepts connections.
    serving: Option<Child>,
    /// Starts, and will take over.
    coming: Option<Coming>,
    /// Finish what they began.
    going: Vec<Child>,
    backoff: Backoff,
    /// When to start a worker in the place of one that died.
    start_at: Option<Instant>,
    /// Requests after which the one that serves has had its share.
    share: u64,
    /// Some worker was ready once.
    was_ready: bool,
    deaths: u64,
    /// How the last swap ended.
    last_swap: Option<(Instant, Result<String, String>)>,
    watched: swap::Watch,
    looked: Instant,
    end: Option<End>,
}

/// A worker that starts.
struct Coming {
    child: Child,
    /// It brings another version; these wait to hear how that ends.
    swap: Option<swap::Swap>,
}

/// The end has come.
#[derive(Clone, Copy, Debug)]
struct End {
    code: u8,
    /// Whatever still runs then is killed.
    deadline: Instant,
}

/// Written at the start, removed at the end.
struct PidFile(PathBuf);

/// How often workers are looked at.
const LOOK: Duration = Duration::from_millis(500);

/// How long a worker may take to end after its time is up.
const LAST_MOMENT: Duration = Duration::from_secs(2);

const SIGNALS: [i32; 7] =
    [libc::SIGTERM, libc::SIGINT, libc::SIGQUIT, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2, libc::SIGCHLD];

impl Supervisor {
    /// Takes the addresses and starts nothing: a wrong address fails here, before any worker exists. Before that, `look` asks what the application
    /// has forgotten, in a process of its own, which begins with what it is given: it has no more privileges than a worker.
    pub(crate) fn start(
        name: String,
        config: Config,
        defaulted: bool,
        look: impl FnOnce(&dyn Fn() -> Result<(), String>) -> Result<(), StartError>,
    ) -> Result<Self, StartError> {
        let logs = Logs::direct(false, config.log.buffer);
        if let Ok(level) = config.log.level.parse() {
            logs.install(level);
        }
        if let Some(old) = upgrade::Heritage::of_process()? {
            return Self::inherit(config, old);
        }
        // A worker is executed with the privileges that are left by then.
        let identity = Identity::of(&config).map_err(StartError)?;
        look(&|| {
            if config.no_new_privileges {
                rustix::thread::set_no_new_privs(true).map_err(|error| error.to_string())?;
            }
            identity.as_ref().map_or(Ok(()), Identity::assume)
        })?;
        let threads = if config.mpm == Model::Prefork { 1 } else { workers(&config) };
        let listeners = Listeners::bind(&config.listen, defaulted, threads, config.backlog)?;
        make_folder(&config)?;
        let tls = config.tls.self_signed || config.tls.certificate.is_some();
        let urls = listeners.reached().iter().map(|reached| reached.url(tls)).collect();
        let (sockets, files) = listeners.split();
        let sockets = sockets.into_iter().map(|thread| thread.into_iter().map(OwnedFd::from).collect()).collect();
        let control = Control::listen(&config)?;
        let pid_file = config.pid_file.clone().map(PidFile::write).transpose()?;
        if let Some(identity) = identity {
            give_up_privileges(&config, &identity, control.as_ref()).map_err(StartError)?;
        }
        if config.no_new_privileges {
            rustix::thread::set_no_new_privs(true).map_err(io::Error::from)?;
        }
        Self::new(name, config, urls, sockets, (files, pid_file, control))
    }

    fn new(
        name: String,
        config: Config,
        urls: Vec<String>,
        sockets: Vec<Vec<OwnedFd>>,
        (files, pid_file, control): (Vec<SocketFile>, Option<PidFile>, Option<Control>),
    ) -> Result<Self, StartError> {
        let executable = Rc::new(Executable::of_process()?);
        let watched = swap::Watch::new(executable.stamp());
        let now = Instant::now();
        sys::process::set_title("skep: supervisor");
        Ok(Self {
            name,
            config,
            urls,
            sockets,
            _files: files,
            _pid_file: pid_file,
            log_files: Files::of_process(),
            executable,
            signals: sys::signals::catch(&SIGNALS)?,
            control,
            systemd: Systemd::of_process(),
            since: now,
            number: 0,
            serving: None,
            coming: None,
            going: Vec::new(),
            backoff: Backoff::default(),
            start_at: Some(now),
            share: u64::MAX,
            was_ready: false,
            deaths: 0,
            last_swap: None,
            watched,
            looked: now,
            end: None,
        })
    }

    /// Supervises until the end has come and the last worker is gone.
    pub(crate) fn run(mut self) -> ExitCode {
        // What reading the settings took is not needed any more.
        sys::give_memory_back();
        loop {
            self.start_what_is_due();
            if let Some(code) = self.is_over() {
                return ExitCode::from(code);
            }
            let ready = self.wait();
            if ready.signals {
                for signal in sys::signals::arrived(&self.signals) {
                    self.on_signal(signal);
                }
            }
            if ready.control
                && let Some(asker) = self.control.as_ref().and_then(Control::accept)
            {
                self.on_asker(asker);
            }
            self.hear();
            self.reap();
            self.look();
        }
    }

    /// Waits until something has happened or is due.
    fn wait(&self) -> Ready {
        let timeout = self.next().saturating_duration_since(Instant::now());
        let timeout = Timespec { tv_sec: timeout.as_secs().cast_signed(), tv_nsec: timeout.subsec_nanos().into() };
        let mut fds = vec![PollFd::new(&self.signals, PollFlags::IN)];
        fds.extend(self.control.iter().map(|control| PollFd::from_borrowed_fd(control.as_fd(), PollFlags::IN)));
        // Only those that start have something to say.
        let coming = self.coming.iter().filter(|coming| !coming.child.silent);
        fds.extend(coming.map(|coming| PollFd::new(&coming.child.channel, PollFlags::IN)));
        // An interrupted wait is a signal.
        let count = poll(&mut fds, Some(&timeout)).unwrap_or(1);
        let is_ready = |at: usize| fds.get(at).is_some_and(|fd| fd.revents().contains(PollFlags::IN));
        Ready { signals: count > 0 && is_ready(0), control: self.control.is_some() && is_ready(1) }
    }

    /// When to look again, if nothing happens.
    fn next(&self) -> Instant {
        let look = self.looked + LOOK;
        let deadlines = self.children().filter_map(|child| child.deadline);
        let due = [self.start_at, self.systemd.next(), self.end.map(|end| end.deadline)];
        due.into_iter().flatten().chain(deadlines).fold(look, Instant::min)
    }

    fn children(&self) -> impl Iterator<Item = &Child> {
        self.coming.iter().map(|coming| &coming.child).chain(&self.serving).chain(&self.going)
    }

    fn on_signal(&mut self, signal: i32) {
        match signal {
            libc::SIGQUIT => self.end_at_once(131),
            libc::SIGTERM | libc::SIGINT if self.end.is_some() => {
                self.end_at_once(128 + u8::try_from(signal).unwrap_or_default());
            }
            libc::SIGTERM | libc::SIGINT => self.end_in_order(0),
            libc::SIGHUP => self.swap(swap::Swap::default()),
            libc::SIGUSR1 => self.reopen_logs(),
            libc::SIGUSR2 => match self.add_worker() {
                Ok(text) => tracing::info!("{text}"),
                Err(problem) => tracing::warn!("{problem}"),
            },
            // Whoever died is found by `reap`.
            _ => {}
        }
    }

    /// Exit code, if all is over.
    fn is_over(&self) -> Option<u8> {
        let end = self.end?;
        self.children().next().is_none().then_some(end.code)
    }

    /// Says where it can be reached, once.
    fn announce(&self) {
        let count = workers(&self.config);
        let noun = if self.config.mpm == Model::Prefork { "process" } else { "thread" };
        let plural = match (count, noun) {
            (1, _) => "",
            (_, "process") => "es",
            _ => "s",
        };
        let _ = say(&format!("{} listens on {} ({count} {noun}{plural})\n", self.name, self.urls.join(" and ")));
        self.systemd.ready(&format!("listens on {}", self.urls.join(" and ")));
    }

    fn on_asker(&mut self, asker: UnixStream) {
        let Some(line) = control::read(&asker) else { return };
        let answer = match control::Word::parse(&line) {
            Err(problem) => format!("{problem}\n"),
            Ok(control::Word::Status { json: true }) => self.status(true).json(),
            Ok(control::Word::Status { json: false }) => self.status(false).to_string(),
            Ok(control::Word::Swap { allow_breaking_migration }) => {
                return self.swap(swap::Swap {
                    askers: vec![asker],
                    allow_breaking_migration,
                    ..swap::Swap::default()
                });
            }
            Ok(control::Word::Upgrade) => {
                return self.swap(swap::Swap { askers: vec![asker], and_supervisor: true, ..swap::Swap::default() });
            }
            Ok(control::Word::Stop) => {
                self.end_in_order(0);
                "finishing what runs\n".into()
            }
            Ok(control::Word::Add) => format!("{}\n", self.add_worker().map_or_else(|problem| problem, Into::into)),
            Ok(control::Word::Reopen) => {
                self.reopen_logs();
                "log files are opened again\n".into()
            }
            Ok(control::Word::Level(level)) => {
                Logs::change_level(level);
                self.tell_all(&crate::signals::Order::Level(level));
                format!("events from {level} up are written\n")
            }
        };
        child::answer(asker, &answer);
    }
}

struct Ready {
    signals: bool,
    control: bool,
}

fn give_up_privileges(config: &Config, identity: &Identity, control: Option<&Control>) -> Result<(), String> {
    let wrong = |what: &str, error: io::Error| format!("{what} cannot be given to the user: {error}");
    identity.own(&config.data).map_err(|error| wrong("the data folder", error))?;
    if let Some(control) = control {
        identity.own(control.path()).map_err(|error| wrong("the control socket", error))?;
    }
    identity.assume()
}

impl PidFile {
    fn write(path: PathBuf) -> Result<Self, StartError> {
        let text = format!("{}\n", std::process::id());
        let written = fs::File::create(&path).and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| StartError(format!("pid_file = {}: {error}", path.display())))?;
        Ok(Self(path))
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
