//! Requests of handlers to other servers.

use skep::fetch::Bounds;
use skep_settings::settings;

use crate::outgoing::Reach;

settings! {
    /// Where requests may go, and what they may take.
    #[derive(Clone, Debug)]
    pub(crate) struct Fetch in "fetch" {
        /// Hosts that handlers may send requests to (`cx.fetch`): `api.example.org`, with a port
        /// (`api.example.org:8443`), `*.example.org`, or `*` for all. The address that a host leads to must be of the
        /// public internet or one of the list itself (`10.0.0.7:8080`); the word `private` in the list allows all.
        /// Needs the cargo feature `fetch`. Empty means none. In a component, `--allow-out` says it instead.
        allow: Reach = List("api.example.org, 10.0.0.7:8080, * or private"), "", by allowed;
        /// Maximum number of `cx.fetch` in progress to one host and port, for each process; others wait for their turn.
        /// As many connections are kept open for later ones by each thread, for 30 seconds.
        per_host as "limits.fetches_per_host": usize = Number(1..=100_000), 64;
        bounds: Bounds;
    }
}

/// Hosts that requests may go to.
fn allowed(list: &[String]) -> Result<Reach, String> {
    if !list.is_empty() && !cfg!(feature = "fetch") {
        return Err("it needs skep-server with the cargo feature `fetch`".to_owned());
    }
    Reach::parse(list)
}
