//! Sorting a ticket in: status, priority, tags, and who looks after it.

use skep::form::Text;
use skep::prelude::*;

use crate::texts::{Texts, texts};
use crate::ticket::{Priority, Status, Ticket};
use crate::ticket_page::TicketPage;
use crate::user::Agent;

/// Sorts a ticket in.
#[derive(Service)]
#[service(POST "/tickets/{id}/triage", page = TicketPage::link(id))]
pub struct Triage {
    id: i64,
    #[guard]
    agent: Agent,
    #[form]
    status: Status,
    #[form]
    priority: Priority,
    #[form]
    tags: Option<Text<1, 200>>,
    #[form]
    take: bool,
}

impl Handle for Triage {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let agent = self.take.then_some(self.agent.id);
        sort_in(cx, self.id, self.status, self.priority, agent).await?;
        set_tags(cx, self.id, self.tags.as_ref().map_or("", Text::as_str)).await?;
        cx.flash(texts(cx.language()).saved);
        Ok(Response::see_other(TicketPage::link(self.id)))
    }
}

/// Changes a ticket in the transaction of the request. Without an agent, the one it has stays.
pub async fn sort_in(cx: &Cx<'_>, ticket: i64, status: Status, priority: Priority, agent: Option<i64>) -> Result<()> {
    let update = sql!(
        "update ticket set status = ?, priority = ?, agent_id = coalesce(?, agent_id),
            escalated = escalated and ?, changed = strftime('%Y-%m-%dT%H:%M:%SZ', 'now') where id = ?",
        &status,
        &priority,
        agent,
        status == Status::Open,
        ticket
    );
    let changed = cx.transaction().await?.execute(update).await?;
    (changed.rows == 1).then_some(()).or_404()
}

/// Gives a ticket these tags, which are separated by spaces or commas, in the transaction of the request.
pub async fn set_tags(cx: &Cx<'_>, ticket: i64, tags: &str) -> Result<()> {
    let db = cx.transaction().await?;
    db.execute(sql!("delete from ticket_tag where ticket_id = ?", ticket)).await?;
    for tag in tags.split([' ', ',']).filter(|tag| !tag.is_empty()) {
        let tag = Slug::of(tag);
        db.execute(sql!("insert or ignore into ticket_tag (ticket_id, tag) values (?, ?)", ticket, &tag)).await?;
    }
    Ok(())
}

/// The form of [`Triage`], with what the ticket has.
pub fn form(cx: &Cx<'_>, ticket: &Ticket, t: &Texts) -> Html {
    let form = Triage::form(cx, ticket.id)
        .value(Triage::status, &ticket.status)
        .value(Triage::priority, &ticket.priority)
        .text(Triage::tags, &ticket.tags);
    html! {
        form.panel (form) {
            h2 { (t.triage) }
            label (Triage::status) { (t.status) }
            select (Triage::status);
            label (Triage::priority) { (t.priority) }
            select (Triage::priority);
            label (Triage::tags) { (t.tags) }
            input (Triage::tags) aria-describedby="tags-hint";
            p.hint #tags-hint { (t.tags_hint) }
            label.tick (Triage::take) { input (Triage::take); " " (t.take) }
            div.buttons { button { (t.save) } }
        }
    }
}
