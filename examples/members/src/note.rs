//! Notes: a list, a page for each, one form for new ones and old ones, and a button that deletes.

use skep::form::{MultilineText, Text};
use skep::prelude::*;
use skep::sql::{Cursor, Row};

use crate::layout::page;

/// A line of the list.
#[derive(Row)]
struct Line {
    id: i64,
    title: String,
}

#[derive(Row)]
struct Note {
    title: String,
    body: String,
}

/// The list, newest first.
#[derive(Service)]
#[service(GET "/notes")]
pub struct Notes {
    /// Behind which note the page begins.
    #[query]
    pub at: Option<Cursor<i64>>,
}

/// One note.
#[derive(Service)]
#[service(GET "/notes/{id}")]
pub struct Show {
    /// Its number.
    pub id: i64,
}

/// The form: of a new note, or of one that there is.
#[derive(Service)]
#[service(GET "/notes/edit")]
pub struct Edit {
    /// Its number; a new one has none.
    #[query]
    pub id: Option<i64>,
}

/// What the form sends.
#[derive(Service)]
#[service(POST "/notes/edit", page = Edit { id })]
pub struct Save {
    #[query]
    id: Option<i64>,
    #[form]
    title: Text<1, 100>,
    #[form]
    body: MultilineText<0, 10_000>,
}

/// Deletes a note.
#[derive(Service)]
#[service(POST "/notes/{id}/delete")]
pub struct Delete {
    id: i64,
}

impl Handle for Notes {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let notes = sql!(Line, "select id, title from note order by id desc" {keyset 20: self.at});
        let notes = cx.db().page(notes).await?;
        let content = html! {
            p { a href=(Edit { id: None }) { "New note" } }
            @if notes.is_empty() {
                p { "There are no notes yet." }
            } @else {
                ul { @for note in &notes { li { a href=(Show { id: note.id }) { (note.title) } } } }
            }
            @if let Some(at) = notes.previous { a rel="prev" href=(Notes { at: Some(at) }) { "Newer" } " " }
            @if let Some(at) = notes.next { a rel="next" href=(Notes { at: Some(at) }) { "Older" } }
        };
        Ok(page(cx, "Notes", &content))
    }
}

impl Handle for Show {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let note = find(cx, self.id).await?;
        let content = html! {
            p.text { (note.body) }
            form (Delete::form(cx, self.id)) {
                a href=(Edit { id: Some(self.id) }) { "Edit" }
                " "
                button { "Delete" }
            }
        };
        Ok(page(cx, &note.title, &content))
    }
}

impl Handle for Edit {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let mut form = Save::form(cx, self.id);
        if let Some(id) = self.id {
            let note = find(cx, id).await?;
            form = form
                .text(Save::title, &note.title)
                .text(Save::body, &note.body);
        }
        let content = html! {
            form (form) {
                label (Save::title) { "Title" }
                input (Save::title);
                label (Save::body) { "Text" }
                textarea (Save::body) rows="10";
                button { "Save" }
            }
        };
        let title = if self.id.is_some() {
            "Edit note"
        } else {
            "New note"
        };
        Ok(page(cx, title, &content))
    }
}

impl Handle for Save {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let id = if let Some(id) = self.id {
            let update = sql!(
                "update note set title = ?, body = ? where id = ?",
                &self.title,
                &self.body,
                id
            );
            if cx.db().execute(update).await?.rows == 0 {
                return Err(Error::not_found());
            }
            id
        } else {
            let insert = sql!(
                "insert into note (title, body) values (?, ?) returning id",
                &self.title,
                &self.body
            );
            cx.db().one(insert).await?.or_404()?.id
        };
        cx.flash("Saved.");
        Ok(Response::see_other(Show { id }))
    }
}

impl Handle for Delete {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let delete = sql!("delete from note where id = ?", self.id);
        if cx.db().execute(delete).await?.rows == 0 {
            return Err(Error::not_found());
        }
        cx.flash("Deleted.");
        Ok(Response::see_other(Notes { at: None }))
    }
}

async fn find(cx: &mut Cx<'_>, id: i64) -> Result<Note> {
    cx.db()
        .one(sql!(Note, "select title, body from note where id = ?", id))
        .await?
        .or_404()
}
