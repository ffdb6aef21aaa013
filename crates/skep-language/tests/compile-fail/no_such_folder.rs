//! A folder that is not there.

skep_language::languages!("nowhere", default = "en");

fn main() {}
