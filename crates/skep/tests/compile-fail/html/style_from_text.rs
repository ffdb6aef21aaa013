fn main() {
    let colour = String::from("red; background: url(https://elsewhere.example)");
    let _ = skep::html! { p style={ "color: " (colour) } {} };
}
