//! Sessions: data of one user between requests.
//!
//! A session is a set of typed values under a random id. Nothing is stored and no cookie is sent before something is
//! [`set`](Session::set). An id from a request is accepted only if this application issued it. The store holds a digest
//! of the id, so a stolen store reveals no session.
//!
//! [`Cx::session`](crate::Cx::session) gives it to a handler. [`SharedCx`](crate::cache::SharedCx) has none, so a
//! shared cache entry cannot contain data of one user:
//!
//! ```compile_fail,E0599
//! async fn greeting(cx: &skep::cache::SharedCx<'_>) {
//!     let _ = cx.session(); // there is no such method
//! }
//! ```
//!
//! Start reading at [`Session::set`]; `store` is the storage, and `sealed` does without one.

mod id;
mod key;
mod listed;
mod one_time;
mod restart;
mod rules;
mod sealed;
pub mod series;
mod store;
mod tokens;
mod users;

use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

use http::header::RETRY_AFTER;
use http::{HeaderValue, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::security::keys::AppKeys;
use skep_http::cookie::{Cookie, PendingCookies};
use skep_http::error::{Error, Result};
use skep_http::ext::ErrorExt as _;
use skep_http::request::Peer;

use id::Id;
pub(crate) use id::cookie_name;
pub use key::Key;
use key::decode;
pub use listed::Listed;
pub use one_time::OneTimeToken;
use restart::Keep;
pub use rules::{CookieLife, Rules, SessionStore};
use store::{Change, Found, Outcome, Values, When};
pub(crate) use store::{SESSIONS, Sessions};
use users::OWNER;

/// The session of the user who sent this request: [`Cx::session`](crate::Cx::session).
///
/// ```
/// use skep::prelude::*;
/// use skep::session::Key;
///
/// const USER: Key<String> = Key::new("user");
/// const VISITS: Key<u32> = Key::new("visits").kept_at_sign_in();
///
/// #[derive(Service)]
/// #[service(GET "/")]
/// struct Index;
///
/// impl Handle for Index {
///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
///         let visits = cx.session().update(&VISITS, |visits| visits.unwrap_or(0) + 1).await?;
///         let user = cx.session().get(&USER).await?;
///         Ok(Response::text(format!("{}, {visits}", user.as_deref().unwrap_or("stranger"))))
///     }
/// }
///
/// #[derive(Service)]
/// #[service(POST "/log-in/{name}")]
/// struct LogIn { name: String }
///
/// impl Handle for LogIn {
///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
///         // After the password was checked: the session has a new id, and nothing in it that was another's.
///         cx.session().begin_for(&self.name).await?;
///         cx.session().set(&USER, &self.name).await?;
///         Ok(Response::see_other(&Index))
///     }
/// }
///
/// #[derive(Service)]
/// #[service(POST "/log-out")]
/// struct LogOut;
///
/// impl Handle for LogOut {
///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
///         cx.session().end().await?;
///         Ok(Response::see_other(&Index))
///     }
/// }
///
/// let client = skep::test::Client::new(App::new().serve(services![Index, LogIn, LogOut]));
/// assert_eq!(client.get("/").text(), "stranger, 1");
/// assert_eq!(client.post("/log-in/Ann", &[]).text(), "Ann, 2");
/// assert_eq!(client.post("/log-out", &[]).text(), "stranger, 1");
/// ```
///
/// It borrows from the request, so it cannot outlive it. A change is stored when the call returns, whatever becomes of
/// the request. Reads see the state of this request's first access plus its own changes.
///
/// Concurrent requests of one session do not lose changes of different keys. For one key the last [`set`](Self::set)
/// wins; [`update`](Self::update) is atomic.
///
/// # Errors
/// All methods: 429 if one address begins more sessions than
/// [`Limits::sessions_per_address`](crate::Limits::sessions_per_address), 503 if the store is unavailable (a failing
/// store signs nobody out), and 409 for a change of a session that another request has just renewed or ended.
pub struct Session<'c> {
    state: &'c SessionState,
    pending: &'c PendingCookies,
    sessions: &'c Sessions,
    keys: &'c AppKeys,
    cookie: Option<&'c str>,
    is_secure: bool,
    /// False if the request only looks: [`Repeat`](crate::repeat::Repeat).
    is_used: bool,
    peer: Peer,
}

