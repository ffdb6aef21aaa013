//! Cached parts of a page.

use std::future::Future;
use std::hash::Hash;

use super::entry::PageEntry;
use super::kept::Name;
use super::{EntryPolicy, SharedCx};
use crate::context::cx::Cx;
use crate::html::{Anything, Flow, Html};
use skep_html::nonce;
use skep_http::error::{Error, Result};

/// A cached part of a page that is the same for all users.
///
/// Its fields are its cache key; besides them it may only use what a [`SharedCx`] offers. The rest of the page may
/// contain per-user data.
///
/// ```
/// use std::time::Duration;
/// use skep::cache::{Fragment, EntryPolicy, SharedCx};
/// use skep::prelude::*;
///
/// #[derive(Hash)]
/// struct Newest { most: u8 }
///
/// impl Fragment for Newest {
///     fn policy(&self) -> EntryPolicy { EntryPolicy::new(Duration::from_mins(10)).tag("articles") }
///
///     async fn make(&self, cx: &SharedCx<'_>) -> Result<Html> {
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
/// let client = skep::test::Client::new(App::new().serve(services![Index]));
/// assert_eq!(client.get("/").text(), "<p>Hello stranger</p><ul><li>Article 1</li><li>Article 2</li></ul>");
/// ```
///
/// The parameters are those of its [`Html`]: `impl Fragment<Rows> for Prices`.
pub trait Fragment<C = Flow, H = Anything>: Hash + 'static {
    /// TTL and tags; writes to the tables that it reads with [`sql!`](crate::sql!) end it, too. A stale fragment is
    /// served for up to a minute while one request renders it again.
    ///
    /// A cached page that contains the fragment inherits its tags and tables, but not its TTL.
    fn policy(&self) -> EntryPolicy;

    /// Renders it.
    fn make(&self, cx: &SharedCx<'_>) -> impl Future<Output = Result<Html<C, H>>>;
}

impl Cx<'_> {
    /// The fragment, cached or made. An example is at [`Fragment`].
    pub async fn fragment<C: 'static, H: 'static, F: Fragment<C, H>>(&self, fragment: &F) -> Result<Html<C, H>> {
        self.shared().fragment(fragment).await
    }
}

impl SharedCx<'_> {
    /// The fragment, cached or rendered. An example is at [`Fragment`].
    pub async fn fragment<C: 'static, H: 'static, F: Fragment<C, H>>(&self, fragment: &F) -> Result<Html<C, H>> {
        let name = Name::of_fragment::<F, Html<C, H>>(fragment);
        let make = async |cx: &SharedCx<'_>| {
            let html = fragment.make(cx).await?;
            Ok(PageEntry::Piece(html.into_string(), Vec::new(), None))
        };
        match self.kept(&name, &fragment.policy(), make).await? {
            PageEntry::Piece(html, _, None) => Ok(Html::trusted_piece(html)),
            // Nobody could guess the nonce when the fragment was made: only `html!` wrote it.
            PageEntry::Piece(html, _, Some(old)) => {
                let html = nonce::with(|nonce| html.replace(&old, nonce)).unwrap_or(html);
                Ok(Html::trusted_piece(html))
            }
            other => Err(Error::internal(format!("a cache keeps {} under the name of a fragment", other.kind()))),
        }
    }
}
