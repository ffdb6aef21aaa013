//! A guard is a type with a check.

use skep::prelude::*;

struct Agent;

#[derive(Service)]
#[service(GET "/tickets")]
struct Tickets {
    #[guard]
    agent: Agent,
}

impl Handle for Tickets {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        let Self { agent: _ } = self;
        Ok(Response::text("tickets"))
    }
}

fn main() {}
