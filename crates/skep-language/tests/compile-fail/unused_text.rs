//! Texts that nothing uses: a warning, unless it is denied.
#![deny(dead_code)]

skep_language::languages!("good", default = "en");

fn main() {
    let language = <Language as skep_language::Languages>::at(0);
    println!("{}", skep_language::t!(language, greeting, name = "Ann"));
    println!("{}", skep_language::t!(language, bees, count = 3));
}
