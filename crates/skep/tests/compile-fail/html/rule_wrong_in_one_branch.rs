use skep::html;

fn main() {
    let _ = html! {
        ul { @if true { li { "a" } } @else { p { "b" } } }
    };
}
