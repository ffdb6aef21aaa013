//! How long sessions last, and where they are kept.

use std::time::Duration;

with_defaults! {
    /// Lifetimes of sessions: the settings `session.idle` and `session.life`.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let mut setup = skep::Setup::default();
    /// setup.session.idle = Duration::from_hours(1);
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Rules {
        /// Idle timeout (14 days), accurate to ten minutes or an eighth of it, whichever is less. A session that
        /// belongs to nobody ([`Session::belongs_to`](super::Session::belongs_to)) ends after three quarters of it:
        /// where there are too many, those go first.
        pub idle: Duration = Duration::from_hours(14 * 24),
        /// Maximum age since the session began or was renewed (90 days).
        pub life: Duration = Duration::from_hours(90 * 24),
        /// Where they are kept: the setting `session.store` (the server's store).
        pub store: SessionStore = SessionStore::Server,
        /// How long browsers keep the cookie: the setting `session.cookie` (until they are closed).
        pub cookie: CookieLife = CookieLife::Browser,
    }
}

/// How long browsers keep the cookie of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CookieLife {
    /// Until they are closed: on a computer that several people use, a session ends with its browser. Remember-me
    /// (`skep_people::remember`) has a cookie of its own.
    #[default]
    Browser,
    /// As long as the session can last ([`Rules::life`]).
    Lasting,
}

/// Where sessions are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionStore {
    /// Where the cache `sessions` is, or in `sessions.sqlite`; the browser has a random id.
    #[default]
    Server,
    /// In the cookie itself, sealed with the application's keys. Nothing is looked up, and there is no list of a user's
    /// sessions: one that was copied lasts until it expires, [`Session::end_all`](super::Session::end_all) is an error,
    /// accounts (`skep_people`) are refused, and of requests that change a session at the same time the last response
    /// counts. It has room for about 2.8 KB.
    Cookie,
}
