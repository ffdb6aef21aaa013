//! What an application keeps of one user from request to request.
//!
//! A session is a handful of typed values under an id that only the user's browser and this application know. Nothing is stored
//! and no cookie is sent before something is [`set`](Session::set). The id is drawn by chance, is never taken from a request
//! unless it is one that was given out, and is stored as a digest only: who steals the store can be nobody.
//!
//! [`Cx::session`](crate::Cx::session) lends it to a handler. [`Public`](crate::cache::Public) has none, so what a cache keeps for
//! all cannot hold what is one user's:
//!
//! ```compile_fail,E0599
//! async fn greeting(cx: &skep::cache::Public<'_>) {
//!     let _ = cx.session(); // there is no such method
//! }
//! ```
//!
//! Start reading at [`Session::set`]; where sessions are kept, `store` says.

mod id;
mod store;
mod users;

use std::cell::RefCell;
use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;
use std::time::Duration;

use http::header::RETRY_AFTER;
use http::{HeaderValue, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cookie::Cookie;
use crate::error::{Error, Result};

use id::Id;
pub(crate) use id::cookie_name;
use store::{Change, Found, Outcome, Values, When};
pub(crate) use store::{SESSIONS, Sessions};
use users::OWNER;

/// Names a value in sessions, and its type.
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use skep::session::Key;
///
/// #[derive(Serialize, Deserialize)]
/// struct Cart { articles: Vec<u32> }
///
/// const CART: Key<Cart> = Key::new("cart");
/// # let _ = CART;
/// ```
///
/// Values are kept as JSON and outlive the program that wrote them. One that does not fit the type any more counts as none;
/// `#[serde(default)]` on a new field lets the old ones fit.
pub struct Key<T> {
    name: &'static str,
    types: PhantomData<fn() -> T>,
}

impl<T> Key<T> {
    /// A name belongs to one type. See [`Key`] for an example.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, types: PhantomData }
    }
}

impl<T> fmt::Debug for Key<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Key").field(&self.name).finish()
    }
}

/// How long sessions last: the settings `session.idle` and `session.life`.
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
    /// A session that nobody uses for so long ends (14 days), to within ten minutes or an eighth of it, whichever is less.
    pub idle: Duration,
    /// A session ends so long after it began or was renewed, however much it is used (90 days).
    pub life: Duration,
}

impl Default for Rules {
    fn default() -> Self {
        Self { idle: Duration::from_hours(14 * 24), life: Duration::from_hours(90 * 24) }
    }
}

/// The session of the user who sent this request: [`Cx::session`](crate::Cx::session).
///
/// ```
/// use skep::prelude::*;
/// use skep::session::Key;
///
/// const USER: Key<String> = Key::new("user");
/// const VISITS: Key<u32> = Key::new("visits");
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
///         // After the password was found right: whoever knew the id before does not know the new one.
///         cx.session().renew().await?;
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
/// let client = skep::test::Client::new(App::new().serve::<(Index, LogIn, LogOut)>());
/// assert_eq!(client.get("/").text(), "stranger, 1");
/// assert_eq!(client.post("/log-in/Ann", &[]).text(), "Ann, 2");
/// assert_eq!(client.post("/log-out", &[]).text(), "stranger, 1");
/// ```
///
/// It borrows from the request: it cannot be kept for another one. What is set is stored when the call returns, whatever
/// becomes of the request. What is got is as it was when this request first asked, with all that this request changed.
///
/// Two requests of one session at a time lose nothing of different keys. For one key the last [`set`](Self::set) wins, and
/// [`update`](Self::update) misses none.
///
/// # Errors
/// Of all methods: 503 if the store does not answer. A store that fails logs nobody out. And 409 for who wants to change a session
/// that another request has renewed or ended a moment ago.
pub struct Session<'c> {
    state: &'c State,
    sessions: &'c Sessions,
    cookie: Option<&'c str>,
    cookie_name: &'static str,
}

/// What a request knows of its session.
#[derive(Debug, Default)]
pub(crate) struct State {
    now: RefCell<Now>,
    /// What the browser is told.
    cookie: RefCell<Option<Cookie>>,
}

impl State {
    pub(crate) fn take_cookie(&self) -> Option<Cookie> {
        self.cookie.take()
    }
}

#[derive(Clone, Debug, Default)]
enum Now {
    /// Nobody has asked yet.
    #[default]
    Unread,
    /// There is none; what is set begins one.
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
}

/// How often `update` tries.
const ATTEMPTS: u32 = 100;

