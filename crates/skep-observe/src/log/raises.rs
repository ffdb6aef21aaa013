//! Levels that are raised at run time for the requests of one user, or of an address or network, for a limited time.
//!
//! The request asks for its level when it begins, and again when something names its user ([`skep::log::set_raising`]).
//! When the time of the last one is over, the first request that asks stops all further ones from asking.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::RwLock;
use std::time::Duration;

use ipnet::IpNet;
use skep::log::{Whose, set_raising};
use skep_units::{format_duration, parse_duration, read_lock, write_lock};
use tracing::Level;

use super::levels::parse_level;
use crate::clock::monotonic_millis as now;

/// A change of whose requests are raised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raise {
    whose: Owner,
    /// `None`: no longer.
    level: Option<Level>,
    /// In milliseconds of the monotonic clock, which all processes share.
    until: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Owner {
    User(String),
    Network(IpNet),
}

/// How many are raised at a time, at most; the oldest ones are forgotten first.
const MAX_RAISES: usize = 100;

/// How long, if the command does not say, and at most: nobody should find out months later that a user's requests are
/// still logged.
const DEFAULT_TIME: Duration = Duration::from_hours(1);
const MAX_TIME: Duration = Duration::from_hours(24);

static RAISES: RwLock<Vec<Raise>> = RwLock::new(Vec::new());

const EXPECTED: &str =
    "expected log user NAME LEVEL TIME or log address NETWORK LEVEL TIME, such as log user anna debug 15m";

impl Raise {
    /// `user NAME LEVEL`, `address NETWORK LEVEL`, each with a time or without. `inherit` as level ends it.
    pub fn parse(words: &[&str]) -> Result<Self, String> {
        let [kind, words @ ..] = words else { return Err(EXPECTED.to_owned()) };
        let (names, level, time) = match words {
            [names @ .., level, time] if is_level(level) && !is_level(time) => (names, level, parse_time(time)?),
            [names @ .., level] => (names, level, DEFAULT_TIME),
            [] => return Err(EXPECTED.to_owned()),
        };
        let level = match *level {
            "inherit" => None,
            level => Some(parse_level(level)?.into_level().ok_or_else(|| EXPECTED.to_owned())?),
        };
        if names.is_empty() {
            return Err(EXPECTED.to_owned());
        }
        let until = now().saturating_add(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        Ok(Self { whose: Owner::parse(kind, &names.join(" "))?, level, until })
    }

    /// True if its time has passed.
    pub fn is_over(&self) -> bool {
        self.until <= now()
    }

    /// Replaces what is in a list about the same owner, and removes those whose time is over.
    pub fn put_into(&self, list: &mut Vec<Self>) {
        list.retain(|known| known.whose != self.whose && !known.is_over());
        if self.level.is_some() && !self.is_over() {
            list.drain(..(list.len() + 1).saturating_sub(MAX_RAISES));
            list.push(self.clone());
        }
    }

    /// Makes it so in this process.
    pub fn apply(&self) {
        let mut raises = write_lock(&RAISES);
        self.put_into(&mut raises);
        set_raising(level_of, !raises.is_empty());
    }

    /// What has changed, for who asked for it.
    pub fn describe(&self) -> String {
        match self.level {
            None => format!("requests of {} have the usual log levels\n", self.whose),
            Some(_) => format!("log level raised for {self}\n"),
        }
    }

    /// As [`Raise::of_line`] reads it.
    pub fn to_line(&self) -> String {
        let level = self.level.map_or("inherit", |level| level.as_str());
        format!("{level} {} {}", self.until, self.whose)
    }

    /// Reads what [`to_line`](Self::to_line) wrote.
    pub fn of_line(line: &str) -> Option<Self> {
        let mut words = line.splitn(4, ' ');
        let level = match words.next()? {
            "inherit" => None,
            level => Some(level.parse().ok()?),
        };
        let until = words.next()?.parse().ok()?;
        Some(Self { level, until, whose: Owner::parse(words.next()?, words.next()?).ok()? })
    }
}

/// `user anna: DEBUG for 15m`.
impl fmt::Display for Raise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = self.level.map_or("inherit", |level| level.as_str());
        let seconds = self.until.saturating_sub(now()).div_ceil(1000);
        write!(f, "{}: {level} for {}", self.whose, format_duration(Duration::from_secs(seconds)))
    }
}

impl Owner {
    fn parse(kind: &str, name: &str) -> Result<Self, String> {
        match kind {
            // An environment variable, which an upgrade passes it in, has no NUL.
            "user" if name.contains(char::is_control) => Err(EXPECTED.to_owned()),
            "user" => Ok(Self::User(name.to_owned())),
            "address" => {
                let network = IpNet::from_str(name)
                    .or_else(|_| name.parse::<IpAddr>().map(|address| address.to_canonical().into()));
                let problem =
                    |_| format!("\"{name}\" is no address or network: write 192.0.2.7, 10.0.0.0/8 or fd00::/8");
                network.map(|network| Self::Network(network.trunc())).map_err(problem)
            }
            _ => Err(EXPECTED.to_owned()),
        }
    }

    fn is(&self, whose: Whose<'_>) -> bool {
        match (self, whose) {
            (Self::User(own), Whose::User(user)) => own == user,
            (Self::Network(network), Whose::Address(address)) => network.contains(&address.to_canonical()),
            _ => false,
        }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User(name) => write!(f, "user {name}"),
            // Without the length of a single address.
            Self::Network(network) if network.prefix_len() == network.max_prefix_len() => {
                write!(f, "address {}", network.addr())
            }
            Self::Network(network) => write!(f, "address {network}"),
        }
    }
}

fn is_level(word: &str) -> bool {
    word == "inherit" || parse_level(word).is_ok()
}

fn parse_time(text: &str) -> Result<Duration, String> {
    let time = parse_duration(text).map_err(|problem| problem.to_string())?;
    if time.is_zero() || time > MAX_TIME {
        return Err(format!("a level is raised for {} at most, and for more than 0", format_duration(MAX_TIME)));
    }
    Ok(time)
}

/// The most verbose level that this one's requests are raised to.
fn level_of(whose: Whose<'_>) -> Option<Level> {
    let raises = read_lock(&RAISES);
    let lasting = || raises.iter().filter(|raise| !raise.is_over());
    if lasting().next().is_some() {
        return lasting().filter(|raise| raise.whose.is(whose)).filter_map(|raise| raise.level).max();
    }
    drop(raises);
    let mut raises = write_lock(&RAISES);
    raises.retain(|raise| !raise.is_over());
    set_raising(level_of, !raises.is_empty());
    None
}

#[cfg(test)]
#[path = "../../tests/unit/log/raises.rs"]
mod tests;
