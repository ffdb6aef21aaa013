//! What authors see after they have signed in: their articles.

use skep::prelude::*;
use skep_people::Signed;

use crate::article::Article;
use crate::author::Author;
use crate::index::{Teaser, count, pages, teasers};
use crate::layout::{day, page};
use crate::moderation::Moderation;
use crate::sign_in::SignOut;
use crate::write::{Delete, Write};

/// All articles, to be edited.
#[derive(Service)]
#[service(GET "/desk")]
pub struct Desk {
    /// Counted from 1.
    #[query(default = 1)]
    page: u32,
    #[guard]
    author: Signed<Author>,
}

impl Handle for Desk {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let total = count(cx.db(), None).await?;
        let articles = teasers(cx.db(), None, self.page).await?;
        let content = html! {
            h1 { "The desk" }
            (menu(cx, &self.author))
            p { a href=(Write::link()) { "Write an article" } }
            @for article in &articles { (line(cx, article)) }
            (pages(self.page, total, |page| Desk::link().page(page)))
        };
        Ok(page("The desk", &content))
    }
}

fn line(cx: &Cx<'_>, article: &Teaser) -> Html {
    html! {
        form.line (Delete::form(cx, article.slug.clone())) {
            span {
                a href=(Article::link(article.slug.clone())) { (article.title) } " "
                span.meta { (day(&article.published)) }
            }
            a href=(Write::link().page(article.slug.clone())) { "Edit" }
            button.quiet { "Delete" }
        }
    }
}

/// What stands at the top of all pages for authors, with what the page before has to say.
pub fn menu(cx: &Cx<'_>, author: &Author) -> Html {
    html! {
        form.line (SignOut::form(cx)) {
            span { (author.name) }
            a href=(Desk::link()) { "Articles" }
            a href=(Moderation::link()) { "Comments" }
            button.quiet { "Sign out" }
        }
        @for text in cx.flashes() { p.notice role="status" { (text) } }
    }
}
