//! The list of tickets, with filters.

use skep::prelude::*;
use skep::sql::PageNumber;
use skep_people::Signed;

use crate::export::Export;
use crate::layout::{moment, page, pager};
use crate::new_ticket::NewTicket;
use crate::texts::{Texts, texts};
use crate::ticket::{Filter, Order, Priority, Status, Ticket};
use crate::ticket_page::TicketPage;
use crate::user::User;

/// The tickets that a user may see.
#[derive(Service)]
#[service(GET "/tickets")]
pub struct TicketList {
    q: Option<String>,
    status: Option<Status>,
    priority: Option<Priority>,
    tag: Option<Slug>,
    #[query(default = Order::Changed)]
    order: Order,
    #[query(default = PageNumber::FIRST)]
    page: PageNumber,
    #[guard]
    user: Signed<User>,
}

impl TicketList {
    fn filter(&self) -> Filter<'_> {
        let Self { status, priority, order, .. } = *self;
        Filter { words: self.q.as_deref(), status, priority, tag: self.tag.as_ref(), order }
    }

    /// Another page of the same list.
    fn at_page(&self, page: PageNumber) -> TicketListLink {
        let Self { status, priority, order, .. } = *self;
        Self::link().q(self.q.clone()).status(status).priority(priority).tag(self.tag.clone()).order(order).page(page)
    }

    fn export(&self) -> impl Destination + skep::html::Href + use<> {
        let Self { status, priority, order, .. } = *self;
        Export::link().q(self.q.clone()).status(status).priority(priority).tag(self.tag.clone()).order(order)
    }
}

impl Handle for TicketList {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let t = texts(cx.language());
        let tickets = Ticket::page(cx.db(), &self.user, &self.filter(), self.page).await?;
        let title = if self.user.is_staff() { t.tickets } else { t.my_tickets };
        Ok(page(
            cx,
            &self.user,
            title,
            &html! {
                .heading { h1 { (title) } a.button href=(NewTicket::link()) { (t.new_ticket) } }
                (filters(&self, t))
                (table(&tickets, t))
                (pager(t, &tickets, |page| self.at_page(page)))
                @if self.user.is_staff() { p { a href=(self.export()) { (t.export) } } }
            },
        ))
    }
}

fn filters(list: &TicketList, t: &Texts) -> Html {
    let form = TicketList::form()
        .language(t.language)
        .value(TicketList::q, &list.q)
        .value(TicketList::status, &list.status)
        .value(TicketList::priority, &list.priority)
        .value(TicketList::order, &list.order);
    html! {
        form.filters (form) role="search" {
            div { label (TicketList::q) { (t.search) } input (TicketList::q) type="search"; }
            div { label (TicketList::status) { (t.status) } select (TicketList::status); }
            div { label (TicketList::priority) { (t.priority) } select (TicketList::priority); }
            div { label (TicketList::order) { (t.order) } select (TicketList::order); }
            button { (t.filter) }
        }
    }
}

fn table(tickets: &[Ticket], t: &Texts) -> Html {
    html! {
        @if tickets.is_empty() {
            p.empty { (t.no_tickets) }
        } @else {
            table.tickets {
                thead { tr {
                    th scope="col" { (t.ticket) }
                    th scope="col" { (t.customer) }
                    th scope="col" { (t.status) }
                    th scope="col" { (t.priority) }
                    th scope="col" { (t.changed) }
                } }
                tbody { @for ticket in tickets { (row(ticket, t)) } }
            }
        }
    }
}

fn row(ticket: &Ticket, t: &Texts) -> Html<skep::html::Rows> {
    html! {
        tr {
            td { a.title href=(TicketPage::link(ticket.id)) { (ticket.title) } " " span.number { "#" (ticket.id) } (tags(&ticket.tags, t)) }
            td data-label=(t.customer) { (ticket.customer) }
            td data-label=(t.status) { (badges(ticket, t)) }
            td data-label=(t.priority) { span.priority.(ticket.priority.value()) { (ticket.priority.label_in(t.language)) } }
            td data-label=(t.changed) { (moment(&ticket.changed)) }
        }
    }
}

/// Whose turn it is, and whether that takes too long.
pub fn badges(ticket: &Ticket, t: &Texts) -> Html<skep::html::Phrasing> {
    piece! {
        span.badge.(ticket.status.value()) { (ticket.status.label_in(t.language)) }
        @if ticket.escalated { " " span.badge.escalated { (t.escalated) } }
    }
}

/// Links to the tickets with these tags, which are separated by spaces.
pub fn tags(tags: &str, t: &Texts) -> Html {
    html! {
        @if !tags.is_empty() {
            ul.tags aria-label=(t.tags) {
                @for tag in tags.split(' ').filter_map(|tag| tag.parse::<Slug>().ok()) {
                    li { a href=(TicketList::link().tag(tag.clone())) { (tag) } }
                }
            }
        }
    }
}
