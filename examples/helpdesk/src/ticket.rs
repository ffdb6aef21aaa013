//! A ticket as its row, and how tickets are read. Whose tickets a user sees is decided here, in one macro, and nowhere
//! else.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skep::prelude::*;
use skep::sql::{self, Page, PageNumber, Row};

use crate::search;
use crate::user::User;

/// A ticket.
#[derive(Debug, Row, Serialize, JsonSchema)]
pub struct Ticket {
    /// Its number.
    pub id: i64,
    /// Counts its changes by agents, so that two of them do not undo each other's.
    pub version: i64,
    /// What it is about.
    pub title: String,
    /// Whose turn it is.
    pub status: Status,
    /// How much it matters.
    pub priority: Priority,
    /// True if it waited too long for an answer.
    pub escalated: bool,
    /// Who reported it.
    pub customer: String,
    /// Who looks after it.
    pub agent: Option<String>,
    /// Separated by spaces.
    pub tags: String,
    /// When it was reported, as 2026-11-24T21:05:00Z.
    pub created: String,
    /// When it was last changed.
    pub changed: String,
}

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Param, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The agents'.
    #[param(label(de = "Offen"))]
    Open,
    /// The customer's.
    #[param(label(de = "Wartet"))]
    Waiting,
    /// Nobody's.
    #[param(label(de = "Gelöst"))]
    Solved,
}

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Param, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Priority {
    /// It can wait.
    #[param(label(de = "Niedrig"))]
    Low,
    /// As most do.
    #[param(label(de = "Normal"))]
    Normal,
    /// More than others.
    #[param(label(de = "Hoch"))]
    High,
    /// It is to be answered first.
    #[param(label(de = "Dringend"))]
    Urgent,
}

/// The order of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Param)]
pub enum Order {
    /// What was changed last comes first.
    #[param("changed", label = "Last changed", label(de = "Zuletzt geändert"))]
    Changed,
    /// What matters most comes first.
    #[param("priority", label = "Most urgent", label(de = "Dringendste"))]
    Priority,
    /// What was reported first comes first.
    #[param("oldest", label = "Oldest", label(de = "Älteste"))]
    Oldest,
}

/// Which tickets a list has.
#[derive(Debug)]
pub struct Filter<'f> {
    /// Words that must occur.
    pub words: Option<&'f str>,
    /// Only these.
    pub status: Option<Status>,
    /// Only these.
    pub priority: Option<Priority>,
    /// Only those with this tag.
    pub tag: Option<&'f Slug>,
    /// Which come first.
    pub order: Order,
}

/// A statement for the tickets that a user may see, which ends with the given parts.
macro_rules! tickets {
    ($user:expr, $($rest:tt)*) => {
        sql!(
            Ticket,
            "select ticket.id, ticket.version, ticket.title, ticket.status, ticket.priority, ticket.escalated, ticket.created, ticket.changed,
                customer.name as customer, agent.name as agent,
                coalesce((select group_concat(tag, ' ') from ticket_tag where ticket_id = ticket.id), '') as tags
            from ticket
            join user as customer on customer.id = ticket.customer_id
            left join user as agent on agent.id = ticket.agent_id
            where true"
            {if let Some(customer) = $user.sees_only(): "and ticket.customer_id = ?", customer}
            $($rest)*
        )
    };
}

/// A statement for the tickets that a user may see and a filter lets through, which ends with the given part and its
/// values.
macro_rules! filtered {
    ($user:expr, $filter:expr, $words:expr, $end:tt, $($values:expr),*) => {{
        let Filter { status, priority, tag, order, .. } = $filter;
        tickets!(
            $user,
            {if let Some(status) = status: "and ticket.status = ?", status}
            "and ticket.priority = coalesce(?, ticket.priority)"
            {if let Some(tag) = tag: "and ticket.id in (select ticket_id from ticket_tag where tag = ?)", tag}
            {if let Some(words) = &$words:
                "and ticket.id in (
                    select rowid from ticket_search where ticket_search match ?
                    union select comment.ticket_id from comment_search join comment on comment.id = comment_search.rowid
                        where comment_search match ? and (? or not comment.internal))",
                words, words, $user.is_staff()}
            {match order:
                Order::Changed => "order by ticket.changed desc, ticket.id desc",
                Order::Priority =>
                    "order by instr('urgent high normal low', ticket.priority), ticket.changed desc, ticket.id desc",
                Order::Oldest => "order by ticket.id"}
            $end,
            priority $(, $values)*
        )
    }};
}

impl Ticket {
    /// The ticket with this number, if the user may see it, and otherwise a 404: whether there is one is nobody else's
    /// business.
    pub async fn find(db: &sql::Local, user: &User, id: i64) -> Result<Self> {
        db.one(tickets!(user, "and ticket.id = ?", id)).await?.or_404()
    }

    /// Those that the user may see and the filter lets through, at most this many.
    pub async fn list(db: &sql::Local, user: &User, filter: &Filter<'_>, most: u32, skip: u32) -> Result<Vec<Self>> {
        let words = filter.words.and_then(search::expression);
        Ok(db.all(filtered!(user, filter, words, "limit ? offset ?", most, skip)).await?)
    }

    /// A page of twenty of them.
    pub async fn page(
        db: &sql::Local,
        user: &User,
        filter: &Filter<'_>,
        page: PageNumber,
    ) -> Result<Page<Self, PageNumber>> {
        let words = filter.words.and_then(search::expression);
        Ok(db.page(filtered!(user, filter, words, {page 20: page},)).await?)
    }
}
