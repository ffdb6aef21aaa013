//! Comments: replies that all see, and notes among agents. Which of both it is, and who may write it, is a service of
//! its own.

use schemars::JsonSchema;
use serde::Serialize;
use skep::form::{MultilineText, Upload};
use skep::prelude::*;
use skep::sql::{self, Row};
use skep_people::Signed;

use crate::attachment::{self, Document};
use crate::ticket::{Status, Ticket};
use crate::ticket_page::TicketPage;
use crate::user::{Agent, User};

/// A comment on a ticket.
#[derive(Debug, Row, Serialize, JsonSchema)]
pub struct Comment {
    /// Its number.
    pub id: i64,
    /// Who wrote it.
    pub author: String,
    /// True if that is no customer.
    pub by_staff: bool,
    /// True if customers do not see it.
    pub internal: bool,
    /// What it says.
    pub text: String,
    /// When it was written, as 2026-11-24T21:05:00Z.
    pub written: String,
}

/// What the user sees of what was written about a ticket, which it may see.
pub async fn of(db: &sql::Local, user: &User, ticket: &Ticket) -> Result<Vec<Comment>> {
    let select = sql!(
        Comment,
        "select comment.id, user.name as author, user.role <> 'customer' as by_staff, internal, text, written
        from comment join user on user.id = comment.author_id where ticket_id = ?"
        {if !user.is_staff(): "and not internal"}
        "order by comment.id",
        ticket.id
    );
    Ok(db.all(select).await?)
}

/// A reply. It makes it the other side's turn.
#[derive(Service)]
#[service(POST "/tickets/{id}/comments", page = TicketPage::link(id))]
pub struct AddComment {
    id: i64,
    #[guard]
    user: Signed<User>,
    #[form]
    text: MultilineText<1, 10_000>,
    #[form]
    files: Vec<Upload<Document>>,
}

impl Handle for AddComment {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let ticket = Ticket::find(cx.db(), &self.user, self.id).await?;
        let comment = insert(cx, &self.user, ticket.id, self.text.as_str(), false).await?;
        attachment::keep(cx, comment, self.files).await?;
        pass_on(cx, &self.user, ticket.id).await?;
        Ok(Response::see_other(TicketPage::link(ticket.id).at(format_args!("comment-{comment}"))))
    }
}

/// A note that no customer sees.
#[derive(Service)]
#[service(POST "/tickets/{id}/notes", page = TicketPage::link(id))]
pub struct AddNote {
    id: i64,
    #[guard]
    agent: Agent,
    #[form]
    note: MultilineText<1, 10_000>,
}

impl Handle for AddNote {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let ticket = Ticket::find(cx.db(), &self.agent, self.id).await?;
        let comment = insert(cx, &self.agent, ticket.id, self.note.as_str(), true).await?;
        Ok(Response::see_other(TicketPage::link(ticket.id).at(format_args!("comment-{comment}"))))
    }
}

/// Writes a comment in the transaction of the request, and returns its number.
pub async fn insert(cx: &Cx<'_>, author: &User, ticket: i64, text: &str, internal: bool) -> Result<i64> {
    let insert = sql!(
        "insert into comment (ticket_id, author_id, text, internal) values (?, ?, ?, ?)",
        ticket,
        author.id,
        text,
        internal
    );
    Ok(cx.transaction().await?.execute(insert).await?.last_insert_id)
}

/// After a reply it is the other side's turn.
async fn pass_on(cx: &Cx<'_>, author: &User, ticket: i64) -> Result<()> {
    let status = if author.is_staff() { Status::Waiting } else { Status::Open };
    let update = sql!(
        "update ticket set status = ?, version = version + 1, escalated = 0, changed = strftime('%Y-%m-%dT%H:%M:%SZ', 'now')"
        {if author.is_staff(): ", answered = coalesce(answered, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))"}
        "where id = ?",
        &status, ticket
    );
    cx.transaction().await?.execute(update).await?;
    Ok(())
}
