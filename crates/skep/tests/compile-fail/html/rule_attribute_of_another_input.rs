use skep::html;

fn main() {
    let _ = html! {
        input type="number" maxlength="3";
    };
}
