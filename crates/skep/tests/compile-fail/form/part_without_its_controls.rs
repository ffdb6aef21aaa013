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

fn without_a_promise<N>(form: &Form<Address>, _: N) -> Html<Flow, NoForm> {
    piece! { @form (form) { input (Address::street); input (Address::town); } }
}

fn on_another_element<T: FitsInput>(form: &Form<Order>, name: Name<Order, T>) -> Html<Flow, Controls<T>> {
    piece! { p (form.input(name)) {} }
}

fn of_another_type(form: &Form<Order>, name: Name<Order, Text<1, 80>>) -> Html<Flow, Controls<Text<1, 9>>> {
    piece! { input (form.input(name)); }
}

/// The inner name is of the field that is written, the outer one of that which is promised.
fn bound_in_the_piece(form: &Form<Order>, name: Name<Order, Address>) -> Html<Flow, Controls<Address>> {
    piece! { p { @let name = Order::name; input (form.input(name)); } }
}

fn several(form: &Form<Order>, name: Name<Order, Text<1, 80>>) -> Html<Flow, Controls<Text<1, 80>>> {
    piece! { input (form.input(name)); input (form.input(Order::name)); }
}

fn composed_of_another(form: &Form<Order>, name: Name<Order, Text<1, 80>>) -> Html<Flow, Controls<Text<1, 80>>> {
    piece! { @fields(name) { (without_a_promise(&form.fields(Order::address), name)) } }
}

fn generic_over_the_promise<H>() -> Html<Flow, H> {
    piece! { "None" }
}

fn line(form: &Form<Line>) -> Html<Flow, Controls<Line>> {
    piece! { @form (form) { input (Line::product); } }
}

fn page(cx: &Cx<'_>) -> Html {
    let form = Order::form(cx);
    html! {
        form (form) {
            input (Order::name);
            @fields(Order::address) { (without_a_promise(&form.fields(Order::address), ())) }
            @for row in form.rows(Order::lines, 2) {
                @fields(Order::lines) { (line(&form.row(Order::lines, row))) }
            }
        }
    }
}

fn main() {}
