//! Forms that are accepted once: `once = "2h"`.
//!
//! A form carries a token: a number of its own and the end of its time, sealed for its service and for the browser that asked for it.
//! A handler runs for a number once. The number is taken before the handler begins, and given back only if the handler itself
//! says that it failed; where nobody knows how far it came (a panic, a client that went away), it stays taken.
//!
//! What was taken is kept in the application's database, if it has one: that holds over restarts and for all processes that share
//! it. Without one, memory holds it, and a token of another process counts as expired. Start reading at [`handle`].

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use futures_channel::oneshot;
use http::{HeaderValue, StatusCode, header};

use super::fault::Fault;
use super::submission::Submission;
use crate::cx::Cx;
use crate::error::{Error, Result};
use crate::response::Response;
use crate::secret::{self, Secret};
use crate::service::{Handle, Route};
use crate::sql::query;

/// The hidden field that holds the token.
pub(crate) const FIELD: &str = "skep-once";

/// A longer address of an answer is not kept: who sends a second time is told so instead of being led there.
const MOST_LOCATION: usize = 512;

/// The table in the application's database.
pub(crate) const TABLE: &str = "create table if not exists skep_once (
    id blob primary key, until integer not null, digest integer not null, location text
) without rowid";

/// What is known of the submissions that are being answered, and without a database also of those that were.
pub(crate) struct Ledger {
    /// The most that are kept.
    most: usize,
    /// Tells the tokens of this process from those of others.
    process: [u8; 8],
    kept: Mutex<BTreeMap<Key, State>>,
}

/// A token's number, behind the second in which its time is over: what is over comes first.
type Key = (u64, [u8; 16]);

enum State {
    /// Its handler runs; these wait for its end.
    Running(Vec<oneshot::Sender<()>>),
    Done(Outcome),
}

/// How a submission ended.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Outcome {
    /// Of what was sent.
    digest: i64,
    /// Where it was redirected to.
    location: Option<String>,
}

enum Claim<'l> {
    First(Taken<'l>),
    After(oneshot::Receiver<()>),
    Done(Outcome),
    Full,
}

/// A number that this submission has taken.
struct Taken<'l> {
    ledger: &'l Ledger,
    key: Key,
    /// What is kept of it when this is dropped.
    outcome: Option<Outcome>,
}

impl Ledger {
    pub(crate) fn new(most: usize) -> Self {
        // The standard library's hasher is seeded from the system's randomness.
        Self { most, process: RandomState::new().hash_one(0).to_be_bytes(), kept: Mutex::default() }
    }

    fn kept(&self) -> MutexGuard<'_, BTreeMap<Key, State>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn claim(&self, key: Key, now: u64) -> Claim<'_> {
        let mut kept = self.kept();
        while kept.first_key_value().is_some_and(|((until, _), state)| *until < now && matches!(state, State::Done(_)))
        {
            kept.pop_first();
        }
        let is_full = kept.len() >= self.most;
        match kept.get_mut(&key) {
            Some(State::Done(outcome)) => return Claim::Done(outcome.clone()),
            Some(State::Running(waiting)) => {
                let (sender, receiver) = oneshot::channel();
                waiting.push(sender);
                return Claim::After(receiver);
            }
            None if is_full => return Claim::Full,
            None => {}
        }
        kept.insert(key, State::Running(Vec::new()));
        Claim::First(Taken { ledger: self, key, outcome: None })
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let mut kept = self.ledger.kept();
        // Those who wait ask again when their senders are gone.
        match self.outcome.take() {
            Some(outcome) => kept.insert(self.key, State::Done(outcome)),
            None => kept.remove(&self.key),
        };
    }
}

/// The token of one form.
pub(crate) fn token(secret: &Secret, ledger: &Ledger, route: &Route, cookie: &str) -> Result<String> {
    let lasts = route.once.map_or(0, |once| once.as_secs());
    let id: [u8; 16] = secret::random()?;
    let until = (now() + lasts).to_be_bytes();
    let text = [&until[..], &id, &ledger.process, cookie.as_bytes()].concat();
    secret.seal(&purpose(route), &text)
}

/// With the service's name: several may answer one path.
fn purpose(route: &Route) -> String {
    format!("form {FIELD} {} {} {}", route.method, route.path(), route.service)
}

