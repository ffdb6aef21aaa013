//! Hostile clients: what they do for a while, and what it may cost the server and everybody else. They have addresses
//! of their own (127.0.0.2 and on); the normal client is 127.0.0.1.
//!
//! Start reading at [`run`]; what each of them does is in the modules below.

mod connections;
mod greedy;
mod requests;
mod streams;
mod trial;

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::{Model, PROCESSES, SOON, Stage, THREADS};
use crate::client::{Browser, connect_from};
use crate::error::Result;
use crate::http2::Http2;
use crate::report::Report;

pub(crate) use trial::together;

/// What hostile clients do, and what it may cost.
#[derive(Debug)]
pub(crate) struct Hostile {
    model: Model,
    /// Settings of the server: shorter times and smaller budgets than by default, so that a drill shows in seconds how
    /// they end.
    settings: &'static [&'static str],
    /// Versions of the application, each in a case of its own; an empty one is the executable as it is.
    versions: &'static [&'static str],
    /// How many there are, each with a thread and an address of its own.
    clients: u8,
    /// What each does, over and over. An error is one that the server meant: it threw the client out.
    turn: fn(&mut Client) -> io::Result<()>,
    /// How long each waits between two turns.
    pause: Duration,
    /// What is counted in [`Client::count`].
    unit: &'static str,
    /// What the server does against it, which must have happened: counted in [`Client::refused`], and by errors of
    /// `turn`.
    defence: Option<&'static str>,
    /// What somebody else does meanwhile, over and over; each error is a broken promise.
    neighbour: Option<Neighbour>,
    /// MiB that all processes may take at the most, besides what they had before.
    memory: u64,
    /// MiB of it that they may keep, in caches that have a limit of their own.
    keeps: u64,
    cpu: Cpu,
    /// The p99 of a normal client.
    soon: Duration,
    /// What the normal client asks for, if that is not a page.
    asked: Option<&'static str>,
}

/// What somebody else does. An error says how it went wrong.
type Neighbour = fn(&mut Browser) -> std::result::Result<(), String>;

/// The limit of CPU time.
#[derive(Clone, Copy, Debug)]
enum Cpu {
    /// Microseconds for each that was counted.
    Each(u64),
    /// Percent of a core.
    Share(u64),
}

/// Few clients, no settings, no bounds.
const NOBODY: Hostile = Hostile {
    model: THREADS,
    settings: &[],
    versions: &[""],
    clients: 1,
    turn: |_| Ok(()),
    pause: Duration::from_millis(20),
    unit: "requests",
    defence: None,
    neighbour: None,
    memory: 0,
    keeps: 0,
    cpu: Cpu::Share(0),
    soon: SOON,
    asked: None,
};

pub(super) const SMALL_PARTS: Hostile = Hostile {
    clients: 6,
    turn: requests::small_parts,
    unit: "MiB sent",
    // For each client 64 KiB of files and the buffers of its connection; the rest is on the disk.
    memory: 16,
    cpu: Cpu::Each(20_000),
    ..NOBODY
};

pub(super) const ZERO_WINDOWS: Hostile = Hostile {
    settings: &["limits.write_idle=1s"],
    turn: streams::zero_windows,
    unit: "streams",
    defence: Some("streams reset"),
    // 32 KiB for each of 2000 streams: not the 100 KB that each response has.
    memory: 64,
    cpu: Cpu::Each(1000),
    ..NOBODY
};

pub(super) const SLOW_BODIES: Hostile = Hostile {
    settings: &["limits.body_idle=1s", "limits.body_time=2s", "limits.bodies=32MiB"],
    turn: connections::slow_bodies,
    pause: Duration::from_millis(200),
    unit: "bodies begun",
    defence: Some("bodies given up"),
    // `limits.bodies`, and 24 KiB for each of 400 connections, as in `flood`.
    memory: 32 + 10,
    cpu: Cpu::Share(50),
    ..NOBODY
};

pub(super) const RESET: Hostile = Hostile {
    clients: 4,
    turn: streams::reset,
    pause: Duration::ZERO,
    unit: "streams",
    defence: Some("connections closed"),
    memory: 8,
    cpu: Cpu::Each(1000),
    ..NOBODY
};

/// Frames of HTTP/2 that cost a client next to nothing.
const FLOOD: Hostile = Hostile { clients: 2, pause: Duration::from_millis(5), memory: 8, ..NOBODY };

/// Of such frames that nobody needs many of: the server closes the connection.
const LIMITED: Hostile =
    Hostile { unit: "connections", defence: Some("connections closed"), cpu: Cpu::Each(2000), ..FLOOD };

pub(super) const RAPID_RESET: Hostile = Hostile { turn: streams::rapid_reset, ..LIMITED };

pub(super) const CONTINUATION: Hostile = Hostile { turn: streams::continuation, ..LIMITED };

pub(super) const EMPTY_DATA: Hostile = Hostile { turn: streams::empty_data, ..LIMITED };

/// A thousand frames, of which each costs 20 us at the most, until the connection is closed.
const ANSWERED: Hostile = Hostile { cpu: Cpu::Each(20_000), ..LIMITED };

pub(super) const SETTINGS: Hostile = Hostile { turn: streams::settings, ..ANSWERED };

pub(super) const PINGS: Hostile = Hostile { turn: streams::pings, ..ANSWERED };

