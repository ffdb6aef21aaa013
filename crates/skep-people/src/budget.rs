//! How often somebody may try something of an account: to guess a password or a code, to have a mail sent.
//!
//! A stranger counts for the networks of the address first, then for the name from there, then for the name from
//! everywhere: so who guesses uses up a budget of their own long before that of the name, and the owner, at another
//! address, is not kept out. A browser that has signed in as this name before ([`known`](crate::known)) has a budget
//! that no stranger shares. What is refused counts nowhere.

use std::time::Duration;

use skep::cache::Pace;

use crate::event::kind::EventKind;
use crate::known::{self, digest};
use crate::messages::AccountMessages;
use skep::Cx;
use skep::Error;
use skep::Result;
use skep::guard::{self, Count, Counters};

/// Attempts to sign in, by account and by network.
pub(crate) static ATTEMPTS: Counters = Counters::new("skep-sign-in");

/// Mails that were asked for, by recipient and by who asks.
pub(crate) static MAILS: Counters = Counters::new("skep-mails");

/// What may be tried how often.
pub(crate) struct Budget {
    /// Where its counters are.
    pub(crate) store: &'static Counters,
    /// What it is, in keys.
    pub(crate) what: &'static str,
    /// By address: many people may share it.
    pub(crate) address: Pace,
    /// For a name from one address. The networks around it have twice as much together.
    pub(crate) near: Pace,
    /// For a name from all networks.
    pub(crate) wide: Pace,
    /// For a name from one browser that has signed in as this name.
    pub(crate) device: Pace,
    /// What is recorded when it is used up.
    pub(crate) event: EventKind,
}

/// An attempt that was counted.
pub(crate) struct Attempt {
    budget: &'static Budget,
    /// All of a stranger; of a known browser, that for the name.
    counts: Vec<Count>,
    /// What the right password clears.
    own: String,
}

/// A try that was one too many.
pub(crate) struct Refused {
    pub(crate) wait: Duration,
    /// The name was tried too often, and not only the address.
    pub(crate) is_of_name: bool,
    /// It is time for an event.
    pub(crate) is_recorded: bool,
}

/// A throttled name is recorded once in this time.
const RECORDED: Pace = Pace { burst: 1, each: Duration::from_hours(1) };

/// Records of attempts that were refused by their address.
const RECORDED_OF_ADDRESS: Pace = Pace { burst: 5, each: Duration::from_mins(10) };

impl Budget {
    /// Counts one try, unless that is too often. `mark` is what a known browser has in its cookie.
    pub(crate) async fn spend(
        &'static self,
        cx: &Cx<'_>,
        subject: &str,
        mark: Option<&str>,
    ) -> Result<std::result::Result<Attempt, Refused>> {
        let subject = format!("{}:{subject}", self.what);
        if let Some(device) = mark.and_then(|mark| known::device(cx, mark)) {
            let own = format!("{subject}#{device}");
            let counts = vec![(own.clone(), self.device)];
            // One that has used up its own is a stranger.
            if self.store.spend(cx, &counts).await?.is_ok() {
                return Ok(Ok(Attempt { budget: self, counts, own }));
            }
        }
        let mut counts = self.of_address(cx);
        if let Err(wait) = self.store.spend(cx, &counts).await? {
            let key = cx.peer().subnets().next_back().unwrap_or_default();
            let recorded = (format!("recorded:{}:{key}", self.what), RECORDED_OF_ADDRESS);
            let is_recorded = self.store.spend(cx, &[recorded]).await?.is_ok();
            return Ok(Err(Refused { wait, is_of_name: false, is_recorded }));
        }
        let (own, of_name) = self.of_name(cx, &subject);
        if let Err(wait) = self.store.spend(cx, &of_name).await? {
            self.store.give_back(cx, &counts).await?;
            let is_recorded = is_recorded(cx, self.store, &subject).await?;
            return Ok(Err(Refused { wait, is_of_name: true, is_recorded }));
        }
        counts.extend(of_name);
        Ok(Ok(Attempt { budget: self, counts, own }))
    }

