use skep::html;

fn main() {
    let _ = html! {
        title { b { "x" } }
        script { p { } }
    };
    let _ = html! {
        textarea { @if true { br; } }
        p title={ b { } } { }
    };
}
