use skep::form::{Group, MultilineText, Text, Whole};
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

fn one_branch(cx: &Cx<'_>, is_new: bool, is_late: bool) -> Html {
    html! {
        form (Order::form(cx)) {
            select (Order::size);
            @if is_new {
                input (Order::name);
            } @else if is_late {
                p { "Not now" }
            } @else {
                input (Order::name) type="hidden";
            }
        }
    }
}

fn no_else(cx: &Cx<'_>, is_new: bool) -> Html {
    html! {
        form (Order::form(cx)) {
            select (Order::size);
            @if is_new { input name="name"; }
        }
    }
}

fn one_arm(cx: &Cx<'_>, step: u32) -> Html {
    html! {
        form (Order::form(cx)) {
            input (Order::name);
            @match step {
                0 => { select (Order::size); }
                _ => { p { "Not now" } }
            }
        }
    }
}

fn in_a_loop(cx: &Cx<'_>, hints: &[&str]) -> Html {
    html! {
        form (Order::form(cx)) {
            select (Order::size);
            @for hint in hints { input (Order::name) placeholder=(hint); }
        }
    }
}

fn in_a_template(cx: &Cx<'_>) -> Html {
    html! {
        form (Order::form(cx)) {
            select (Order::size);
            template { input (Order::name); }
        }
    }
}

fn row(cx: &Cx<'_>) -> Html {
    let form = Order::form(cx);
    html! {
        form (form) {
            input (Order::name);
            select (Order::size);
            @for row in form.rows(Order::lines, 2) {
                input (Order::lines.row(row, Line::product));
            }
        }
    }
}

fn row_in_a_branch(cx: &Cx<'_>, is_open: bool) -> Html {
    let form = Order::form(cx);
    html! {
        form (form) {
            input (Order::name);
            select (Order::size);
            @if is_open {
                @for row in form.rows(Order::lines, 2) {
                    input (Order::lines.row(row, Line::product));
                }
            }
        }
    }
}

fn main() {}
