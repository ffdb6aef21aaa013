//! How often one client, or one kind of request, may do something: the table of counters, and the networks that count
//! as one client.
//!
//! All counters of an application are in one [`Table`], which no page can push them out of, and which forked processes
//! share. Those that several machines share are in a cache that is configured for them:
//! [`spend`](crate::guard::limit::spend).

use std::fmt::{self, Display};
use std::hash::Hash;
use std::sync::Arc;
use std::time::Duration;

use skep_cache::{Change, Clock, Counters, Pace};

#[cfg(target_family = "wasm")]
use crate::host::component::functions::CacheFunctions;
use skep_http::ext::SubnetExt as _;
use skep_http::request::subnet::{subnets, widest};
use skep_http::request::{Peer, Subnet};

/// The time in which a client may use up its limit, and gets it back.
const PERIOD: Duration = Duration::from_mins(1);

/// The table of an application's counters. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    counters: Arc<Counters>,
    /// The host of this component counts.
    #[cfg(target_family = "wasm")]
    host: Option<&'static CacheFunctions>,
}

/// Whether a change was allowed, or how long it has to wait.
pub(crate) type Allowed = Result<(), Duration>;

impl Table {
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn new(bytes: u64, clock: Clock) -> skep_cache::Result<Self> {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        Ok(Self { counters: Arc::new(Counters::new(bytes, clock)?) })
    }

    /// Without a host that counts, the memory of the instance does.
    #[cfg(target_family = "wasm")]
    pub(crate) fn new(host: Option<&'static CacheFunctions>, clock: Clock) -> skep_cache::Result<Self> {
        let bytes = if host.is_some() { 0 } else { 64 << 10 };
        Ok(Self { counters: Arc::new(Counters::new(bytes, clock)?), host })
    }

    /// Changes the counter of a key. `place` says whose it is, and `network` where it counts if the table is full.
    #[cfg_attr(not(target_family = "wasm"), expect(clippy::unnecessary_wraps, reason = "a host may fail"))]
    pub(crate) fn change(
        &self,
        place: &str,
        key: &(impl Hash + Display + ?Sized),
        change: Change,
        network: Option<Subnet>,
    ) -> skep_cache::Result<Allowed> {
        let network = network.map(Subnet::to_bytes).unwrap_or_default();
        #[cfg(target_family = "wasm")]
        if let Some(host) = self.host {
            return host.count(place, &key.to_string(), change, &network);
        }
        Ok(self.counters.change(&(place, key), change, &network))
    }

    /// The same for the instance of a component.
    #[cfg(not(target_family = "wasm"))]
    pub(crate) fn change_hosted(&self, place: &str, key: &str, change: Change, network: &[u8]) -> Allowed {
        self.counters.change(&(place, key), change, network)
    }
}

/// A limit for each client and minute.
#[derive(Debug)]
pub(crate) struct Rate {
    name: &'static str,
    /// `None`: no limit.
    pace: Option<Pace>,
    table: Table,
}

/// Whose counter it is.
#[derive(Hash)]
struct Key {
    name: &'static str,
    network: Subnet,
}

impl Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.name, self.network)
    }
}

/// Where the table has these counters.
const PLACE: &str = "skep-rates";

impl Rate {
    pub(crate) fn new(name: &'static str, limit: u32, table: &Table) -> Self {
        Self { name, pace: Pace::per(limit, PERIOD), table: table.clone() }
    }

    /// False if the client, or a network around it, has done it too often. One whose address is unknown has no limit.
    pub(crate) fn allows(&self, peer: Peer) -> bool {
        let Some(pace) = self.pace else { return true };
        let apply = |network: Subnet, change: fn(Pace) -> Change| {
            let key = Key { name: self.name, network };
            self.table.change(PLACE, &key, change(pace.times(network.share())), widest(peer))
        };
        // A host that cannot count keeps nobody out.
        let is_refused = |network| matches!(apply(network, Change::Add), Ok(Err(_)));
        let all = subnets(peer);
        let Some(refused) = all.clone().position(is_refused) else { return true };
        // What is refused counts nowhere.
        all.take(refused).for_each(|network| drop(apply(network, Change::GiveBack)));
        false
    }

    /// The same for whatever this number stands for.
    pub(crate) fn allows_number(&self, number: u128) -> bool {
        let Some(pace) = self.pace else { return true };
        let key = Key { name: self.name, network: Subnet::numbered(number) };
        !matches!(self.table.change(PLACE, &key, Change::Add(pace), None), Ok(Err(_)))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/rate.rs"]
mod tests;
