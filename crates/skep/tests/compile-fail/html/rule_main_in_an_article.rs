use skep::html;

fn main() {
    let _ = html! {
        article { main {} }
    };
}
