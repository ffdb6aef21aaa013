use skep::html;

fn main() {
    let _ = html! {
        a href="/" { em { a href="/b" { "b" } } }
    };
}
