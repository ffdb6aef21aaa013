use skep::html;

fn main() {
    let _ = html! {
        button onclick=("alert(1)") { }
        script { (String::new()) }
        div x-data=(1) { }
        style { ("a") }
        script { (html! { }) }
    };
}
