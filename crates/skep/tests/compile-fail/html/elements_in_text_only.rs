use skep::html;

fn main() {
    let _ = html! {
        title { b { "x" } }
        script { p { } }
        textarea { @if true { br; } }
        p title={ b { } } { }
    };
}
