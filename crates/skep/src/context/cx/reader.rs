//! Who reads the response, and in which language.

use super::Cx;
use skep_http::error_page;

impl Cx<'_> {
    /// The language of the request: one of [`App::languages`](crate::App::languages). What names one of them counts, in
    /// this order: the path ([`App::language_in_path`](crate::App::language_in_path)), a cookie
    /// ([`App::language_cookie`](crate::App::language_cookie)), the user
    /// ([`prefer_language`](Self::prefer_language)), `Accept-Language`. [`set_language`](Self::set_language) replaces
    /// it.
    #[must_use]
    pub fn language(&self) -> &'static str {
        self.shared.language()
    }

    /// Chooses the language of the rest of this request, instead of `Accept-Language`: of [`language`](Self::language),
    /// of the messages and choices of forms, and of an error page. A language that
    /// [`App::languages`](crate::App::languages) lacks changes nothing.
    ///
    /// What an account says of its user is known where the account is read, such as in a guard.
    ///
    /// ```
    /// use skep::form::Messages;
    /// use skep::layer::Next;
    /// use skep::prelude::*;
    ///
    /// const GERMAN: Messages = Messages { language: "de", missing: "Bitte ausfüllen.", ..Messages::ENGLISH };
    ///
    /// async fn by_cookie(cx: &mut Cx<'_>, next: Next<'_>) -> Result {
    ///     if let Some(language) = cx.cookie("language") {
    ///         cx.set_language(language);
    ///     }
    ///     next.run(cx).await
    /// }
    ///
    /// #[derive(Service)]
    /// #[service(GET "/")]
    /// struct Index;
    ///
    /// impl Handle for Index {
    ///     async fn handle(self, cx: &mut Cx<'_>) -> Result { Ok(Response::text(cx.language())) }
    /// }
    ///
    /// let app = App::new().serve(services![Index]).languages([Messages::ENGLISH, GERMAN]).wrap(by_cookie);
    /// let client = skep::test::Client::new(app);
    /// let index = || client.request(skep::Method::GET, "/");
    /// assert_eq!(index().send().text(), "en");
    /// assert_eq!(index().header("cookie", "language=de").send().text(), "de");
    /// ```
    ///
    /// A [`PublicPage`](crate::cache::PublicPage) is kept here for each language, and by no proxy if the language was
    /// chosen.
    pub fn set_language(&self, language: &str) {
        self.shared.resources().choose_language(language);
    }

    /// As [`set_language`](Self::set_language), unless the path or a cookie names a language.
    ///
    /// ```
    /// struct User { language: &'static str }
    ///
    /// fn known(cx: &skep::Cx<'_>, user: &User) { cx.prefer_language(user.language) }
    /// ```
    pub fn prefer_language(&self, language: &str) {
        let resources = self.shared.resources();
        if resources.shared().forms.languages.named(self.shared.parts()).is_none() {
            resources.choose_language(language);
        }
    }

    /// True if this client gets failures in JSON, as [`error_page`](crate::error_page) decides: by `Accept`, and by
    /// what the service answers or takes. A program has no use for a redirect to a page.
    ///
    /// ```
    /// use skep::{Cx, Error};
    ///
    /// fn closed(cx: &Cx<'_>) -> Error {
    ///     Error::forbidden(if cx.wants_json() { "closed" } else { "We open at nine." })
    /// }
    /// ```
    #[must_use]
    pub fn wants_json(&self) -> bool {
        error_page::wants_json(self.fields(), self.speaks_json)
    }

    pub(crate) fn set_speaks_json(&mut self, speaks_json: bool) {
        self.speaks_json = speaks_json;
    }

    /// Names the user of this request, for log lines and [error pages](crate::error_page::Failure::user). A guard that
    /// knows the user does it; nothing is decided by it.
    ///
    /// ```
    /// fn known(cx: &skep::Cx<'_>, email: &str) { cx.set_user(email) }
    /// ```
    pub fn set_user(&self, user: impl Into<String>) {
        self.shared.resources().set_user(user.into());
    }

    /// The user, if a guard of this request named one: [`set_user`](Self::set_user). For a [layer](crate::layer) that
    /// notes who did what.
    #[must_use]
    pub fn user(&self) -> Option<&str> {
        self.shared.resources().user()
    }
}
