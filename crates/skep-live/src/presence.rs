//! Presence: who looks at something now, on all processes and machines that share the database.
//!
//! Start reading at [`Presence::track`] and [`Presence::list`]; what is kept of it is in
//! [`presences`](crate::presences).

use std::fmt::Display;
use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use skep::cache::SharedCx;
use skep::{Cx, Result};

use crate::members::{Present, Tracked};
use crate::page;
use crate::presences::Presences;
use crate::topic::Topic;

/// Who is present, as a `Who`, by a key of type `K`: the viewers of a page, who is in a room.
///
/// Somebody is present as long as a connection is open: the browser follows a live page that [tracks](Self::track) its
/// viewers, or holds an event stream or a WebSocket ([`events`](Self::events), [`socket`](Self::socket),
/// [`join`](Self::join)). Several connections with one id are one, and who comes back within five seconds has not left.
/// If a process dies, those whom it has seen are gone when its lease ends ([`Presences::lease`]).
///
/// ```
/// use serde::{Deserialize, Serialize};
/// use skep::prelude::*;
/// use skep::sql::Migrations;
/// use skep_live::prelude::*;
///
/// #[derive(Serialize, Deserialize)]
/// struct Reader { name: String }
///
/// /// Who reads a document, by its number.
/// const READERS: Presence<Reader, i64> = Presence::new("readers");
///
/// #[derive(Service)]
/// #[service(GET "/documents/{document}")]
/// struct Document { document: i64, #[query] name: String }
///
/// impl Handle for Document {
///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
///         READERS.track(cx, &self.document, &self.name, &Reader { name: self.name.clone() })?;
///         let readers = READERS.list(cx.shared(), &self.document).await?;
///         let names = html! { ul { @for reader in readers { li { (reader.name) } } } };
///         Ok(Response::html(live("readers", names)))
///     }
/// }
///
/// let app = App::new().database(Migrations::NONE).serve(services![Document]).live_pages().presence(Presences::new());
/// let client = skep::test::Client::new(app);
/// let open = |name: &str| {
///     client.request(skep::Method::GET, &format!("/documents/7?name={name}")).header("skep-live", "readers:0").open()
/// };
/// let mut ann = open("Ann");
/// let bob = open("Bob");
/// while !ann.next_event().unwrap().contains("<li>Ann</li><li>Bob</li>") {}
/// drop(bob);
/// while !ann.next_event().unwrap().contains("<ul><li>Ann</li></ul>") {}
/// ```
pub struct Presence<Who, K: ?Sized = str> {
    name: &'static str,
    types: PhantomData<fn(&Who, &K)>,
}

impl<Who, K: ?Sized> Presence<Who, K> {
    /// The presence of this name, which no other one, and no [`Topic`], of the application has.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, types: PhantomData }
    }

    /// Who comes and goes, as messages: published if the application mounts topics
    /// ([`LiveApp::topics`](crate::LiveApp::topics)). Messages are changes to [`list`](Self::list), and may repeat what
    /// is known.
    #[must_use]
    pub const fn topic(&self) -> Topic<PresenceChange<Who>, K> {
        Topic::new(self.name)
    }
}

impl<Who, K: ?Sized> std::fmt::Debug for Presence<Who, K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Presence").field(&self.name).finish()
    }
}

/// Somebody came, changed, or went: a message of [`Presence::topic`], as JSON `{"here":{"id":"7","who":...}}` and
/// `{"gone":{"id":"7"}}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PresenceChange<Who> {
    /// Is present now, or is another `who` than before.
    Here {
        /// As it was joined with.
        id: String,
        /// What is known of them.
        who: Who,
    },
    /// Is not present any more.
    Gone {
        /// As it was joined with.
        id: String,
    },
}

