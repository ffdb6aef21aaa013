//! The flags of every word that loads a server.

use std::fs;
use std::time::Duration;

use super::HasSettings;
use crate::cli::flags::{Flag, number};
use crate::load::{Pace, RequestSpec, Trust, Version};
use crate::number::parse_time;

/// The flags of every word that loads a server.
pub(crate) fn flags<T: HasSettings>() -> Vec<Flag<T>> {
    [size(), pace(), ways(), reach(), limits(), asked()].into_iter().flatten().collect()
}

/// How much.
fn size<T: HasSettings>() -> Vec<Flag<T>> {
    vec![
        Flag {
            name: "connections",
            short: Some('c'),
            takes: "N",
            help: "connections (32)",
            set: |to, text| {
                to.settings().connections = number(text, 1, 60_000)?;
                Ok(())
            },
        },
        Flag {
            name: "threads",
            short: Some('t'),
            takes: "N",
            help: "threads that share the connections, each with a core of its own (1)",
            set: |to, text| {
                to.settings().threads = number(text, 1, 1024)?;
                Ok(())
            },
        },
        Flag {
            name: "depth",
            short: None,
            takes: "N",
            help: "requests at once on each: pipelined, or streams of HTTP/2 (1)",
            set: |to, text| {
                to.settings().depth = number(text, 1, 10_000)?;
                Ok(())
            },
        },
        Flag {
            name: "time",
            short: Some('d'),
            takes: "TIME",
            help: "how long each load is: 500ms, 10s, 2m",
            set: |to, text| {
                to.settings().time = Some(positive(text)?);
                Ok(())
            },
        },
        Flag {
            name: "warm-up",
            short: Some('w'),
            takes: "TIME",
            help: "load before anything counts (1s)",
            set: |to, text| {
                to.settings().warm_up = parse_time(text)?;
                Ok(())
            },
        },
        Flag {
            name: "requests",
            short: Some('n'),
            takes: "N",
            help: "ends after so many answers and errors",
            set: |to, text| {
                to.settings().count = Some(number(text, 1, u64::MAX)?);
                Ok(())
            },
        },
    ]
}

/// When.
fn pace<T: HasSettings>() -> Vec<Flag<T>> {
    vec![
        Flag {
            name: "rate",
            short: Some('r'),
            takes: "N",
            help: "open loop: so many a second, latency from when each was due",
            set: |to, text| {
                to.settings().pace = Pace::Open { per_second: number(text, 0.001, 1e8)? };
                Ok(())
            },
        },
        Flag {
            name: "ramp",
            short: None,
            takes: "FROM..TO",
            help: "open loop whose rate goes evenly from the one to the other",
            set: |to, text| {
                let (from, last) =
                    text.split_once("..").ok_or_else(|| format!("\"{text}\" is no ramp; it would be 100..5000"))?;
                to.settings().pace = Pace::Ramp { from: number(from, 0.001, 1e8)?, to: number(last, 0.001, 1e8)? };
                Ok(())
            },
        },
        Flag {
            name: "speed",
            short: None,
            takes: "TIMES",
            help: "the log's times, so many times faster (1)",
            set: |to, text| {
                to.settings().speed = Some(number(text, 0.001, 1e6)?);
                Ok(())
            },
        },
    ]
}

/// What is done once or all the time.
fn ways<T: HasSettings>() -> Vec<Flag<T>> {
    vec![
        Flag {
            name: "close",
            short: None,
            takes: "",
            help: "a connection for each request",
            set: |to, _| {
                to.settings().reuse = false;
                Ok(())
            },
        },
        Flag {
            name: "busy",
            short: None,
            takes: "",
            help: "never sleeps, so that no server pays for waking it; fills its core",
            set: |to, _| {
                to.settings().busy = true;
                Ok(())
            },
        },
        Flag {
            name: "drain",
            short: None,
            takes: "",
            help: "waits for the answers under way at the end, and counts them",
            set: |to, _| {
                to.settings().drain = true;
                Ok(())
            },
        },
    ]
}

