//! How long sessions last, and where they are kept.

use std::time::Duration;

use skep_settings::{DAY, MINUTE, settings, words};

settings! {
    /// How long sessions last, and where they are kept: the settings `session.*`.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let mut setup = skep::Setup::default();
    /// setup.session.idle = Duration::from_hours(1);
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub struct Rules in "session" {
        /// End a session that is not used for this long, to within ten minutes or an eighth of it, whichever is less.
        /// One that belongs to no user (`Session::belongs_to`) ends after three quarters of it.
        idle: Duration = Duration(MINUTE..=400 * DAY), 14 * DAY, variable "SKEP_SESSION_IDLE" as seconds;
        /// Where sessions are kept: `server`, in the cache `sessions`; or `cookie`, sealed with the application's keys
        /// in the cookie itself, which needs no store and has room for about 2.8 KB. With `cookie`, a user's sessions
        /// can be neither listed nor ended from elsewhere, accounts (`skep_people`) are refused, and of changes at the
        /// same time the last one counts.
        store: SessionStore = Choice(SessionStore::WORDS), SessionStore::Server.word(), variable "SKEP_SESSION_STORE" as word;
        /// How long browsers keep the cookie of a session: `browser`, until they are closed, so that nobody else finds
        /// it on a computer that several people use; or `lasting`, as long as `session.life`. Remember-me
        /// (`skep_people::remember`) has a cookie of its own, which lasts 60 days.
        cookie: CookieLife = Choice(CookieLife::WORDS), CookieLife::Browser.word(), variable "SKEP_SESSION_COOKIE" as word;
        /// End a session this long after it began or was renewed, even if it is used. Browsers keep cookies for at most
        /// 400 days.
        life: Duration = Duration(MINUTE..=400 * DAY), 90 * DAY, variable "SKEP_SESSION_LIFE" as seconds;
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

words! { CookieLife { Browser = "browser", Lasting = "lasting" } }
words! { SessionStore { Server = "server", Cookie = "cookie" } }
