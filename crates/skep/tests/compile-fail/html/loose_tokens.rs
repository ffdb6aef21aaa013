use skep::html;

fn main() {
    let _ = html! {
        p { &1 }
        ;
        [1] = $
    };
}
