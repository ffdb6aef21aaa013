use skep::html;

fn main() {
    let _ = html! {
        input disabled="false";
    };
}
