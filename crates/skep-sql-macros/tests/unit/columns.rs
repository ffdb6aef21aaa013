//! Unit tests of `columns`: the columns of a struct in the place of its name.

use super::*;

fn texts(input: &str) -> String {
    match expand(Home::Skep, input.parse().unwrap()).unwrap() {
        Expanded::Asks(call) => format!("asks {call}"),
        Expanded::Input(input, _) => input.to_string(),
    }
}

#[test]
fn a_struct_that_is_not_known_is_asked_for_its_columns() {
    assert_eq!(
        texts(r#"Post, "select {columns of model::Post} from post", 7"#),
        r#"asks model :: Post ! { [:: skep :: sql] [model :: Post] Post , "select {columns of model::Post} from post" , 7 }"#
    );
    assert_eq!(texts(r#""select {list}", a"#), r#""select {list}" , a"#);
}

#[test]
fn columns_and_values_take_the_place_of_the_name() {
    let post = r#"columns [Post] [title "title" r#type "kind"]; "#;
    for (written, made) in [
        ("select {columns of Post} from post", "select title, kind from post"),
        ("select {columns of Post as p} from post p", "select p.title, p.kind from post p"),
        (
            "insert into post (id, {columns of Post}) values (?, {values of Post})",
            "insert into post (id, title, kind) values (?, {of Post.title}, {last of Post.r#type})",
        ),
        (
            "update post set {values of Post}, seen = 1",
            "update post set title = {of Post.title}, kind = {last of Post.r#type}, seen = 1",
        ),
    ] {
        assert_eq!(texts(&format!("{post}{written:?}")), format!("{made:?}"));
    }
    let in_a_part = r#"{ if all : "union select {columns of Post} from old" }"#;
    assert!(texts(&format!("{post}{in_a_part}")).contains("union select title, kind from old"));
}

#[test]
fn words_of_sql_are_quoted() {
    let rank = r#"columns [Rank] [order "order" id "id"]; "#;
    for (written, made) in [
        ("select {columns of Rank as r} from rank r", r#"select r."order", r.id from rank r"#),
        ("update rank set {values of Rank}", r#"update rank set "order" = {of Rank.order}, id = {last of Rank.id}"#),
    ] {
        assert_eq!(texts(&format!("{rank}{written:?}")), format!("{made:?}"));
    }
}

#[test]
fn a_name_that_is_none_is_an_error() {
    let error = expand(Home::Skep, r#""select {columns of Self}""#.parse().unwrap()).err().unwrap();
    assert!(error.to_string().contains("write the name of the struct"), "{error}");
    for wrong in ["select {columns of Post as}", "select {values of Post as p}", "select {columns of 7}"] {
        assert!(expand(Home::Skep, format!("{wrong:?}").parse().unwrap()).is_err(), "{wrong}");
    }
}
