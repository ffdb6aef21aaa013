//! A row has fields, and no rows of its own; a group may have rows, and no group that is no list.

use skep::form::{Group, Text};
use skep::prelude::*;

#[derive(Group)]
struct Part {
    name: Text<1, 80>,
}

#[derive(Group)]
struct Line {
    parts: Vec<Part>,
}

#[derive(Group)]
struct Order {
    lines: Vec<Line>,
}

#[derive(Group)]
struct Address {
    part: Part,
}

#[derive(Service)]
#[service(POST "/orders")]
struct Save {
    #[form]
    order: Line,
    #[form]
    address: Address,
}

impl Handle for Save {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(""))
    }
}

fn main() {}
