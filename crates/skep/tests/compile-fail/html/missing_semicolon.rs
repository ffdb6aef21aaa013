use skep::html;

fn main() {
    let _ = html! {
        p { br }
        input type="text"
    };
}
