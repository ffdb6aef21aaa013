use skep::html;

fn main() {
    let _ = html! {
        p title=hello lang=en { }
        a href= { }
    };
}
