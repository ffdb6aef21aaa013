//! What a request knows of forms: the submission it brings, the tokens of the forms on its page, messages to the next
//! page.

use std::any::Any;
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;

use super::Cx;
use crate::context::resources::{Forms, once};
use crate::routing::route::Route;
use crate::security::keys::AppKeys;
use crate::security::origin;
use skep_http::cookie::Cookie;
use skep_http::error::Result;

/// The cookie for messages to the next page, and what they are sealed for.
const FLASH: &str = "skep-flash";
/// Unread flash messages expire after this time.
const FLASH_MAX_AGE: Duration = Duration::from_mins(10);
/// The most bytes of flash messages, as JSON. Sealed, they are a third more; and a cookie that every browser keeps has
/// 4096 bytes at most, its name and attributes included (RFC 6265bis, 5.6).
const MOST_FLASH: usize = 2850;
/// What a message ends with that was too long.
const SHORTENED: &str = "…";

/// What a request with a form knows of it.
#[derive(Debug, Default)]
pub(super) struct FormState {
    /// A `form::Submission`, whose type stands higher.
    submission: RefCell<Option<Rc<dyn Any>>>,
    /// Only a token can tell where this submission comes from.
    needs_token: Cell<bool>,
    /// The token's cookie, made for a browser that had none.
    cookie: OnceCell<String>,
    /// What the page before said.
    flashes: OnceCell<Vec<String>>,
    /// What the next page is to say.
    flash: RefCell<Vec<String>>,
}

impl<'r> Cx<'r> {
    /// The submission that this request brought.
    pub(crate) fn any_submission(&self) -> Option<Rc<dyn Any>> {
        self.form.get()?.submission.borrow().clone()
    }

    pub(crate) fn set_any_submission(&self, submission: Rc<dyn Any>) {
        self.form_state().submission.replace(Some(submission));
    }

    /// What every form to this service carries unseen.
    pub(crate) fn hidden_fields(&self, route: &Route) -> Vec<(&'static str, String)> {
        let mut fields = Vec::new();
        let mut push = |name, token: Result<String>| match token {
            Ok(token) => fields.push((name, token)),
            // The page can be read all the same; what is sent from it is refused.
            Err(error) => {
                tracing::error!(target: "skep::request", id = %self.id, "a form without its token: {error}");
            }
        };
        if route.cross_origin.is_none() && origin::tells_nothing(&self.shared.parts().headers) {
            push(origin::TOKEN, self.bound_cookie().and_then(|cookie| origin::token(self.secret(), cookie)));
        }
        if route.once.is_some() {
            let token = |cookie: &str| once::token(self.secret(), &self.forms().once, route, cookie);
            push(once::FIELD, self.bound_cookie().and_then(token));
        }
        fields
    }

    fn form_state(&self) -> &FormState {
        self.form.get_or_init(Box::default)
    }

    /// The cookie that tokens are bound to, made if it is missing. A page with a token in it is for this browser only.
    fn bound_cookie(&self) -> Result<&str> {
        let form = self.form_state();
        if let Some(cookie) = self.form_cookie() {
            return Ok(cookie);
        }
        if form.cookie.get().is_none() {
            let id = u128::from_ne_bytes(crate::security::keys::random()?);
            let _ = form.cookie.set(format!("{id:032x}"));
        }
        Ok(form.cookie.get().map_or("", String::as_str))
    }

