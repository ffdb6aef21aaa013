//! The status that an application reports, as text and as JSON.

use std::fmt::Write;

use serde_json::json;
use skep::Site;
use skep::status::{Part, Value};

use crate::log;

/// The maximal size of a report; the channel to the supervisor has room for it.
const MAX_REPORT: usize = 64 << 10;

/// The lines of the log that a report shows.
const RECENT: usize = 10;

/// The whole status: lines of text, or a JSON list.
pub fn of(site: &Site, json: bool) -> String {
    let parts = parts(site);
    if json { list(&parts, None) } else { text(&parts) }
}

/// What the application says, what its caches and sessions hold, and the last warnings and errors (an output `ring` of
/// the log).
fn parts(site: &Site) -> Vec<Part> {
    let (mut parts, recent) = (site.status(), log::recent());
    parts.extend(site.storage_status());
    if !recent.is_empty() {
        let shown = recent.iter().skip(recent.len().saturating_sub(RECENT));
        let lines = u64::try_from(recent.len()).unwrap_or(u64::MAX);
        let part = Part::new("log").value("lines", lines).value("last", recent.last().cloned().unwrap_or_default());
        parts.push(shown.fold(part, |part, line| part.line(line.clone())));
    }
    parts
}

/// The status of one process among several, for [`of_processes`]. Empty if the application reports none.
pub fn of_process(site: &Site, json: bool) -> String {
    let (parts, process) = (parts(site), std::process::id());
    if parts.is_empty() {
        String::new()
    } else if json {
        list(&parts, Some(process)).trim_start_matches('[').trim_end_matches(']').to_owned()
    } else {
        let text = text(&parts);
        let indented = text.lines().fold(String::new(), |all, line| all + "  " + line + "\n");
        format!("process {process}:\n{indented}")
    }
}

/// The status of several processes, and which of them did not report in time.
pub fn of_processes(reports: &[String], silent: &[u32], json: bool) -> String {
    let none = |process: &u32| {
        if json {
            format!("{{\"process\":{process},\"name\":null}}")
        } else {
            format!("process {process}: no status report in time\n")
        }
    };
    let (mut all, mut left_out): (Vec<String>, usize) = (Vec::new(), 0);
    let mut left = MAX_REPORT;
    for part in reports.iter().filter(|report| !report.is_empty()).cloned().chain(silent.iter().map(none)) {
        match left.checked_sub(part.len()) {
            Some(rest) => {
                left = rest;
                all.push(part);
            }
            None => left_out += 1,
        }
    }
    if json {
        return format!("[{}]", all.join(","));
    }
    if left_out > 0 {
        all.push(format!("{left_out} more processes omitted\n"));
    }
    all.concat()
}

fn text(parts: &[Part]) -> String {
    let mut out = String::new();
    for (number, part) in parts.iter().enumerate() {
        let part = part.to_string();
        if out.len() + part.len() > MAX_REPORT {
            let _ = writeln!(out, "{} more parts omitted", parts.len() - number);
            break;
        }
        out.push_str(&part);
    }
    out
}

fn list(parts: &[Part], process: Option<u32>) -> String {
    let mut out = String::from("[");
    for part in parts {
        let part = object(part, process);
        if out.len() + part.len() > MAX_REPORT {
            break;
        }
        out.push_str(if out.len() > 1 { "," } else { "" });
        out.push_str(&part);
    }
    out + "]"
}

fn object(part: &Part, process: Option<u32>) -> String {
    let of = process.map_or_else(String::new, |process| format!("\"process\":{process},"));
    let mut out = format!("{{{of}\"name\":{}", json!(part.name()));
    for (key, value) in part.values().filter(|(key, _)| process.is_none() || *key != "process") {
        let value = match value {
            Value::Number(number) => number.to_string(),
            Value::Truth(truth) => truth.to_string(),
            Value::Text(text) => json!(text).to_string(),
        };
        let _ = write!(out, ",{}:{value}", json!(key));
    }
    out + "}"
}

#[cfg(test)]
#[path = "../tests/unit/app_status.rs"]
mod tests;
