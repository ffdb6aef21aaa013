//! What can be measured, and how a figure of it is written.

use std::collections::BTreeMap;

/// A thing that can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Measure {
    /// Requests answered per second.
    Rate,
    /// CPU time of the server per request, in microseconds: all its processes and threads, user and system.
    Cpu,
    /// The part of it spent in the program.
    User,
    /// The part of it spent in the kernel.
    System,
    /// Half of the answers came within this many microseconds.
    P50,
    /// And 99 of 100 within this.
    P99,
    /// And 999 of 1000 within this.
    P999,
    /// Bytes of an answer, with its head.
    Bytes,
    /// Failed connections, reads, writes, timeouts, and answers that were not 200.
    Errors,
    /// CPU time of PostgreSQL per request, in microseconds: all its processes, user and system.
    Database,
    /// How much of its core the server used, in percent.
    Busy,
    /// How much of its core the load generator worked, in percent. That a busy one looks for answers and finds none is
    /// no work.
    Load,
    /// How much of the server's core somebody else used (interrupts and the hypervisor too), in percent.
    ServerOthers,
    /// The same of the load's core.
    LoadOthers,
    /// Proportional set size of all processes, in megabytes.
    Memory,
    /// From spawn to the first answer, in milliseconds.
    Start,
    /// How many processes hold that memory.
    Processes,
    /// What the largest of them holds, in megabytes.
    Largest,
    /// Proportional set size of the process that was started, in megabytes: that of Skep's supervisor.
    Supervisor,
    /// By how much all processes together grow with one more of those that serve, in megabytes (PSS).
    OneMore,
    /// From the death of the process that serves to its successor's first answer, in milliseconds: half of the deaths.
    Succession,
    /// The slowest of them.
    SlowestSuccession,
    /// By how much the server grows with one more request in flight, in kilobytes (PSS).
    InFlight,
    /// By how much the server grows with one more connection that waits, in kibibytes (PSS).
    PerConnection,
    /// From a new file to the first answer of what is in it, in milliseconds: half of the files.
    Swap,
    /// The slowest of them.
    SlowestSwap,
}

/// One variant's figures in one round.
pub(crate) type Sample = BTreeMap<Measure, f64>;

impl Measure {
    /// Its name in a record, with the unit.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Rate => "requests_per_s",
            Self::Cpu => "cpu_us_per_request",
            Self::User => "user_us_per_request",
            Self::System => "system_us_per_request",
            Self::P50 => "p50_us",
            Self::P99 => "p99_us",
            Self::P999 => "p99_9_us",
            Self::Bytes => "bytes_per_answer",
            Self::Errors => "errors",
            Self::Database => "database_cpu_us_per_request",
            Self::Busy => "server_core_percent",
            Self::Load => "load_core_percent",
            Self::ServerOthers => "server_core_others_percent",
            Self::LoadOthers => "load_core_others_percent",
            Self::Memory => "pss_mb",
            Self::Start => "start_ms",
            Self::Processes => "processes",
            Self::Largest => "pss_mb_largest_process",
            Self::Supervisor => "pss_mb_supervisor",
            Self::OneMore => "pss_mb_one_more_process",
            Self::Succession => "succession_p50_ms",
            Self::SlowestSuccession => "succession_slowest_ms",
            Self::InFlight => "pss_kb_one_more_request",
            Self::PerConnection => "pss_kib_one_more_connection",
            Self::Swap => "swap_p50_ms",
            Self::SlowestSwap => "swap_slowest_ms",
        }
    }

    /// Its name for a person.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rate => "requests/s",
            Self::Cpu => "CPU us/request",
            Self::User => "user",
            Self::System => "system",
            Self::P50 => "p50 us",
            Self::P99 => "p99 us",
            Self::P999 => "p99.9 us",
            Self::Bytes => "bytes",
            Self::Errors => "errors",
            Self::Database => "PostgreSQL's CPU us/request",
            Self::Busy => "its core",
            Self::Load => "load's core",
            Self::ServerOthers => "others on its core",
            Self::LoadOthers => "others on the load's core",
            Self::Memory => "memory, MB (PSS)",
            Self::Start => "first answer, ms",
            Self::Processes => "processes",
            Self::Largest => "the largest, MB",
            Self::Supervisor => "supervisor, MB (PSS)",
            Self::OneMore => "one more process, MB (PSS)",
            Self::Succession => "death to next answer, ms",
            Self::SlowestSuccession | Self::SlowestSwap => "slowest, ms",
            Self::InFlight => "one more request, kB (PSS)",
            Self::PerConnection => "one more connection, KiB (PSS)",
            Self::Swap => "file to next answer, ms",
        }
    }

    /// A figure, with as many digits as it deserves.
    pub(crate) fn show(self, value: f64) -> String {
        match self {
            Self::Rate => thousands(value),
            Self::Errors | Self::P50 | Self::P99 | Self::P999 | Self::Bytes | Self::Processes => {
                format!("{value:.0}")
            }
            Self::Busy | Self::Load | Self::ServerOthers | Self::LoadOthers => format!("{value:.0} %"),
            Self::Cpu
            | Self::Database
            | Self::User
            | Self::System
            | Self::Memory
            | Self::Largest
            | Self::Supervisor
            | Self::OneMore
            | Self::PerConnection => {
                format!("{value:.2}")
            }
            Self::Start
            | Self::Succession
            | Self::SlowestSuccession
            | Self::InFlight
            | Self::Swap
            | Self::SlowestSwap => format!("{value:.1}"),
        }
    }
}

/// Exact below 2^53, and nothing here comes near it.
#[expect(clippy::cast_precision_loss, reason = "see above")]
pub(crate) fn float(number: u64) -> f64 {
    number as f64
}

/// A whole number with a space after each thousand: `1 234 567`.
pub(crate) fn thousands(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut shown = String::new();
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            shown.push(' ');
        }
        shown.push(digit);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        let shown = [0.4, 999.0, 1000.0, 123_456.7, 1_234_567.0].map(thousands);
        assert_eq!(shown, ["0", "999", "1 000", "123 457", "1 234 567"]);
    }
}
