//! Which statements surely keep to the rows of a scope.

use super::*;
use crate::check::check;

const SCHEMA: &str = "
    -- skep: ticket is scoped by account_id
    -- skep: comment is scoped by account_id
    -- skep: token is scoped by user_id
    create table user (id integer primary key, account_id integer not null, name text not null) strict;
    create table ticket (id integer primary key, account_id integer not null, title text not null, unique (account_id, title)) strict;
    create table comment (id integer primary key, account_id integer not null, ticket_id integer not null, text text not null) strict;
    create table token (id integer primary key, user_id text not null unique collate nocase, code text) strict;
    create table note (id integer primary key on conflict replace, account_id integer not null) strict;
    -- skep: note is scoped by account_id
    create table badge (account_id integer primary key) strict;
    -- skep: badge is scoped by account_id
    create table plain (id integer primary key, account_id integer not null, user_id text not null) strict;
    create table other (mine integer not null) strict;
    create view title as select title from ticket;
    create view shout as select upper(title) as title from title;
    create virtual table ticket_search using fts5 (title, content='ticket', content_rowid='id');";

/// The parameters that must be a `Scope`, or what is wrong.
fn proofs(sql: &str) -> Result<Vec<usize>, String> {
    let schema = Schema::of(&[("0001.sql".into(), SCHEMA.to_owned())]).unwrap();
    let checked = check(&schema, sql, &[], false)?;
    let parameters: BTreeSet<usize> = checked.proofs.iter().map(|proof| proof.parameter).collect();
    Ok(parameters.into_iter().collect())
}

fn is_refused(sql: &str) {
    let outcome = proofs(sql);
    let error = outcome.expect_err(sql);
    assert!(error.to_ascii_lowercase().contains("scope"), "{sql}\n{error}");
}

#[test]
fn a_select_compares_each_scoped_table() {
    for (sql, parameters) in [
        ("select title from ticket where account_id = ?", &[1][..]),
        ("select title from ticket where id = ? and (? = ticket.account_id)", &[2]),
        ("select t.title from ticket t where (t.id > ? or t.id < ?) and t.account_id = ?", &[3]),
        (
            "select 1 from ticket t join comment c on c.ticket_id = t.id and c.account_id = ? where t.account_id = ?",
            &[1, 2],
        ),
        ("select 1 from ticket t join comment c on c.account_id = t.account_id where t.account_id = ?", &[1]),
        ("select 1 from ticket t left join comment c on c.account_id = t.account_id where t.account_id = ?", &[1]),
        ("select 1 from plain left join comment c on c.account_id = ?", &[1]),
        ("select 1 from plain right join comment c on true where c.account_id = ?", &[1]),
        ("select 1 from user u join ticket t on t.account_id = u.account_id where u.account_id = ?", &[1]),
        (
            "select (select count(*) from comment c where c.account_id = t.account_id) from ticket t where t.account_id = ?",
            &[1],
        ),
        (
            "select 1 from plain where exists (select 1 from ticket where ticket.account_id = ? and ticket.id = plain.id)",
            &[1],
        ),
        ("with mine as (select id from ticket where account_id = ?) select id from mine", &[1]),
        ("select id from (select id from ticket where account_id = ?)", &[1]),
        ("select id from ticket where account_id = ? union select id from comment where account_id = ?", &[1, 2]),
        ("select id from plain where account_id = ?", &[]),
        ("select count(*) from ticket where account_id = ? limit ?", &[1]),
    ] {
        assert_eq!(proofs(sql).as_deref(), Ok(parameters), "{sql}");
    }
}

#[test]
fn what_does_not_surely_keep_to_the_scope_is_refused() {
    for sql in [
        "select title from ticket",
        "select count(*) from ticket",
        "select title from ticket where id = ?",
        "select title from ticket where account_id = ? or id = ?",
        "select title from ticket where not account_id = ?",
        "select title from ticket where account_id is ?",
        "select title from ticket where account_id >= ?",
        "select title from ticket where account_id in (?)",
        "select title from ticket where account_id = ? + 0",
        "select title from ticket where account_id = 1",
        "select title from ticket where account_id = account_id",
        "select title from ticket where (account_id, id) = (?, ?)",
        "select title from ticket group by title having account_id = ?",
        "select case when account_id = ? then title end from ticket",
        "select 1 from ticket t join ticket u on t.account_id = ?",
        "select 1 from ticket t left join comment c on t.account_id = ? and c.account_id = ?",
        "select 1 from ticket t right join plain on t.account_id = ? and t.id = plain.id",
        "select 1 from plain full join ticket t on t.account_id = ?",
        "select 1 from (plain left join ticket t on t.account_id = ?)",
        "select 1 from plain p join comment c on c.account_id = p.account_id",
        "select 1 from plain p left join comment c on p.account_id = ? and c.account_id = p.account_id",
        // Equal without regard to case is not equal.
        "select 1 from plain p join token k on k.user_id = p.user_id where p.user_id = ?",
        "select 1 from plain, ticket where plain.account_id = ?",
        // SQLite takes the result of the inner select for `mine`, and not the column of `other`.
        "select (select 2 as mine from ticket t where t.account_id = mine) from other where other.mine = ?",
        "select (select 1 from (plain join user) as x, ticket t where t.account_id = plain.account_id) from plain where plain.account_id = ?",
        "select id from (select id, account_id from ticket) where account_id = ?",
        "with mine as (select id, account_id from ticket) select id from mine where account_id = ?",
        "with ticket as (select 1 as id) select id from ticket",
        "select (select count(*) from comment) from ticket where account_id = ?",
        "select id from plain where id in badge",
        "select id from plain where id in (select id from ticket)",
        "select id from plain order by (select count(*) from ticket)",
        "select sum(id) over (order by (select count(*) from ticket)) from plain",
        "select sum(id) over named from plain window named as (partition by (select count(*) from ticket))",
        "select id from plain limit (select count(*) from ticket)",
        "select count(*) filter (where exists (select 1 from ticket)) from plain",
        "values ((select title from ticket))",
        "select 1 from json_each((select title from ticket))",
        "select id from plain union select id from ticket",
        "select title from title",
        "select title from shout",
        "select rowid from ticket_search where ticket_search match ?",
        "select id from ticket_search_docsize",
        "select id from main.ticket where main.ticket.account_id = ?",
        "select 1 from ticket join comment using (account_id) where account_id = ?",
    ] {
        is_refused(sql);
    }
}