/// The session state of a request.
#[derive(Debug, Default)]
pub(crate) struct SessionState {
    now: RefCell<LoadState>,
}

#[derive(Clone, Debug, Default)]
enum LoadState {
    /// Nobody has asked yet.
    #[default]
    Unread,
    /// No session; what is set begins one.
    Nobody,
    /// It was renewed or ended a moment ago, by another request.
    Over,
    Open(Open),
}

#[derive(Clone, Debug)]
struct Open {
    id: Rc<Id>,
    values: Rc<Values>,
    /// Nobody else knows it, and nothing of it is stored yet.
    is_new: bool,
    /// Of a sealed one: in milliseconds since 1970.
    begun: u64,
}

impl SessionState {
    /// The names of what has been read of it, without values.
    pub(crate) fn keys(&self) -> Vec<String> {
        match &*self.now.borrow() {
            LoadState::Open(open) => open.values.keys().cloned().collect(),
            _ => Vec::new(),
        }
    }
}

/// How often `update` tries.
const ATTEMPTS: u32 = 100;

impl<'c> Session<'c> {
    pub(crate) fn new(
        state: &'c SessionState,
        pending: &'c PendingCookies,
        (sessions, keys): (&'c Sessions, &'c AppKeys),
        cookie: Option<&'c str>,
        (is_secure, is_used): (bool, bool),
        peer: Peer,
    ) -> Self {
        Self { state, pending, sessions, keys, cookie, is_secure, is_used, peer }
    }

    /// The value, if there is one.
    pub async fn get<T: DeserializeOwned>(&self, key: &Key<T>) -> Result<Option<T>> {
        Ok(self.text(key).await?.and_then(|text| decode(key, &text)))
    }

    /// Keeps a value. If there is no session, one begins.
    ///
    /// # Errors
    /// As [`Session`] says; and 500 if the session would be larger than [`Limits::session`](crate::Limits::session).
    pub async fn set<T: Serialize>(&self, key: &Key<T>, value: &T) -> Result<()> {
        let new = Some(serde_json::to_string(value)?);
        self.change(Change { name: key.stored(), when: When::Always, new }).await.map(drop)
    }

    /// Changes a value in one step that no other request comes between: `change` gets what is there, and is called
    /// again when another was faster. Gives back what is kept now.
    pub async fn update<T: Serialize + DeserializeOwned>(
        &self,
        key: &Key<T>,
        mut change: impl FnMut(Option<T>) -> T,
    ) -> Result<T> {
        for _ in 0..ATTEMPTS {
            let old = self.text(key).await?;
            let value = change(old.as_deref().and_then(|text| decode(key, text)));
            let new = Some(serde_json::to_string(&value)?);
            if self.change(Change { name: key.stored(), when: When::There(old), new }).await? {
                return Ok(value);
            }
        }
        Err(unavailable(format!("others changed {:?} {ATTEMPTS} times between reading and writing", key.stored())))
    }

    /// Removes a value. Does not begin a session.
    pub async fn remove<T>(&self, key: &Key<T>) -> Result<()> {
        if self.text(key).await?.is_none() {
            return Ok(());
        }
        self.change(Change { name: key.stored(), when: When::Always, new: None }).await.map(drop)
    }

    /// Deletes the session and its cookie. A value that is set later begins a new one.
    pub async fn end(&self) -> Result<()> {
        if let LoadState::Open(open) = self.now().await?
            && !open.is_new
            && !self.sessions.is_sealed()
        {
            self.sessions.end(&open.id).await?;
            if let Some(user) = open.values.get(OWNER) {
                self.forget(&open.id, user).await;
            }
        }
        self.close();
        Ok(())
    }

