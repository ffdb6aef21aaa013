//! Which statements surely keep to the rows of a scope, with PostgreSQL.

use crate::sql::describe::Database;
use crate::sql::describe::tests::{run, with};
use crate::sql::server::Server;

use super::*;

#[path = "scope_soundness.rs"]
mod soundness;

const SCHEMA: &str = "
    -- skep: ticket is scoped by account_id
    create table member (id bigint primary key, account_id bigint not null, name text not null);
    create table ticket (id bigint primary key, account_id bigint not null, title text not null, unique (account_id, title));
    /* skep: Comment is scoped by Account_Id */
    create table comment (id bigint primary key, account_id integer not null, ticket_id bigint not null, text text not null);
    create collation caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    create table token (id bigint primary key, user_id text collate caseless not null unique, code text);
    -- skep: token is scoped by user_id
    create table key (id bigint primary key, owner uuid not null unique, word varchar(20));
    -- skep: key is scoped by owner
    create table plain (id bigint primary key, account_id bigint not null, user_id text not null, owner uuid);
    create table event (id bigint, dropped int, account_id bigint, year int) partition by range (year);
    alter table event drop column dropped;
    create table event_2026 (year int, account_id bigint, id bigint);
    alter table event attach partition event_2026 for values from (2026) to (2027);
    -- skep: event is scoped by account_id
    create table base (id bigint);
    create table derived (owner bigint) inherits (base);
    -- skep: derived is scoped by owner

    create view title as select title from ticket;
    create view shout as select upper(title) as title from title;
    create materialized view titles as select title from ticket;
    create view number as select id from plain;
    create view statistic as select tablename from pg_stats;
    create function counts() returns bigint stable language sql as 'select count(*) from ticket';
    create function counts_atomic() returns bigint stable language sql begin atomic select count(*) from title; end;
    create function lies() returns bigint immutable language plpgsql as $$ begin return counts(); end $$;
    create function runs(what text) returns void language plpgsql as $$ begin execute what; end $$;
    create function slug(text) returns text stable language sql as 'select lower($1)';
    create view counted as select id, counts() as tickets from plain;
    create function add(bigint, text) returns bigint immutable language sql as 'select $1 + length($2)';
    create aggregate lengths(text) (sfunc = add, stype = bigint, initcond = '0');
    create function is_like(text, bigint) returns boolean stable language sql as 'select exists (select from ticket where id = $2)';
    create operator ~~~ (leftarg = text, rightarg = bigint, function = is_like);
    create function same(bigint, bigint) returns boolean immutable language sql as 'select true';
    create operator === (leftarg = bigint, rightarg = bigint, function = same);

    create function touch() returns trigger language plpgsql as $$ begin if new.id < 0 then return null; end if; return new; end $$;
    create trigger touch before insert or update on ticket for each row execute function touch();
    create table noisy (id bigint);
    create function noise() returns trigger language plpgsql as $$ begin update ticket set title = ''; return new; end $$;
    create trigger noise after insert on noisy for each row execute function noise();
    create function louder() returns void language sql as 'insert into noisy values (1)';
    create view quiet as select id from noisy;
    create table gift (id bigint, owner bigint);
    -- skep: gift is scoped by owner
    create function give() returns trigger language plpgsql as $$ begin new.owner := 7; return new; end $$;
    create trigger give before insert on gift for each row execute function give();
    create table loan (id bigint, owner bigint);
    -- skep: loan is scoped by owner
    create function lend() returns trigger language plpgsql as $$ begin select 1, 7 into new; return new; end $$;
    create trigger lend before insert on loan for each row execute function lend();
    create table logged (id bigint, owner bigint);
    -- skep: logged is scoped by owner
    create table diary (what text);
    create function log() returns trigger language plpgsql as $$ begin insert into diary values (new.owner); return null; end $$;
    create trigger log after insert on logged for each row execute function log();
    create table ruled (id bigint);
    create rule other as on insert to ruled do also delete from ticket;
    create table defaults (id bigint default counts(), other bigint);";

