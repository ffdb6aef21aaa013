use skep::html;

fn main() {
    let _ = html! {
        tr { th { h2 { "a" } } }
    };
}