#[test]
fn a_write_keeps_to_the_scope() {
    for (sql, parameters) in [
        ("update ticket set title = ? where id = ? and account_id = ?", &[3][..]),
        ("update ticket as t set account_id = ? where t.account_id = ?", &[1, 2]),
        ("update ticket set title = p.user_id from plain p where p.id = ticket.id and ticket.account_id = ?", &[1]),
        ("delete from ticket where account_id = ?", &[1]),
        ("insert into ticket (title, account_id) values (?, ?), (?, ?)", &[2, 4]),
        ("insert into ticket values (?, ?, ?)", &[2]),
        (
            "insert into comment (account_id, ticket_id, text) select account_id, id, ? from ticket where account_id = ?",
            &[2],
        ),
        ("insert into comment (account_id, ticket_id, text) select ?, id, '' from plain", &[1]),
        ("insert into ticket (account_id, title) values (?, ?) on conflict do nothing", &[1]),
        (
            "insert into ticket (account_id, title) values (?, ?) on conflict (account_id, title) do update set title = ?",
            &[1],
        ),
        (
            "insert into ticket (id, account_id, title) values (?, ?, ?)
            on conflict (id) do update set title = excluded.title where ticket.account_id = excluded.account_id",
            &[2],
        ),
        ("insert into plain (account_id, user_id) values (?, ?)", &[]),
        ("delete from plain where id in (select id from ticket where account_id = ?)", &[1]),
        (
            "insert into ticket (account_id, title) values (?, '') returning (select count(*) from comment where account_id = ?)",
            &[1, 2],
        ),
    ] {
        assert_eq!(proofs(sql).as_deref(), Ok(parameters), "{sql}");
    }
    for sql in [
        "update ticket set title = ? where id = ?",
        "update ticket set account_id = 2 where account_id = ?",
        "update ticket set (title, account_id) = (select '', 2) where account_id = ?",
        "update token set user_id = (select ? from token) where user_id = ?",
        "insert into token (user_id) select user_id from token where user_id = ?",
        "insert into token (id, user_id) values (?, ?) on conflict (user_id) do update set code = excluded.code",
        "update or replace ticket set id = ? where account_id = ?",
        "update plain set user_id = ticket.title from ticket where ticket.id = plain.id",
        "delete from ticket",
        "delete from ticket where id = ?",
        "delete from plain where id in (select id from ticket)",
        "insert into ticket (title) values (?)",
        "insert into ticket (title, account_id) values (?, 1)",
        "insert into ticket (title, account_id) values (?, ?), (?, 1)",
        "insert into ticket default values",
        "insert or replace into ticket (id, account_id, title) values (?, ?, ?)",
        "insert into note (id, account_id) values (?, ?)",
        "replace into ticket (id, account_id, title) values (?, ?, ?)",
        "insert into ticket (account_id, title) select account_id, '' from plain",
        "insert into ticket select * from ticket where account_id = ?",
        "insert into ticket (account_id, title) values (?, (select title from ticket))",
        "insert into ticket (id, account_id, title) values (?, ?, ?) on conflict (id) do update set title = excluded.title",
        "insert into ticket (id, account_id, title) values (?, ?, ?) on conflict do update set title = excluded.title",
        "insert into ticket (id, account_id, title) values (?, ?, ?)
            on conflict (id) do update set account_id = 7 where ticket.account_id = excluded.account_id",
        "insert into plain (account_id, user_id) select account_id, title from ticket",
        "insert into plain (account_id, user_id) values (1, '') returning (select title from ticket)",
    ] {
        is_refused(sql);
    }
}
