//! A table that is not strict is a warning, once.
#![deny(deprecated)]

fn main() {
    let _ = skep::sql!(in "../../../../crates/skep/tests/sql/migrations"; "select title from post where id = ?", 1);
    let _ = skep::sql!(in "../../../../crates/skep/tests/sql/migrations"; "select id from post");
}