    /// Sets the owner of this session: any text that identifies one user. [`end_all`](Self::end_all) ends it with the
    /// user's others then. Of more than [`Limits::user_sessions`](crate::Limits::user_sessions) sessions of one user,
    /// the oldest end. If there is no session, one begins.
    ///
    /// ```
    /// use skep::prelude::*;
    /// use skep::session::Key;
    ///
    /// const USER: Key<String> = Key::new("user");
    ///
    /// async fn log_in(cx: &mut Cx<'_>, user: &str) -> Result<()> {
    ///     // It belongs to the user then.
    ///     cx.session().begin_for(user).await?;
    ///     cx.session().set(&USER, &user.to_owned()).await
    /// }
    ///
    /// /// After a change of the password: who signed in with the old one is logged out, on all devices.
    /// async fn log_out_everywhere(cx: &mut Cx<'_>, user: &str) -> Result<()> {
    ///     cx.session().end_all(user).await
    /// }
    /// # let _ = (log_in, log_out_everywhere);
    /// ```
    pub async fn belongs_to(&self, user: &str) -> Result<()> {
        let open = self.open_or_begin().await?;
        let change = Change { name: Cow::Borrowed(OWNER), when: When::Always, new: Some(user.to_owned()) };
        if self.sessions.is_sealed() {
            return self.change(change).await.map(drop);
        }
        // In the list first: whatever fails after that, no session of this user is missing there.
        self.sessions.join(&open.id, user, None).await?;
        if let Some(before) = open.values.get(OWNER).filter(|before| *before != user) {
            self.forget(&open.id, before).await;
        }
        self.change(change).await.map(drop)
    }

    /// Ends all sessions that [belong](Self::belongs_to) to a user, on all machines that share the store; this one too,
    /// if it is the user's. It takes one step for each. Somebody who logs in as this user at the same time may stay. If
    /// it fails, some may have ended; it can be called again.
    ///
    /// # Errors
    /// As [`Session`] says; and 500 if sessions are kept in cookies only ([`SessionStore::Cookie`]).
    pub async fn end_all(&self, user: &str) -> Result<()> {
        self.require_list()?;
        // Whose this one is shows before it has ended.
        let now = self.now().await?;
        self.sessions.end_all_of(user, None).await?;
        if let LoadState::Open(open) = now
            && open.values.get(OWNER).is_some_and(|owner| owner == user)
        {
            self.close();
        }
        Ok(())
    }

    /// It is not this user's any more, and need not be ended with the others. If that cannot be noted, it is ended once
    /// more then.
    async fn forget(&self, id: &Id, user: &str) {
        if let Err(error) = self.sessions.leave(id, user).await {
            tracing::warn!(target: "skep::session", %error, "an ended session remains in its user's list");
        }
    }

    /// Makes the browser forget it.
    fn close(&self) {
        if self.cookie.is_some() || self.pending.has_session() {
            self.pending.set_session(&Cookie::removal(cookie_name(self.is_secure)), self.is_secure);
        }
        self.put(LoadState::Nobody);
    }

    /// True if there is a session, empty or not.
    pub async fn exists(&self) -> Result<bool> {
        Ok(matches!(self.now().await?, LoadState::Open(_)))
    }

    async fn text<T>(&self, key: &Key<T>) -> Result<Option<String>> {
        let LoadState::Open(open) = self.now().await? else { return Ok(None) };
        Ok(open.values.get(&*key.stored()).cloned())
    }

    async fn now(&self) -> Result<LoadState> {
        let known = self.state.now.borrow().clone();
        if !matches!(known, LoadState::Unread) {
            return Ok(known);
        }
        let read = if self.sessions.is_sealed() { self.read_sealed()? } else { self.read().await? };
        let mut now = self.state.now.borrow_mut();
        // Another future of the same handler may have been faster, and have changed something.
        if matches!(*now, LoadState::Unread) {
            *now = read;
        }
        Ok(now.clone())
    }

