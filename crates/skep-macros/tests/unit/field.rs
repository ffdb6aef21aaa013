//! Unit tests of `field`.

use super::*;

#[test]
fn a_name_is_split_into_words() {
    for (name, expected) in [
        ("Newest", "newest"),
        ("NewestFirst", "newest-first"),
        ("HTTPOnly", "http-only"),
        ("OnlyHTTP", "only-http"),
        ("Utf8Text", "utf8-text"),
        ("snake_case", "snake-case"),
        ("ÄrgerÜber", "ärger-über"),
        ("A", "a"),
    ] {
        assert_eq!(words(name).join("-"), expected);
    }
}
