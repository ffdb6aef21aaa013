//! Unit tests of `page`: the end of a statement that is one page of its rows.

use super::*;

fn ends(order: &str) -> std::result::Result<[String; 3], String> {
    Order::of(order).map(|order| order.texts())
}

#[test]
fn an_order_becomes_the_first_page_and_those_around_a_row() {
    let [first, behind, before] = ends(" Published DESC,\n id desc ").unwrap();
    assert_eq!(first, ") as listed order by published desc, id desc limit ?");
    assert_eq!(behind, ") as listed where (published, id) < (?, ?) order by published desc, id desc limit ?");
    assert_eq!(before, ") as listed where (published, id) > (?, ?) order by published, id limit ?");
    let [_, behind, before] = ends("id asc;").unwrap();
    assert_eq!(behind, ") as listed where (id) > (?) order by id limit ?");
    assert_eq!(before, ") as listed where (id) < (?) order by id desc limit ?");
}

#[test]
fn what_is_no_list_of_columns_in_one_direction_is_refused() {
    for (order, why) in [
        ("", "a keyset needs `order by`"),
        ("a desc, b", "by all its columns `desc`, or by none"),
        ("t.a", "`t.a` is no name of one"),
        ("lower(a)", "is no name of one"),
        ("1", "is no name of one"),
        ("a nulls first", "a keyset needs `order by`"),
        ("a limit 3", "a keyset needs `order by`"),
        ("a, b, c, d, e", "has 4 columns at most"),
    ] {
        let help = ends(order).unwrap_err();
        assert!(help.contains(why), "{order}: {help}");
    }
}

#[test]
fn the_last_order_in_no_parentheses_counts() {
    for (text, found) in [
        ("select a from t order by a", Some(("select a from t ", " a"))),
        (
            "select row_number() over (order by b) from t ORDER\n BY a",
            Some(("select row_number() over (order by b) from t ", " a")),
        ),
        ("select 'order by a' from t -- order by a", None),
        ("select (select a from t order by a)", None),
        ("select \"order\", by from t", None),
    ] {
        assert_eq!(split(text), found, "{text}");
    }
}