    /// The cookie that tokens are bound to, if the browser sent it.
    pub(crate) fn form_cookie(&self) -> Option<&'r str> {
        self.cookie(origin::cookie_name(self.is_secure()))
    }

    pub(crate) fn secret(&self) -> &'r AppKeys {
        &self.forms().secret
    }

    pub(crate) fn forms(&self) -> &'r Forms {
        &self.shared.resources().shared().forms
    }

    pub(crate) fn has_database(&self) -> bool {
        self.shared.resources().has_database()
    }

    /// The whole body, which stays where it is.
    pub(crate) async fn look_into_body(&mut self) -> Result<Bytes> {
        let bytes = self.read_body().await?;
        self.body = bytes.clone().into();
        Ok(bytes)
    }

    pub(crate) fn need_token(&self) {
        self.form_state().needs_token.set(true);
    }

    pub(crate) fn needs_token(&self) -> bool {
        self.form.get().is_some_and(|form| form.needs_token.get())
    }

    pub(crate) fn check_token(&self, token: Option<&str>) -> Result<()> {
        origin::check_token(self.secret(), self.form_cookie(), token)
    }

    /// Says this on the next page that the user sees and that asks for it ([`flashes`](Self::flashes)), once: usually
    /// behind a redirect. Until then it is kept in the browser, in a cookie that only this application can read. That
    /// has room for some 2800 bytes: a longer message is shortened, and those that follow it are left out, with a line
    /// in the log. What the handler did stands.
    ///
    /// ```
    /// use skep::prelude::*;
    ///
    /// #[derive(Service)]
    /// #[service(GET "/")]
    /// struct Index;
    ///
    /// impl Handle for Index {
    ///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
    ///         Ok(Response::html(html! { @for text in cx.flashes() { p role="status" { (text) } } }))
    ///     }
    /// }
    ///
    /// #[derive(Service)]
    /// #[service(POST "/save")]
    /// struct Save;
    ///
    /// impl Handle for Save {
    ///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
    ///         cx.flash("Saved.");
    ///         Ok(Response::see_other(&Index))
    ///     }
    /// }
    ///
    /// let client = skep::test::Client::new(App::new().serve(services![Index, Save]));
    /// assert_eq!(client.post("/save", &[]).text(), r#"<p role="status">Saved.</p>"#);
    /// assert_eq!(client.get("/").text(), "");
    /// ```
    pub fn flash(&mut self, text: impl Into<String>) {
        self.form_state().flash.borrow_mut().push(text.into());
    }

    /// What the page before said with [`flash`](Self::flash). The answer to this request makes the browser forget it.
    ///
    /// It is this user's, and borrows from the request: it cannot be kept for another.
    #[must_use]
    pub fn flashes(&self) -> &[String] {
        let Some(sealed) = self.cookie(FLASH) else { return &[] };
        self.form_state().flashes.get_or_init(|| {
            let opened = self.secret().open_own(FLASH, sealed).unwrap_or_else(|error| {
                tracing::error!(target: "skep::request", id = %self.id, "a flash message cannot be read: {error}");
                None
            });
            opened.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
        })
    }

    /// The cookies that a request with a form leaves behind.
    pub(super) fn form_cookies(&mut self) {
        let Some(form) = self.form.take() else { return };
        if let Some(cookie) = form.cookie.get() {
            self.set_cookie(&Cookie::new(origin::cookie_name(self.is_secure()), cookie.as_str()));
        }
        let flash = form.flash.take();
        if !flash.is_empty() {
            match self.secret().seal_own(FLASH, &json(&fitting(flash, MOST_FLASH))) {
                Ok(sealed) => self.set_cookie(&Cookie::new(FLASH, sealed).max_age(FLASH_MAX_AGE)),
                // What the handler did is not undone for it.
                Err(error) => {
                    tracing::error!(target: "skep::request", id = %self.id, "a flash message is lost: {error}");
                }
            }
        } else if form.flashes.get().is_some() {
            self.set_cookie(&Cookie::removal(FLASH));
        }
    }
}

/// Texts always have a JSON form.
fn json(texts: &[String]) -> Vec<u8> {
    serde_json::to_vec(texts).unwrap_or_default()
}

/// What fits of these messages into `most` bytes of JSON: the first that does not is shortened, and those behind it
/// are left out.
fn fitting(texts: Vec<String>, most: usize) -> Vec<String> {
    let given = json(&texts).len();
    if given <= most {
        return texts;
    }
    let mut fitting = Vec::new();
    for text in texts {
        let room = most.saturating_sub(json(&fitting).len() + r#","""#.len());
        if json(std::slice::from_ref(&text)).len() > room + r#"[""]"#.len() {
            fitting.extend(shortened(&text, room));
            break;
        }
        fitting.push(text);
    }
    tracing::warn!(
        target: "skep::request",
        "flash messages of {given} bytes do not fit in a cookie: {} bytes of them are kept", json(&fitting).len()
    );
    fitting
}

/// The beginning of a text that has room in this number of bytes of JSON; none if nothing has.
fn shortened(text: &str, room: usize) -> Option<String> {
    let mut room = room.checked_sub(SHORTENED.len())?;
    let fits = |sign: &char| {
        // A quotation mark or a control character is written as an escape.
        let size = json(&[sign.to_string()]).len() - r#"[""]"#.len();
        let fits = size <= room;
        room = room.saturating_sub(size);
        fits
    };
    let short: String = text.chars().take_while(fits).collect();
    let short = short.trim_end();
    (!short.is_empty()).then(|| format!("{short}{SHORTENED}"))
}
