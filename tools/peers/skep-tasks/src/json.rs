//! 20 rows as JSON. They are kept: what the database takes is the experiment `list`.

use std::sync::LazyLock;

use serde::Serialize;
use skep::prelude::*;

#[derive(Serialize)]
struct Row {
    slug: String,
    title: String,
    summary: String,
    published: String,
    tags: Vec<&'static str>,
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let row =
        |articles::Article { slug, title, summary, published, tags, .. }| Row { slug, title, summary, published, tags };
    articles::all().take(articles::PER_PAGE).map(row).collect()
});

#[derive(Service)]
#[service(GET "/json")]
pub(crate) struct List;

impl Handle for List {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Response::json(&*ROWS)
    }
}
