//! Cookies of the request and of its response.

use http::{HeaderValue, header};

use super::Cx;
use skep_http::cookie::{self, Cookie};
use skep_http::error::{Error, Result};
use skep_http::ext::{CookieExt as _, ResponseExt as _};
use skep_http::response::Response;

impl<'r> Cx<'r> {
    /// The value of a cookie, as it was sent.
    #[must_use]
    pub fn cookie(&self, name: &str) -> Option<&'r str> {
        self.shared.resources().set_private();
        cookie::find(&self.shared.parts().headers, name)
    }

    /// Adds a cookie to the response.
    ///
    /// ```
    /// use skep::{Cookie, Cx};
    /// fn greet(cx: &mut Cx<'_>) { cx.set_cookie(&Cookie::new("seen", "yes")); }
    /// ```
    ///
    /// # Panics
    /// If the response has a cookie of this name already, or the name begins with `__Host-` or `__Secure-` and the
    /// connection is not encrypted: browsers keep one of the two, or none (RFC 6265bis, 4.1). Behind a proxy that ends
    /// TLS, see the setting `cookies.secure`.
    pub fn set_cookie(&mut self, cookie: &Cookie) {
        self.shared.resources().set_private();
        let value = cookie.header_value(self.is_secure());
        if let Err(why) = cookie::check(self.cookie_fields().chain([&value])) {
            panic!("{why}");
        }
        self.headers.get_or_insert_default().append(header::SET_COOKIE, value);
    }

    /// Sends a cookie with whatever becomes of the request, error pages too: it tells the browser what has happened
    /// already, such as that a token was used up. The last one of a name counts.
    ///
    /// ```
    /// use skep::{Cookie, Cx};
    /// fn forget(cx: &Cx<'_>) { cx.send_cookie(&Cookie::removal("device")); }
    /// ```
    pub fn send_cookie(&self, cookie: &Cookie) {
        self.shared.resources().cookies().add(cookie, self.is_secure());
    }

    fn cookie_fields(&self) -> impl Iterator<Item = &HeaderValue> {
        self.headers.iter().flat_map(|headers| headers.get_all(header::SET_COOKIE))
    }

    /// The cookies that a handler wrote into its response keep to the rules of [`set_cookie`](Self::set_cookie), too.
    pub(crate) fn check_cookies(&self, response: &Response) -> Result<()> {
        if response.field(&header::SET_COOKIE).is_none() {
            return Ok(());
        }
        cookie::check(self.cookie_fields().chain(response.headers().get_all(header::SET_COOKIE)))
            .map_err(|why| self.fail(Error::internal(why)))
    }

    /// Drops the cookies of a handler that refuses its form: the page that is shown again sets its own.
    pub(crate) fn drop_cookies(&mut self) {
        if let Some(headers) = &mut self.headers {
            headers.remove(header::SET_COOKIE);
        }
    }
}
