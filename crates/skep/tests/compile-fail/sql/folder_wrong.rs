//! Migrations that are not there, or fail.

fn main() {
    skep::sql!(in "no-such-folder"; "select 1 as one");
    skep::sql!(in "../../../../crates/skep/tests/compile-fail/sql/broken"; "select 1 as one");
}
