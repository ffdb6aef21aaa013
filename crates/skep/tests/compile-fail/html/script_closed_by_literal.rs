use skep::html;

fn main() {
    let _ = html! {
        script { "document.write('</script>')" }
        style { "/* <!-- */" }
        script { "</scr" "IPT" }
    };
}
