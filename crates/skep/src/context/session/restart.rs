//! A session under a new id: after signing in, and when its user gets more rights.

use std::rc::Rc;

use super::id::Id;
use super::key::KEPT;
use super::store::Values;
use super::users::OWNER;
use super::{LoadState, Open, Session};
use skep_http::error::Result;

/// Which values a session still has under its new id.
pub(super) type Keep = fn(Values) -> Values;

fn only_kept(values: Values) -> Values {
    values.into_iter().filter(|(name, _)| name.starts_with(KEPT)).collect()
}

impl Session<'_> {
    /// Changes the id and restarts the lifetime; the values stay. Call it when the user of a session gets more rights.
    ///
    /// Without a session, the next value that is set begins one.
    pub async fn renew(&self) -> Result<()> {
        if self.restart(|_| |values| values).await? { Ok(()) } else { Err(self.over()) }
    }

    /// Begins the session of a user who signs in, which [belongs to](Self::belongs_to) the user then: under a new id,
    /// against session fixation, and empty, so that nobody finds what was another's. Of a session of nobody, the values
    /// of keys stay that say so ([`Key::kept_at_sign_in`](super::Key::kept_at_sign_in)); one that is the same user's
    /// goes on with all of its values.
    ///
    /// ```
    /// use skep::prelude::*;
    /// use skep::session::Key;
    ///
    /// const USER: Key<String> = Key::new("user");
    ///
    /// async fn log_in(cx: &mut Cx<'_>, user: &str) -> Result<()> {
    ///     cx.session().begin_for(user).await?;
    ///     cx.session().set(&USER, &user.to_owned()).await
    /// }
    /// # let _ = log_in;
    /// ```
    pub async fn begin_for(&self, user: &str) -> Result<()> {
        self.begin(user, true).await?;
        self.belongs_to(user).await
    }

    /// The same, and it belongs to nobody yet, as between two factors. `is_trusted` is false if what it holds is
    /// perhaps another's who has the same name. An example of what follows is at [`begin_for`](Self::begin_for).
    pub async fn begin(&self, user: &str, is_trusted: bool) -> Result<()> {
        let keep = |owner: Option<&String>| -> Keep {
            match owner {
                None => only_kept,
                Some(owner) if is_trusted && owner == user => |values| values,
                Some(_) => |_| Values::new(),
            }
        };
        if !self.restart(keep).await? {
            // Another request was faster; who signs in need not know.
            self.put(LoadState::Nobody);
        }
        Ok(())
    }

    /// Gives it a new id, and of its values those that are to stay, depending on whose it is. False if it is over.
    async fn restart(&self, keep: impl FnOnce(Option<&String>) -> Keep) -> Result<bool> {
        let LoadState::Open(open) = self.now().await? else {
            self.put(LoadState::Nobody);
            return Ok(true);
        };
        if open.is_new {
            return Ok(true);
        }
        let keep = keep(open.values.get(OWNER));
        if self.sessions.is_sealed() {
            return self.restart_sealed(&open, keep).map(|()| true);
        }
        let (id, kept) = (Rc::new(Id::draw()?), keep((*open.values).clone()));
        if let Some(user) = kept.get(OWNER) {
            self.sessions.join(&id, user, Some(&open.id)).await?;
        }
        let Some(values) = self.sessions.renew(&open.id, &id, kept, keep).await? else { return Ok(false) };
        if let Some(user) = open.values.get(OWNER) {
            self.forget(&open.id, user).await;
        }
        self.tell(&id);
        self.put(LoadState::Open(Open { id, values: Rc::new(values), is_new: false, begun: 0 }));
        Ok(true)
    }

    /// Ends a session whose user is gone, for a guard that finds that out. If another request has just given it another
    /// id, the browser keeps that; [`end`](Self::end) is for users who log out.
    ///
    /// ```
    /// async fn check(cx: &skep::Cx<'_>, is_there: bool) -> skep::Result<()> {
    ///     if is_there { Ok(()) } else { cx.session().lose().await }
    /// }
    /// ```
    pub async fn lose(&self) -> Result<()> {
        let LoadState::Open(open) = self.now().await? else { return Ok(()) };
        if !self.sessions.end(&open.id).await? {
            self.put(LoadState::Over);
            return Ok(());
        }
        if let Some(user) = open.values.get(OWNER) {
            self.forget(&open.id, user).await;
        }
        self.close();
        Ok(())
    }
}
