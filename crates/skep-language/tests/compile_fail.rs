//! What must not compile, and what rustc then says: a `.stderr` beside each case.
//! After a change of a message: `TRYBUILD=overwrite cargo test -p skep-language --test compile_fail`, and read the
//! difference.

use std::fs;
use std::path::Path;

#[test]
fn what_is_wrong_does_not_compile() {
    copy_texts();
    trybuild::TestCases::new().compile_fail("tests/compile-fail/*.rs");
}

/// The cases are compiled as a package of their own, and `languages!` looks for its folder.
fn copy_texts() {
    let package = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tests").join("trybuild/skep-language");
    for folder in ["good", "wrong"] {
        fs::create_dir_all(package.join(folder)).unwrap();
        for file in fs::read_dir(Path::new("tests/texts").join(folder)).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), package.join(folder).join(file.file_name())).unwrap();
        }
    }
}
