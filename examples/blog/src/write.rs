//! Writing: the form for an article, its preview, and what becomes of it.

use skep::form::{Date, Form, Hidden, MultilineText, Text};
use skep::prelude::*;
use skep::sql::Row;
use skep_people::Signed;

use crate::article::Article;
use crate::author::Author;
use crate::desk::{self, Desk};
use crate::layout::page;
use crate::library;
use crate::markdown;
use crate::source::ArticleSource;

/// The form for an article: a new one, or one that there is.
#[derive(Service)]
#[service(GET "/desk/write")]
pub struct Write {
    page: Option<Slug>,
    #[guard]
    author: Signed<Author>,
}

/// An article as it is to be edited.
#[derive(Row)]
struct Draft {
    title: String,
    published: String,
    summary: String,
    markdown: String,
    tags: String,
}

impl Handle for Write {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let form = Save::form(cx);
        let form = match &self.page {
            Some(page) => filled(form, page, draft(cx, page).await?),
            None => form.text(Save::date, cx.db().one(sql!(String, "select date('now')")).await?.unwrap_or_default()),
        };
        Ok(show(cx, &self.author, form, None))
    }
}

async fn draft(cx: &Cx<'_>, page: &Slug) -> Result<Draft> {
    let select = sql!(Draft, "select title, published, summary, markdown, tags from article where slug = ?", page);
    cx.db().one(select).await?.or_404()
}

fn filled(form: Form<Save>, page: &Slug, draft: Draft) -> Form<Save> {
    form.text(Save::page, page.as_str())
        .text(Save::title, draft.title)
        .text(Save::date, draft.published)
        .text(Save::tags, draft.tags)
        .text(Save::summary, draft.summary)
        .text(Save::text, draft.markdown)
}

fn show(cx: &Cx<'_>, author: &Author, form: Form<Save>, preview: Option<Html>) -> Response {
    let content = html! {
        h1 { "Write" }
        (desk::menu(cx, author))
        @if let Some(preview) = preview {
            // Focus scrolls the page to it.
            h2 #preview tabindex="-1" autofocus { "Preview" }
            div.preview { (preview) }
        }
        form (form) {
            input (Save::page);
            label (Save::title) { "Title" }
            input (Save::title);
            label (Save::date) { "Day" }
            input (Save::date);
            label (Save::tags) { "Tags" }
            input (Save::tags) aria-describedby="tags-hint";
            p.hint #tags-hint { "Separated by spaces." }
            label (Save::summary) { "Summary" }
            textarea (Save::summary) rows="2";
            label (Save::text) { "Text" }
            textarea (Save::text) rows="20";
            div.buttons {
                button { "Publish" }
                button.quiet (Save::preview) value="yes" { "Preview" }
            }
        }
    };
    page("Write", &content)
}

/// Publishes an article, or shows how it would look.
#[derive(Service)]
#[service(POST "/desk/write", page = Write::link())]
pub struct Save {
    #[guard]
    author: Signed<Author>,
    /// Of an article that there is.
    #[form]
    page: Option<Hidden<Slug>>,
    #[form]
    title: Text<1, 200>,
    #[form]
    date: Date,
    #[form]
    tags: Option<Text<1, 200>>,
    #[form]
    summary: Option<MultilineText<1, 500>>,
    #[form]
    text: MultilineText<1, 60_000>,
    #[form]
    preview: Option<String>,
}

impl Handle for Save {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        if self.preview.is_some() {
            let preview = html! { h1 { (self.title) } (markdown::article(&self.text)) };
            return Ok(show(cx, &self.author, Save::form(cx), Some(preview)));
        }
        let source = self.source()?;
        if self.page.is_none() && library::is_taken(cx, &source.slug).await? {
            return Err(Save::title.refuse("There is an article with this title: its address would be the same."));
        }
        library::publish(cx, &source).await?;
        Ok(Response::see_other(Article::link(source.slug)))
    }
}

impl Save {
    /// The article as its file says it, so that what is stored is what is read after a restart.
    fn source(&self) -> Result<ArticleSource> {
        let slug = self.page.as_ref().map_or_else(|| Slug::of(self.title.as_str()), |Hidden(page)| page.clone());
        let tags = self.tags.as_ref().map_or("", Text::as_str).split(' ').filter(|tag| !tag.is_empty());
        let source = ArticleSource {
            slug,
            title: self.title.to_string(),
            published: self.date.to_string(),
            tags: tags.map(Slug::of).collect(),
            summary: self.summary.as_ref().map_or("", MultilineText::as_str).to_owned(),
            markdown: self.text.to_string(),
        };
        ArticleSource::parse(source.slug.as_str(), source.to_text().as_bytes())
            .map_err(|broken| Save::text.refuse(broken.to_string()))
    }
}

/// Deletes an article. Its comments stay, as they do if its file goes away.
#[derive(Service)]
#[service(POST "/desk/{page}/delete")]
pub struct Delete {
    page: Slug,
    #[guard]
    _author: Signed<Author>,
}

impl Handle for Delete {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        library::withdraw(cx, &self.page).await?;
        cx.flash("The article is deleted.");
        Ok(Response::see_other(Desk::link()))
    }
}
