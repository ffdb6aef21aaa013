use skep::html;

fn main() {
    let _ = html! {
        p { img src="/a.png"; }
    };
}