/// What a submission's token says, or why it is not accepted.
fn open<S: Handle>(cx: &Cx<'_>, submission: &Submission) -> Result<Key> {
    let ledger = &cx.forms().once;
    let refused = |fault| Err(Error::refused(vec![("".into(), fault)], cx.messages()));
    let Some(cookie) = cx.form_cookie() else { return refused(Fault::NoCookie) };
    let sent = submission.pairs.get(FIELD).next().unwrap_or_default();
    let opened = cx.secret().open(&purpose(S::ROUTE), sent)?;
    let parts = opened.as_deref().and_then(|text| {
        let (until, rest) = text.split_first_chunk::<8>()?;
        let (id, rest) = rest.split_first_chunk::<16>()?;
        let (process, bound) = rest.split_first_chunk::<8>()?;
        Some((u64::from_be_bytes(*until), *id, *process, bound))
    });
    match parts {
        Some((until, id, process, bound))
            if bound == cookie.as_bytes() && now() <= until && (cx.has_database() || process == ledger.process) =>
        {
            Ok((until, id))
        }
        _ => refused(Fault::Expired),
    }
}

/// Runs the handler, unless this form was accepted before. Then a repetition of what was accepted is led where the first one was
/// led, which is what somebody wants who clicks twice; anything else is shown again, to be sent anew if it is meant.
pub(crate) async fn handle<S: Handle>(cx: &mut Cx<'_>, service: S) -> Result {
    let submission = cx.submission().ok_or_else(|| Error::internal("a one-shot form without its submission"))?;
    let key = open::<S>(cx, &submission)?;
    let digest = submission.digest(&cx.uri().to_string());
    drop(submission);
    let mut taken = match claim(cx, key, digest).await? {
        Ok(taken) => taken,
        Err(Outcome { digest: first, location: Some(location) }) if first == digest => {
            return Ok(Response::redirect(StatusCode::SEE_OTHER, &location));
        }
        Err(_) => {
            let fault = vec![("".into(), Fault::Spent)];
            return Err(Error::refused(fault, cx.messages()).with_status(StatusCode::CONFLICT));
        }
    };
    if !cx.has_database() {
        // Should the handler not come to its end.
        taken.outcome = Some(Outcome { digest, location: None });
    }
    let result = service.handle(cx).await;
    settle(cx, taken, digest, result).await
}

/// The number, taken for this submission, or how the one ended that took it.
async fn claim<'l>(cx: &Cx<'l>, key: Key, digest: i64) -> Result<Result<Taken<'l>, Outcome>> {
    loop {
        match cx.forms().once.claim(key, now()) {
            Claim::First(taken) => return in_database(cx, taken, digest).await,
            Claim::Done(outcome) => return Ok(Err(outcome)),
            // It says nothing, and ends with the other.
            Claim::After(other) => drop(other.await),
            Claim::Full => {
                let message = "too many forms are being sent at the moment: please try again later";
                return Err(Error::new(StatusCode::SERVICE_UNAVAILABLE)
                    .with_message(message)
                    .with_cause("limits.once is used up"));
            }
        }
    }
}

/// Asks all processes and the time before this one, where there is a database.
async fn in_database<'l>(cx: &Cx<'_>, taken: Taken<'l>, digest: i64) -> Result<Result<Taken<'l>, Outcome>> {
    if !cx.has_database() {
        return Ok(Ok(taken));
    }
    let ((until, id), db) = (taken.key, cx.db());
    let seconds = |time: u64| i64::try_from(time).unwrap_or(i64::MAX);
    db.execute(query("delete from skep_once where until < ?", seconds(now()))).await?;
    let insert = "insert into skep_once (id, until, digest) values (?, ?, ?) on conflict do nothing";
    if db.execute(query(insert, (&id[..], seconds(until), digest))).await?.rows > 0 {
        return Ok(Ok(taken));
    }
    let select = query("select digest, location from skep_once where id = ?", &id[..]);
    let (digest, location) = db.one::<(i64, Option<String>)>(select).await?.unwrap_or((0, None));
    Ok(Err(Outcome { digest, location }))
}

