//! The type of a function that writes a part of a form says which controls it has, and the compiler holds it to that.

use skep::form::{FitsInput, Form, Group, Name, Text, Whole};
use skep::html::{Controls, Flow, NoForm};
use skep::prelude::*;

#[derive(Group)]
struct Line {
    product: Text<1, 40>,
    amount: Whole<1, 99>,
}

#[derive(Group)]
struct Address {
    street: Text<1, 80>,
    town: Text<1, 80>,
}

#[derive(Service)]
#[service(POST "/orders")]
struct Order {
    #[form]
    name: Text<1, 80>,
    #[form]
    address: Address,
    #[form]
    lines: Vec<Line>,
}

impl Handle for Order {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(""))
    }
}

/// A component that shows a label only.
fn labelled<S, T: FitsInput>(form: &Form<S>, name: Name<S, T>, label: &str) -> Html<Flow, Controls<T>> {
    piece! { p { label (form.label(name)) { (label) } } }
}

fn in_one_branch<S, T: FitsInput>(form: &Form<S>, name: Name<S, T>, is_open: bool) -> Html<Flow, Controls<T>> {
    piece! { @if is_open { input (form.input(name)); } }
}

fn in_a_loop(form: &Form<Address>, times: usize) -> Html<Flow, Controls<Address>> {
    piece! { @for _ in 0..times { @form (form) { input (Address::street); input (Address::town); } } }
}

fn never_sent(form: &Form<Address>) -> Html<Flow, Controls<Address>> {
    piece! { template { @form (form) { input (Address::street); input (Address::town); } } }
}

fn widened(form: &Form<Address>) -> Html<Flow, Controls<Address>> {
    let nothing: Html<Flow, NoForm> = piece! { p { "Nothing" } };
    nothing.widen()
}

fn without_a_promise(form: &Form<Address>) -> Html<Flow, NoForm> {
    piece! { @form (form) { input (Address::street); input (Address::town); } }
}

fn line(form: &Form<Line>) -> Html<Flow, Controls<Line>> {
    piece! { @form (form) { input (Line::product); } }
}

fn page(cx: &Cx<'_>) -> Html {
    let form = Order::form(cx);
    html! {
        form (form) {
            input (Order::name);
            @fields(Order::address) { (without_a_promise(&form.fields(Order::address))) }
            @for row in form.rows(Order::lines, 2) {
                @fields(Order::lines) { (line(&form.row(Order::lines, row))) }
            }
        }
    }
}

fn main() {}
