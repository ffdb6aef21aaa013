fn main() {
    let url = String::from("https://elsewhere.example/x.js");
    let rel = "stylesheet";
    let _ = skep::html! { script src=(url) {} };
    let _ = skep::html! { script src={ "/static/" (url) } {} };
    let _ = skep::html! { iframe src=(url) {} };
    let _ = skep::html! { object data=(url) {} };
    let _ = skep::html! { embed src=[Some(&url)]; };
    let _ = skep::html! { link rel="stylesheet" href=(url); };
    let _ = skep::html! { link rel=(rel) href=(url); };
    let _ = skep::html! { base href=(url); };
    let _ = skep::html! { meta http-equiv="refresh" content={ "5; url=" (url) }; };
}
