use skep::html;

struct PostOnly;

fn main() {
    let _ = html! {
        a href=(PostOnly) { }
        a href=(5) { }
        a href={ "/x/" (PostOnly) } { }
    };
}
