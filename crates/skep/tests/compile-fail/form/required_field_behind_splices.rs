use skep::form::{Group, MultilineText, Text, Whole};
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

struct Words {
    name: &'static str,
    order: String,
}

fn translated(cx: &Cx<'_>, words: &Words, number: u32) -> Html {
    html! {
        form (Order::form(cx)) {
            h2 { (words.order) " " (number) }
            label (Order::name) { (words.name) }
            fieldset (Order::size) { legend { (format_args!("{number}")) } }
            button { (words.order) }
        }
    }
}

/// What a value holds is not asked: nothing in the form says that it has the field.
fn from_a_function(cx: &Cx<'_>, rest: &Html<skep::html::Flow, NoForm>) -> Html {
    html! {
        form (Order::form(cx)) {
            fieldset (Order::size) { legend { "Size" } }
            (rest)
        }
    }
}

fn main() {}
