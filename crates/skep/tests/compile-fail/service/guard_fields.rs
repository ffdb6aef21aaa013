//! Guards have no options; a field has one source.

use skep::guard::Guard;
use skep::prelude::*;

struct Agent;

impl Guard for Agent {
    async fn check(_cx: &mut Cx<'_>) -> Result<Self> {
        Ok(Self)
    }
}

#[derive(Service)]
#[service(GET "/options")]
struct Options {
    #[guard(admin)]
    agent: Agent,
}

#[derive(Service)]
#[service(GET "/two")]
struct TwoSources {
    #[guard]
    #[query]
    agent: Agent,
}

#[derive(Service)]
#[service(GET "/link")]
struct NamedLink {
    link: String,
}

fn main() {}
