//! The settings `log.*`.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use skep_settings::{FromSetting, GIB, HOUR, KIB, MIB, SECOND, settings};

use super::access::AccessOutput;
use super::buffer::Capacity;
use super::last_lines::LastLines;
use super::output::EventOutput;

settings! {
    /// The settings `log.*`.
    #[derive(Clone, Debug)]
    pub struct Settings in "log" {
        /// Log each request. Values of query parameters that are usually secret (`password`, `token`, ...) are replaced
        /// by `***`.
        access: bool = Bool, true;
        /// Where the access log goes: `stdout`, `stderr` or `file:PATH`, with options: `layout` (`text`, `common`,
        /// `combined`, `json`) or `pattern` (Apache's letters), `status=400` and `slow=1s` (only those),
        /// `except=/static` (not those), `sample=100` (one in a hundred below status 400), and for files `rotate`,
        /// `every`, `keep`, `compress`. [logging.md](../guides/run/logging.md) describes them.
        access_outputs: Vec<AccessOutput> = List("stdout layout=combined"), "stdout";
        /// Size of the buffer of each log output, and of the access log of each thread. When it is full, lines are
        /// dropped and counted; warnings and errors have `log.reserve` besides.
        buffer: usize = Size(KIB..=GIB), 256 * KIB;
        /// Least important level of events.
        level: String = Choice(&["error", "warn", "info", "debug", "trace"]), "info";
        /// Levels of categories and those below them, such as `blog::search=debug`; `off` for none. In a file:
        /// `[log.levels] "blog::search" = "debug"`.
        levels: CategoryLevels = List("CATEGORY=LEVEL"), "";
        /// Maximum size of message and fields of an event; the rest is cut off.
        line: usize = Size(256..=MIB), 16 * KIB;
        /// Names whose values are replaced by `***`: of fields, and of `name=value` and `"name": "value"` within
        /// messages and texts. Case, `-` and `_` make no difference.
        mask: Names = List("password"), "access_token; api_key; apikey; authorization; client_secret; cookie; passwd; password; private_key; refresh_token; secret; set_cookie; token";
        /// Where events go: `stdout`, `stderr`, `file:PATH`, `syslog`, `journald`, `otlp` (to `otlp.endpoint`) or
        /// `ring:LINES` (the last lines, for `--control status`), with options: `layout` (`text`, `colour`, `json`,
        /// `ecs`, `logfmt`) or `pattern` (Log4perl's letters), `level`, `most`, `only`, `except`, `match`, `additive`,
        /// and for files `rotate=100MiB`, `every=1d`, `keep=7`, `compress=yes`. [logging.md](../guides/run/logging.md)
        /// describes them.
        outputs: Vec<EventOutput> = List("stderr layout=json"), "stderr; ring:100 level=warn";
        /// Bytes of debug lines that are kept of each request though their level is off, and written if the request
        /// fails or is slow: `4KiB`. 0 keeps none.
        recorder: usize = Size(0..=MIB), 0;
        /// Number of equal events in a row that are written; further ones are counted, and the number is logged. 0
        /// writes all.
        repeats: u32 = Number(0..=1_000_000), 10;
        /// Size of what each log output holds of warnings and errors beyond `log.buffer`, so that none is lost while
        /// the output takes nothing. When it is full, too, they wait for at most a second, and are dropped and counted.
        reserve: usize = Size(KIB..=GIB), MIB;
        /// With `log.recorder`: a request that takes this long is slow. 0 means that none is.
        slow: Option<Duration> = Duration(0..=HOUR), SECOND;
    }
}

/// Elements of `log.levels`: `CATEGORY=LEVEL`.
#[derive(Clone, Debug, Default)]
pub struct CategoryLevels(pub(super) Vec<String>);

/// Elements of `log.mask`.
#[derive(Clone, Debug, Default)]
pub struct Names(pub(super) Vec<String>);

impl Settings {
    /// Lays out the memory for the last lines of this number of processes with this number of threads each, which is
    /// still empty.
    ///
    /// # Errors
    /// The system does not give as much.
    pub fn last_lines(&self, file: OwnedFd, processes: usize, threads: usize) -> io::Result<Arc<LastLines>> {
        LastLines::new(file, processes, self.buffers(threads), self.capacity().all())
    }

    /// Of each buffer.
    pub(super) fn capacity(&self) -> Capacity {
        Capacity { usual: self.buffer, reserve: self.reserve }
    }

    /// How many buffers a process of this number of threads has: one for each output, and each thread's for the access
    /// log.
    fn buffers(&self, threads: usize) -> usize {
        let of_threads = if self.access { self.access_outputs.len() * threads } else { 0 };
        self.outputs.len() + of_threads
    }
}

impl FromSetting<[String]> for Names {
    fn from_setting(list: &[String]) -> Result<Self, String> {
        Ok(Self(list.to_vec()))
    }
}

impl FromSetting<[String]> for CategoryLevels {
    fn from_setting(list: &[String]) -> Result<Self, String> {
        super::levels::Levels::new("info", list)?;
        Ok(Self(list.to_vec()))
    }
}
