//! Tickets for programs, which have an access token of a user. What they can ask, and what they get, stands in
//! `/api.json`.

use std::any::TypeId;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skep::form::{MultilineText, Text};
use skep::guard::{Guard, RateLimit, Security};
use skep::prelude::*;
use skep_people::Bearer;

use crate::comment::{self, Comment};
use crate::new_ticket::create;
use crate::texts::texts;
use crate::ticket::{Filter, Order, Priority, Status, Ticket};
use crate::triage::sort_in;
use crate::user::User;

/// A program with an access token: `Authorization: Bearer TOKEN`. A token says who it is, as a session does.
pub type Caller = Bearer<User>;

/// A program of an agent.
#[derive(Debug)]
pub struct StaffCaller(User);

impl Guard for StaffCaller {
    async fn check(cx: &mut Cx<'_>) -> Result<Self> {
        let user = Caller::check(cx).await?.into_inner();
        if user.is_staff() { Ok(Self(user)) } else { Err(Error::forbidden(texts(cx.language()).for_agents)) }
    }

    fn covers(guard: TypeId) -> bool {
        guard == TypeId::of::<Self>() || Caller::covers(guard)
    }

    fn security() -> Option<Security> {
        Caller::security()
    }
}

/// Requests to the interface from one address: a hundred, and then two a second.
#[derive(Debug)]
pub struct Calls;

impl RateLimit for Calls {
    const NAME: &'static str = "api";
    const BURST: u32 = 100;
    const EACH: Duration = Duration::from_millis(500);
}

/// The tickets that the user may see: what was changed last comes first.
#[derive(Service)]
#[service(GET "/api/tickets", answers = Vec<Ticket>)]
pub struct List {
    /// Words that must occur.
    q: Option<String>,
    /// Only these.
    status: Option<Status>,
    /// Only these.
    priority: Option<Priority>,
    /// Only those with this tag.
    tag: Option<Slug>,
    /// Pages are counted from 1, and have up to 100 tickets.
    #[query(default = 1)]
    page: u32,
    #[guard]
    caller: Caller,
}

const PER_PAGE: u32 = 100;

impl Answer for List {
    async fn answer(self, cx: &mut Cx<'_>) -> Result<Vec<Ticket>> {
        let skip = self.page.checked_sub(1).or_404()?.saturating_mul(PER_PAGE);
        let Self { status, priority, .. } = self;
        let (words, tag) = (self.q.as_deref(), self.tag.as_ref());
        let filter = Filter { words, status, priority, tag, order: Order::Changed };
        Ticket::list(cx.db(), &self.caller, &filter, PER_PAGE, skip).await
    }
}

/// A ticket and what was written about it.
#[derive(Serialize, JsonSchema)]
pub struct Thread {
    ticket: Ticket,
    /// The first one is what the customer reported.
    comments: Vec<Comment>,
}

/// A ticket and its comments.
#[derive(Service)]
#[service(GET "/api/tickets/{id}", answers = Thread)]
pub struct Show {
    id: i64,
    #[guard]
    caller: Caller,
}

impl Answer for Show {
    async fn answer(self, cx: &mut Cx<'_>) -> Result<Thread> {
        let ticket = Ticket::find(cx.db(), &self.caller, self.id).await?;
        let comments = comment::of(cx.db(), &self.caller, &ticket).await?;
        Ok(Thread { ticket, comments })
    }
}

/// A ticket to be created.
#[derive(Deserialize, JsonSchema)]
pub struct Draft {
    title: Text<3, 120>,
    text: MultilineText<1, 10_000>,
    /// Normal if nothing is said.
    priority: Option<Priority>,
}

/// A ticket that was created.
#[derive(Serialize, JsonSchema)]
pub struct Created {
    /// Its number.
    id: i64,
}

/// Creates a ticket.
#[derive(Service)]
#[service(POST "/api/tickets", answers = Created, status = 201)]
pub struct Create {
    #[json]
    draft: Draft,
    #[guard]
    caller: Caller,
}

impl Answer for Create {
    async fn answer(self, cx: &mut Cx<'_>) -> Result<Created> {
        let Draft { title, text, priority } = self.draft;
        let priority = priority.unwrap_or(Priority::Normal);
        let (id, _) = create(cx, &self.caller, title.as_str(), text.as_str(), priority).await?;
        Ok(Created { id })
    }
}

/// What is to be changed; the rest stays.
#[derive(Deserialize, JsonSchema)]
pub struct Changes {
    /// The version that the caller saw: if the ticket has another one by now, nothing happens (409).
    version: Option<i64>,
    status: Option<Status>,
    priority: Option<Priority>,
}

/// Changes a ticket: for agents.
#[derive(Service)]
#[service(PATCH "/api/tickets/{id}", answers = ())]
pub struct Change {
    id: i64,
    #[json]
    changes: Changes,
    #[guard]
    caller: StaffCaller,
}

impl Answer for Change {
    async fn answer(self, cx: &mut Cx<'_>) -> Result<()> {
        let ticket = Ticket::find(cx.db(), &self.caller.0, self.id).await?;
        let Changes { version, status, priority } = self.changes;
        let (status, priority) = (status.unwrap_or(ticket.status), priority.unwrap_or(ticket.priority));
        if sort_in(cx, (ticket.id, version.unwrap_or(ticket.version)), status, priority, None).await? {
            return Ok(());
        }
        let now = Ticket::find(cx.db(), &self.caller.0, self.id).await?.version;
        Err(Error::conflict(format!("somebody else has changed the ticket: its version is {now} now")))
    }
}