/// What the handler answered decides what is kept.
async fn settle(cx: &mut Cx<'_>, mut taken: Taken<'_>, digest: i64, result: Result) -> Result {
    let response = match result {
        Ok(response) => response,
        Err(error) => {
            // Its transaction first: it may hold the database.
            cx.undo();
            taken.outcome = None;
            give_back(cx, taken.key.1).await;
            return Err(error);
        }
    };
    let location = location(&response);
    if let Err(error) = keep(cx, taken.key.1, location.as_deref()).await {
        taken.outcome = None;
        give_back(cx, taken.key.1).await;
        return Err(error);
    }
    if !cx.has_database() {
        taken.outcome = Some(Outcome { digest, location });
    }
    Ok(response)
}

/// Where the answer leads, if it leads on.
fn location(response: &Response) -> Option<String> {
    let location = response.headers().get(header::LOCATION).map(HeaderValue::to_str)?.ok()?;
    (response.status().is_redirection() && location.len() <= MOST_LOCATION).then(|| location.to_owned())
}

/// The form may be sent again.
async fn give_back(cx: &Cx<'_>, id: [u8; 16]) {
    if cx.has_database()
        && let Err(error) = cx.db().execute(query("delete from skep_once where id = ?", &id[..])).await
    {
        tracing::error!(target: "skep::request", id = %cx.id(), "a one-shot form stays spent though it failed: {error}");
    }
}

/// Keeps what the handler wrote, and where its answer leads in the same step if it has a transaction.
async fn keep(cx: &mut Cx<'_>, id: [u8; 16], location: Option<&str>) -> Result<()> {
    if !cx.has_database() {
        return Ok(());
    }
    let update = || query("update skep_once set location = ? where id = ?", (location, &id[..]));
    if let Some(mut transaction) = cx.take_transaction() {
        transaction.execute(update()).await?;
        return Ok(transaction.commit().await?);
    }
    // The handler has done its work: that nobody can be led to its answer a second time is no failure of it.
    if let Err(error) = cx.db().execute(update()).await {
        tracing::error!(target: "skep::request", id = %cx.id(), "where a one-shot form led to is not kept: {error}");
    }
    Ok(())
}

impl Submission {
    /// Of all that the user sent, and where to.
    fn digest(&self, url: &str) -> i64 {
        let mut hasher = DefaultHasher::new();
        url.hash(&mut hasher);
        for (name, text) in self.pairs.iter().filter(|(name, _)| !matches!(*name, FIELD | crate::origin::TOKEN)) {
            (name, text).hash(&mut hasher);
        }
        for (name, file) in &self.files {
            (name, &file.file_name, file.len).hash(&mut hasher);
        }
        hasher.finish().cast_signed()
    }
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger").field("most", &self.most).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn key(until: u64, id: u8) -> Key {
        (until, [id; 16])
    }

    fn first(ledger: &Ledger, key: Key, now: u64) -> Taken<'_> {
        let Claim::First(taken) = ledger.claim(key, now) else { panic!("{key:?} was taken before") };
        taken
    }

    #[test]
    fn a_number_is_taken_once_and_who_waits_learns_of_its_end() {
        let ledger = Ledger::new(9);
        let mut taken = first(&ledger, key(5, 1), 0);
        let Claim::After(mut other) = ledger.claim(key(5, 1), 0) else { panic!("two have it") };
        assert_eq!(other.try_recv(), Ok(None));
        let outcome = Outcome { digest: 7, location: Some("/".into()) };
        taken.outcome = Some(outcome.clone());
        drop(taken);
        assert!(other.try_recv().is_err(), "the wait is over");
        assert!(matches!(ledger.claim(key(5, 1), 0), Claim::Done(done) if done == outcome));
    }

    #[test]
    fn what_is_given_back_can_be_taken_again() {
        let ledger = Ledger::new(9);
        drop(first(&ledger, key(5, 1), 0));
        drop(first(&ledger, key(5, 1), 0));
        assert!(ledger.kept().is_empty());
    }

    #[test]
    fn the_memory_is_bounded_and_nothing_is_forgotten_before_its_time() {
        let ledger = Ledger::new(2);
        for id in [1, 2] {
            first(&ledger, key(5, id), 0).outcome = Some(Outcome { digest: 0, location: None });
        }
        assert!(matches!(ledger.claim(key(9, 3), 5), Claim::Full));
        assert!(matches!(ledger.claim(key(5, 1), 5), Claim::Done(_)));
        drop(first(&ledger, key(9, 3), 6));
        assert!(ledger.kept().is_empty(), "the time of the others is over");
    }
}
