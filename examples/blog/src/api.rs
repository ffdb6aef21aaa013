//! The blog for programs. What they can ask, and what they get, stands in `/api.json`.

use skep::prelude::*;

use crate::index::{self, Teaser};

/// The articles of a page of the list, the newest first.
#[derive(Service)]
#[service(GET "/api/articles", answers = Vec<Teaser>)]
pub struct Articles {
    /// Pages are counted from 1.
    #[query(default = 1)]
    page: u32,
    /// Only articles with this tag.
    tag: Option<Slug>,
}

impl Answer for Articles {
    async fn answer(self, cx: &mut Cx<'_>) -> Result<Vec<Teaser>> {
        index::teasers(cx.db(), self.tag.as_ref(), self.page).await
    }
}