    async fn read(&self) -> Result<LoadState> {
        let Some(id) = self.cookie.and_then(Id::parse) else { return Ok(LoadState::Nobody) };
        Ok(match self.sessions.find(&id, self.is_used).await? {
            Found::Nothing => LoadState::Nobody,
            Found::Over => LoadState::Over,
            Found::Values(values) => {
                LoadState::Open(Open { id: Rc::new(id), values: Rc::new(values), is_new: false, begun: 0 })
            }
        })
    }

    /// False if the current value is not the expected one.
    async fn change(&self, change: Change) -> Result<bool> {
        let open = self.open_or_begin().await?;
        if self.sessions.is_sealed() {
            return self.change_sealed(&open, &change);
        }
        let (outcome, values) = self.sessions.change(&open.id, change, &open.values, open.is_new).await?;
        match outcome {
            Outcome::Over => return Err(self.over()),
            Outcome::TooLarge { bytes, limit } => return Err(too_large(bytes, limit)),
            Outcome::Done | Outcome::Differs => {}
        }
        if self.note(&open.id, values) {
            self.tell(&open.id);
        }
        Ok(matches!(outcome, Outcome::Done))
    }

    /// What the session of this id holds now. True if this was the first time that something was stored in it.
    fn note(&self, id: &Rc<Id>, values: Values) -> bool {
        match &mut *self.state.now.borrow_mut() {
            LoadState::Open(open) if Rc::ptr_eq(&open.id, id) => {
                open.values = Rc::new(values);
                std::mem::replace(&mut open.is_new, false)
            }
            // Another future of the same handler has renewed or ended it.
            _ => false,
        }
    }

    async fn open_or_begin(&self) -> Result<Open> {
        match self.now().await? {
            LoadState::Open(open) => return Ok(open),
            LoadState::Over => return Err(self.over()),
            LoadState::Nobody | LoadState::Unread => {}
        }
        // One that is a cookie takes no room here.
        if !self.sessions.is_sealed() && !self.sessions.rate.allows(self.peer) {
            return Err(Error::too_often("limits.sessions_per_address"));
        }
        let begun = self.sessions.now().millis();
        let open = Open { id: Rc::new(Id::draw()?), values: Rc::default(), is_new: true, begun };
        self.put(LoadState::Open(open.clone()));
        Ok(open)
    }

    fn put(&self, now: LoadState) {
        self.state.now.replace(now);
    }

    /// Tells the browser its id.
    fn tell(&self, id: &Id) {
        self.pending.set_session(&self.own_cookie(id.to_text()), self.is_secure);
    }

    /// The cookie, which lasts as long as the browser or the session.
    fn own_cookie(&self, value: String) -> Cookie {
        let (cookie, rules) = (Cookie::new(cookie_name(self.is_secure), value), self.sessions.rules);
        match rules.cookie {
            CookieLife::Browser => cookie,
            CookieLife::Lasting => cookie.max_age(rules.life),
        }
    }

    fn over(&self) -> Error {
        self.put(LoadState::Over);
        Error::new(StatusCode::CONFLICT).with_message(
            "somebody logged in or out in another window of this browser a moment ago: load the page again, and try once more",
        )
    }
}

fn too_large(bytes: usize, limit: usize) -> Error {
    Error::internal(format!(
        "a session of {bytes} bytes is larger than the {limit} that limits.session allows: keep large things in the database, and their \
         numbers in the session"
    ))
}

/// 503: the same request may succeed later. A session that is too large for its store never fits: that is a 500.
fn unavailable(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    let cause = cause.into();
    if cause.downcast_ref::<skep_cache::Error>().is_some_and(skep_cache::Error::is_too_large) {
        return Error::internal(cause);
    }
    Error::new(StatusCode::SERVICE_UNAVAILABLE)
        .with_message("we cannot look up who you are at the moment: please try again")
        .with_header(RETRY_AFTER, HeaderValue::from_static("5"))
        .with_cause(cause)
}

// Neither its id nor its values.
skep_units::opaque_debug!(Session<'_>);
