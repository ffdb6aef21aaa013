use skep::html;

fn main() {
    let _ = html! {
        html { head { meta charset="utf-8"; } body {} }
    };
}
