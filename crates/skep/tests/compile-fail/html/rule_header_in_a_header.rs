use skep::html;

fn main() {
    let _ = html! {
        header { div { header {} } }
    };
}
