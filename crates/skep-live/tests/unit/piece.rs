//! Tests of `piece`.

use skep::html;

use super::*;

#[test]
fn pieces_are_found_again_whatever_is_in_them() {
    let inner = live("inner", html! { b { "1" } });
    let page = html! {
        main {
            (live("one", html! { p { "a" } (inner) (Html::trusted("<!--/live one-->")) }))
            (live("two", html! {}))
        }
    };
    let found = pieces(page.as_str());
    assert_eq!(found.iter().map(|piece| piece.name).collect::<Vec<_>>(), ["one", "two"]);
    assert!(found[0].html.starts_with("<p>a</p><!--live inner") && found[0].html.ends_with("<!--/live one-->"));
    assert_eq!(found[1].html, "");
    assert_eq!(found[0].version, version(found[0].html));
}

#[test]
fn what_is_no_piece_is_none() {
    for text in
        ["<!--live ", "<!--live a 1 9-->x<!--/live a-->", "<!--live a x 1-->x<!--/live a-->", "<!--live a 1 1-->xy"]
    {
        assert_eq!(pieces(text), [], "{text}");
    }
}

#[test]
fn versions_are_read_as_browsers_send_them() {
    let known = parse_versions("a:1f b:0 c d:x");
    assert_eq!(known.into_iter().collect::<Vec<_>>(), [("a".to_owned(), 31), ("b".to_owned(), 0)]);
}
