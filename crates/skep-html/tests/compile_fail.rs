//! What must not compile, and what the compiler says: `TRYBUILD=overwrite cargo test -p skep-html --test compile_fail`
//! writes it. The rules of HTML are tried in `skep-html-macros`, messages of types in `skep`.

#[test]
fn mistakes_do_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/compile-fail/*.rs");
}
