//! The Rust of the article `a-part-of-a-file`.

use skep::files::Files;
use skep::prelude::*;

fn app() -> App {
    App::new().files("/films", Files::dir("/srv/films"))
}
