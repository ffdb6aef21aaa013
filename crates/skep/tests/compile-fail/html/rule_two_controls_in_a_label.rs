use skep::html;

fn main() {
    let _ = html! {
        label { "a" input name="a"; input name="b"; }
    };
}
