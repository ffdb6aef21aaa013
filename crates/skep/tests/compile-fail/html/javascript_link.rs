use skep::html;

fn main() {
    let _ = html! {
        a href="javascript:alert(1)" { }
        a href={ " Java" "Script:" (1) } { }
        form action="data:text/html,x" { }
        img src="data:text/html,x" alt="";
    };
}
