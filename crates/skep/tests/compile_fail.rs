//! What must not compile, and what rustc then says: a `.stderr` beside each case.
//! After a change of a message: `TRYBUILD=overwrite cargo test -p skep --test compile_fail`, and read the difference.

#[path = "compile_fail/postgres.rs"]
mod postgres;

use std::fs;
use std::path::Path;

#[test]
fn what_is_wrong_does_not_compile() {
    copy_migrations();
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/compile-fail/*/*.rs");
    // They are compiled at the end of their life.
    drop(cases);
    postgres::what_is_wrong_does_not_compile();
}

/// The cases are compiled as a package of their own, and `sql!` looks for its migrations.
fn copy_migrations() {
    let package = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tests").join("trybuild/skep");
    for (from, to) in [("checked", "migrations"), ("functions", "functions"), ("scoped", "scoped"), ("typed", "typed")]
    {
        let to = package.join(to);
        fs::create_dir_all(&to).unwrap();
        for file in fs::read_dir(Path::new("tests/sql").join(from)).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), to.join(file.file_name())).unwrap();
        }
    }
}
