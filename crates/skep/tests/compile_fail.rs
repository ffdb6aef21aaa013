//! What must not compile, and what rustc then says: a `.stderr` beside each case.
//! After a change of a message: `TRYBUILD=overwrite cargo test -p skep --test compile_fail`, and read the difference.

#[test]
fn what_is_wrong_does_not_compile() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/compile-fail/*/*.rs");
    // With the feature it compiles.
    #[cfg(not(feature = "garde"))]
    cases.compile_fail("tests/compile-fail/form/garde/*.rs");
}
