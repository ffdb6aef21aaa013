use skep::html;

fn main() {
    let _ = html! {
        setcion { "a" }
    };
}
