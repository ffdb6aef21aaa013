//! The languages of an application, and how a request says which one it wants.

use super::App;
use crate::contract::form::Messages;
use crate::link::Prefix;

impl App {
    /// The languages of the application: of the messages beside the fields of forms, of error pages, and of what asks
    /// for [`Cx::language`](crate::Cx::language). A browser says which its user likes (`Accept-Language`); who likes
    /// none of them gets the first. Without this call there is English.
    ///
    /// ```
    /// use skep::form::Messages;
    /// use skep::prelude::*;
    ///
    /// const GERMAN: Messages = Messages { language: "de", missing: "Bitte ausfüllen.", ..Messages::ENGLISH };
    ///
    /// let app = App::new().languages([Messages::ENGLISH, GERMAN]);
    /// ```
    #[must_use]
    pub fn languages(mut self, languages: impl IntoIterator<Item = Messages>) -> Self {
        self.languages.messages = languages.into_iter().collect();
        self
    }

    /// A path may name the language, in its first segment behind this prefix: `/de/courses`. That comes before all else
    /// that says which language a request is in.
    ///
    /// ```
    /// use skep::form::Messages;
    /// use skep::link::Prefix;
    /// use skep::prelude::*;
    ///
    /// const GERMAN: Messages = Messages { language: "de", ..Messages::ENGLISH };
    ///
    /// let app = App::new().languages([Messages::ENGLISH, GERMAN]).language_in_path(Prefix::NONE);
    /// let page = skep::test::Client::new(app).get("/de/nowhere");
    /// assert!(page.text().contains("<html lang=\"de\""));
    /// ```
    #[must_use]
    pub fn language_in_path(mut self, prefix: Prefix) -> Self {
        self.languages.below = Some(prefix.as_str());
        self
    }

    /// A cookie of this name may have the language of a user, for paths that do not name one. Pages for everybody then
    /// say `Vary: Cookie`, and those in the language of a cookie are kept by no proxy.
    ///
    /// ```
    /// use skep::form::Messages;
    /// use skep::prelude::*;
    ///
    /// # #[derive(Service)]
    /// # #[service(GET "/")]
    /// # struct Index;
    /// # impl Handle for Index { async fn handle(self, cx: &mut Cx<'_>) -> Result { Ok(Response::text(cx.language())) } }
    /// const GERMAN: Messages = Messages { language: "de", ..Messages::ENGLISH };
    ///
    /// let app = App::new().serve(services![Index]).languages([Messages::ENGLISH, GERMAN]).language_cookie("language");
    /// let client = skep::test::Client::new(app);
    /// let index = client.request(skep::Method::GET, "/").header("cookie", "language=de");
    /// assert_eq!(index.send().text(), "de");
    /// ```
    #[must_use]
    pub fn language_cookie(mut self, name: &'static str) -> Self {
        self.languages.cookie = Some(name);
        self
    }
}