/// A statement, and the parameters that must be a `Scope`.
const KEPT: &[(&str, &[usize])] = &[
    ("select title from ticket where account_id = ?", &[1]),
    ("select title from ticket where id = ? and (? = ticket.account_id)", &[2]),
    ("select t.title from ticket t where (t.id > ? or t.id < ?) and t.account_id = ?", &[3]),
    ("select title from ticket where account_id in (?)", &[1]),
    ("select title from ticket where (account_id, id) = (?, ?)", &[1]),
    ("select title from ticket where account_id = ?::bigint", &[1]),
    ("select code from token where user_id = ?", &[1]),
    ("select word from key where owner = ?", &[1]),
    ("select 1 from ticket t join comment c on c.ticket_id = t.id and c.account_id = ? where t.account_id = ?", &[1, 2]),
    ("select 1 from ticket t join comment c on c.account_id = t.account_id where t.account_id = ?", &[1]),
    ("select 1 from ticket t left join comment c on c.account_id = t.account_id where t.account_id = ?", &[1]),
    ("select 1 from ticket join comment using (account_id) where account_id = ?", &[1]),
    ("select 1 from plain full join ticket t on t.id = plain.id where t.account_id = ?", &[1]),
    ("select 1 from plain left join comment c on c.account_id = ?", &[1]),
    ("select 1 from comment c right join plain on c.account_id = ?", &[1]),
    ("select 1 from plain right join comment c on true where c.account_id = ?", &[1]),
    ("select 1 from plain left join (ticket t join comment c on c.account_id = ? and t.account_id = ?) on true", &[1, 2]),
    ("select 1 from member u join ticket t on t.account_id = u.account_id where u.account_id = ?", &[1]),
    ("select 1 from plain p join key k on k.owner = p.owner where p.owner = ?", &[1]),
    ("select (select count(*) from comment c where c.account_id = t.account_id) from ticket t where t.account_id = ?", &[1]),
    ("select n from ticket t, lateral (select count(*) from comment c where c.account_id = t.account_id) x (n) where t.account_id = ?", &[1]),
    ("select account_id, count(*) from ticket where account_id = ? group by account_id", &[1]),
    ("select 1 from plain where exists (select 1 from ticket where ticket.account_id = ? and ticket.id = plain.id)", &[1]),
    ("with mine as (select id from ticket where account_id = ?) select id from mine", &[1]),
    ("with ticket as (select 1 as id) select id from ticket", &[]),
    ("select id from (select id from ticket where account_id = ?) x", &[1]),
    ("select id from ticket where account_id = ? union select id from comment where account_id = ?", &[1, 2]),
    ("select id from plain where account_id = ?", &[]),
    ("select count(*) from ticket where account_id = ? limit ?", &[1]),
    ("select title from ticket where account_id = ? for update", &[1]),
    ("select id from event where account_id = ?", &[1]),
    ("select id from event_2026 where account_id = ?", &[1]),
    ("select id from derived where owner = ?", &[1]),
    ("select id from number", &[]),
    ("select slug(title), lengths(title) from ticket where account_id = ? group by title", &[1]),
    ("select id from ticket where account_id = ? and title ~~ slug(?)", &[1]),
    // Writes.
    ("update ticket set title = ? where id = ? and account_id = ?", &[3]),
    ("update ticket as t set account_id = ? where t.account_id = ?", &[1, 2]),
    ("update ticket set (title, account_id) = (?, ?) where account_id = ?", &[2, 3]),
    ("update ticket set account_id = account_id where account_id = ?", &[1]),
    ("update ticket set title = p.user_id from plain p where p.id = ticket.id and ticket.account_id = ?", &[1]),
    ("delete from ticket where account_id = ?", &[1]),
    ("delete from ticket using plain where plain.id = ticket.id and ticket.account_id = ? returning title", &[1]),
    ("insert into ticket (id, title, account_id) values (1, ?, ?), (2, ?, ?)", &[2, 4]),
    ("insert into ticket values (?, ?, ?)", &[2]),
    ("insert into comment (id, account_id, ticket_id, text) select ?, account_id, id, ? from comment where account_id = ?", &[3]),
    ("insert into comment (id, account_id, ticket_id, text) select id, ?, id, '' from plain", &[1]),
    ("insert into ticket (id, account_id, title) select 1, ?::bigint, '' union all select 2, ?::bigint, ''", &[1, 2]),
    ("insert into ticket (id, account_id, title) values (1, ?, ?) on conflict do nothing", &[1]),
    (
        "insert into ticket (id, account_id, title) values (1, ?, ?) on conflict (account_id, title) do update set title = ?",
        &[1],
    ),
    (
        "insert into ticket (id, account_id, title) values (?, ?, ?)
            on conflict (id) do update set title = excluded.title where ticket.account_id = excluded.account_id returning title",
        &[2],
    ),
    (
        "insert into ticket (id, account_id, title) values (?, ?, ?)
            on conflict (id) do update set account_id = excluded.account_id where ticket.account_id = ?",
        &[2, 4],
    ),
    ("insert into event (id, account_id, year) values (1, ?, 2026)", &[1]),
    ("insert into plain (id, account_id, user_id) values (1, ?, ?)", &[]),
    ("insert into logged (owner) values (?)", &[1]),
    ("delete from plain where id in (select id from ticket where account_id = ?)", &[1]),
    (
        "insert into ticket (id, account_id, title) values (1, ?, '') returning (select count(*) from comment c where c.account_id = ?)",
        &[1, 2],
    ),
    ("with gone as (delete from ticket where account_id = ? returning id) select count(*) from gone", &[1]),
];

