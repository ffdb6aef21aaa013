//! What systemd is told (`sd_notify(3)`), if it has started this process.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::{Duration, Instant};

use crate::sys::board;

/// The way to systemd, or nothing.
#[derive(Debug)]
pub(crate) struct Systemd {
    to: Option<(UnixDatagram, SocketAddr)>,
    /// How often it wants to hear of us.
    watchdog: Option<Duration>,
    last: Instant,
}

impl Systemd {
    pub(crate) fn of_process() -> Self {
        let variable = |name: &str| std::env::var(name).ok();
        let to = variable("NOTIFY_SOCKET").and_then(|path| {
            let address = match path.strip_prefix('@') {
                Some(name) => SocketAddr::from_abstract_name(name).ok()?,
                None => SocketAddr::from_pathname(&path).ok()?,
            };
            let socket = UnixDatagram::unbound().ok()?;
            socket.set_nonblocking(true).ok()?;
            Some((socket, address))
        });
        let ours = variable("WATCHDOG_PID").is_none_or(|pid| pid.parse() == Ok(std::process::id()));
        let watchdog = variable("WATCHDOG_USEC").and_then(|text| text.parse().ok()).filter(|_| ours);
        Self { to, watchdog: watchdog.map(|micros: u64| Duration::from_micros(micros) / 2), last: Instant::now() }
    }

    /// Tells it. Whether it listens is its own business.
    pub(crate) fn tell(&self, state: &str) {
        if let Some((socket, address)) = &self.to {
            let _ = socket.send_to_addr(state.as_bytes(), address);
        }
    }

    pub(crate) fn ready(&self, status: &str) {
        self.tell(&format!("READY=1\nMAINPID={}\nSTATUS={status}", std::process::id()));
    }

    /// The configuration, or the program, is being read again; [`ready`](Self::ready) says that it is done.
    pub(crate) fn reloading(&self) {
        self.tell(&format!("RELOADING=1\nMONOTONIC_USEC={}", board::now() * 1000));
    }

    pub(crate) fn stopping(&self) {
        self.tell("STOPPING=1\nSTATUS=finishing what runs");
    }

    /// When to call [`alive`](Self::alive) next.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.watchdog.map(|every| self.last + every)
    }

    pub(crate) fn alive(&mut self) {
        if self.next().is_some_and(|next| next <= Instant::now()) {
            self.last = Instant::now();
            self.tell("WATCHDOG=1");
        }
    }
}
