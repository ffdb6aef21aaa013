//! Unit tests of `sql::describe`, with PostgreSQL.

#[path = "soundness.rs"]
pub(in crate::sql) mod soundness;

use skep_sql_lock::Tables;

use super::*;

const SCHEMA: &str = "
    create type size as enum ('small', 'large');
    create domain address as text check (value like '%@%');
    create table post (
        id bigint generated always as identity primary key, title text not null, body text, size size not null, mail address not null,
        price numeric(8, 2) not null, times integer not null, at timestamptz not null, data jsonb not null, file bytea not null
    );
    create table remark (id bigint primary key, post bigint not null references post on delete cascade on update cascade, text text not null);
    create table mention (remark bigint references remark on delete set null);
    create view titled as select id, title, body from post;
    create view counted as select post.title, count(remark.id) as remarks, max(remark.text) as last
        from post left join remark on remark.post = post.id group by post.id;
    create table parent (id bigint not null);
    create table child (more text) inherits (parent);
    create table event (id bigint not null, at date not null) partition by range (at);
    create table event_2026 partition of event for values from ('2026-01-01') to ('2027-01-01');
    create schema other;
    create table other.secret (id bigint primary key, word text not null);
    alter table other.secret enable row level security;
    create table watched (id bigint primary key, name text not null);
    create function noted() returns trigger language plpgsql as $$ begin insert into mention values (null); return new; end $$;
    create trigger noted after insert on watched for each row execute function noted();
    create function own(bigint) returns bigint immutable language sql as 'select $1 + 1';
    create function counts() returns bigint stable language sql as 'select count(*) from post';
    create function adds() returns bigint volatile language sql as 'insert into mention values (1) returning 1';
    create table defaults (id bigint not null default adds());
    create table ruled (id bigint not null);
    create rule other as on insert to ruled do instead insert into mention values (new.id) returning remark;
";

/// A database that has this schema.
pub(in crate::sql) async fn with<T>(schema: &str, test: impl AsyncFnOnce(&Database) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("0001_all.sql"), schema).unwrap();
    let mut server = Server::shared();
    let database = Database::of(&mut server, folder.path()).await.unwrap();
    let result = test(&database).await;
    drop(database);
    server.end().await;
    result
}

