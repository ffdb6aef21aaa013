use skep::form::{Form, Group, MultilineText, Text, Whole};
use skep::html::NoForm;
use skep::prelude::*;

#[derive(Clone, Copy, Param)]
enum Size {
    Small,
    Large,
}

#[derive(Group)]
struct Line {
    product: Text<1, 40>,
    amount: Whole<1, 99>,
}

#[derive(Service)]
#[service(POST "/orders")]
struct Order {
    #[form]
    name: Text<1, 80>,
    #[form]
    note: Option<MultilineText<0, 1000>>,
    #[form]
    size: Size,
    #[form]
    lines: Vec<Line>,
}

impl Handle for Order {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(""))
    }
}

fn part(form: &Form<Order>) -> Html<skep::html::Flow, NoForm> {
    piece! { input (form.input(Order::name)); }
}

fn unknown(cx: &Cx<'_>) -> Html {
    let form = Order::form(cx);
    html! {
        form (form) {
            select (Order::size);
            @fields(Order::nam) { (part(&form)) }
        }
    }
}

fn twice(cx: &Cx<'_>) -> Html {
    let form = Order::form(cx);
    html! {
        form (form) {
            select (Order::size);
            input (Order::name);
            @fields(Order::name) { (part(&form)) }
        }
    }
}

fn no_field(cx: &Cx<'_>) -> Html {
    let form = Order::form(cx);
    html! {
        form (form) {
            select (Order::size);
            @fields("name") { (part(&form)) }
            @fields { (part(&form)) }
        }
    }
}

fn outside(form: &Form<Order>) -> Html<skep::html::Flow, NoForm> {
    piece! { @fields(Order::name) { (part(form)) } }
}

fn main() {}
