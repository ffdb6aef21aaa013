//! Tests of `id`.

use super::*;

#[test]
fn an_id_comes_back_from_its_cookie_and_nothing_else_is_one() {
    let id = Id::draw().unwrap();
    let text = id.to_text();
    assert_eq!(text.len(), 32);
    assert_eq!(Id::parse(&text).unwrap().0, id.0);
    for wrong in ["", "x", &text[1..], &format!("{text}A"), &"=".repeat(32), &format!("{}\u{e9}", &text[2..])] {
        assert!(Id::parse(wrong).is_none(), "{wrong}");
    }
    assert_ne!(id.name("one"), id.name("two"));
    assert_eq!(format!("{id:?}"), "Id(..)");
}
