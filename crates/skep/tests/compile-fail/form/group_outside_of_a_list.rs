//! A group is what a form repeats: alone it would be nothing but its fields.

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
    line: Line,
}

impl Handle for Order {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.line.product.as_str().to_owned()))
    }
}

fn main() {}