    fn of_address(&self, cx: &Cx<'_>) -> Vec<Count> {
        let key = |network| format!("{}@{network}", self.what);
        cx.peer().subnets().map(|network| (key(network), self.address.times(network.share()))).collect()
    }

    /// The key of the narrowest, and all: the widest first.
    fn of_name(&self, cx: &Cx<'_>, subject: &str) -> (String, Vec<Count>) {
        let near = |share| self.near.times(if share > 1 { 2 } else { 1 });
        let mut all = vec![(subject.to_owned(), self.wide)];
        all.extend(cx.peer().subnets().map(|network| (format!("{subject}@{network}"), near(network.share()))));
        if all.len() == 1 {
            // Over a unix socket, and in tests, all are one client.
            all.push((format!("{subject}@"), self.near));
        }
        (all[all.len() - 1].0.clone(), all)
    }
}

impl Attempt {
    /// It was no try: nothing was compared.
    pub(crate) async fn give_back(&self, cx: &Cx<'_>) -> Result<()> {
        self.budget.store.give_back(cx, &self.counts).await
    }

    /// It was no guess: counts it nowhere, and forgets those of this client before it.
    pub(crate) async fn succeeded(self, cx: &Cx<'_>) -> Result<()> {
        self.give_back(cx).await?;
        self.budget.store.clear(cx, &self.own).await
    }
}

/// What tells wrong tokens, ceremonies and the like of one address apart from others'.
pub(crate) const OF_ADDRESS: Pace = Pace { burst: 50, each: Duration::from_secs(10) };

/// Bounds how often an address does something, and so what it can have stored and logged.
pub(crate) async fn spend_of_address(cx: &Cx<'_>, what: &str) -> Result<()> {
    let key = |network| format!("{what}:{network}");
    let counts: Vec<Count> =
        cx.peer().subnets().map(|network| (key(network), OF_ADDRESS.times(network.share()))).collect();
    ATTEMPTS.spend(cx, &counts).await?.map_err(|wait| too_many(cx, wait))
}

/// The refusal of a try that was one too many.
pub(crate) fn too_many(cx: &Cx<'_>, wait: Duration) -> Error {
    guard::too_many(wait).with_message(AccountMessages::of(cx).too_often)
}

/// Counts a try of somebody who is known, at all of these paces: the first of them may be used up fast, and the last
/// one bounds a day.
pub(crate) async fn spend_of_account(
    cx: &Cx<'_>,
    subject: &str,
    paces: &[Pace],
) -> Result<std::result::Result<Vec<Count>, Refused>> {
    let count = |(at, pace): (usize, &Pace)| (format!("{subject}:{at}"), *pace);
    let counts: Vec<Count> = paces.iter().enumerate().map(count).rev().collect();
    Ok(match ATTEMPTS.spend(cx, &counts).await? {
        Ok(()) => Ok(counts),
        Err(wait) => {
            let is_recorded = is_recorded(cx, &ATTEMPTS, subject).await?;
            Err(Refused { wait, is_of_name: true, is_recorded })
        }
    })
}

async fn is_recorded(cx: &Cx<'_>, store: &'static Counters, subject: &str) -> Result<bool> {
    Ok(store.spend(cx, &[(format!("recorded:{subject}"), RECORDED)]).await?.is_ok())
}

/// Forgets what was counted of somebody who is known.
pub(crate) async fn clear_of_account(cx: &Cx<'_>, counts: &[Count]) -> Result<()> {
    for (key, _) in counts {
        ATTEMPTS.clear(cx, key).await?;
    }
    Ok(())
}

/// The key of a name: of any length, and in no cache in plain text.
pub(crate) fn subject(kind: &str, name: &str) -> String {
    format!("{kind}:{}", digest(name))
}
