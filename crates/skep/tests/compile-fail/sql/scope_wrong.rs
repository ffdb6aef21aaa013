//! A migration that says of a scope what is not so.

fn main() {
    skep::sql!(in "../../../../crates/skep/tests/compile-fail/sql/scopes/misspelt"; "select name from token");
    skep::sql!(in "../../../../crates/skep/tests/compile-fail/sql/scopes/lost"; "select name from token");
}
