use skep::html;

fn main() {
    let (name, count) = (String::from("Ann"), 3_u32);
    let _ = html! {
        ul { (name) }
        dl { (count) }
        table { (name) tbody { (name) tr { (name) } } colgroup { (count) } }
        select { @for name in ["a"] { (name) } }
        picture { (name) img src="/a.png" alt=""; }
    };
}
