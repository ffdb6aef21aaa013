fn main() {
    let text = String::from("click[alert(1)]");
    let _ = skep::html! { button hx-trigger=(text) { "Save" } };
    let _ = skep::html! { button data-hx-vals=(text) { "Save" } };
    let _ = skep::html! { button hx-post="javascript:alert(1)" { "Save" } };
    let _ = skep::html! { div sse-connect="javascript:alert(1)" {} };
}