pub(super) const TINY_WINDOWS: Hostile = Hostile {
    turn: streams::tiny_windows,
    unit: "DATA frames",
    // The 100 KB of each of 200 responses.
    memory: 24,
    cpu: Cpu::Each(50),
    ..FLOOD
};

pub(super) const SLOW_CLIENTS: Hostile = Hostile {
    clients: 10,
    turn: connections::slow,
    pause: Duration::from_millis(100),
    unit: "connections",
    // 24 KiB for each of 10 000 connections, as in `flood`.
    memory: 240,
    cpu: Cpu::Share(50),
    soon: Duration::from_millis(20),
    ..NOBODY
};

pub(super) const FORM_ROWS: Hostile =
    Hostile { turn: requests::form_rows, pause: Duration::from_millis(50), memory: 16, cpu: Cpu::Each(3000), ..NOBODY };

pub(super) const OFFLOAD: Hostile = Hostile {
    clients: 2,
    turn: streams::offload,
    pause: Duration::from_millis(100),
    neighbour: Some(requests::sign_in_and_ask),
    memory: 16,
    cpu: Cpu::Each(2000),
    ..NOBODY
};

pub(super) const SESSIONS: Hostile = Hostile {
    settings: &["limits.sessions=1000"],
    clients: 2,
    turn: requests::sessions,
    pause: Duration::from_millis(1),
    unit: "sessions",
    neighbour: Some(requests::stay_signed_in),
    memory: 8,
    cpu: Cpu::Each(2000),
    ..NOBODY
};

pub(super) const TOKENS: Hostile = Hostile {
    settings: &["limits.once=500", "limits.once_per_address=100"],
    versions: &["once", "once db"],
    clients: 2,
    turn: requests::tokens,
    pause: Duration::from_millis(1),
    unit: "forms",
    neighbour: Some(requests::pay),
    memory: 8,
    cpu: Cpu::Each(4000),
    ..NOBODY
};

pub(super) const IDLE_PREFORK: Hostile = Hostile {
    model: PROCESSES,
    turn: connections::idle,
    pause: Duration::from_millis(100),
    unit: "connections",
    // A quarter of a MiB for each of 64 processes.
    memory: 16,
    cpu: Cpu::Share(25),
    ..NOBODY
};

pub(super) const ONE_ADDRESS: Hostile = Hostile {
    turn: connections::one_address,
    unit: "connections",
    defence: Some("connections closed"),
    // 24 KiB for each of the 2000 that one address may have, as in `flood`.
    memory: 48,
    cpu: Cpu::Each(500),
    ..NOBODY
};

pub(super) const CACHE_KEYS: Hostile = Hostile {
    clients: 2,
    turn: requests::cache_keys,
    pause: Duration::from_millis(1),
    unit: "pages",
    neighbour: Some(requests::cached_page),
    // 16 MiB are the cache of pages, as nobody configures it.
    memory: 24,
    keeps: 20,
    cpu: Cpu::Each(1000),
    ..NOBODY
};

pub(super) const LOG: Hostile = Hostile {
    clients: 2,
    turn: requests::foreign_forms,
    pause: Duration::from_millis(1),
    memory: 8,
    cpu: Cpu::Each(1000),
    ..NOBODY
};

pub(super) const PIPELINED: Hostile = Hostile {
    settings: &["hang_timeout=3s"],
    clients: greedy::CLIENTS,
    turn: greedy::pipelined,
    pause: Duration::from_millis(1),
    unit: "requests, messages and chunks",
    memory: 16,
    // Two threads are busy all the time: that is no fault. Others have their turns nevertheless.
    cpu: Cpu::Share(220),
    soon: Duration::from_millis(100),
    asked: Some("/-/live"),
    ..NOBODY
};

/// One hostile client.
#[derive(Debug)]
pub(crate) struct Client {
    /// Which of those that do the same it is, from 0 on.
    number: u8,
    from: Ipv4Addr,
    to: SocketAddrV4,
    /// How many times the load of a quick drill.
    scale: u64,
    /// File descriptors that its connections may take.
    files: u64,
    /// The number of this turn, from 0 on.
    turn: u64,
    /// Bytes that it has sent on its connection, where it goes on from turn to turn.
    sent: usize,
    /// What it keeps from one turn to the next.
    streams: Vec<TcpStream>,
    silent: Vec<TcpStream>,
    http2: Vec<Http2>,
    browser: Browser,
    tally: Arc<Tally>,
}

/// What hostile clients have done, and what was done against them.
#[derive(Debug, Default)]
struct Tally {
    done: AtomicU64,
    refused: AtomicU64,
}

impl Client {
    fn connect(&self) -> io::Result<TcpStream> {
        connect_from(self.from, self.to)
    }

    /// Counts what it has done.
    fn count(&self, number: u64) {
        self.tally.done.fetch_add(number, Ordering::Relaxed);
    }

    /// Counts what the server did against it.
    fn refused(&self, number: u64) {
        self.tally.refused.fetch_add(number, Ordering::Relaxed);
    }
}

/// Each version of the application has these clients for a while.
pub(super) fn run(hostile: &'static Hostile, name: &'static str, stage: &Stage<'_>, report: &mut Report) -> Result<()> {
    hostile.versions.iter().try_for_each(|version| trial::alone(hostile, name, version, stage, report))
}
