//! Unit tests of `postgres/guests`.

use super::*;

#[track_caller]
fn refused(text: &str, why: &str) {
    let reason = check(text).expect_err(text);
    assert!(reason.contains(why), "{text}: {reason}");
}

#[test]
fn rows_may_be_read_and_written() {
    for text in [
        "select title from post where slug = ? for update",
        "  -- a comment\n/* and one */ Select 1",
        "with a as (select 1) insert into b select * from a returning c",
        "insert into post values (?, 'set_config(1)', \"lastvalue\")",
        "update post set title = $$ do $$ where currvalue = 1",
        "delete from post",
        "values (1)",
        "table post",
        "merge into a using b on a.id = b.id when matched then delete",
        "notify news, 'a'",
        "set local statement_timeout = 100",
        "set local app.user = 'ann'",
        "select set_config('app.user', ?, true)",
        "select set_config('app.user', (select max(a) from b), TRUE), 1",
        "select E'a\\'b', 'c'",
        "merge into a using b on true when not matched then insert values (1)",
        "select pg_advisory_xact_lock(1), pg_try_advisory_xact_lock(2)",
        "select U & 1 from a",
    ] {
        assert_eq!(check(text), Ok(()), "{text}");
    }
}

#[test]
fn nothing_else_may() {
    for word in [
        "begin",
        "commit",
        "copy",
        "create",
        "do",
        "drop",
        "explain",
        "listen",
        "lock",
        "reset",
        "set",
        "show",
        "truncate",
        "vacuum",
        "call",
        "prepare",
        "savepoint",
    ] {
        refused(&format!("{word} a b"), &format!("`{word}` is not for"));
    }
    refused("", "expected one of");
}

#[test]
fn what_stays_on_a_connection_is_seen_through_quotes() {
    for text in [
        "select set_config('app.a', 'b', false)",
        "select \"set_config\"('app.a', 'b', ?)",
        "select set_config('app.a', 'b', not true)",
        "select set_config('app.a', 'b', true and false), f(1, true)",
        "select pg_catalog . \"set_config\" /* */ ('app.a', 'b', (true))",
        "select set_config(?, 'b', true)",
        "select set_config('timezone', 'UTC', true)",
        "select set_config('app' || '.a', 'b', true)",
        "select f(set_config)",
    ] {
        refused(text, "has the form");
    }
    refused("set local standard_conforming_strings = off", "what a transaction may set");
    refused("set local search_path = pg_temp", "what a transaction may set");
    refused("select u&\"\\0073et_config\"('a', 'b', false)", "write the name as it is");
    refused("select E'a'\n'\\'', pg_try_advisory_lock(4), E'a'\n'\\''", "write it in one");
    for text in
        ["select 1 into t", "select 1 as id into local temp post", "with a as (select 1) select * into b from a"]
    {
        refused(text, "belongs into a migration");
    }
    for name in [
        "PG_Advisory_Lock(1)",
        "\"pg_try_advisory_lock_shared\"(1)",
        "query_to_xml('select 1', true, true, '')",
        "crosstab('select 1')",
        "lastval()",
        "pg_terminate_backend(1)",
        "1, --\rpg_try_advisory_lock(1)",
        "1 as a\u{20ac}$b$, pg_try_advisory_lock(3) as c\u{20ac}$b$",
        "$\u{20ac}$ ' $\u{20ac}$, pg_try_advisory_lock(2), $\u{20ac}$ ' $\u{20ac}$",
        "query from pg_stat_activity",
        "* from pg_temp.post",
    ] {
        refused(&format!("select {name}"), "reaches other requests");
    }
    refused("update pg_settings set setting = '1' where name = 'statement_timeout'", "reaches other requests");
}

#[test]
fn savepoints_are_those_of_skep() {
    for text in ["savepoint skep_1", "rollback to skep_12", "release skep_3"] {
        assert!(of_guest(text, Vec::new(), false).unwrap().is_own, "{text}");
    }
    for text in ["savepoint skep_", "savepoint skep_1; set a = b", "savepoint mine", "rollback to skep_1 "] {
        assert!(of_guest(text, Vec::new(), false).is_err(), "{text}");
    }
}
