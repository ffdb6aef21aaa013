//! A default language that there is no file for.

skep_language::languages!("good", default = "fr");

fn main() {}
