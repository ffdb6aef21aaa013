//! Fields are those of a service, which only `skep::html!` knows.

fn main() {
    skep_html::html! { form { @fields(Order::street) { "One" } } };
}
