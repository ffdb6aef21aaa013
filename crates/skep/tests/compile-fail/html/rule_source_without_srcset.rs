use skep::html;

fn main() {
    let _ = html! {
        picture { source media="print"; img src="/a" alt=""; }
    };
}
