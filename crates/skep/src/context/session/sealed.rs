//! Sessions that are their cookie (`session.store = cookie`): sealed with the application's keys, and stored nowhere
//! else.
//!
//! So nothing is looked up, and nothing can be taken back: a copy of the cookie is the session until it expires, and of
//! requests that change it at the same time the last response counts.

use std::rc::Rc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::id::Id;
use super::store::{Change, Outcome, Values};
use super::{Keep, LoadState, Open, Session};
use skep_http::error::{Error, Result};
use skep_http::ext::CookieExt as _;

/// What is in the cookie.
#[derive(Serialize, Deserialize)]
struct Sealed {
    /// In milliseconds since 1970.
    begun: u64,
    /// When it was last sealed.
    seen: u64,
    values: Values,
}

/// The most bytes of a cookie that every browser keeps, its name and attributes included (RFC 6265bis, 5.6).
const LARGEST_COOKIE: usize = 4096;

impl Session<'_> {
    /// The session in the cookie. From time to time it is sealed again, as it is used.
    pub(super) fn read_sealed(&self) -> Result<LoadState> {
        let nobody = Ok(LoadState::Nobody);
        let Some(cookie) = self.cookie else { return nobody };
        let Some(text) = self.keys.open_own(&self.purpose(), cookie)? else { return nobody };
        let Ok(sealed) = serde_json::from_slice::<Sealed>(&text) else { return nobody };
        let (rules, now) = (self.sessions.rules, self.sessions.now().millis());
        let lasts = |since: u64, time: Duration| u128::from(now.saturating_sub(since)) < time.as_millis();
        if !lasts(sealed.begun, rules.life) || !lasts(sealed.seen, rules.idle) {
            return nobody;
        }
        if self.is_used && !lasts(sealed.seen, rules.seen_every()) {
            self.seal(&sealed.values, sealed.begun)?;
        }
        let (id, values) = (Rc::new(Id::OF_NO_STORE), Rc::new(sealed.values));
        Ok(LoadState::Open(Open { id, values, is_new: false, begun: sealed.begun }))
    }

    /// Changes a value in this request and in the cookie of its response.
    pub(super) fn change_sealed(&self, open: &Open, change: &Change) -> Result<bool> {
        let mut values = (*open.values).clone();
        match change.apply(&mut values, self.sessions.limit) {
            Outcome::Done => {}
            Outcome::TooLarge { bytes, limit } => return Err(super::too_large(bytes, limit)),
            Outcome::Differs | Outcome::Over => return Ok(false),
        }
        self.seal(&values, open.begun)?;
        self.note(&open.id, values);
        Ok(true)
    }

    /// Restarts the lifetime, with the values that are to stay.
    pub(super) fn restart_sealed(&self, open: &Open, keep: Keep) -> Result<()> {
        let (begun, values) = (self.sessions.now().millis(), keep((*open.values).clone()));
        self.seal(&values, begun)?;
        self.put(LoadState::Open(Open { begun, values: Rc::new(values), ..open.clone() }));
        Ok(())
    }

    fn seal(&self, values: &Values, begun: u64) -> Result<()> {
        let sealed = Sealed { begun, seen: self.sessions.now().millis(), values: values.clone() };
        let text = self.keys.seal_own(&self.purpose(), &serde_json::to_vec(&sealed)?)?;
        let cookie = self.own_cookie(text);
        let bytes = cookie.header_value(self.is_secure).len();
        if bytes > LARGEST_COOKIE {
            return Err(Error::internal(format!(
                "a session makes a cookie of {bytes} bytes, and browsers keep {LARGEST_COOKIE}: keep large things in the database, or set \
                 session.store to server"
            )));
        }
        self.pending.set_session(&cookie, self.is_secure);
        Ok(())
    }

    /// Browsers send a cookie to all ports of a host, and applications may share keys.
    fn purpose(&self) -> String {
        format!("session of {}", self.sessions.program)
    }

    /// For who promises to list or end the sessions of a user.
    ///
    /// # Errors
    /// If there is no list of a user's sessions: they are kept in cookies only
    /// ([`SessionStore::Cookie`](super::SessionStore::Cookie)).
    ///
    /// ```
    /// fn check(cx: &skep::Cx<'_>) -> skep::Result<()> { cx.session().require_list() }
    /// ```
    pub fn require_list(&self) -> Result<()> {
        if !self.sessions.is_sealed() {
            return Ok(());
        }
        Err(Error::internal(
            "sessions are cookies only (session.store = cookie), so a user's sessions can be neither listed nor ended: set session.store to server",
        ))
    }
}
