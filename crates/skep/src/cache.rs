//! What an application keeps: pages, parts of pages and values, in one tier or several.
//!
//! The cache itself is the crate `skep-cache`; this module says what of a web application goes into it. What is kept for all is
//! made from a [`Public`], in which there is no user. Where it is kept is a matter of configuration:
//!
//! ```toml
//! [cache.pages]
//! tiers = ["memory:64MiB", "redis:cache1:6379"]
//! ```
//!
//! | to keep | write |
//! |---|---|
//! | the answer of a service | [`PublicPage`] instead of [`Handle`](crate::Handle) |
//! | a part of a page | a [`Fragment`], and `cx.fragment(&it).await?` |
//! | any value | a [`Store`], and `cx.cache(&STORE)` |
//!
//! What changed is named by a tag: [`Life::tag`], [`Public::invalidate`], [`Site::invalidate`](crate::Site::invalidate).

mod caches;
mod kept;
mod page;

use std::fmt;
use std::future::Future;
use std::hash::Hash;

pub use skep_cache::tiers::Needs;
pub use skep_cache::{Answer, Builder, Clock, Life, Stats};

pub use crate::public::Public;
pub(crate) use caches::{Caches, Pages};
pub use caches::{NotTiers, Tiers};
pub use page::PublicPage;

use crate::error::{Error, Result};
use crate::html::{Anything, Flow, Html};
use kept::{Kept, Name};

/// A cache of typed values on the tiers that the configuration names: [`Public::cache`] gives it, and
/// [`skep_cache::Cache`] says what it can do.
pub type Cache<K, V> = skep_cache::Cache<K, V, std::sync::Arc<Place>>;

/// Where it is kept.
#[cfg(not(target_family = "wasm"))]
#[doc(hidden)]
pub use skep_cache::tiers::Tiers as Place;

#[cfg(target_family = "wasm")]
#[doc(hidden)]
pub use crate::component::host::Place;

/// Names a cache of an application and says how its values live. Its tiers are those of `[cache.default]`, or its own, of `[cache.NAME]`,
/// if [`App::store`](crate::App::store) makes it known.
///
/// ```
/// use std::time::Duration;
/// use skep::cache::Store;
///
/// /// How often each article was read today.
/// const READERS: Store<str, u64> = Store::with("readers", |readers| readers.ttl(Duration::from_hours(24)));
/// # let _ = READERS;
/// ```
///
/// A name belongs to one pair of types: two stores of one name that differ in them are a fault in the application.
pub struct Store<K: ?Sized, V> {
    name: &'static str,
    settings: fn(Builder<K, V>) -> Builder<K, V>,
}

impl<K: ?Sized, V> Store<K, V> {
    /// With the usual settings: an hour to live. The name has 1 to 48 lower-case letters, digits, `-` and `_`. See
    /// [`Store`] for an example.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self::with(name, |usual| usual)
    }

    /// With settings of its own. See [`Store`] for an example.
    #[must_use]
    pub const fn with(name: &'static str, settings: fn(Builder<K, V>) -> Builder<K, V>) -> Self {
        Self { name, settings }
    }
}

impl<K: ?Sized, V> Store<K, V> {
    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }
}

impl<K: ?Sized, V> fmt::Debug for Store<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A part of a page that is the same for everybody, and is kept.
///
/// Its fields are all that it depends on, besides what a [`Public`] shows: they are its key. The rest of the page may be
/// one user's.
///
/// ```
/// use std::time::Duration;
/// use skep::cache::{Fragment, Life, Public};
/// use skep::prelude::*;
///
/// #[derive(Hash)]
/// struct Newest { most: u8 }
///
/// impl Fragment for Newest {
///     fn life(&self) -> Life { Life::of(Duration::from_mins(10)).tag("articles") }
///
///     async fn make(&self, cx: &Public<'_>) -> Result<Html> {
///         Ok(html! { ul { @for n in 1..=self.most { li { "Article " (n) } } } }) // a slow query, usually
///     }
/// }
///
/// #[derive(Service)]
/// #[service(GET "/")]
/// struct Index;
///
/// impl Handle for Index {
///     async fn handle(self, cx: &mut Cx<'_>) -> Result {
///         let newest = cx.fragment(&Newest { most: 2 }).await?;
///         Ok(Response::html(html! { p { "Hello " (cx.cookie("name").unwrap_or("stranger")) } (newest) }))
///     }
/// }
///
/// let client = skep::test::Client::new(App::new().serve::<(Index,)>());
/// assert_eq!(client.get("/").text(), "<p>Hello stranger</p><ul><li>Article 1</li><li>Article 2</li></ul>");
/// ```
///
/// The parameters are those of its [`Html`]: `impl Fragment<Rows> for Prices`.
pub trait Fragment<C = Flow, H = Anything>: Hash + 'static {
    /// How long it is kept, and the tags that end that. A stale one is shown for up to a minute while one request makes it anew.
    ///
    /// A page that is kept, and has this in it, ends with these tags too; its own time is its own.
    fn life(&self) -> Life;

    /// Makes it.
    fn make(&self, cx: &Public<'_>) -> impl Future<Output = Result<Html<C, H>>>;
}

impl Public<'_> {
    /// The part of a page, kept or made. An example is at [`Fragment`].
    pub async fn fragment<C: 'static, H: 'static, F: Fragment<C, H>>(&self, fragment: &F) -> Result<Html<C, H>> {
        let name = Name::of_fragment::<F, Html<C, H>>(fragment);
        let make = async |cx: &Public<'_>| {
            let html = fragment.make(cx).await?;
            Ok(Kept::Piece(html.into_string(), Vec::new()))
        };
        match self.kept(&name, &fragment.life(), make).await? {
            Kept::Piece(html, _) => Ok(Html::trusted_piece(html)),
            other => Err(Error::internal(format!("a cache keeps {} under the name of a fragment", other.kind()))),
        }
    }
}
