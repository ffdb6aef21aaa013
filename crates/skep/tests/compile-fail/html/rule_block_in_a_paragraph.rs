use skep::html;

fn main() {
    let _ = html! {
        p { "text" div { "more" } }
    };
}
