use skep::html;

fn main() {
    let _ = html! {
        img src="/a" alt="" width="100px";
    };
}
