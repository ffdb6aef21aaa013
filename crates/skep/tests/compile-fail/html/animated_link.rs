use skep::html;

fn main() {
    let _ = html! {
        svg { animate attributeName="href" to="/x";
        animate attributeName=("x"); }
    };
}
