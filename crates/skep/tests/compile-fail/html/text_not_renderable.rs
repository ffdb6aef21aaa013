use skep::html;

struct Money;

fn main() {
    let _ = html! {
        p { (Money) }
        p { (Some(1)) }
        p { (vec![1]) }
    };
}
