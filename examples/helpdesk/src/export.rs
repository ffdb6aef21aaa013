//! Tickets for a spreadsheet.

use skep::header::{CONTENT_DISPOSITION, HeaderValue};
use skep::prelude::*;

use crate::ticket::{Filter, Order, Priority, Status, Ticket};
use crate::user::Agent;

/// More than a spreadsheet is good for.
const MOST: u32 = 10_000;

/// The tickets of a list, as CSV (RFC 4180).
#[derive(Service)]
#[service(GET "/tickets.csv")]
pub struct Export {
    q: Option<String>,
    status: Option<Status>,
    priority: Option<Priority>,
    tag: Option<Slug>,
    #[query(default = Order::Changed)]
    order: Order,
    #[guard]
    agent: Agent,
}

impl Handle for Export {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let Self { status, priority, order, .. } = self;
        let filter = Filter { words: self.q.as_deref(), status, priority, tag: self.tag.as_ref(), order };
        let mut csv = String::from("id,title,status,priority,customer,agent,tags,created,changed\r\n");
        for ticket in Ticket::list(cx.db(), &self.agent, &filter, MOST, 0).await? {
            push_line(&mut csv, &ticket);
        }
        Ok(Response::with_content_type("text/csv; charset=utf-8", csv)
            .with_header(CONTENT_DISPOSITION, HeaderValue::from_static("attachment; filename=\"tickets.csv\"")))
    }
}

fn push_line(csv: &mut String, ticket: &Ticket) {
    csv.push_str(&ticket.id.to_string());
    let (status, priority) = (ticket.status.value(), ticket.priority.value());
    let agent = ticket.agent.as_deref().unwrap_or_default();
    for text in
        [&ticket.title, status, priority, &ticket.customer, agent, &ticket.tags, &ticket.created, &ticket.changed]
    {
        csv.push(',');
        csv.push_str(&cell(text));
    }
    csv.push_str("\r\n");
}

/// A text in quotes. What a spreadsheet would take for a formula gets an apostrophe (OWASP, "CSV Injection").
fn cell(text: &str) -> String {
    let guard = if text.starts_with(['=', '+', '-', '@', '\t']) { "'" } else { "" };
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_text_whatever_is_in_it() {
        assert_eq!(cell("a \"b\", c"), r#""a ""b"", c""#);
        assert_eq!(cell("=1+1"), r#""'=1+1""#);
    }
}
