use skep::html;

fn main() {
    let _ = html! {
        DIV { }
        Svg { }
        myWidget { }
    };
}
