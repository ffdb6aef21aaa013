use skep::html;

fn main() {
    let _ = html! {
        p "a b"="x" ">"="y" { }
    };
}
