use skep::html;

fn main() {
    let _ = html! {
        p title="a" lang="en" TITLE="b" { }
        p #a id="b" { }
        p .a class="b" { }
    };
}
