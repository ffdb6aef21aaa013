//! A ticket: what was written, the form to reply, and for agents the form to sort it in.

use skep::html::{Html, Phrasing};
use skep::prelude::*;
use skep_people::Signed;

use crate::attachment::{self, Attachment, Download};
use crate::comment::{self, AddComment, AddNote, Comment};
use crate::layout::{moment, page};
use crate::texts::{Texts, texts};
use crate::ticket::Ticket;
use crate::ticket_list::{badges, tags};
use crate::triage;
use crate::user::User;

/// A ticket.
#[derive(Service)]
#[service(GET "/tickets/{id}")]
pub struct TicketPage {
    id: i64,
    #[guard]
    user: Signed<User>,
}

impl Handle for TicketPage {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let t = texts(cx.language());
        let ticket = Ticket::find(cx.db(), &self.user, self.id).await?;
        let comments = comment::of(cx.db(), &self.user, &ticket).await?;
        let attachments = attachment::of(cx.db(), &ticket).await?;
        let content = html! {
            h1 { (ticket.title) " " span.number { "#" (ticket.id) } }
            .columns {
                div {
                    @for comment in &comments { (below(comment, &attachments, t)) }
                    (reply(cx, &ticket, t))
                    @if self.user.is_staff() { (note(cx, &ticket, t)) }
                }
                aside {
                    (facts(&ticket, t))
                    @if self.user.is_staff() { (triage::form(cx, &ticket, t)) }
                }
            }
        };
        Ok(page(cx, &self.user, &ticket.title, &content))
    }
}

fn below(comment: &Comment, attachments: &[Attachment], t: &Texts) -> Html {
    let mut files = attachments.iter().filter(|file| file.comment_id == comment.id).peekable();
    html! {
        article.comment.staff[comment.by_staff].internal[comment.internal] id={ "comment-" (comment.id) } {
            h2.meta {
                strong { (comment.author) } " · " (moment(&comment.written))
                @if comment.internal { " · " span.badge { (t.note) } }
            }
            p.text { (comment.text) }
            @if files.peek().is_some() {
                ul.files { @for file in files {
                    li { a href=(Download::link(file.id)) { (file.name) } " " span.meta { (size(file.bytes)) } }
                } }
            }
        }
    }
}

fn reply(cx: &Cx<'_>, ticket: &Ticket, t: &Texts) -> Html {
    html! {
        form.reply (AddComment::form(cx, ticket.id)) {
            label (AddComment::text) { (t.reply) }
            textarea (AddComment::text);
            label (AddComment::files) { (t.files) }
            input (AddComment::files) aria-describedby="files-hint";
            p.hint #files-hint { (t.files_hint) }
            div.buttons { button { (t.send) } }
        }
    }
}

fn note(cx: &Cx<'_>, ticket: &Ticket, t: &Texts) -> Html {
    html! {
        form.note (AddNote::form(cx, ticket.id)) {
            label (AddNote::note) { (t.note) }
            textarea (AddNote::note) rows="3" aria-describedby="note-hint";
            p.hint #note-hint { (t.note_hint) }
            div.buttons { button.quiet { (t.add_note) } }
        }
    }
}

fn facts(ticket: &Ticket, t: &Texts) -> Html {
    html! {
        dl.facts {
            dt { (t.status) } dd { (badges(ticket, t)) }
            dt { (t.priority) } dd { span.priority.(ticket.priority.value()) { (ticket.priority.label_in(t.language)) } }
            dt { (t.customer) } dd { (ticket.customer) }
            dt { (t.agent) } dd { (ticket.agent.as_deref().unwrap_or(t.nobody)) }
            dt { (t.created) } dd { (moment(&ticket.created)) }
            dt { (t.changed) } dd { (moment(&ticket.changed)) }
        }
        (tags(&ticket.tags, t))
    }
}

fn size(bytes: u64) -> Html<Phrasing> {
    piece! { @if bytes < 1000 { (bytes) " B" } @else { (bytes.div_ceil(1000)) " kB" } }
}
