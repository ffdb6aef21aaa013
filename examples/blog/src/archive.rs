//! All tags and all articles on one page, by year.

use skep::prelude::*;
use skep::sql::Row;

use crate::article::Article;
use crate::layout::{self, page};

/// All articles by year.
#[derive(Service)]
#[service(GET "/archive")]
pub struct Archive;

#[derive(Row)]
struct Line {
    slug: Slug,
    title: String,
    published: String,
}

impl Line {
    fn year(&self) -> &str {
        self.published.split('-').next().unwrap_or_default()
    }
}

impl Handle for Archive {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let lines = cx
            .db()
            .all(sql!(Line, "select slug, title, published from article order by published desc, id desc"))
            .await?;
        let tags = cx.db().all(sql!(String, "select distinct tag from article_tag order by tag")).await?;
        Ok(page(
            "Archive",
            &html! {
                h1 { "Archive" }
                (layout::tags(tags.iter().map(String::as_str)))
                @for year in lines.chunk_by(|one, next| one.year() == next.year()) {
                    h2 { (year[0].year()) }
                    ul.archive {
                        @for line in year {
                            li {
                                time datetime=(line.published) { (line.published.split_once('-').map_or("", |(_, day)| day)) }
                                a href=(Article::link(line.slug.clone())) { (line.title) }
                            }
                        }
                    }
                }
            },
        ))
    }
}
