//! Only a list of groups has rows.

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
    products: Vec<Text<1, 80>>,
    #[form]
    lines: Vec<Line>,
}

impl Handle for Order {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(Response::html(html! {
            form (Order::form(cx)) {
                input (Order::lines);
                input (Order::products.row(0, Line::product));
            }
        }))
    }
}

fn main() {}
