//! What a server shows of a site: the names of its services, by which metrics know them, and what caches and sessions
//! hold.
//!
//! Names come from the program and never from a request, so that there are as many as the program has.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use http::{HeaderName, HeaderValue};

use super::Site;
use crate::application::endpoint::Endpoint;
use crate::application::mount::MountPoint;
use crate::routing::router::Entry;
#[cfg(not(target_family = "wasm"))]
use crate::sql::Database;
#[cfg(not(target_family = "wasm"))]
use crate::status::Part;
use skep_http::account::Account;
use skep_http::ext::ResponseExt as _;
use skep_http::response::Response;

/// What the name of an entry ends with that leads from an old path to a service.
const REDIRECT: &str = " (a redirect)";

/// Requests that reach no service: unknown paths, wrong methods, what is not HTTP.
const NONE: &str = "none";

impl Site {
    /// The names of all services, folders and mounts; the first is for requests that reach none of them.
    #[doc(hidden)]
    #[must_use]
    pub fn service_names(&self) -> &[String] {
        &self.service_names
    }

    /// Method and path pattern of each name, such as `GET /writings/{page}`. Empty for requests that reach nothing; `*`
    /// for folders and mounts, which have no one method.
    #[doc(hidden)]
    #[must_use]
    pub fn service_routes(&self) -> &[String] {
        &self.service_routes
    }

    /// What caches have done, what their tiers and the sessions hold, and the connections to the database.
    #[cfg(not(target_family = "wasm"))]
    #[doc(hidden)]
    #[must_use]
    pub fn storage_status(&self) -> Vec<Part> {
        let mut parts = self.resources.caches.status();
        parts.extend(self.resources.sessions.status());
        parts.extend(self.resources.all_databases().flat_map(Database::status));
        parts
    }
}

/// The number of a mount.
pub(super) fn of_mount(position: usize) -> u16 {
    u16::try_from(position + 1).unwrap_or(0)
}

/// Gives the server the account of a response, and in development browsers, too: `Server-Timing` (W3C Server Timing).
pub(super) fn note(response: &mut Response, mut account: Box<Account>, begun: Option<Instant>) {
    account.cause = response.cause().map(str::to_owned);
    if let Some(begun) = begun
        && let Ok(value) = HeaderValue::try_from(server_timing(&account, begun.elapsed()))
    {
        response.headers_mut().insert(HeaderName::from_static("server-timing"), value);
    }
    response.set_account(Some(account));
}

fn server_timing(account: &Account, total: Duration) -> String {
    let millis = |time: Duration| format!("{:.3}", time.as_secs_f64() * 1000.0);
    let rest = total.saturating_sub(account.sql + account.cache + account.render);
    let (statements, reads) = (account.statements, account.cache_reads);
    format!(
        "total;dur={}, sql;dur={};desc=\"SQL ({statements})\", cache;dur={};desc=\"cache ({reads})\", render;dur={}, handler;dur={}",
        millis(total),
        millis(account.sql),
        millis(account.cache),
        millis(account.render),
        millis(rest)
    )
}

fn prefix(pattern: &str) -> &str {
    pattern.trim_end_matches("{*path}")
}

/// Numbers all endpoints, and returns names and routes: that of no service, those of mounts, those of endpoints.
pub(crate) fn number(entries: &mut [Entry<Endpoint>], mounts: &[MountPoint]) -> (Vec<String>, Vec<String>) {
    let mut names = vec![NONE.to_owned()];
    names.extend(mounts.iter().map(|mount| format!("mount {}", prefix(&mount.route().path))));
    let mut routes = vec![String::new()];
    routes.extend(mounts.iter().map(|mount| format!("* {}", mount.route().path)));
    let mut types: HashMap<String, Vec<_>> = HashMap::new();
    for entry in entries.iter().filter(|entry| entry.id.is_some()) {
        types.entry(entry.name.clone()).or_default().push(entry.id);
    }
    for entry in entries {
        // Two types in different modules may have one name.
        let is_shared = types.get(&entry.name).is_some_and(|ids| ids.iter().any(|id| *id != entry.id));
        let name = match entry.name.trim_end_matches(REDIRECT) {
            _ if entry.endpoint.is_folder() => format!("files {}", prefix(&entry.pattern)),
            name if is_shared => format!("{name} {}", entry.pattern),
            name => name.to_owned(),
        };
        let known = names.iter().position(|known| *known == name);
        let number = known.unwrap_or_else(|| {
            names.push(name);
            routes.push(String::new());
            names.len() - 1
        });
        // An old path that redirects to the service does not count as its route.
        if routes[number].is_empty() && !entry.name.ends_with(REDIRECT) {
            let method = if entry.endpoint.is_folder() { "*" } else { entry.method.as_str() };
            routes[number] = format!("{method} {}", entry.pattern);
        }
        entry.endpoint.set_number(u16::try_from(number).unwrap_or(0));
    }
    (names, routes)
}
