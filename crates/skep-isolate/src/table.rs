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
mod tests {
    use super::*;
    use crate::options::Options;

    fn application(name: &str, hosts: &[&str], prefix: &str) -> Arc<Application> {
        let hosts = hosts.iter().map(ToString::to_string).collect();
        let options = Options { name: name.into(), hosts, prefix: crate::prefix::prefix(prefix), ..Options::default() };
        Arc::new(Application::new(options))
    }

    fn found(table: &Table, host: &str, path: &str) -> String {
        let request = http::Request::get(path).header(HOST, host).body(()).unwrap();
        table.find(&request.into_parts().0).map_or_else(String::new, |found| found.options.name.clone())
    }

    #[test]
    fn the_most_specific_application_answers() {
        let table = Table::new(
            vec![
                application("all", &[], "/"),
                application("shop", &[], "/shop/"),
                application("org", &["example.org"], "/"),
                application("below", &["*.example.org"], "/"),
                application("admin", &["example.org"], "/admin"),
            ],
            None,
        );
        let table = table.unwrap();
        assert_eq!(found(&table, "localhost:8800", "/"), "all");
        assert_eq!(found(&table, "localhost", "/shop"), "shop");
        assert_eq!(found(&table, "localhost", "/shopping"), "all");
        assert_eq!(found(&table, "Example.ORG:443", "/shop/1"), "org");
        assert_eq!(found(&table, "a.example.org", "/shop/1"), "below");
        assert_eq!(found(&table, ".example.org", "/"), "all");
        assert_eq!(found(&table, "example.org", "/admin/users"), "admin");
        assert_eq!(found(&table, "[::1]:80", "/"), "all");
    }

    #[test]
    fn another_name_of_an_application_says_nothing() {
        let one = application("one", &["a.org", "*.b.org"], "/");
        let other = application("other", &["x.b.org"], "/");
        let deep = application("deep", &["*.c.b.org"], "/");
        for order in [[&one, &other, &deep], [&deep, &other, &one]] {
            let table = Table::new(order.map(Arc::clone).to_vec(), None).unwrap();
            assert_eq!(found(&table, "x.b.org", "/"), "other", "an exact name");
            assert_eq!(found(&table, "y.b.org", "/"), "one");
            assert_eq!(found(&table, "y.c.b.org", "/"), "deep", "the longer pattern");
        }
    }

    #[test]
    fn two_in_one_place_are_refused_by_name() {
        let refused = |one, other| Table::new(vec![one, other], None).map(drop).unwrap_err().to_string();
        let error = refused(application("a", &[], "/"), application("b", &[], "/"));
        assert!(error.starts_with("a and b both answer at every host, /"), "{error}");
        let error = refused(application("a", &["x", "y"], "/p"), application("b", &["y"], "/p"));
        assert!(error.starts_with("a and b both answer at y/p/"), "{error}");
        assert!(Table::new(vec![application("a", &["x"], "/"), application("b", &[], "/")], None).is_ok());
    }
}
