//! Finds the application for a request: by host, then by prefix, the most specific one first.

use std::sync::Arc;

use http::header::HOST;
use http::request::Parts;

use crate::application::Application;
use crate::error::Error;
use crate::prefix::below;

/// All applications of a server.
pub(crate) struct Table {
    pub(crate) applications: Vec<Arc<Application>>,
    /// The path of the status page, if there is one.
    pub(crate) status: Option<String>,
}

impl Table {
    /// Fails if two applications share a host and a prefix.
    pub(crate) fn new(applications: Vec<Arc<Application>>, status: Option<String>) -> Result<Self, Error> {
        for (index, one) in applications.iter().enumerate() {
            for other in &applications[index + 1..] {
                if let Some(place) = shared(one, other) {
                    let (one, other) = (&one.options.name, &other.options.name);
                    return Err(Error::Invalid(format!(
                        "{one} and {other} both answer at {place}; give one of them another `host` or `prefix`"
                    )));
                }
            }
        }
        Ok(Self { applications, status })
    }

    pub(crate) fn find(&self, parts: &Parts) -> Option<&Application> {
        let path = parts.uri.path();
        let mut host = None;
        let mut fit = |application: &Application| {
            let options = &application.options;
            below(path, &options.prefix)?;
            let by_host = if options.hosts.is_empty() {
                (false, 0)
            } else {
                let host = *host.get_or_insert_with(|| host_of(parts));
                // Only names that match count.
                let fitting = options.hosts.iter().filter(|pattern| fits(pattern, host));
                fitting.map(|pattern| (!pattern.starts_with('*'), pattern.len())).max()?
            };
            Some((by_host, options.prefix.len()))
        };
        let fitting = self.applications.iter().filter_map(|application| Some((fit(application)?, &**application)));
        fitting.max_by_key(|(fit, _)| *fit).map(|(_, application)| application)
    }
}

/// The place that two applications share, if any.
fn shared(one: &Application, other: &Application) -> Option<String> {
    let (one, other) = (&one.options, &other.options);
    if one.prefix != other.prefix {
        return None;
    }
    let place = |host: &str| Some(format!("{host}{}/", one.prefix));
    if one.hosts.is_empty() && other.hosts.is_empty() {
        return place("every host, ");
    }
    one.hosts.iter().find(|host| other.hosts.contains(host)).and_then(|host| place(host))
}

fn host_of(parts: &Parts) -> &str {
    match parts.uri.host() {
        Some(host) => host,
        None => {
            let host = parts.headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
            // `[::1]:80` has colons before its port.
            match host.rsplit_once(':') {
                Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
                _ => host,
            }
        }
    }
}

fn fits(pattern: &str, host: &str) -> bool {
    match pattern.strip_prefix('*') {
        // `.example.org`, with something before it.
        Some(end) => {
            host.len() > end.len()
                && host.get(host.len() - end.len()..).is_some_and(|tail| tail.eq_ignore_ascii_case(end))
        }
        None => pattern.eq_ignore_ascii_case(host),
    }
}

#[cfg(test)]
#[path = "../tests/unit/table.rs"]
mod tests;
