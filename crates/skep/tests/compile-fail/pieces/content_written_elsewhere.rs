use skep::html;

fn main() {
    let name = "Ann";
    let heading = html! { h1 { "Ann" } };
    let _ = html! {
        hgroup { (heading) }
        dl { div { (name) } }
        ruby { "a" rp { "(" } rt { "b" } rp { (heading) } }
    };
}
