//! Notifications to systemd (`sd_notify(3)`).

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::{Duration, Instant};

use skep_observe::clock::monotonic_millis;

/// The notification socket, if systemd has started this process.
#[derive(Debug)]
pub(crate) struct Systemd {
    to: Option<(UnixDatagram, SocketAddr)>,
    /// Half of systemd's watchdog interval.
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

    /// Sends a notification.
    pub(crate) fn tell(&self, state: &str) {
        if let Some((socket, address)) = &self.to {
            let _ = socket.send_to_addr(state.as_bytes(), address);
        }
    }

    pub(crate) fn ready(&self, status: &str) {
        self.tell(&format!("READY=1\nMAINPID={}\nSTATUS={status}", std::process::id()));
    }

    /// The program or its configuration is being reloaded, until [`ready`](Self::ready) is called.
    pub(crate) fn reloading(&self) {
        self.tell(&format!("RELOADING=1\nMONOTONIC_USEC={}", monotonic_millis() * 1000));
    }

    pub(crate) fn stopping(&self) {
        self.tell("STOPPING=1\nSTATUS=shutting down");
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
