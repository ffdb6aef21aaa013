//! What makes a form whole: `compile-fail/form/required_field_*.rs` are the forms that are not.

use std::panic::{AssertUnwindSafe, catch_unwind};

use skep::form::{FitsInput, Form, Group, MultilineText, Name, Text, Whole};
use skep::html::{Controls, Flow};
use skep::param::Choice;
use skep::prelude::*;
use skep::test::Client;

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
#[expect(dead_code, reason = "only the form is looked at")]
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

/// Part of the form of an order, whichever way it goes.
fn address<T: FitsInput>(form: &Form<Order>, name: Name<Order, T>, is_long: bool) -> Html<Flow, Controls<T>> {
    piece! {
        @if is_long {
            p { label (form.label(name)) { "Name" } input (form.input(name)); }
        } @else {
            input (form.input(name)) aria-label="Name";
        }
    }
}

/// Every branch has what is required, a loop writes choices and rows, a function what `@fields` says.
fn whole(cx: &Cx<'_>, words: [&str; 2], is_new: bool) -> Html {
    let form = Order::form(cx);
    html! {
        form (form) {
            h2 { (words[0]) }
            @if is_new {
                @fields(Order::name) { div { (address(&form, Order::name, is_new)) } }
            } @else {
                input (Order::name) type="hidden";
            }
            @for size in Size::ALL {
                label (Order::size.of(*size)) { (size.label()) }
                input (Order::size.of(*size));
            }
            @for row in form.rows(Order::lines, 1) {
                input (Order::lines.row(row, Line::product));
                input (Order::lines.row(row, Line::amount));
            }
            button { (words[1]) }
        }
    }
}

/// A control by hand counts, and so does one that is asked for as in a function, and a button.
fn by_hand(cx: &Cx<'_>, number: u32) -> Html {
    let form = Order::form(cx);
    html! {
        form (form) {
            @match number {
                0 => { input name="name"; }
                _ => { input (form.input(Order::name)); }
            }
            button (Order::size) value="small" { "Small" }
            button (Order::size) value="large" { "Large" }
        }
    }
}

/// What a condition disables may be sent, and a fieldset of another form has controls of this one.
fn perhaps_disabled(cx: &Cx<'_>, is_closed: bool) -> Html {
    html! {
        form (Order::form(cx)) {
            fieldset disabled[is_closed] { legend { "Who" } input (Order::name); }
            fieldset form="other" { select (Order::size) disabled[is_closed]; }
        }
    }
}

/// Nobody names a field here: the type of the variable says which form it is.
fn only_by_hand(form: &Form<Order>) -> Html {
    html! { form (form) { input name="name"; select name="size" { option { "small" } } } }
}

fn broken_promise(cx: &Cx<'_>) -> Html {
    let form = Order::form(cx);
    let other =
        |_: Name<Order, Text<1, 80>>| -> Html<Flow, Controls<Text<1, 80>>> { Html::trusted_piece("<p>Name</p>") };
    html! { form (form) { select (Order::size); @fields(Order::name) { (other(Order::name)) } } }
}

#[derive(Service)]
#[service(GET "/{number}")]
struct Page {
    number: u32,
}

impl Handle for Page {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let page = match self.number {
            0 => whole(cx, ["Bestellung", "Bestellen"], true),
            1 => whole(cx, ["Bestellung", "Bestellen"], false),
            2 => by_hand(cx, 1),
            3 => only_by_hand(&Order::form(cx)),
            _ => perhaps_disabled(cx, false),
        };
        Ok(Response::html(page))
    }
}

#[test]
fn a_form_is_whole_whatever_is_spliced() {
    let client = Client::new(App::new().serve(services![Page, Order]));
    let controls = |page: u32| client.get(&format!("/{page}")).text().matches(" name=\"").count();
    assert_eq!([0, 1, 2, 3, 4].map(controls), [5, 5, 3, 2, 2]);
}

#[cfg(debug_assertions)]
#[test]
fn a_debug_build_holds_a_function_to_the_fields_that_it_was_said_to_write() {
    let client = Client::new(App::new().serve(services![Page, Order]));
    let shown = client.with_cx(async |cx| Ok(catch_unwind(AssertUnwindSafe(|| drop(broken_promise(cx))))));
    let message = shown.unwrap().unwrap_err().downcast::<String>().unwrap();
    assert!(message.contains("`@fields` promises a control for `name`"), "{message}");
}