impl<'c> Session<'c> {
    pub(crate) fn new(state: &'c State, sessions: &'c Sessions, cookie: Option<&'c str>, tls: bool) -> Self {
        Self { state, sessions, cookie, cookie_name: cookie_name(tls) }
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
        self.change(Change { name: key.name, when: When::Always, new }).await.map(drop)
    }

    /// Changes a value in one step that no other request comes between: `change` gets what is there, and is called again when
    /// another was faster. Gives back what is kept now.
    pub async fn update<T: Serialize + DeserializeOwned>(
        &self,
        key: &Key<T>,
        mut change: impl FnMut(Option<T>) -> T,
    ) -> Result<T> {
        for _ in 0..ATTEMPTS {
            let old = self.text(key).await?;
            let value = change(old.as_deref().and_then(|text| decode(key, text)));
            let new = Some(serde_json::to_string(&value)?);
            if self.change(Change { name: key.name, when: When::There(old), new }).await? {
                return Ok(value);
            }
        }
        Err(unavailable(format!("others changed {:?} {ATTEMPTS} times between reading and writing", key.name)))
    }

    /// Forgets a value. If there is no session, none begins.
    pub async fn remove<T>(&self, key: &Key<T>) -> Result<()> {
        if self.text(key).await?.is_none() {
            return Ok(());
        }
        self.change(Change { name: key.name, when: When::Always, new: None }).await.map(drop)
    }

    /// Gives the session another id and a life from now on; its values stay. For the moment at which a user has shown who they
    /// are: whoever planted or learnt the old id has nothing then (session fixation).
    ///
    /// Without a session, what is set next begins one.
    pub async fn renew(&self) -> Result<()> {
        let Now::Open(open) = self.now().await? else {
            self.put(Now::Nobody);
            return Ok(());
        };
        if open.is_new {
            return Ok(());
        }
        let id = Rc::new(Id::draw()?);
        if let Some(user) = open.values.get(OWNER) {
            self.sessions.join(&id, user, Some(&open.id)).await?;
        }
        match self.sessions.renew(&open.id, &id, &open.values).await? {
            Some(values) => {
                if let Some(user) = values.get(OWNER) {
                    self.forget(&open.id, user).await;
                }
                self.tell(&id);
                self.put(Now::Open(Open { id, values: Rc::new(values), is_new: false }));
                Ok(())
            }
            None => Err(self.over()),
        }
    }

    /// Ends the session, wherever its id is known, and makes the browser forget it. What is set after that begins another.
    pub async fn end(&self) -> Result<()> {
        if let Now::Open(open) = self.now().await?
            && !open.is_new
        {
            self.sessions.end(&open.id).await?;
            if let Some(user) = open.values.get(OWNER) {
                self.forget(&open.id, user).await;
            }
        }
        self.close();
        Ok(())
    }

    /// Says whose session this is: any text that names one user of the application, and no other. [`end_all`](Self::end_all) ends it with the
    /// user's others then. Of more than [`Limits::user_sessions`](crate::Limits::user_sessions) sessions of one user, the oldest end.
    /// If there is no session, one begins.
    ///
    /// ```
    /// use skep::prelude::*;
    /// use skep::session::Key;
    ///
    /// const USER: Key<String> = Key::new("user");
    ///
    /// async fn log_in(cx: &mut Cx<'_>, user: &str) -> Result<()> {
    ///     cx.session().renew().await?;
    ///     cx.session().belongs_to(user).await?;
    ///     cx.session().set(&USER, &user.to_owned()).await
    /// }
    ///
    /// /// After a change of the password: whoever knew the old one is logged out, wherever that is.
    /// async fn log_out_everywhere(cx: &mut Cx<'_>, user: &str) -> Result<()> {
    ///     cx.session().end_all(user).await
    /// }
    /// # let _ = (log_in, log_out_everywhere);
    /// ```
    pub async fn belongs_to(&self, user: &str) -> Result<()> {
        let open = match self.now().await? {
            Now::Open(open) => open,
            Now::Over => return Err(self.over()),
            Now::Nobody | Now::Unread => self.begin()?,
        };
        // In the list first: whatever fails after that, no session of this user is missing there.
        self.sessions.join(&open.id, user, None).await?;
        if let Some(before) = open.values.get(OWNER).filter(|before| *before != user) {
            self.forget(&open.id, before).await;
        }
        self.change(Change { name: OWNER, when: When::Always, new: Some(user.to_owned()) }).await.map(drop)
    }

