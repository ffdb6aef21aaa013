//! Unit tests of `sql::postgres::text`.

use super::*;

fn translated(text: &str) -> String {
    Text::of(text, false).unwrap().sql
}

#[test]
fn a_question_mark_is_a_numbered_parameter() {
    assert_eq!(
        translated("select a from b where c = ? and d in (?, ?)"),
        "select a from b where c = $1 and d in ($2, $3)"
    );
    assert_eq!(translated("select ?2, ?1, $3"), "select $2, $1, $3");
}

#[test]
fn strings_names_and_comments_stay_as_they_are() {
    for text in [
        "select '?', 'it''s ?', \"a?\"\"?\"",
        "select e'\\'?' -- ?\n",
        "select /* ? /* ? */ ? */ 1",
        "select $$ ? $$, $a$ ? $$ ? $a$",
        "select 'ü?', '?",
    ] {
        assert_eq!(translated(text), text);
    }
    assert_eq!(translated("select a$1, '?' || ?"), "select a$1, '?' || $1");
}

#[test]
fn two_question_marks_are_the_operator() {
    assert_eq!(translated("select a ?? 'key', b ??| ?"), "select a ? 'key', b ?| $1");
}

#[test]
fn what_changes_a_shared_connection_is_refused() {
    for text in
        ["begin", "  /* x */ COMMIT", "set search_path = a", "Listen a", "prepare a as select 1", "copy a from stdin"]
    {
        assert!(Text::of(text, false).is_err(), "{text}");
        assert!(Text::of(text, true).is_ok(), "{text}");
    }
    for text in ["set local lock_timeout = 1", "select 'begin'", "notify a", "update a set begin = 1"] {
        assert!(Text::of(text, false).is_ok(), "{text}");
    }
}

#[test]
fn what_only_reads_is_known() {
    let reads = |text| Text::of(text, false).unwrap().reads_only;
    for text in
        ["select 1", "(select 1) union (select 2)", "with a as (select 1) select * from a", "values (1)", "table a"]
    {
        assert!(reads(text), "{text}");
    }
    for text in ["insert into a values (1)", "with a as (delete from b returning c) select * from a", "select 1 into a"]
    {
        assert!(!reads(text), "{text}");
    }
}

#[test]
fn a_script_is_searched_for_transactions() {
    let script =
        "create table a (b text default 'commit');\n-- commit;\ncreate function f() returns void as $$ begin; end $$;";
    assert_eq!(first_control(script), None);
    assert_eq!(first_control("select 1; Commit; select 2"), Some(10));
    assert_eq!(statement_starts("select 1; ;; /* a */ select 2").collect::<Vec<_>>(), [0, 21]);
}
