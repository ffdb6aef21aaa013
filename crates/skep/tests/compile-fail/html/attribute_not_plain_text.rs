use skep::html;

struct Money;

fn main() {
    let _ = html! {
        p title=(Money) { }
        p title=(html! { b { } }) { }
        textarea { (html! { }) }
    };
}
