use skep::html;

fn main() {
    let _ = html! {
        form action="/a" { div { form action="/b" {} } }
    };
}