/// A statement, and a part of what is wrong.
const REFUSED: &[(&str, &str)] = &[
    (
        "select title from ticket",
        "`ticket` is scoped by `account_id`, and nothing says here whose rows are meant\nhelp: add `ticket.account_id = ?`",
    ),
    ("select t.title from ticket t", "`t`, which is `ticket`, is scoped by `account_id`"),
    ("select title from ticket where id = ?", "nothing says"),
    ("select title from ticket where account_id = ? or id = ?", "nothing says"),
    ("select title from ticket where not account_id = ?", "nothing says"),
    ("select title from ticket where account_id is not distinct from ?", "nothing says"),
    ("select title from ticket where account_id >= ?", "nothing says"),
    ("select title from ticket where account_id = any(?)", "nothing says"),
    ("select title from ticket where account_id in (?, ?)", "nothing says"),
    ("select title from ticket where account_id = ? + 0", "nothing says"),
    ("select title from ticket where account_id = 1", "nothing says"),
    ("select title from ticket where account_id = account_id", "nothing says"),
    ("select title from ticket where account_id === ?", "nothing says"),
    ("select title from ticket where account_id::int = ?", "nothing says"),
    ("select code from token where lower(user_id) = ?", "nothing says"),
    ("select title from ticket group by title, account_id having account_id = ?", "nothing says"),
    ("select case when account_id = ? then title end from ticket", "nothing says"),
    ("select count(*) filter (where account_id = ?) from ticket", "nothing says"),
    ("select 1 from ticket t join ticket u on t.account_id = ?", "`u`, which is `ticket`"),
    ("select 1 from ticket t left join comment c on t.account_id = ? and c.account_id = ?", "`t`, which"),
    ("select 1 from ticket t right join plain on t.id = ?", "nothing says"),
    ("select 1 from plain right join ticket t on t.account_id = ?", "nothing says"),
    ("select 1 from plain full join ticket t on t.account_id = plain.id and plain.id = ?", "nothing says"),
    ("select 1 from ticket full join comment using (account_id) where account_id = ?", "nothing says"),
    ("select 1 from plain p join comment c on c.account_id = p.account_id", "nothing says"),
    // Equal without regard to case is not the same.
    ("select 1 from token t join token u on u.user_id = t.user_id where t.user_id = ?", "`u`, which is `token`"),
    ("select 1 from plain p join token t on t.user_id = p.user_id where p.user_id = ?", "nothing says"),
    ("select 1 from plain, ticket where plain.account_id = ?", "nothing says"),
    ("select id from (select id, account_id from ticket) x where account_id = ?", "nothing says"),
    ("with mine as (select id, account_id from ticket) select id from mine where account_id = ?", "nothing says"),
    ("select (select count(*) from comment) from ticket where account_id = ?", "`comment` is scoped"),
    ("select id from plain order by (select count(*) from ticket)", "nothing says"),
    ("select sum(id) over (order by (select count(*) from ticket)) from plain", "nothing says"),
    (
        "select sum(id) over named from plain window named as (partition by (select count(*) from ticket))",
        "nothing says",
    ),
    ("select id from plain limit (select count(*) from ticket)", "nothing says"),
    ("select count(*) filter (where exists (select 1 from ticket)) from plain", "nothing says"),
    ("values ((select title from ticket limit 1))", "nothing says"),
    ("select 1 from unnest(array(select title from ticket)) x", "nothing says"),
    ("select id from plain union select id from ticket", "nothing says"),
    ("select id from event", "`event` is scoped by `account_id`"),
    ("select id from event_2026", "`event_2026` is scoped by `account_id`"),
    ("select id from base", "`base` is made of `derived`, which is scoped"),
    (
        "select title from title",
        "`title` is made of `ticket`, which is scoped, and shows rows of everybody\nhelp: write",
    ),
    ("select title from shout", "`shout` is made of `ticket`"),
    ("select title from titles", "`titles` is made of `ticket`"),
    ("select tickets from counted", "`counted` is made of `ticket`"),
    (
        "select counts()",
        "`counts` may reach rows of everybody: of `ticket`, which is scoped\nhelp: if that is right, say why",
    ),
    ("select counts_atomic()", "`counts_atomic` may reach"),
    ("select lies()", "`lies` may reach"),
    ("select runs('')", "`runs` may reach rows of everybody: what the function `runs` does cannot be followed"),
    ("select louder()", "`louder` may reach"),
    ("select id from plain where user_id ~~~ 1", "`is_like` may reach"),
    ("select query_to_xml('select 1', true, true, '')", "`query_to_xml` may reach"),
    ("select most_common_vals::text from pg_stats", "`pg_stats` may reach"),
    ("select tablename::text from statistic", "`statistic` may reach"),
    // Writes.
    ("update ticket set title = ? where id = ?", "nothing says"),
    (
        "update ticket set account_id = 2 where account_id = ?",
        "`account_id` says whose a row of `ticket` is, and gets a value here",
    ),
    ("update ticket set (title, account_id) = (select '', 2) where account_id = ?", "gets a value here"),
    ("update ticket set account_id = p.account_id from plain p where ticket.account_id = ?", "gets a value here"),
    ("update token set user_id = (select ? from token) where user_id = ?", "gets a value here"),
    ("update plain set user_id = ticket.title from ticket where ticket.id = plain.id", "nothing says"),
    ("delete from ticket", "nothing says"),
    ("delete from ticket where id = ?", "nothing says"),
    ("delete from plain where id in (select id from ticket)", "nothing says"),
    ("delete from plain using ticket where ticket.id = plain.id", "nothing says"),
    ("insert into ticket (id, title) values (1, ?)", "gets a value here"),
    ("insert into ticket (id, title, account_id) values (1, ?, 1)", "gets a value here"),
    ("insert into ticket (id, title, account_id) values (1, ?, ?), (2, ?, 1)", "gets a value here"),
    ("insert into ticket (id, title, account_id) values (1, ?, default)", "gets a value here"),
    ("insert into ticket default values", "gets a value here"),
    ("insert into token (id, user_id) select 1, user_id from token where user_id = ?", "gets a value here"),
    (
        "insert into token (id, user_id) values (?, ?) on conflict (user_id) do update set code = excluded.code",
        "nothing says",
    ),
    ("insert into ticket (id, account_id, title) select id, account_id, '' from plain", "gets a value here"),
    (
        "insert into ticket (id, account_id, title) select 1, ?::bigint, '' union all select 2, 3::bigint, ''",
        "gets a value here",
    ),
    ("insert into ticket (id, account_id, title) values (1, ?, (select title from ticket))", "nothing says"),
    (
        "insert into ticket (id, account_id, title) values (?, ?, ?) on conflict (id) do update set title = excluded.title",
        "nothing says",
    ),
    (
        "insert into ticket (id, account_id, title) values (?, ?, ?)
            on conflict on constraint ticket_pkey do update set title = excluded.title",
        "nothing says",
    ),
    (
        "insert into ticket (id, account_id, title) values (?, ?, ?)
            on conflict (id) do update set account_id = 7 where ticket.account_id = excluded.account_id",
        "gets a value here",
    ),
    ("insert into plain (id, account_id, user_id) select id, account_id, title from ticket", "nothing says"),
    (
        "insert into plain (id, account_id, user_id) values (1, 1, '') returning (select title from ticket)",
        "nothing says",
    ),
    ("with gone as (delete from ticket returning id) select count(*) from gone", "nothing says"),
    (
        "merge into ticket t using plain p on p.id = t.id and t.account_id = ? when matched then delete",
        "`ticket` is scoped, and this statement is written in a way that `sql!` cannot follow",
    ),
    (
        "insert into noisy values (1)",
        "a trigger, a rule or a function at `noisy` may reach rows of everybody: of `ticket`",
    ),
    ("insert into quiet values (1)", "at `quiet` may reach"),
    ("insert into gift (owner) values (?)", "the function `give` may change `owner` of a row before it is written"),
    ("insert into loan (owner) values (?)", "the function `lend` may change `owner`"),
    ("insert into ruled values (1)", "at `ruled` may reach rows of everybody: what a rule does is not followed"),
    ("insert into defaults (other) values (1)", "at `defaults` may reach"),
];

