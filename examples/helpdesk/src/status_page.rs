//! How the help-desk is doing, for everybody: made once, and kept until a ticket changes.

use std::time::Duration;

use skep::cache::{EntryPolicy, PublicPage, SharedCx};
use skep::prelude::*;
use skep::sql::{Query, Row};

use crate::layout::open_page;
use crate::texts::texts;

/// Figures, and nothing of a user.
#[derive(Service)]
#[service(GET "/status", open = "it has figures only")]
pub struct StatusPage;

#[derive(Row)]
struct Figures {
    urgent: u32,
    open: u32,
    waiting: u32,
    solved: u32,
    hours: Option<f64>,
}

/// Of all tickets, in one row.
fn figures() -> Query<'static, Figures> {
    sql!(
        Figures,
        "select
        count(*) filter (where status = 'open' and priority = 'urgent') as urgent,
        count(*) filter (where status = 'open') as open,
        count(*) filter (where status = 'waiting') as waiting,
        count(*) filter (where status = 'solved' and changed >= strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '-7 days')) as solved,
        avg(julianday(answered) - julianday(created)) * 24 as hours
        from ticket"
    )
}

impl PublicPage for StatusPage {
    fn policy(&self) -> EntryPolicy {
        EntryPolicy::new(Duration::from_hours(1))
    }

    async fn page(&self, cx: &SharedCx<'_>) -> Result {
        let t = texts(cx.language());
        let figures = cx.db().one(figures()).await?.or_404()?;
        let content = html! {
            h1 { (t.status_page) }
            p.state.busy[figures.urgent > 0] {
                @if figures.urgent == 0 { (t.all_is_well) } @else { ((t.urgent_tickets)(figures.urgent)) }
            }
            dl.figures {
                div { dt { (t.open_tickets) } dd { (figures.open) } }
                div { dt { (t.waiting_tickets) } dd { (figures.waiting) } }
                div { dt { (t.solved_this_week) } dd { (figures.solved) } }
                @if let Some(hours) = figures.hours { div { dt { (t.first_answer) } dd { ((t.hours)(hours)) } } }
            }
        };
        Ok(open_page(cx, t.status_page, &content))
    }
}
