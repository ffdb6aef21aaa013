//! A group is always there: what may be missing are its fields.

use skep::form::{Group, Text};
use skep::prelude::*;

#[derive(Group)]
struct Line {
    product: Text<1, 80>,
}

#[derive(Service)]
#[service(POST "/orders")]
struct Order {
    #[form]
    line: Option<Line>,
}

impl Handle for Order {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(""))
    }
}

fn main() {}
