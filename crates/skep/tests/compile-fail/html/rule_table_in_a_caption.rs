use skep::html;

fn main() {
    let _ = html! {
        table { caption { table {} } }
    };
}
