//! A link to a file that is not in the folder.

skep::assets!(Site = "../../../../crates/skep/tests/site" at "/static");

fn main() {
    let _ = Site::STYLES_CSS.url();
}