/// Over what kind of connection: of every word that asks a server.
pub(crate) fn reach<T: HasSettings>() -> Vec<Flag<T>> {
    vec![
        Flag {
            name: "http",
            short: None,
            takes: "1|2",
            help: "the version of HTTP (1)",
            set: |to, text| {
                to.settings().http = match text {
                    "1" | "1.1" => Version::Http1,
                    "2" => Version::Http2,
                    _ => return Err(format!("\"{text}\" is not spoken here; there are 1 and 2")),
                };
                Ok(())
            },
        },
        Flag {
            name: "unix",
            short: None,
            takes: "SOCKET",
            help: "over a unix socket; the URL says host and path",
            set: |to, text| {
                to.settings().unix = Some(text.to_owned());
                Ok(())
            },
        },
        Flag {
            name: "ca",
            short: None,
            takes: "FILE",
            help: "trusts the authorities in this PEM file only",
            set: |to, text| {
                to.settings().trust = Trust::File(text.into());
                Ok(())
            },
        },
        Flag {
            name: "insecure",
            short: Some('k'),
            takes: "",
            help: "trusts any certificate",
            set: |to, _| {
                to.settings().trust = Trust::All;
                Ok(())
            },
        },
    ]
}

/// What is too much, and where it runs.
fn limits<T: HasSettings>() -> Vec<Flag<T>> {
    vec![
        Flag {
            name: "timeout",
            short: None,
            takes: "TIME",
            help: "how long an answer may take (10s)",
            set: |to, text| {
                to.settings().timeout = positive(text)?;
                Ok(())
            },
        },
        Flag {
            name: "largest",
            short: None,
            takes: "BYTES",
            help: "the largest answer that is read (1073741824)",
            set: |to, text| {
                to.settings().largest = number(text, 1, u64::MAX)?;
                Ok(())
            },
        },
        Flag {
            name: "load-core",
            short: None,
            takes: "CORE,...",
            help: "the core of the load, or one for each of its threads",
            set: |to, text| {
                to.settings().load_cores =
                    text.split(',').map(|core| number(core.trim(), 0, 1 << 16)).collect::<Result<_, _>>()?;
                Ok(())
            },
        },
    ]
}

/// What is asked for.
fn asked<T: HasSettings>() -> Vec<Flag<T>> {
    vec![
        Flag {
            name: "method",
            short: Some('m'),
            takes: "METHOD",
            help: "GET, unless something else is said",
            set: |to, text| {
                RequestSpec::get("/").method(text)?;
                to.settings().method = Some(text.to_owned());
                Ok(())
            },
        },
        Flag {
            name: "header",
            short: Some('H'),
            takes: "'NAME: VALUE'",
            help: "one more field; as often as needed",
            set: |to, text| {
                let (name, value) = text
                    .split_once(':')
                    .ok_or_else(|| format!("\"{text}\" is no field; it would be \"accept: text/html\""))?;
                RequestSpec::get("/").header(name, value)?;
                to.settings().headers.push((name.to_owned(), value.to_owned()));
                Ok(())
            },
        },
        Flag {
            name: "body",
            short: Some('b'),
            takes: "TEXT|@FILE",
            help: "what is sent with each request",
            set: |to, text| {
                to.settings().body = match text.strip_prefix('@') {
                    Some(path) => fs::read(path).map_err(|error| format!("{path}: {error}"))?,
                    None => text.as_bytes().to_vec(),
                };
                Ok(())
            },
        },
        Flag {
            name: "urls",
            short: None,
            takes: "FILE",
            help: "asks for what each line names, in turn: PATH, URL, or METHOD URL",
            set: |to, text| {
                to.settings().urls = Some(text.into());
                Ok(())
            },
        },
        Flag {
            name: "access-log",
            short: None,
            takes: "FILE",
            help: "sends what a log has, at its times (common, combined, Skep's)",
            set: |to, text| {
                to.settings().access_log = Some(text.into());
                Ok(())
            },
        },
    ]
}

fn positive(text: &str) -> Result<Duration, String> {
    let time = parse_time(text)?;
    if time.is_zero() { Err("no time at all is not enough".into()) } else { Ok(time) }
}
