//! An order: lines of fields that belong together, accepted once however often somebody clicks.

use skep::form::{Group, Refusal, Text, Whole};
use skep::prelude::*;

/// The page with the form.
#[derive(Service)]
#[service(GET "/order")]
pub struct Shop;

impl Handle for Shop {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let form = Order::form(cx);
        let content = html! {
            form (form) {
                label (Order::name) { "Name" }
                input (Order::name);
                p { "As many lines as you need; empty ones do not count." }
                @for row in form.rows(Order::lines, 3) {
                    div.row {
                        label (Order::lines.row(row, Line::product)) { "Product" }
                        input (Order::lines.row(row, Line::product));
                        label (Order::lines.row(row, Line::amount)) { "Amount" }
                        input (Order::lines.row(row, Line::amount));
                    }
                }
                button { "Order" }
            }
        };
        Ok(Response::html(crate::page(cx, "An order", &content)))
    }
}

/// A line of an order.
#[derive(Debug, Group)]
pub struct Line {
    product: Text<1, 40>,
    amount: Whole<1, 99>,
}

/// The form.
#[derive(Service)]
#[service(POST "/order", page = Shop, once = "2h", rules = Order::rules)]
pub struct Order {
    #[form]
    name: Text<1, 80>,
    #[form]
    lines: Vec<Line>,
}

impl Order {
    fn rules(&self, refusal: &mut Refusal<Self>) {
        if self.lines.is_empty() {
            refusal.whole("There is nothing in this order.");
        }
    }
}

impl Handle for Order {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let lines: Vec<String> = self.lines.iter().map(|line| format!("{} {}", line.amount, line.product)).collect();
        let lines = lines.join(", ");
        let insert = sql!("insert into placed (name, lines) values (?, ?)", &self.name, &lines);
        let placed = cx.db().execute(insert).await?;
        cx.flash(format!("{}: {lines}", self.name));
        Ok(Response::see_other(&Thanks { number: placed.last_insert_id }))
    }
}

/// What comes after an order.
#[derive(Service)]
#[service(GET "/order/{number}")]
pub struct Thanks {
    number: i64,
}

impl Handle for Thanks {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.db().one(sql!(i64, "select number from placed where number = ?", self.number)).await?.or_404()?;
        let content = html! { p { "Order " strong #number { (self.number) } " is on its way." } };
        Ok(Response::html(crate::page(cx, "Thank you", &content)))
    }
}
