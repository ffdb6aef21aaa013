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
    for text in [
        "begin",
        "  /* x */ COMMIT",
        "set search_path = a",
        "Listen a",
        "prepare a as select 1",
        "copy a from stdin",
        "create temp table a (b int)",
        "create or replace temporary view a as select 1",
        "create table pg_temp.a (b int)",
        "select 1 into temporary a",
        "select pg_advisory_lock(1)",
        "select set_config('a.b', 'c', false)",
        "select set_config('a.b', 'c', ?)",
    ] {
        assert!(Text::of(text, false).is_err(), "{text}");
        assert!(Text::of(text, true).is_ok(), "{text}");
    }
    for text in [
        "set local lock_timeout = 1",
        "set transaction isolation level serializable",
        "select 'begin'",
        "notify a",
        "update a set begin = 1",
        "create table a (temp int)",
        "create temp table a (b int) on commit drop",
        "insert into a (temp) values (1)",
        "select pg_advisory_xact_lock(1)",
        "select set_config('a.b', ?, true)",
    ] {
        assert!(Text::of(text, false).is_ok(), "{text}");
    }
}

#[test]
fn what_a_statement_does_is_known() {
    let effect = |text| Text::of(text, false).unwrap().effect;
    for text in
        ["select 1", "(select 1) union (select 2)", "with a as (select 1) select * from a", "values (1)", "table a"]
    {
        assert_eq!(effect(text), Effect::Reads, "{text}");
    }
    for text in ["insert into a values (1)", "update a set b = 1", "delete from a returning b"] {
        assert_eq!(effect(text), Effect::CountsWrites, "{text}");
    }
    for text in [
        "with a as (delete from b returning c) select * from a",
        "insert into a with c as (delete from b returning d) select * from c",
        "select 1 into a",
        "truncate a",
        "call a()",
        "refresh materialized view a",
    ] {
        assert_eq!(effect(text), Effect::Writes, "{text}");
    }
}

#[test]
fn a_script_is_searched_for_transactions() {
    let script =
        "create table a (b text default 'commit');\n-- commit;\ncreate function f() returns void as $$ begin; end $$;";
    assert_eq!(first_control(script), None);
    assert_eq!(first_control("select 1; Commit; select 2"), Some(10));
    assert_eq!(first_control("select 1; end;"), Some(10));
    let function = "create function f() returns int begin atomic select case when true then 1 end; select 2; end;";
    assert_eq!(first_control(function), None);
    assert_eq!(first_control(&format!("{function} end;")), Some(function.len() + 1));
    assert_eq!(statement_starts("select 1; ;; /* a */ select 2").collect::<Vec<_>>(), [0, 21]);
}

#[test]
fn what_would_make_a_table_of_the_connection_is_refused_in_each_form() {
    for text in [
        "select 1 into temp t",
        "select 1 into local temp t",
        "select 1 into table pg_temp.t",
        "select 1 into pg_temp.t",
    ] {
        assert!(Text::of(text, false).is_err(), "{text}");
    }
    assert!(Text::of("update pg_settings set setting = '1' where name = 'a'", false).is_err());
    for text in ["insert into temp values (1)", "select setting from pg_settings", "select 1 into t"] {
        assert!(Text::of(text, false).is_ok(), "{text}");
    }
}

#[test]
fn a_comment_ends_with_its_line_and_any_letter_may_be_in_a_name() {
    let words = |text| pieces(text).filter(|piece| matches!(piece, Piece::Word(_))).count();
    assert_eq!((words("a --b\rc"), words("a --b\nc"), words("a\u{20ac}$b$ c")), (2, 2, 2));
    assert_eq!(words("$\u{20ac}$ a $\u{20ac}$ b"), 1);
}

#[test]
fn what_alters_a_transaction_is_known() {
    let alters = |text| Text::of(text, false).unwrap().alters;
    assert!(alters("set local timezone = 'UTC'") && alters("select set_config('a.b', 'c', true)"));
    assert!(!alters("update a set b = 1"));
}
