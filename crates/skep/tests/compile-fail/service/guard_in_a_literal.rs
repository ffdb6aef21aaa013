//! A guard's value is made by its check alone: not by a link, and not by a request that skips it.

use skep::prelude::*;

mod people {
    use skep::guard::Guard;
    use skep::prelude::*;

    pub struct Agent(());

    impl Guard for Agent {
        async fn check(_cx: &mut Cx<'_>) -> Result<Self> {
            Ok(Self(()))
        }
    }
}

#[derive(Service)]
#[service(GET "/tickets/{id}")]
struct Ticket {
    id: u32,
    #[guard]
    agent: people::Agent,
}

impl Handle for Ticket {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        let Self { id, agent: _ } = self;
        Ok(Response::text(id.to_string()))
    }
}

fn main() {
    let _ = html! { a href=(Ticket { id: 7 }) { "7" } };
    let _ = html! { a href=(Ticket { id: 7, agent: people::Agent(()) }) { "7" } };
    let _ = html! { a href=(Ticket::link()) { "7" } };
    let _ = html! { a href=(Ticket::link("7")) { "7" } };
}