pub(in crate::sql) fn run<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Each with a `?` for a column that may be NULL, and a `!` for one that is never.
const NULLS: &[(&str, &str)] = &[
    ("select id, title, body from post", "!!?"),
    ("select *, tableoid from remark", "!!!?"),
    ("select p.title, r.text from post p left join remark r on r.post = p.id", "!?"),
    ("select p.title, r.text from post p right join remark r on r.post = p.id", "?!"),
    ("select p.title, r.text from post p full join remark r on r.post = p.id", "??"),
    ("select p.title, r.text from post p join remark r on r.post = p.id", "!!"),
    (
        "select p.title, r.text, m.remark from (post p left join remark r on r.post = p.id) join mention m on true",
        "!??",
    ),
    ("select r.text, a.title from remark r left join (post a join parent b on true) on true", "!?"),
    ("select id, title, text from post left join remark using (id)", "!!?"),
    ("select id, title, text from post full join remark using (id)", "???"),
    ("select id from post natural join remark", "!"),
    ("select title from titled", "!"),
    ("select title, remarks, last from counted", "!!?"),
    ("select c.remarks from post p left join counted c on true", "?"),
    ("select id from parent", "?"),
    ("select id, more from child", "!?"),
    ("select id, at from event", "!!"),
    ("select id from post union select post from remark", "!"),
    ("select title from post union select body from post", "?"),
    ("select body from post intersect select title from post", "?"),
    ("with a as (select title, body from post) select title, body from a", "!?"),
    ("with recursive a(n) as (select 1 union all select n + 1 from a where n < 3) select n from a", "?"),
    ("with a as (insert into remark values (1, 1, 'a') returning text) select text from a", "!"),
    ("select count(*), count(body), sum(times), max(title) from post", "!!??"),
    ("select title, count(*), sum(times), max(body), max(title) filter (where true) from post group by title", "!!!??"),
    ("select title, count(*) from post group by rollup (title)", "??"),
    ("select row_number() over (), lag(title) over (), sum(times) over () from post", "!??"),
    ("select 1, 'a', null, true, 1.5", "!!?!!"),
    ("select coalesce(body, title), coalesce(body, body), coalesce(?, 'x') from post", "!?!"),
    ("select case when times > 1 then title end, case when times > 1 then title else 'x' end from post", "?!"),
    ("select exists (select 1), (select 1), (select count(*) from remark), (select max(id) from remark)", "!?!?"),
    ("select (select count(*) from remark having false), (select count(*) from remark limit 0)", "??"),
    ("select (select count(*) from remark where post = p.id) from post p", "!"),
    ("select (select p.title) from post p", "?"),
    (
        "select times + 1, title || 'x', times > 1, title like 'a%', body is null, body is distinct from title from post",
        "!!!!!!",
    ),
    ("select data -> 'a', data ->> 'a', body || 'x', nullif(times, 1) from post", "????"),
    ("select lower(title), lower(body), times::text, at::date, data::text, price::float8 from post", "!?!!!!"),
    ("select not (times > 1 and title = ''), times = any(?) from post", "!?"),
    ("select greatest(body, title), now(), current_date, current_schema from post", "!!!?"),
    ("select size, mail, price, file from post", "!!!!"),
    ("select a, b from (values (1, null), (2, 'x')) v (a, b)", "!?"),
    ("values (1, null::text)", "!?"),
    ("select n from generate_series(1, 3) n", "?"),
    ("select id, own(id) from post", "!?"),
    ("insert into remark values (1, 2, 'a') returning id, text", "!!"),
    (
        "update remark set text = 'a' from post left join mention on true where true returning remark.text, mention.remark",
        "!?",
    ),
    ("update remark set text = 'a' from post p left join titled t on true returning p.title, t.title", "!?"),
    ("delete from post returning title, body", "!?"),
    ("insert into titled (title) select 'a' returning title", "?"),
    ("insert into ruled values (1) returning id", "?"),
    ("insert into watched values (1, 'a') returning name", "!"),
    ("select s.title from remark r left join lateral (select title from post where id = r.post) s on true", "?"),
    ("select s.title from remark r cross join lateral (select title from post where id = r.post) s", "!"),
];

