//! Runs the handler of a form that is accepted once: [`crate::form::once`] holds the tokens.

use std::sync::atomic::Ordering;

use http::{HeaderValue, StatusCode, header};

use crate::context::cx::Cx;
use crate::context::resources::once::{Claim, FIELD, Key, Outcome, Taken, milliseconds, now, purpose};
use crate::contract::form::Submission;
use crate::contract::service::Handle;
use crate::sql::query;
use skep_http::error::Error;
use skep_http::ext::{ErrorExt as _, ResponseExt as _};
use skep_http::response::{Response, Result};
use skep_http::validation::FieldError;

/// The longest `Location` of a response that is stored. With a longer one, a repeated submission gets a 409 instead of
/// the redirect.
const MOST_LOCATION: usize = 512;

/// What a submission's token says, or why it is not accepted.
fn open<S: Handle>(cx: &Cx<'_>, submission: &Submission) -> Result<Key> {
    let ledger = &cx.forms().once;
    let refused = |fault| Err(Error::refused(vec![("".into(), fault)], cx.messages()));
    let Some(cookie) = cx.form_cookie() else { return refused(FieldError::NoCookie) };
    let sent = submission.pairs.get(FIELD).next().unwrap_or_default();
    let opened = cx.secret().open_own(&purpose(S::ROUTE), sent)?;
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
            let lasts = milliseconds(S::ROUTE.once.unwrap_or_default());
            Ok(Key { issued: until.saturating_sub(lasts), until, id })
        }
        _ => refused(FieldError::Expired),
    }
}

/// Runs the handler, unless this form was accepted before. Then a repetition of what was accepted gets the redirect
/// that the first one got, which is what a user wants who clicks twice; anything else is shown again, to be sent again
/// if it is meant.
pub(crate) async fn handle<S: Handle>(cx: &mut Cx<'_>, service: S) -> Result {
    let submission = cx.submission().ok_or_else(|| Error::internal("a one-shot form without its submission"))?;
    let key = open::<S>(cx, &submission)?;
    if !cx.forms().once_rate.allows(cx.peer()) {
        return Err(Error::too_often("limits.once_per_address"));
    }
    let digest = submission.digest(&cx.uri().to_string());
    drop(submission);
    let mut taken = match claim(cx, key, digest).await? {
        Ok(taken) => taken,
        Err(Outcome { digest: first, location: Some(location) }) if first == digest => {
            return Ok(Response::redirect_with_status(StatusCode::SEE_OTHER, &location));
        }
        Err(_) => {
            let fault = vec![("".into(), FieldError::Spent)];
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
            Claim::Forgotten => return Err(Error::refused(vec![("".into(), FieldError::Expired)], cx.messages())),
            Claim::Full => {
                let message = "too many forms are being sent at the moment: please try again later";
                return Err(Error::used_up(message, "limits.once is used up"));
            }
        }
    }
}

/// Asks all processes and the time before this one, where there is a database.
async fn in_database<'l>(cx: &Cx<'_>, taken: Taken<'l>, digest: i64) -> Result<Result<Taken<'l>, Outcome>> {
    if !cx.has_database() {
        return Ok(Ok(taken));
    }
    let (Key { until, id, .. }, db) = (taken.key, cx.db());
    let seconds = |time: u64| i64::try_from(time.div_ceil(1000)).unwrap_or(i64::MAX);
    // Expired rows are removed at most once a second, and a minute late: a submission that came in time may have waited
    // to be written.
    let second = now() / 1000;
    if cx.forms().once.tidied.swap(second, Ordering::Relaxed) != second {
        let expired = second.saturating_sub(60).cast_signed();
        db.execute(query("delete from skep_once where until < ?", expired).own()).await?;
    }
    let insert = "insert into skep_once (id, until, digest) values (?, ?, ?) on conflict do nothing";
    if db.execute(query(insert, (&id[..], seconds(until), digest)).own()).await?.rows > 0 {
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
            give_back(cx, taken.key.id).await;
            return Err(error);
        }
    };
    let location = location(&response);
    if let Err(error) = keep(cx, taken.key.id, location.as_deref()).await {
        taken.outcome = None;
        give_back(cx, taken.key.id).await;
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
        && let Err(error) = cx.db().execute(query("delete from skep_once where id = ?", &id[..]).own()).await
    {
        tracing::error!(target: "skep::request", id = %cx.id(), "a one-shot form stays spent though it failed: {error}");
    }
}

/// Keeps what the handler wrote, and where its answer leads in the same step if it has a transaction.
async fn keep(cx: &Cx<'_>, id: [u8; 16], location: Option<&str>) -> Result<()> {
    if !cx.has_database() {
        return Ok(());
    }
    let update = || query("update skep_once set location = ? where id = ?", (location, &id[..])).own();
    if let Some(transaction) = cx.open_transaction() {
        transaction.execute(update()).await?;
        return Ok(transaction.keep_changes().await?);
    }
    // The handler has done its work: that nobody can be led to its answer a second time is no failure of it.
    if let Err(error) = cx.db().execute(update()).await {
        tracing::error!(target: "skep::request", id = %cx.id(), "where a one-shot form led to is not kept: {error}");
    }
    Ok(())
}
