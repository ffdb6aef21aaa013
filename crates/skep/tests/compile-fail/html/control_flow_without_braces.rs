use skep::html;

fn main() {
    let _ = html! {
        @if true "a" @for x [1] { }
        @match 1 "x"
    };
}
