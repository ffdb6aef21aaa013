//! Unit tests of `text`.

use super::*;

#[test]
fn what_stands_in_quotes_and_comments_is_no_parameter() {
    let sql = "select '?', \"a?\", [?], `?` /* ? */ -- ?\n from t where x = ? and y = ?";
    assert_eq!(numbered(sql), sql.replace("x = ?", "x = ?1").replace("y = ?", "y = ?2"));
}

#[test]
fn only_quoted_names_are_marked() {
    assert_eq!(without_marks(r#"select a as "b!", '"c!"', "d""#), r#"select a as "b", '"c!"', "d""#);
}

fn of_postgres(sql: &str) -> Text {
    Text::of(Dialect::Postgres, LitStr::new(sql, proc_macro2::Span::call_site())).unwrap()
}

#[test]
fn lists_are_arrays_on_postgres() {
    for (written, run) in [
        ("a in {list} and b = ?", "a = any(?) and b = ?"),
        ("a not in {list}", "a <> all(?)"),
        ("a NOT\n IN {list}", "a <> all(?)"),
        ("a.\"in\" in {list}", "a.\"in\" = any(?)"),
    ] {
        assert_eq!(of_postgres(written).sql, run);
    }
}

#[test]
fn the_signs_of_postgres_stay_as_they_are() {
    let sql = "select a[1:2], b::text, c ?? 'k', $$ ? {x} $$, e'\\'?', '{1}' from t where d = ?";
    assert_eq!(of_postgres(sql).sql, sql);
    assert_eq!(of_postgres(sql).parameters.len(), 1);
}

#[test]
fn a_second_statement_is_seen() {
    assert!(has_more("select 1; select 2"));
    assert!(!has_more("select ';' ; -- select 2"));
}
