//! What the host of this component offers beside WASI, as a table of functions: what is not in it, is not imported.

use std::future::{Future, ready};
use std::time::Duration;

use skep_cache::driver::{Claim, Entry, Record, Removal, Stamp, Token, When};
use skep_cache::tiers::Tiers;
use skep_cache::{Change, Clock, Driver, Error, Time};

use super::bindings::skep::host::{body, cache, secrets};

/// The functions of a host.
#[derive(Debug)]
pub struct Host {
    pub(crate) keys: Option<fn() -> Result<String, String>>,
    pub(crate) cache: Option<&'static CacheFunctions>,
    pub(crate) body: Option<fn() -> Piece>,
}

/// A piece of the body of a request: `wit/skep.wit`, interface `body`.
type Piece = Result<Option<Vec<u8>>, (u16, String)>;

impl Host {
    /// A host of Skep.
    pub const SKEP: &'static Self = &Self { keys: Some(secrets::keys), cache: Some(&CACHE), body: Some(body::read) };
    /// Any host of `wasi:http`.
    pub const NONE: &'static Self = &Self { keys: None, cache: None, body: None };
}

type Failure = (u8, String);
type HostResult<T> = std::result::Result<T, Failure>;

/// The functions of the interface `cache`.
#[derive(Debug)]
pub struct CacheFunctions {
    get: fn(&str, &[u8], u64) -> HostResult<Option<Vec<u8>>>,
    set: fn(&str, &[u8], &[u8], u8, u64, u64) -> HostResult<bool>,
    remove: fn(&str, &[u8], u64, u64, u64) -> HostResult<bool>,
    lease: fn(&str, &[u8], u64, u64, u64) -> HostResult<Option<u64>>,
    release: fn(&str, &[u8], u64, u64) -> HostResult<()>,
    invalidate: fn(&str) -> HostResult<()>,
    generation: fn(&str) -> u64,
    version: fn() -> u64,
    count: fn(&str, &str, u8, u32, u64, &[u8]) -> HostResult<u64>,
}

impl CacheFunctions {
    /// Changes a counter of the host's.
    pub(crate) fn count(
        &self,
        place: &str,
        key: &str,
        change: Change,
        network: &[u8],
    ) -> Result<Result<(), Duration>, Error> {
        let (kind, pace) = match change {
            Change::Add(pace) => (0, Some(pace)),
            Change::GiveBack(pace) => (1, Some(pace)),
            Change::Clear => (2, None),
        };
        let (burst, each) = pace.map_or((1, Duration::ZERO), |pace| (pace.burst, pace.each));
        let each = u64::try_from(each.as_micros()).unwrap_or(u64::MAX);
        match (self.count)(place, key, kind, burst, each, network).map_err(error)? {
            0 => Ok(Ok(())),
            wait => Ok(Err(Duration::from_micros(wait))),
        }
    }

    /// Invalidates what has this tag, in all processes.
    pub(crate) fn invalidate(&self, tag: &str) -> Result<(), Error> {
        (self.invalidate)(tag).map_err(error)
    }

    /// The system's time, and the host's versions: instances count together, as threads do.
    pub(crate) fn clock(&self) -> Clock {
        Clock::drawing(self.version)
    }
}

static CACHE: CacheFunctions = CacheFunctions {
    get: cache::get,
    set: cache::set,
    remove: cache::remove,
    lease: cache::lease,
    release: cache::release,
    invalidate: cache::invalidate,
    generation: cache::generation,
    version: cache::version,
    count: cache::count,
};

/// Where the caches of a component are: with its host, or in the instance itself, for as long as that lives.
#[derive(Debug)]
pub enum Backend {
    /// Under this name.
    Host(&'static CacheFunctions, String),
    /// Here.
    Own(Tiers),
}

impl Backend {
    /// What the host keeps for later is the host's to send on.
    pub(crate) async fn flush(&self, now: Time) -> skep_cache::Result<()> {
        match self {
            Self::Host(..) => Ok(()),
            Self::Own(tiers) => tiers.flush(now).await,
        }
    }
}

fn error((kind, text): Failure) -> Error {
    let error = match kind {
        1 => Error::too_large(0, 0),
        2 => Error::unsupported("host", "do this"),
        3 => Error::corrupt("the host's entry"),
        _ => Error::unreachable("asking the host"),
    };
    error.because(text)
}

impl Driver for Backend {
    fn name(&self) -> &'static str {
        match self {
            Self::Host(..) => "host",
            Self::Own(tiers) => tiers.name(),
        }
    }

    async fn get<R, F>(&self, key: &[u8], now: Time, read: F) -> skep_cache::Result<Option<R>>
    where
        R: Send,
        F: FnOnce(Entry<'_>) -> R + Send,
    {
        let (host, place) = match self {
            Self::Host(host, place) => (host, place),
            Self::Own(tiers) => return tiers.get(key, now, read).await,
        };
        let Some(bytes) = (host.get)(place, key, now.millis()).map_err(error)? else { return Ok(None) };
        let record = Record::parse(bytes.into())?;
        Ok(Some(read(record.entry())))
    }

    async fn set(&self, key: &[u8], record: &Record, when: When, now: Time) -> skep_cache::Result<bool> {
        let (host, place) = match self {
            Self::Host(host, place) => (host, place),
            Self::Own(tiers) => return tiers.set(key, record, when, now).await,
        };
        let (when, number) = match when {
            When::Always => (0, 0),
            When::Absent => (1, 0),
            When::Version(version) => (2, version.to_u64()),
            When::Newer => (3, 0),
            When::Leased(token) => (4, token.0),
        };
        (host.set)(place, key, record.bytes(), when, number, now.millis()).map_err(error)
    }

    async fn remove(&self, key: &[u8], removal: Removal, now: Time) -> skep_cache::Result<bool> {
        let (host, place) = match self {
            Self::Host(host, place) => (host, place),
            Self::Own(tiers) => return tiers.remove(key, removal, now).await,
        };
        (host.remove)(place, key, removal.version.to_u64(), removal.until.millis(), now.millis()).map_err(error)
    }

    async fn lease(&self, key: &[u8], claim: Claim, now: Time) -> skep_cache::Result<Option<Token>> {
        let (host, place) = match self {
            Self::Host(host, place) => (host, place),
            Self::Own(tiers) => return tiers.lease(key, claim, now).await,
        };
        let token = (host.lease)(place, key, claim.token.0, claim.until.millis(), now.millis()).map_err(error)?;
        Ok(token.map(Token))
    }

    fn release(&self, key: &[u8], token: Token, now: Time) -> impl Future<Output = skep_cache::Result<()>> + Send {
        ready(match self {
            Self::Host(host, place) => (host.release)(place, key, token.0, now.millis()).map_err(error),
            // Memory is ready at once.
            Self::Own(tiers) => skep_cache::driver::ready(tiers.release(key, token, now)),
        })
    }

    fn generation(&self) -> Stamp {
        match self {
            Self::Host(host, place) => match (host.generation)(place) {
                0 => Stamp::Unknown,
                number => Stamp::Complete(number),
            },
            Self::Own(tiers) => tiers.generation(),
        }
    }
}