#[test]
#[ignore = "needs PostgreSQL"]
fn a_statement_keeps_to_its_scope_only_if_that_is_sure() {
    run(with(SCHEMA, async |database| {
        let mut wrong = Vec::new();
        for (sql, expected) in KEPT {
            let found = database.describe(sql).await.map(|entry| entry.reach);
            let parameters = match &found {
                Ok(Reach::NoScoped) => Some(BTreeSet::new()),
                Ok(Reach::Scoped(proofs)) => Some(proofs.iter().map(|proof| proof.parameter).collect()),
                _ => None,
            };
            if parameters != Some(expected.iter().copied().collect()) {
                wrong.push(format!("{sql}: {found:?}"));
            }
        }
        for (sql, expected) in REFUSED {
            let found = database.describe(sql).await.map(|entry| entry.reach);
            if !matches!(&found, Ok(Reach::Everybody(why)) if why.contains(expected)) {
                wrong.push(format!("{sql}: {found:?}, not {expected}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        // The kind of the scope is that of the table of which the migration speaks.
        let part = database.describe("select id from event_2026 where account_id = ?").await.unwrap().reach;
        let proof = Proof { parameter: 1, table: "event".to_owned(), column: "account_id".to_owned() };
        assert_eq!(part, Reach::Scoped([proof].into()));
    }));
}

/// Migrations, and a part of what is wrong, or which tables are scoped in the end.
const LIVES: &[(&[&str], Result<&str, &str>)] = &[
    (&[TOKEN], Ok("token.user_id")),
    (&["create table token (user_id int)", "-- skep: Token is scoped by USER_ID"], Ok("token.user_id")),
    (&["create table token (user_id int)", "select '-- skep: token is scoped by user_id'"], Ok("")),
    (&["create table \"Token\" (\"userId\" int); -- skep: \"Token\" is scoped by \"userId\""], Ok("Token.userId")),
    (&["create schema shop; create table shop.token (a int); -- skep: shop.token is scoped by a"], Ok("shop.token.a")),
    (&[TOKEN, "-- skep: token is not scoped"], Ok("")),
    (
        &[TOKEN, "alter table token rename to key; -- skep: token is not scoped\n-- skep: key is scoped by user_id"],
        Ok("key.user_id"),
    ),
    (
        &[TOKEN, "drop table token; create table token (user_id int); -- skep: token is scoped by user_id"],
        Ok("token.user_id"),
    ),
    (&[TOKEN, "alter table token add other int"], Ok("token.user_id")),
    (&[TOKEN, "alter table token rename to key"], Err("takes that column away")),
    (&[TOKEN, "alter table token rename column user_id to owner"], Err("takes that column away")),
    (&[TOKEN, "alter table token drop column user_id"], Err("takes that column away")),
    (&[TOKEN, "drop table token; create table token (user_id int)"], Err("takes that column away")),
    (
        &[TOKEN, "-- skep: token is scoped by user"],
        Err("0002.sql: line 1: `token is scoped by user`: there is no such column"),
    ),
    (&["create view token as select 1 as a; -- skep: token is scoped by a"], Err("there is no such column of a table")),
    (&[TOKEN, "-- skep: scoped by user_id"], Err("expected one of `skep: TABLE is scoped by COLUMN`")),
    (&[TOKEN, "-- skep: tokens is not scoped"], Err("`tokens` was not scoped before")),
    (
        &[TOKEN, "\n-- skep: function slug(text) text"],
        Err("line 2: `slug(text) text`: PostgreSQL cannot call functions"),
    ),
];

const TOKEN: &str = "-- skep: token is scoped by user_id\ncreate table token (id bigint primary key, user_id bigint);";

#[test]
#[ignore = "needs PostgreSQL"]
fn a_scope_is_not_lost_in_silence() {
    run(async {
        let mut server = Server::shared();
        for (migrations, expected) in LIVES {
            let folder = tempfile::tempdir().unwrap();
            for (nth, text) in migrations.iter().enumerate() {
                std::fs::write(folder.path().join(format!("000{}.sql", nth + 1)), text).unwrap();
            }
            let found = Database::of(&mut server, folder.path()).await;
            let scoped = found.as_ref().map(|database| {
                let columns = database.scopes.columns.values().flatten();
                columns.map(|column| format!("{}.{}", column.table, column.name)).collect::<Vec<_>>().join(" ")
            });
            match expected {
                Ok(expected) => assert_eq!(scoped.as_deref(), Ok(*expected), "{migrations:?}"),
                Err(expected) => assert!(scoped.as_ref().is_err_and(|error| error.contains(expected)), "{scoped:?}"),
            }
        }
        server.end().await;
    });
}
