//! A text that there is not.

skep_language::languages!("good", default = "en");

fn main() {
    let _ = skep_language::t!(Language::De, greting, name = "Ann");
    let _ = skep_language::t!(Language::De, greeting.titel);
}
