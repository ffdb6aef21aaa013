use skep::html;

fn main() {
    let _ = html! {
        iframe srcdoc=("<p>") { }
    };
}
