use skep::html;

fn main() {
    let _ = html! {
        @unless true { }
        @else { }
        @let x = 1
    };
}
