//! A text in no language.

skep_language::languages!("good", default = "en");

fn main() {
    let _ = skep_language::t!("de", greeting.title);
    let _ = skep_language::t!(greeting.title);
}