    /// Ends all sessions that [belong](Self::belongs_to) to a user, on all machines that share the store; this one too, if it is the
    /// user's. It takes one step for each. Somebody who logs in as this user at the same time may stay. If it fails, some may
    /// have ended; it can be called again.
    pub async fn end_all(&self, user: &str) -> Result<()> {
        // Whose this one is shows before it has ended.
        let now = self.now().await?;
        self.sessions.end_all_of(user).await?;
        if let Now::Open(open) = now
            && open.values.get(OWNER).is_some_and(|owner| owner == user)
        {
            self.close();
        }
        Ok(())
    }

    /// It is not this user's any more, and need not be ended with the others. If that cannot be noted, it is ended once more then.
    async fn forget(&self, id: &Id, user: &str) {
        if let Err(error) = self.sessions.leave(id, user).await {
            tracing::warn!(target: "skep::session", %error, "a session that has ended stays in the list of its user");
        }
    }

    /// Makes the browser forget it.
    fn close(&self) {
        if self.cookie.is_some() || self.state.cookie.borrow().is_some() {
            self.state.cookie.replace(Some(Cookie::removal(self.cookie_name)));
        }
        self.put(Now::Nobody);
    }

    /// True if there is one, with something in it or not.
    pub async fn exists(&self) -> Result<bool> {
        Ok(matches!(self.now().await?, Now::Open(_)))
    }

    async fn text<T>(&self, key: &Key<T>) -> Result<Option<String>> {
        let Now::Open(open) = self.now().await? else { return Ok(None) };
        Ok(open.values.get(key.name).cloned())
    }

    async fn now(&self) -> Result<Now> {
        let known = self.state.now.borrow().clone();
        if !matches!(known, Now::Unread) {
            return Ok(known);
        }
        let read = match self.cookie.and_then(Id::parse) {
            None => Now::Nobody,
            Some(id) => match self.sessions.find(&id).await? {
                Found::Nothing => Now::Nobody,
                Found::Over => Now::Over,
                Found::Values(values) => Now::Open(Open { id: Rc::new(id), values: Rc::new(values), is_new: false }),
            },
        };
        let mut now = self.state.now.borrow_mut();
        // Another future of the same handler may have been faster, and have changed something.
        if matches!(*now, Now::Unread) {
            *now = read;
        }
        Ok(now.clone())
    }

    /// False if the value is another one than was said.
    async fn change(&self, change: Change) -> Result<bool> {
        let open = match self.now().await? {
            Now::Open(open) => open,
            Now::Over => return Err(self.over()),
            Now::Nobody | Now::Unread => self.begin()?,
        };
        let (outcome, values) = self.sessions.change(&open.id, change, open.is_new).await?;
        match outcome {
            Outcome::Over => return Err(self.over()),
            Outcome::TooLarge { bytes, limit } => {
                return Err(Error::internal(format!(
                    "a session of {bytes} bytes is larger than the {limit} that limits.session allows: keep large things in \
                     the database, and their numbers in the session"
                )));
            }
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
            Now::Open(open) if Rc::ptr_eq(&open.id, id) => {
                open.values = Rc::new(values);
                std::mem::replace(&mut open.is_new, false)
            }
            // Another future of the same handler has renewed or ended it.
            _ => false,
        }
    }

    fn begin(&self) -> Result<Open> {
        let open = Open { id: Rc::new(Id::draw()?), values: Rc::default(), is_new: true };
        self.put(Now::Open(open.clone()));
        Ok(open)
    }

    fn put(&self, now: Now) {
        self.state.now.replace(now);
    }

    /// Tells the browser its id.
    fn tell(&self, id: &Id) {
        let cookie = Cookie::new(self.cookie_name, id.to_text()).lasting(self.sessions.rules().life);
        self.state.cookie.replace(Some(cookie));
    }

    fn over(&self) -> Error {
        self.put(Now::Over);
        Error::new(StatusCode::CONFLICT).with_message(
            "somebody logged in or out in another window of this browser a moment ago: load the page again, and try once more",
        )
    }
}

/// What was kept under this name for another type is none.
fn decode<T: DeserializeOwned>(key: &Key<T>, text: &str) -> Option<T> {
    serde_json::from_str(text)
        .inspect_err(|error| {
            // The value itself belongs in no log.
            tracing::debug!(target: "skep::session", key = key.name, line = error.line(), "a value does not fit its type");
        })
        .ok()
}

/// 503: the same request may succeed later.
fn unavailable(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::new(StatusCode::SERVICE_UNAVAILABLE)
        .with_message("we cannot look up who you are at the moment: please try again")
        .with_header(RETRY_AFTER, HeaderValue::from_static("5"))
        .with_cause(cause)
}

impl fmt::Debug for Session<'_> {
    /// Neither its id nor its values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}
