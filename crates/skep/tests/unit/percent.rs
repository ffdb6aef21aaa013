//! Tests of `percent`.

use super::*;

#[test]
fn needless_escapes_are_undone_and_others_kept() {
    assert_eq!(normalise_path("/%61bout/%2f%C3%a9"), "/about/%2F%C3%A9");
    assert_eq!(normalise_path("/100%"), "/100%");
    assert_eq!(normalise_path("/%zz%é"), "/%zz%é");
    assert_eq!(normalise_path("/%+a%-1"), "/%+a%-1");
}

#[test]
fn an_escape_has_two_digits() {
    assert!(["/", "/a%2Fb%c3%A9", "*"].into_iter().all(is_encoded));
    assert!(!["/%", "/a%2", "/%zz", "/%+a", "/%2é", "/%%41", "/%u0041"].into_iter().any(is_encoded));
}