#[test]
#[ignore = "needs PostgreSQL"]
fn a_column_is_never_null_only_if_that_is_sure() {
    run(with(SCHEMA, async |database| {
        let mut wrong = Vec::new();
        for (sql, expected) in NULLS {
            let entry = database.describe(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
            let found: String = entry.columns.iter().map(|column| if column.nullable { '?' } else { '!' }).collect();
            if found != *expected {
                wrong.push(format!("{sql}: {found}, not {expected}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }));
}

fn names(tables: &Tables) -> String {
    tables.names().collect::<Vec<_>>().join(" ")
}

/// A statement, what it reads, and what it writes.
const TABLES: &[(&str, &str, &str)] = &[
    ("select title from post", "post", ""),
    ("select 1 where exists (select 1 from remark)", "remark", ""),
    ("select last from counted", "post remark", ""),
    ("with a as (select id from mention, post) select 1 from a", "mention post", ""),
    ("select id from parent", "child parent", ""),
    ("select id from event", "event event_2026", ""),
    ("insert into event_2026 values (1, '2026-02-02')", "event_2026", "event_2026"),
    ("insert into event values (1, '2026-02-02')", "event event_2026", "event event_2026"),
    (
        "insert into post (title, size, mail, price, times, at, data, file) values ('', 'small', 'a@b', 1, 1, now(), '1', '')",
        "post",
        "post",
    ),
    ("update post set title = 'a'", "post", "post remark"),
    ("delete from post", "post", "mention post remark"),
    ("delete from remark", "remark", "mention remark"),
    ("insert into titled (title) values ('a')", "post", "post"),
    ("delete from titled", "post", "mention post remark"),
    ("with a as (delete from mention returning remark) select * from a", "mention", "mention"),
    ("insert into mention select id from remark", "mention remark", "mention"),
    ("insert into remark values (1, 1, 'a') on conflict (id) do update set text = ''", "remark", "remark"),
    ("select own(1)", "", ""),
    ("select counts()", "*", ""),
    ("select adds()", "*", "*"),
    ("insert into watched values (1, 'a')", "*", "*"),
    ("insert into defaults default values", "*", "*"),
    ("insert into ruled values (1)", "*", "*"),
    ("select word from other.secret", "*", ""),
    ("select relname from pg_class", "*", ""),
    ("select table_name from information_schema.tables", "*", ""),
    ("select query_to_xml('select 1', true, true, '')", "*", ""),
    (
        "merge into mention using remark on remark.id = mention.remark when matched then delete",
        "mention remark",
        "mention",
    ),
    ("select title from post for update", "post", ""),
];

#[test]
#[ignore = "needs PostgreSQL"]
fn tables_are_found_through_all_that_touches_them() {
    run(with(SCHEMA, async |database| {
        for (sql, reads, writes) in TABLES {
            let entry = database.describe(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
            assert_eq!((names(&entry.reads).as_str(), names(&entry.writes).as_str()), (*reads, *writes), "{sql}");
        }
        for (sql, volatile) in [("select nextval('post_id_seq')", true), ("select now(), random()", false)] {
            assert_eq!(database.describe(sql).await.unwrap().is_volatile, volatile, "{sql}");
        }
    }));
}

/// Each with a `!` for a column that has no value twice.
const UNIQUE: &[(&str, &str)] = &[
    ("select id, title from post", "!-"),
    (
        "select * from (select id, title from post where times > ? order by title) a where (title, id) > (?, ?) order by title",
        "!-",
    ),
    ("select distinct id from titled limit 3", "!"),
    ("select post.id, remark.id from post, remark", "--"),
    ("select post.id, remark.id from post join remark on remark.post = post.id", "--"),
    ("select remark.id, post.id from remark join post on post.id = remark.post", "!-"),
    ("select remark.id from remark left join post on remark.post = post.id and post.times > 1", "!"),
    ("select remark.id from remark join post on post.id = remark.post or post.times = 1", "-"),
    ("select remark.id from remark join post on post.id > remark.post", "-"),
    ("select remark.id from remark join post on post.id = post.id", "-"),
    ("select remark.id from remark right join post on post.id = remark.post", "-"),
    ("select id from post union all select id from post", "-"),
    ("select id, generate_series(1, 2) from post", "--"),
    ("select id + 0 from post", "-"),
    ("select id from parent", "-"),
    ("select id from event", "-"),
];

#[test]
#[ignore = "needs PostgreSQL"]
fn a_column_has_no_value_twice_only_if_that_is_sure() {
    run(with(SCHEMA, async |database| {
        for (sql, expected) in UNIQUE {
            let entry = database.describe(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
            let found: String = entry.columns.iter().map(|column| if column.unique { '!' } else { '-' }).collect();
            assert_eq!(found, *expected, "{sql}");
        }
    }));
}

#[test]
#[ignore = "needs PostgreSQL"]
fn types_are_those_that_the_driver_reads() {
    run(with(SCHEMA, async |database| {
        let all = "select id, title, size, mail, price, times, at, data, file, true as b, 1.5::real as r, gen_random_uuid() as u from post";
        let entry = database.describe(all).await.unwrap();
        let kinds: Vec<String> = entry.columns.iter().map(|column| column.kind.to_string()).collect();
        let expected = "integer text text text decimal integer timestamp json blob boolean real text";
        assert_eq!(kinds.join(" "), expected);
        let list = database
            .describe("select id as \"id!\" from post where id = any(?) and title = ? and at > ?;")
            .await
            .unwrap();
        let kinds: Vec<_> = list.parameters.iter().map(|one| (one.kind, one.is_list)).collect();
        assert_eq!(kinds, [(Kind::Integer, true), (Kind::Text, false), (Kind::Timestamp, false)]);
        assert_eq!(list.columns[0].name, "id!");
        let arrays = "select array_agg(id) as ids, array[true] as flags, '{}'::numeric[] as prices, current_schemas(true) as names from post";
        let columns = database.describe(arrays).await.unwrap().columns;
        let kinds: Vec<_> = columns.iter().map(|column| (column.kind, column.is_list)).collect();
        assert_eq!(kinds, [(Kind::Integer, true), (Kind::Boolean, true), (Kind::Decimal, true), (Kind::Text, true)]);
        assert!(database.describe("select array['10.0.0.1'::inet] as hosts").await.unwrap_err().contains("`_inet`"));
        // A mark within a subselect does not apply to the column of the same name outside.
        let inner =
            "select post.body from post, (select title as \"body!\" from post) other, (select '\"body!\"') text";
        assert_eq!(database.describe(inner).await.unwrap().columns[0].name, "body");
        assert_eq!(database.describe("select pg_notify('a', 'b')").await.unwrap().columns[0].kind, Kind::Any);
    }));
}

/// A statement, and what is said of it.
const WRONG: &[(&str, &str)] = &[
    (
        "select titel from post",
        "column \"titel\" does not exist\n  |\n  | select titel from post\n  |        ^^^^^\n  = help: did you mean `title` of `post`?",
    ),
    (
        "select ?, p.titel\n  from post p where ? = 1",
        "column p.titel does not exist\n  |\n  | select ?, p.titel\n  |           ^^^^^^^\n  = help: did you mean `title` of `post`?",
    ),
    (
        "select 1 from posts",
        "relation \"posts\" does not exist\n  |\n  | select 1 from posts\n  |               ^^^^^\n  = help: did you mean `post`?",
    ),
    (
        "select id from post where data ?? 'a' and = ?",
        "syntax error at or near \"=\"\n  |\n  | select id from post where data ?? 'a' and = ?\n  |                                           ^",
    ),
    (
        "insert into remark (id, post, txt) values (1, 1, '')",
        "column \"txt\" of relation \"remark\" does not exist\n  |\n  | insert into remark (id, post, txt) values (1, 1, '')\n  \
         |                               ^^^\n  = help: did you mean `text` of `remark`?",
    ),
    (
        "select at - at as how_long from post",
        "the column `how_long` is of the type `interval`, which is read as a text: write `cast(... as text) as how_long`",
    ),
];

#[test]
#[ignore = "needs PostgreSQL"]
fn what_is_wrong_is_said_with_its_place_and_the_nearest_name() {
    run(with(SCHEMA, async |database| {
        for (sql, expected) in WRONG {
            assert_eq!(database.describe(sql).await.unwrap_err(), *expected, "{sql}");
        }
        assert!(database.describe("set search_path = a").await.unwrap_err().contains("`set` is not for statements"));
    }));
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_migration_that_fails_is_named_with_its_line() {
    let folder = tempfile::tempdir().unwrap();
    run(async {
        let mut server = Server::shared();
        for (text, expected) in [
            ("create table a (id int);\n\nalter table b add c int;", "0001_a.sql: relation \"b\" does not exist"),
            ("create table a (\n  id in\n);", "0001_a.sql, line 2: syntax error at or near \"in\""),
            (
                "create table a (id int);\ncommit;",
                "0001_a.sql, line 2: a migration must not begin or end a transaction",
            ),
        ] {
            std::fs::write(folder.path().join("0001_a.sql"), text).unwrap();
            let error = Database::of(&mut server, folder.path()).await.err().unwrap();
            assert!(error.contains(expected), "{error}");
        }
        server.end().await;
    });
}
