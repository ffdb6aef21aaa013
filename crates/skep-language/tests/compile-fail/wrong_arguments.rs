//! An argument too few, one too many, and one of the wrong kind.

skep_language::languages!("good", default = "en");

fn main() {
    let _ = skep_language::t!(Language::De, greeting);
    let _ = skep_language::t!(Language::De, greeting, name = "Ann", surname = "Lee");
    let _ = skep_language::t!(Language::De, greeting, nme = "Ann");
    let _ = skep_language::t!(Language::De, bees, count = "three");
}
