//! Migrations that declare a function in a way that is none.

fn main() {
    skep::sql!(in "../../../../crates/skep/tests/compile-fail/sql/functions/misspelt"; "select title from post");
    skep::sql!(in "../../../../crates/skep/tests/compile-fail/sql/functions/type_wrong"; "select title from post");
    skep::sql!(in "../../../../crates/skep/tests/compile-fail/sql/functions/own"; "select title from post");
    skep::sql!(in "../../../../crates/skep/tests/compile-fail/sql/functions/twice"; "select title from post");
    skep::sql!(in "../../../../crates/skep/tests/compile-fail/sql/functions/loose"; "select title from post");
}
