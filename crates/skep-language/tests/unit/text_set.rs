//! Unit tests of `text_set`: files that change while the program runs.

use std::fs::File;
use std::path::Path;

use skep_fluent::Argument;

use super::*;

/// Texts that were compiled from one file, and the file.
fn set(folder: &Path) -> (TextSet, &'static str) {
    const TEXT: &str = "title = Before\ngreeting = Hello { $name }";
    let path = &*folder.join("en.ftl").to_str().unwrap().to_owned().leak();
    fs::write(path, TEXT).unwrap();
    let files: &'static [Embedded] = vec![("languages/en.ftl", path, TEXT)].leak();
    let languages: &'static [(&str, &[Embedded])] = vec![("en", files)].leak();
    (TextSet::new(languages, &["greeting(name: Any)", "title()"], true), path)
}

/// Writes the file again, later than before.
fn change(path: &str, text: &str, after: u64) {
    fs::write(path, text).unwrap();
    let later = SystemTime::now() + Duration::from_secs(after);
    File::options().append(true).open(path).unwrap().set_modified(later).unwrap();
}

#[test]
fn a_debug_build_reads_a_file_again_when_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let (set, path) = set(folder.path());
    assert_eq!(set.loaded().fixed(0, "title"), "Before");
    change(path, "title = After\ngreeting = Good day, { $name }\nnew = New", 1);
    assert_eq!(set.loaded().fixed(0, "title"), "After");
    let name = [("name", Argument::Text("Ann".into()))];
    assert_eq!(set.loaded().texts.text(0, "greeting", &name), "Good day, Ann");
}

#[test]
fn what_is_wrong_in_a_changed_file_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (set, path) = set(folder.path());
    let wrong = ["title = { nothing }", "title = After", "title = After\ngreeting = Hello { $nme }"];
    for (after, text) in (1..).zip(wrong) {
        change(path, text, after);
        assert_eq!(set.loaded().fixed(0, "title"), "Before", "{text}");
    }
    let error = set.read_again().err().unwrap();
    assert_eq!(error, "the texts have no `greeting(name: Any)` any more, which is compiled in: compile again");
    change(path, "title = { nothing }", 9);
    assert_eq!(set.read_again().err().unwrap(), "languages/en.ftl:1: there is no `nothing`");
    change(path, "title = After\ngreeting = Hello { $name }", 10);
    assert_eq!(set.loaded().fixed(0, "title"), "After");
}

#[test]
fn a_program_that_runs_elsewhere_has_the_texts_in_its_executable() {
    let folder = tempfile::tempdir().unwrap();
    let (set, _) = set(folder.path());
    drop(folder);
    assert_eq!(set.loaded().fixed(0, "title"), "Before");
}
