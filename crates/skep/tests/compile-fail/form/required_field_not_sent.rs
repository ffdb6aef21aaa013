use skep::form::Text;
use skep::prelude::*;

#[derive(Clone, Copy, Param)]
enum Size {
    Small,
    Large,
}

#[derive(Service)]
#[service(POST "/orders")]
struct Order {
    #[form]
    name: Text<1, 80>,
    #[form]
    size: Size,
}

impl Handle for Order {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(""))
    }
}

fn disabled(cx: &Cx<'_>) -> Html {
    html! { form (Order::form(cx)) { input (Order::name); select (Order::size) disabled; } }
}

fn in_a_disabled_fieldset(cx: &Cx<'_>) -> Html {
    html! {
        form (Order::form(cx)) {
            fieldset disabled { legend { "Who" } input (Order::name); }
            select (Order::size);
        }
    }
}

fn of_another_form(cx: &Cx<'_>) -> Html {
    html! { form (Order::form(cx)) { input name="name" form="other"; select (Order::size); } }
}

fn buttons_that_send_nothing(cx: &Cx<'_>) -> Html {
    html! {
        form (Order::form(cx)) {
            input (Order::name);
            button (Order::size) type="button" value="small" { "Small" }
            input name="size" type="reset";
        }
    }
}

fn named_fieldset(cx: &Cx<'_>) -> Html {
    html! { form (Order::form(cx)) { input (Order::name); fieldset name="size" { legend { "Size" } } } }
}

fn main() {}
