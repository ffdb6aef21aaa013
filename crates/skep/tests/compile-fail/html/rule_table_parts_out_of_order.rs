use skep::html;

fn main() {
    let _ = html! {
        table { tbody {} thead {} }
    };
}