impl<Who: Serialize, K: Display + ?Sized> Presence<Who, K> {
    /// Has who follows this [live page](crate::LiveApp::live_pages) be present at a key, as long as the page is shown
    /// and the handler calls this each time that it makes the page: with the same `id` for all their pages, such as
    /// the number of the account. For a browser without JavaScript it does nothing.
    ///
    /// # Errors
    /// If `who` has no JSON form.
    pub fn track(&self, cx: &Cx<'_>, key: &K, id: impl Display, who: &Who) -> Result<()> {
        _ = cx.state::<Presences>();
        page::track(cx, || self.tracked(key, id, who))
    }

    /// Has somebody be present at a key as long as the returned value is there: for a loop on a WebSocket, or a stream.
    ///
    /// ```
    /// # use skep::prelude::*;
    /// # use skep::websocket::WebSocket;
    /// # use skep_live::Presence;
    /// const PLAYERS: Presence<String> = Presence::new("players");
    ///
    /// # #[derive(Service)] #[service(GET "/game/{player}")] struct Game { player: String }
    /// # impl Handle for Game {
    /// async fn handle(self, cx: &mut Cx<'_>) -> Result {
    ///     let present = PLAYERS.join(cx, "game", &self.player, &self.player)?;
    ///     cx.websocket(async move |socket: &mut WebSocket| {
    ///         let _present = present;
    ///         while socket.receive().await?.is_some() {}
    ///         Ok(())
    ///     })
    /// }
    /// # }
    /// ```
    ///
    /// # Errors
    /// If `who` has no JSON form, or the process cannot start a thread.
    pub fn join(&self, cx: &Cx<'_>, key: &K, id: impl Display, who: &Who) -> Result<Present> {
        cx.state::<Presences>().shared.join(self.tracked(key, id, who)?)
    }

    fn tracked(&self, key: &K, id: impl Display, who: &Who) -> Result<Tracked> {
        let who = serde_json::to_string(who)?;
        Ok(Tracked { presence: self.name, key: key.to_string(), id: id.to_string(), who })
    }
}

impl<Who: Serialize + 'static, K: Display + ?Sized> Presence<Who, K> {
    /// The response with all [changes](PresenceChange) of a key as server-sent events, during which `who` is present:
    /// [`Topic::events`] and [`join`](Self::join).
    ///
    /// # Errors
    /// Theirs.
    pub async fn events(&self, cx: &Cx<'_>, key: &K, id: impl Display, who: &Who, after: Option<i64>) -> Result {
        let present = self.join(cx, key, id, who)?;
        self.topic().events_with(cx, key, after, present).await
    }

    /// The same on a WebSocket: [`Topic::socket`] and [`join`](Self::join).
    ///
    /// # Errors
    /// Theirs.
    pub async fn socket(&self, cx: &mut Cx<'_>, key: &K, id: impl Display, who: &Who, after: Option<i64>) -> Result {
        let present = self.join(cx, key, id, who)?;
        self.topic().socket_with(cx, key, after, present).await
    }
}

impl<Who: DeserializeOwned, K: Display + ?Sized> Presence<Who, K> {
    /// Who is present at a key, each id once, who came first first. A page or a
    /// [fragment](skep::cache::Fragment) that calls it follows who comes and goes as it follows tables. What another
    /// version of the application wrote, and is no `Who`, is left out.
    ///
    /// # Errors
    /// Of the database.
    pub async fn list(&self, cx: &SharedCx<'_>, key: &K) -> Result<Vec<Who>> {
        let rows = cx.state::<Presences>().shared.list(cx.db(), self.name, &key.to_string()).await?;
        let mut all: Vec<(String, Who)> = Vec::new();
        for (id, who) in rows {
            let Ok(who) = serde_json::from_str(&who) else { continue };
            match all.iter_mut().find(|(known, _)| *known == id) {
                Some((_, known)) => *known = who,
                None => all.push((id, who)),
            }
        }
        Ok(all.into_iter().map(|(_, who)| who).collect())
    }
}
