//! Several machines that serve one application: what they share is switched together, and what one of them would have
//! for itself is refused by name.

use skep::Secret;
use skep::cache::Tiers;
use skep_settings::settings;

use super::Config;
use super::table::Cache;

settings! {
    /// The settings `cluster.*`.
    #[derive(Clone, Debug)]
    pub(crate) struct Cluster in "cluster" {
        /// PostgreSQL of an application on several machines, in the place of `database`. The start and `--check` then
        /// refuse by name what would be of one machine.
        data: Option<Secret<String>> = Text, "";
        /// Redis of these machines, as a tier of a cache: `redis://cache1 seal=/etc/shop/seal`. It has sessions,
        /// counters and, behind 16 MiB of memory, caches without tiers of their own.
        shared: Option<Secret<String>> = Text, "";
    }
}

/// Caches that are in Redis alone: each machine sees at once what another one has written.
const AT_ONCE: [&str; 4] = ["sessions", "skep-limits", "skep-mails", "skep-sign-in"];

/// A setting, and what is wrong with it.
type Problem = (String, String);

impl Config {
    /// Fills in what `cluster.*` stands for, and names what contradicts it.
    pub(super) fn switch_to_cluster(&mut self, has_keys: bool) -> Vec<Problem> {
        let problem = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let (data, shared) = match (self.cluster.data.clone(), self.cluster.shared.clone()) {
            (None, None) => return Vec::new(),
            (Some(data), Some(shared)) => (data, shared),
            (Some(_), None) => {
                return vec![problem("cluster.data", " needs the setting cluster.shared: the Redis of these machines")];
            }
            (None, Some(_)) => {
                return vec![problem(
                    "cluster.shared",
                    " needs the setting cluster.data: the PostgreSQL of these machines",
                )];
            }
        };
        let mut problems = Vec::new();
        if !["postgres://", "postgresql://"].iter().any(|scheme| data.reveal().starts_with(scheme)) {
            let expected =
                ": expected the address of a PostgreSQL database, postgres://USER@HOST/NAME; SQLite is of one machine";
            problems.push(problem("cluster.data", expected));
        }
        if self.app.database.as_ref().is_some_and(|database| database.reveal() != data.reveal()) {
            problems.push(problem("database", " is another database than cluster.data: remove it"));
        }
        if !has_keys {
            let keys = " needs the setting secret, or secret_keys: the keys in the data directory are of one machine";
            problems.push(problem("cluster.data", keys));
        }
        problems.extend(self.local_parts());
        self.app.database = Some(data);
        self.app.cluster = true;
        problems.extend(self.share(shared.reveal()).err().map(|text| ("cluster.shared".to_owned(), text)));
        problems
    }

    /// Databases and caches of this machine.
    fn local_parts(&self) -> Vec<Problem> {
        let files = self.databases.iter().filter(|(_, database)| database.address.is_none());
        let files = files.map(|(name, _)| {
            (format!("databases.{name}.address"), " is empty: a file of SQLite is of one machine".to_owned())
        });
        let is_local = |tiers: &Tiers| !tiers.needs().runtime && !tiers.needs().keeps_nothing;
        let caches = self.tiers().filter(|(_, tiers)| is_local(tiers)).map(|(name, _)| {
            let text =
                " is of one machine: end it with redis:HOST or memcached:HOST, or remove it, which is cluster.shared";
            (format!("cache.{name}.tiers"), text.to_owned())
        });
        files.chain(caches).collect()
    }

    fn share(&mut self, redis: &str) -> Result<(), String> {
        let tiers = |list: &[&str]| Tiers::parse(list).map_err(|problem| format!(": {problem}"));
        let far = tiers(&[redis])?;
        if !far.needs().runtime {
            return Err(": expected the address of a Redis, redis://HOST".to_owned());
        }
        for name in AT_ONCE {
            self.caches.insert_new(name, Cache { tiers: far.clone() });
        }
        self.caches.insert_new("default", Cache { tiers: tiers(&["memory:16MiB", redis])? });
        Ok(())
    }
}
