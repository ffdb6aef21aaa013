//! Cookies that a browser must get whatever becomes of its request.
//!
//! What they tell it has happened already: its session has another id, a token was used up. So they go out with an
//! error page too, with that of a panic or a timeout. A request that is dropped leaves them to the code that dropped it
//! ([`left_by`]), if that asks for them.

use crate::ext::CookieExt as _;
use std::cell::RefCell;

use http::HeaderValue;

use super::Cookie;

thread_local! {
    /// What dropped requests leave, while somebody waits for that.
    static LEFT: RefCell<Option<Vec<HeaderValue>>> = const { RefCell::new(None) };
}

/// Those of one request.
#[derive(Default)]
pub struct PendingCookies {
    /// That of its session: the last one counts.
    session: RefCell<Option<HeaderValue>>,
    others: RefCell<Vec<HeaderValue>>,
}

impl PendingCookies {
    /// Sets the cookie of the session.
    pub fn set_session(&self, cookie: &Cookie, is_secure: bool) {
        self.session.replace(Some(cookie.header_value(is_secure)));
    }

    /// True if the cookie of the session is set.
    pub fn has_session(&self) -> bool {
        self.session.borrow().is_some()
    }

    /// The last one of a name counts.
    pub fn add(&self, cookie: &Cookie, is_secure: bool) {
        let value = cookie.header_value(is_secure);
        let name = |value: &HeaderValue| value.as_bytes().split(|byte| *byte == b'=').next().map(<[u8]>::to_vec);
        let mut others = self.others.borrow_mut();
        others.retain(|other| name(other) != name(&value));
        others.push(value);
    }

    /// Adds values of `Set-Cookie`.
    pub fn extend(&self, cookies: Vec<HeaderValue>) {
        self.others.borrow_mut().extend(cookies);
    }

    /// The values of `Set-Cookie`.
    #[inline]
    pub fn take(&self) -> Vec<HeaderValue> {
        let mut cookies = self.others.take();
        if let Some(session) = self.session.take() {
            cookies.insert(0, session);
        }
        cookies
    }
}

impl Drop for PendingCookies {
    fn drop(&mut self) {
        if self.session.get_mut().is_some() || !self.others.get_mut().is_empty() {
            let cookies = self.take();
            // When the thread ends there is nobody.
            let _ = LEFT.try_with(|left| left.borrow_mut().as_mut().map(|left| left.extend(cookies)));
        }
    }
}

/// Runs `work`, and gives the cookies of the requests that it drops unanswered.
pub fn left_by<T>(work: impl FnOnce() -> T) -> (T, Vec<HeaderValue>) {
    /// Ends the waiting, also by way of a panic: cookies that came later would be another user's.
    struct Waiting(Option<Vec<HeaderValue>>);
    impl Drop for Waiting {
        fn drop(&mut self) {
            LEFT.set(self.0.take());
        }
    }
    let waiting = Waiting(LEFT.replace(Some(Vec::new())));
    let done = work();
    let left = LEFT.replace(None);
    drop(waiting);
    (done, left.unwrap_or_default())
}

skep_units::opaque_debug!(PendingCookies);
