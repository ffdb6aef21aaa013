//! Notes as JSON: a list in pages, and one to read, write, change and delete.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skep::form::{MultilineText, Text};
use skep::prelude::*;
use skep::sql::{Cursor, Row};

/// A note.
#[derive(Row, Serialize, JsonSchema)]
pub struct Note {
    /// Its number.
    pub id: i64,
    /// What it is called.
    pub title: String,
    /// Its text.
    pub body: String,
}

/// What a note is made of.
#[derive(Deserialize, JsonSchema)]
pub struct Draft {
    /// At most 100 characters.
    title: Text<1, 100>,
    body: MultilineText<0, 10_000>,
}

/// A page of the list.
#[derive(Serialize, JsonSchema)]
pub struct Notes {
    /// Twenty notes at most.
    pub notes: Vec<Note>,
    /// The address of the next page, if there is one.
    pub next: Option<String>,
}

/// Lists notes, newest first.
#[derive(Service)]
#[service(GET "/notes", answers = Notes)]
pub struct List {
    /// Behind which note the page begins; `next` of a page has it.
    #[query]
    pub at: Option<Cursor<i64>>,
}

/// Reads a note.
#[derive(Service)]
#[service(GET "/notes/{id}", answers = Note)]
pub struct Show {
    /// Its number.
    pub id: i64,
}

/// Writes a note.
#[derive(Service)]
#[service(POST "/notes", answers = Note, status = 201)]
pub struct Create {
    #[json]
    draft: Draft,
}

/// Changes a note.
#[derive(Service)]
#[service(PUT "/notes/{id}", answers = Note)]
pub struct Change {
    id: i64,
    #[json]
    draft: Draft,
}

/// Deletes a note.
#[derive(Service)]
#[service(DELETE "/notes/{id}", answers = ())]
pub struct Delete {
    id: i64,
}

impl Answer for List {
    async fn answer(self, cx: &mut Cx<'_>) -> Result<Notes> {
        let page =
            sql!(Note, "select id, title, body from note order by id desc" {keyset 20: self.at});
        let page = cx.db().page(page).await?;
        let next = page.next.map(|at| List { at: Some(at) }.url());
        Ok(Notes {
            notes: page.rows,
            next,
        })
    }
}

impl Answer for Show {
    async fn answer(self, cx: &mut Cx<'_>) -> Result<Note> {
        find(cx, self.id).await
    }
}

impl Answer for Create {
    async fn answer(self, cx: &mut Cx<'_>) -> Result<Note> {
        let Draft { title, body } = self.draft;
        let insert = sql!(
            "insert into note (title, body) values (?, ?) returning id",
            &title,
            &body
        );
        let id = cx.db().one(insert).await?.or_404()?.id;
        find(cx, id).await
    }
}

impl Answer for Change {
    async fn answer(self, cx: &mut Cx<'_>) -> Result<Note> {
        let Draft { title, body } = self.draft;
        let update = sql!(
            "update note set title = ?, body = ? where id = ?",
            &title,
            &body,
            self.id
        );
        cx.db().execute(update).await?;
        // One that is not there is a 404.
        find(cx, self.id).await
    }
}

impl Answer for Delete {
    async fn answer(self, cx: &mut Cx<'_>) -> Result<()> {
        let delete = sql!("delete from note where id = ?", self.id);
        match cx.db().execute(delete).await?.rows {
            0 => Err(Error::not_found()),
            _ => Ok(()),
        }
    }
}

async fn find(cx: &mut Cx<'_>, id: i64) -> Result<Note> {
    let select = sql!(Note, "select id, title, body from note where id = ?", id);
    cx.db().one(select).await?.or_404()
}
