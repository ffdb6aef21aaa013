//! The Rust of the article `two-ways-to-cache-a-file`.

use skep::html::Metadata;
use skep::prelude::*;

skep::assets!(pub Static = "static" at "/static");

fn head() -> Html<Metadata> {
    piece! { link rel="stylesheet" href=(Static::STYLE_CSS); }
}

fn app() -> App {
    App::new().files("/static", Static::files())
}

fn folders() -> App {
use skep::files::Files;

let app = App::new()
    .files("/papers", Files::dir("papers"))
    .files("/photos", Files::dir("photos").cache_control("public, max-age=3600"));
app
}
