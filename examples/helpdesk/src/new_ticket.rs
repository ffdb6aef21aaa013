//! Reporting a problem.

use skep::form::{MultilineText, Text, Upload};
use skep::prelude::*;
use skep_people::Signed;

use crate::attachment::{self, Document};
use crate::comment;
use crate::layout::page;
use crate::texts::texts;
use crate::ticket::Priority;
use crate::ticket_page::TicketPage;
use crate::triage::set_tags;
use crate::user::User;

/// The form for a new ticket.
#[derive(Service)]
#[service(GET "/tickets/new")]
pub struct NewTicket {
    #[guard]
    user: Signed<User>,
}

impl Handle for NewTicket {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let t = texts(cx.language());
        let form = CreateTicket::form(cx).value(CreateTicket::priority, &Priority::Normal);
        let content = html! {
            .reading {
                h1 { (t.new_ticket) }
                form (form) {
                    label (CreateTicket::title) { (t.title) }
                    input (CreateTicket::title);
                    label (CreateTicket::text) { (t.description) }
                    textarea (CreateTicket::text);
                    div.pair {
                        div { label (CreateTicket::priority) { (t.priority) } select (CreateTicket::priority); }
                        div {
                            label (CreateTicket::tags) { (t.tags) }
                            input (CreateTicket::tags) aria-describedby="tags-hint";
                            p.hint #tags-hint { (t.tags_hint) }
                        }
                    }
                    label (CreateTicket::files) { (t.files) }
                    input (CreateTicket::files) aria-describedby="files-hint";
                    p.hint #files-hint { (t.files_hint) }
                    div.buttons { button { (t.send) } }
                }
            }
        };
        Ok(page(cx, &self.user, t.new_ticket, &content))
    }
}

/// Creates a ticket.
#[derive(Service)]
#[service(POST "/tickets", page = NewTicket::link())]
pub struct CreateTicket {
    #[guard]
    user: Signed<User>,
    #[form]
    title: Text<3, 120>,
    #[form]
    text: MultilineText<1, 10_000>,
    #[form]
    priority: Priority,
    #[form]
    tags: Option<Text<1, 200>>,
    #[form]
    files: Vec<Upload<Document>>,
}

impl Handle for CreateTicket {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let (id, comment) = create(cx, &self.user, self.title.as_str(), self.text.as_str(), self.priority).await?;
        set_tags(cx, id, self.tags.as_ref().map_or("", Text::as_str)).await?;
        attachment::keep(cx, comment, self.files).await?;
        cx.flash((texts(cx.language()).ticket_made)(id));
        Ok(Response::see_other(TicketPage::link(id)))
    }
}

/// Creates a ticket with its first comment, in the transaction of the request, and returns the numbers of both.
pub async fn create(cx: &Cx<'_>, user: &User, title: &str, text: &str, priority: Priority) -> Result<(i64, i64)> {
    let insert = sql!("insert into ticket (customer_id, title, priority) values (?, ?, ?)", user.id, title, &priority);
    let ticket = cx.transaction().await?.execute(insert).await?.last_insert_id;
    let comment = comment::insert(cx, user, ticket, text, false).await?;
    Ok((ticket, comment))
}
