use skep::html;

fn main() {
    let _ = html! {
        p title=["x"] { }
        p hidden[1] { }
    };
}
