//! Tests of `sql::tree`.

use super::*;

#[test]
fn nodes_lists_and_constants_are_read() {
    let text = r"({A :one 1 :name a\ \(b\) :odd :odd :value 7 [ 28 0 ] :list (i 1 2) :none <> :last {B}} <>)";
    let tree = Node::parse(text).unwrap();
    let [node, Node::Nothing] = tree.items() else { panic!("{tree:?}") };
    assert_eq!((node.name(), node.number("one"), node.word("name")), ("A", 1, "a (b)"));
    assert_eq!((node.word("odd"), node.word("value"), node.get("list").items().len()), (":odd", "7", 3));
    assert!(node.get("none").is_nothing() && node.get("missing").is_nothing());
    assert_eq!(node.get("last").name(), "B");
}

#[test]
fn what_is_cut_off_is_no_tree() {
    for text in ["", "{", "{A :b", "(1", "{A} }", "{A :b }"] {
        assert_eq!(Node::parse(text), None, "{text}");
    }
}
