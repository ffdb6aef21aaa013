//! Topics, live pages and presence of an application, mounted in one line each.

use std::time::Duration;

use skep::App;
use skep::html::{Html, Metadata};

use crate::page::follow;
use crate::pages::LivePages;
use crate::presences::Presences;
use crate::schema;
use crate::topics::Topics;

skep::assets! {
    /// The script of live pages.
    Script = "script" at "/-/live"
}

/// How often messages are removed that are too old.
const TIDY: Duration = Duration::from_mins(1);

/// Gives an application topics, live pages and presence.
pub trait LiveApp {
    /// Mounts topics: the table of messages, and what removes old ones. The application needs a database
    /// ([`App::database`]). An example is at [`Topic`](crate::Topic).
    #[must_use]
    fn topics(self, topics: Topics) -> Self;

    /// Mounts live pages: their script, and a layer that answers it. The application needs a database
    /// ([`App::database`]). Pages link to the script with [`live_script`], and mark what follows the database with
    /// [`live`](crate::live).
    ///
    /// ```
    /// use skep::prelude::*;
    /// use skep::sql::Migrations;
    /// use skep_live::prelude::*;
    ///
    /// # #[derive(Service)] #[service(GET "/")] struct Places;
    /// # impl Handle for Places { async fn handle(self, _cx: &mut Cx<'_>) -> Result {
    /// let page = html! {
    ///     (DOCTYPE)
    ///     html lang="en" {
    ///         head { title { "Free places" } (live_script()) }
    ///         body { (live("places", html! { p { "12 of 20" } })) }
    ///     }
    /// };
    /// # Ok(Response::html(page)) } }
    /// let app = App::new().database(Migrations::NONE).serve(services![Places]).live_pages();
    /// # let client = skep::test::Client::new(app);
    /// # let page = client.get("/");
    /// # let script = page.text().split("src=\"").nth(1).unwrap().split('"').next().unwrap();
    /// # assert_eq!(client.get(script).header("content-type"), Some("text/javascript; charset=utf-8"));
    /// ```
    #[must_use]
    fn live_pages(self) -> Self;

    /// Mounts [presence](crate::Presence): its tables. The application needs a database ([`App::database`]), and live
    /// pages or WebSockets by which somebody is present. An example is at [`Presence`](crate::Presence).
    #[must_use]
    fn presence(self, presences: Presences) -> Self;
}

impl LiveApp for App {
    fn topics(self, topics: Topics) -> Self {
        self.tables(schema::SQLITE, schema::POSTGRES)
            .state(topics)
            .on_start(|site| {
                site.state::<Topics>().open(site);
                Ok(())
            })
            .every("topics", TIDY, |site| site.state::<Topics>().tidy(site))
    }

    fn live_pages(self) -> Self {
        let pages = LivePages::default();
        let observer = pages.observer();
        self.state(pages)
            .on_write(observer)
            .on_start(|site| site.state::<LivePages>().open(site))
            .wrap(follow)
            .files("/-/live", Script::files())
    }

    fn presence(self, presences: Presences) -> Self {
        self.tables(schema::PRESENCE_SQLITE, schema::PRESENCE_POSTGRES).state(presences).on_start(|site| {
            site.state::<Presences>().open(site);
            Ok(())
        })
    }
}

/// The script of live pages, for the `head` of a page: 5.0 KB with brotli, 5.7 KB with gzip, from this server, which
/// the default [security headers](skep::SecurityHeaders) allow. A policy of your own allows `script-src 'self'` and
/// `connect-src 'self'`.
#[must_use]
pub fn live_script() -> Html<Metadata> {
    skep::piece! { script src=(Script::LIVE_JS) defer {} }
}
