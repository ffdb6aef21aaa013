use skep::form::{Form, Group, MultilineText, Text, Whole};
use skep::form::Name;
use skep::html::{Controls, Flow};
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

#[derive(Service)]
#[service(POST "/entries")]
struct Entry {
    #[form]
    name: Text<1, 80>,
    #[form]
    name_of_dog: Text<1, 80>,
}

impl Handle for Entry {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(""))
    }
}

fn part(form: &Form<Order>, name: Name<Order, Text<1, 80>>) -> Html<Flow, Controls<Text<1, 80>>> {
    piece! { input (form.input(name)); }
}

fn unknown(cx: &Cx<'_>) -> Html {
    let form = Order::form(cx);
    html! {
        form (form) {
            select (Order::size);
            @fields(Order::nam) { (part(&form, Order::nam)) }
        }
    }
}

fn twice(cx: &Cx<'_>) -> Html {
    let form = Order::form(cx);
    html! {
        form (form) {
            select (Order::size);
            input (Order::name);
            @fields(Order::name) { (part(&form, Order::name)) }
        }
    }
}

fn no_field(cx: &Cx<'_>) -> Html {
    let form = Order::form(cx);
    html! {
        form (form) {
            select (Order::size);
            @fields("name") { (part(&form, Order::name)) }
            @fields { (part(&form, Order::name)) }
        }
    }
}

fn outside(form: &Form<Order>) -> Html {
    html! { @fields(Order::name) { (part(form, Order::name)) } }
}

fn several_and_control_flow(cx: &Cx<'_>, is_new: bool) -> Html {
    let form = Order::form(cx);
    html! {
        form (form) {
            @fields(Order::size, Order::name) { (part(&form, Order::name)) }
            @fields(Order::size) { (part(&form, Order::name)) }
            @fields(Order::name) { @if is_new { (part(&form, Order::name)) } }
        }
    }
}

/// The name of one field begins that of another.
fn name_that_begins_alike(cx: &Cx<'_>) -> Html {
    let form = Entry::form(cx);
    html! { form (form) { @fields(Entry::name) { (entry(&form, Entry::name_of_dog)) } input (Entry::name_of_dog); } }
}

fn entry(form: &Form<Entry>, name: Name<Entry, Text<1, 80>>) -> Html<Flow, Controls<Text<1, 80>>> {
    piece! { input (form.input(name)); }
}

fn disabled(cx: &Cx<'_>) -> Html {
    let form = Order::form(cx);
    html! {
        form (form) {
            select (Order::size);
            @fields(Order::name) { fieldset disabled { (part(&form, Order::name)) } }
        }
    }
}

fn controls_beside(cx: &Cx<'_>) -> Html {
    let form = Order::form(cx);
    html! {
        form (form) {
            @fields(Order::name) { select (Order::size); (part(&form, Order::name)) }
        }
    }
}

/// It is looked up in the service, as any other label is.
fn label_of_no_field(cx: &Cx<'_>) -> Html {
    let form = Entry::form(cx);
    html! {
        form (form) {
            input (Entry::name_of_dog);
            @fields(Entry::name) { label (Entry::nam) { "Name" } (entry(&form, Entry::name)) }
        }
    }
}

fn main() {}
