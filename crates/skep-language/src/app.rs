//! An application that speaks several languages, and its pages.

use std::time::Duration;

use skep::html::{Html, Metadata};
use skep::link::Destination;
use skep::prelude::*;

use crate::language::Languages;

/// The cookie of a visitor's language.
pub const LANGUAGE_COOKIE: &str = "language";

/// The cookie lasts a year.
const LASTS: Duration = Duration::from_hours(24 * 365);

/// The languages of an [`App`].
pub trait LanguageApp {
    /// Has the application speak these languages: its forms and error pages, and all that asks for the language of a
    /// request, which the first of these names: the path (`/de/courses`), the cookie ([`keep_language`]), the user
    /// ([`Cx::prefer_language`]), `Accept-Language`.
    ///
    /// ```text
    /// App::new().serve(services![Index]).languages_of::<Language>()
    /// ```
    #[must_use]
    fn languages_of<L: Languages>(self) -> Self;
}

impl LanguageApp for App {
    fn languages_of<L: Languages>(self) -> Self {
        let app = self.languages(L::all().map(Languages::messages));
        app.language_in_path(skep::link::Prefix::NONE).language_cookie(LANGUAGE_COOKIE)
    }
}

/// Keeps a visitor's language in a cookie, for a year. The rest of this request is in it, too.
///
/// ```text
/// impl Handle for ChooseLanguage {
///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
///         keep_language(cx, self.language);
///         Ok(Response::see_other(Index))
///     }
/// }
/// ```
pub fn keep_language(cx: &mut Cx<'_>, language: impl Languages) {
    cx.set_cookie(&Cookie::new(LANGUAGE_COOKIE, language.tag()).max_age(LASTS));
    cx.set_language(language.tag());
}

/// For the `head` of a page that there is in each language, under paths that name it: `link rel="alternate"` with
/// `hreflang` for each, and the default one for all other languages.
///
/// ```text
/// head { (alternates(cx, |language| Index { language })) }
/// ```
#[must_use]
pub fn alternates<L: Languages, D: Destination>(cx: &Cx<'_>, page: impl Fn(L) -> D) -> Html<Metadata> {
    let all = L::all().map(|language| (language.tag(), page(language)));
    let all: Vec<_> = all.chain([("x-default", page(L::at(0)))]).map(|(tag, page)| (tag, cx.absolute(page))).collect();
    html! { @for (tag, url) in &all { link rel="alternate" hreflang=(tag) href=(url); } }
}
