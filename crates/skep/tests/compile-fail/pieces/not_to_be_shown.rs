use skep::html;

struct Money;

fn main() {
    let _ = html! {
        p { (Money) }
        form { a href="/" { (Money) } }
    };
}
