//! Texts that do not fit together.

skep_language::languages!("wrong", default = "en");

fn main() {}
