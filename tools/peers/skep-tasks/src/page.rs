//! A page of 30 KB, which the server compresses: for each request, or once for its cache.

use std::fs;
use std::path::Path;
use std::time::Duration;

use skep::cache::{EntryPolicy, PublicPage, SharedCx};
use skep::prelude::*;

/// The page, byte by byte what nginx has as a file.
pub(crate) struct Text(String);

impl Text {
    pub(crate) fn read(folder: &Path) -> Self {
        Self(fs::read_to_string(folder.join("30k.html")).unwrap_or_default())
    }

    fn response(&self) -> Response {
        Response::with_content_type("text/html; charset=utf-8", self.0.clone())
    }
}

#[derive(Service)]
#[service(GET "/page")]
pub(crate) struct Page;

impl Handle for Page {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(cx.state::<Text>().response())
    }
}

#[derive(Service)]
#[service(GET "/page-cached")]
pub(crate) struct CachedPage;

impl PublicPage for CachedPage {
    fn policy(&self) -> EntryPolicy {
        EntryPolicy::new(Duration::from_hours(1))
    }

    async fn page(&self, cx: &SharedCx<'_>) -> Result {
        Ok(cx.state::<Text>().response())
    }
}
