//! Sorting a ticket in: status, priority, tags, and who looks after it.

use skep::form::{Conflict, Hidden, Text};
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
    /// The version of the ticket that the agent saw.
    #[form]
    version: Hidden<i64>,
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
        if !sort_in(cx, (self.id, self.version.0), self.status, self.priority, agent).await? {
            let now = Ticket::find(cx.db(), &self.agent, self.id).await?;
            let conflict = Conflict::new(cx, Self::version, &now.version);
            let conflict = conflict.field(Self::status, &self.status, &now.status);
            let conflict = conflict.field(Self::priority, &self.priority, &now.priority);
            return Err(conflict.field(Self::tags, &self.tags, &now.tags.parse().ok()).into());
        }
        set_tags(cx, self.id, self.tags.as_ref().map_or("", Text::as_str)).await?;
        cx.flash(texts(cx.language()).saved);
        Ok(Response::see_other(TicketPage::link(self.id)))
    }
}

/// Changes a ticket, of which the caller saw this version, in the transaction of the request. Without an agent, the one
/// it has stays. False if somebody else has changed the ticket since, and then nothing happens.
pub async fn sort_in(
    cx: &Cx<'_>,
    (ticket, version): (i64, i64),
    status: Status,
    priority: Priority,
    agent: Option<i64>,
) -> Result<bool> {
    let update = sql!(
        "update ticket set status = ?, priority = ?, agent_id = coalesce(?, agent_id),
            escalated = escalated and ?, changed = strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), version = version + 1
            where id = ? and version = ?",
        &status,
        &priority,
        agent,
        status == Status::Open,
        ticket,
        version
    );
    let changed = cx.transaction().await?.execute(update).await?;
    Ok(changed.rows == 1)
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
        .value(Triage::version, &Hidden(ticket.version))
        .value(Triage::status, &ticket.status)
        .value(Triage::priority, &ticket.priority)
        .text(Triage::tags, &ticket.tags);
    html! {
        form.panel (form) {
            h2 { (t.triage) }
            input (Triage::version);
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
