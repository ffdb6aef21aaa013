//! The same verbs as on SQLite, and values of PostgreSQL's types.

use std::time::Duration;

use skep::sql::{Options, Query, Result, Row, Value, query};

use crate::{shared, with};

#[test]
#[ignore = "needs PostgreSQL"]
fn the_verbs_do_what_they_do_on_sqlite() {
    #[derive(Row, Debug, PartialEq)]
    struct Pair {
        value: String,
        key: i64,
    }
    with(shared(), Options::new(), async |db| {
        let insert = |key: i64, value| query("insert into pair (key, value) values (?, ?)", (key, value));
        assert_eq!(db.execute(insert(1, "one")).await.unwrap().rows, 1);
        assert_eq!(db.execute(insert(2, "two")).await.unwrap().rows, 1);
        let all: Vec<Pair> = db.all("select key, value from pair order by key").await.unwrap();
        assert_eq!(all, [Pair { key: 1, value: "one".into() }, Pair { key: 2, value: "two".into() }]);
        let first: Option<i64> = db.first("select key from pair order by key desc").await.unwrap();
        assert_eq!(first, Some(2));
        let one = db.one::<String>(query("select value from pair where key = ?", 2)).await.unwrap();
        assert_eq!(one.as_deref(), Some("two"));
        assert_eq!(db.one::<String>(query("select value from pair where key = ?", 3)).await.unwrap(), None);
        assert!(db.one::<i64>("select key from pair").await.unwrap_err().to_string().contains("one row at most"));
        let returned = db.one::<i64>("insert into pair values (3, 'three') returning key").await.unwrap();
        assert_eq!(returned, Some(3));
        assert_eq!(db.execute("delete from pair where key > 1").await.unwrap().rows, 2);
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn many_statements_happen_in_order_or_not_at_all() {
    with(shared(), Options::new(), async |db| {
        let insert = |key: i64| query("insert into pair (key, value) values (?, 'many')", key);
        // More than are sent at once; and between them others, which need those before.
        let shift = query("update pair set key = key + 1000 where value = 'many'", ());
        let many = (1..=200).map(insert).chain([shift]).chain((1..=200).map(insert));
        assert_eq!(db.execute_many(many).await.unwrap().rows, 600);
        let twice = db.execute_many([201, 202, 1].map(insert)).await.unwrap_err();
        assert!(twice.is_unique_violation(), "{twice}");
        let count = db.one::<i64>("select count(*) from pair where value = 'many'").await.unwrap();
        assert_eq!(count, Some(400), "nothing of what failed is there");
        let transaction = db.transaction().await.unwrap();
        let unfit = query("insert into pair (key, value) values (?, 'many')", (1, 2));
        transaction.execute_many([insert(301), insert(302), unfit, insert(303)]).await.unwrap_err();
        let last = transaction.one::<i64>("select max(key) from pair where key < 1000").await.unwrap();
        assert_eq!(last, Some(302), "nothing happens behind what the client refuses");
        transaction.rollback().await.unwrap();
        db.execute("delete from pair where value = 'many'").await.unwrap();
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn each_of_many_statements_has_its_time() {
    with(shared(), Options::new().statement_timeout(Duration::from_millis(500)), async |db| {
        let nap = || query("select pg_sleep(0.1)", ());
        db.execute_many((0..30).map(|_| nap())).await.unwrap();
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn values_come_back_as_what_they_are() {
    with(shared(), Options::new(), async |db| {
        let value = async |text: &str| db.one::<Value<'static>>(text).await.unwrap().unwrap();
        let text = |text: &'static str| Value::Text(text.into());
        let decimal = |text: &'static str| Value::Decimal(text.into());
        for (sql, expected) in [
            ("select true", Value::Integer(1)),
            ("select 7::smallint", Value::Integer(7)),
            ("select -7::integer", Value::Integer(-7)),
            ("select 9223372036854775807", Value::Integer(i64::MAX)),
            ("select 1.5::real", Value::Real(1.5)),
            ("select 0.1::double precision", Value::Real(0.1)),
            ("select 12.50::numeric", decimal("12.50")),
            ("select -0.00012::numeric", decimal("-0.00012")),
            ("select 123456789012345678901234567890::numeric", decimal("123456789012345678901234567890")),
            ("select sum(a::bigint) from generate_series(1, 10000) a", decimal("50005000")),
            ("select count(*) from pair", Value::Integer(0)),
            ("select 'a'::varchar", text("a")),
            ("select 'ab'::char(3)", text("ab ")),
            ("select null::text", Value::Null),
            (r"select '\x00ff'::bytea", Value::Blob(vec![0, 255].into())),
            (r#"select '{"a": [1]}'::jsonb"#, text(r#"{"a": [1]}"#)),
            ("select '6f1ed002-ab5c-4d2a-9f3c-0123456789ab'::uuid", text("6f1ed002-ab5c-4d2a-9f3c-0123456789ab")),
            ("select '2024-02-29'::date", text("2024-02-29")),
            ("select '0044-03-15'::date", text("0044-03-15")),
            ("select '2024-02-29 23:59:59.25+02'::timestamptz", text("2024-02-29T21:59:59.25Z")),
            ("select '1969-12-31 23:00'::timestamp", text("1969-12-31T23:00:00")),
            ("select '12:34:56'::time", text("12:34:56")),
        ] {
            assert_eq!(value(sql).await, expected, "{sql}");
        }
        let error = db.one::<Value<'static>>("select '10.0.0.0/8'::inet").await.unwrap_err().to_string();
        assert!(error.contains("cast(... as text)"), "{error}");
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn what_a_numeric_is_read_into_does_not_depend_on_its_value() {
    with(shared(), Options::new(), async |db| {
        db.execute("create table price (nth bigint primary key, amount numeric)").await.unwrap();
        for (nth, amount) in (1_i64..).zip(["1.5", "2", "-0.10", "NaN", "Infinity", "1e30"]) {
            db.execute(query("insert into price values (?, ?)", (nth, amount))).await.unwrap();
        }
        let texts: Vec<String> = db.all("select amount from price order by nth").await.unwrap();
        assert_eq!(texts, ["1.5", "2", "-0.10", "NaN", "Infinity", "1000000000000000000000000000000"]);
        let numbers: Vec<f64> = db.all("select amount from price order by nth").await.unwrap();
        assert_eq!(numbers[..3], [1.5, 2.0, -0.1]);
        assert!(numbers[3].is_nan() && numbers[4].is_infinite() && numbers[5] > 9e29);
        let values: Vec<Value<'static>> = db.all("select amount from price order by nth").await.unwrap();
        for (value, text) in values.iter().zip(&texts) {
            let again = db.one::<String>(query("select ?::numeric", value)).await.unwrap();
            assert_eq!(again.as_ref(), Some(text));
        }
        // An integer where there is one.
        assert_eq!(db.one::<i64>("select amount from price where nth = 2").await.unwrap(), Some(2));
        for nth in [1, 6] {
            let error = db.one::<i64>(query("select amount from price where nth = ?", nth)).await.unwrap_err();
            assert!(error.to_string().contains("the decimal number"), "{error}");
        }
    });
}

/// A row of the table that has a column of each type.
type All = (i64, String, String, String, String, Vec<u8>, bool, String, f64, Option<String>);

#[test]
#[ignore = "needs PostgreSQL"]
fn parameters_have_the_type_that_their_place_wants() {
    with(shared(), Options::new(), async |db| {
        db.execute("create type mood as enum ('glad', 'sad')").await.unwrap();
        db.execute(
            "create table of_all (a smallint, b numeric(9, 2), c timestamptz, d uuid, e jsonb, f bytea, g boolean, h mood, i real, j text)",
        )
        .await
        .unwrap();
        let values = (
            7,
            "12.5",
            "2026-11-25T20:00:00Z",
            "6f1ed002-ab5c-4d2a-9f3c-0123456789ab",
            r#"{"a": 1}"#,
            &[1_u8, 2][..],
            true,
            "sad",
            1.5,
            Some("text"),
        );
        db.execute(query("insert into of_all values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)).await.unwrap();
        let all = db.one::<All>("select * from of_all").await.unwrap().unwrap();
        assert_eq!((all.0, &*all.1, &*all.2), (7, "12.50", "2026-11-25T20:00:00Z"));
        assert_eq!((&*all.3, &*all.4, all.5), ("6f1ed002-ab5c-4d2a-9f3c-0123456789ab", r#"{"a": 1}"#, vec![1, 2]));
        assert_eq!((all.6, &*all.7, all.8, all.9.as_deref()), (true, "sad", 1.5, Some("text")));
        let refused = async |query: Query<'_, i64>| db.one(query).await.unwrap_err().to_string();
        assert!(refused(query("select 1 from of_all where a = ?", 100_000)).await.contains("out of range"));
        assert!(
            refused(query("select 1 from of_all where f = ?", "text")).await.contains("parameter 1: expected a blob")
        );
        assert!(refused(query("select 1 where ?", ())).await.contains("1 parameters, 0 were given"));
        assert!(refused(query("select 1 from of_all where j = ?", "a\0b")).await.contains("NUL"));
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn errors_answer_the_same_questions() {
    with(shared(), Options::new(), async |db| {
        let fails = async |text: &str| db.execute(text).await.unwrap_err();
        db.execute("insert into pair values (1, 'one')").await.unwrap();
        let error = fails("insert into pair values (1, 'one')").await;
        assert!(error.is_unique_violation() && error.statement().is_some());
        assert!(fails("insert into child values (2)").await.is_foreign_key_violation());
        assert!(fails("insert into pair values (2, null)").await.is_not_null_violation());
        assert!(fails("insert into pair values (2, '')").await.is_check_violation());
        assert!(fails("select pg_sleep(9) from nowhere").await.to_string().contains("\"nowhere\" does not exist"));
        for refused in ["begin", "commit", "set search_path = a", "select 1; select 2"] {
            let error = fails(refused).await;
            assert!(!error.is_unreachable() && !error.is_busy(), "{error}");
        }
        assert_eq!(db.one::<i64>("select count(*) from pair").await.unwrap(), Some(1));
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_transaction_is_all_or_nothing() {
    with(shared(), Options::new(), async |db| -> Result<()> {
        let count = async || db.one::<i64>("select count(*) from pair").await.unwrap();
        let transaction = db.transaction().await?;
        transaction.execute("insert into pair values (1, 'one')").await?;
        assert_eq!(transaction.one::<i64>("select count(*) from pair").await?, Some(1));
        // Others go on meanwhile, and see nothing of it.
        assert_eq!(count().await, Some(0));
        transaction.commit().await?;
        assert_eq!(count().await, Some(1));

        let transaction = db.transaction().await?;
        transaction.execute("insert into pair values (2, 'two')").await?;
        drop(transaction);
        let transaction = db.transaction().await?;
        transaction.execute("insert into pair values (2, 'two')").await?;
        transaction.rollback().await?;
        assert_eq!(count().await, Some(1));

        // PostgreSQL would answer this commit with a rollback and no error.
        let transaction = db.transaction().await?;
        transaction.execute("insert into pair values (2, 'two')").await?;
        assert!(transaction.execute("insert into pair values (1, 'one')").await.unwrap_err().is_unique_violation());
        assert!(transaction.commit().await.is_err());
        assert_eq!(count().await, Some(1));

        let transaction = db.transaction().await?;
        let insert = async |text| transaction.execute(text).await.map(drop);
        insert("insert into pair values (2, 'two')").await?;
        let undone = transaction.savepoint(async || insert("insert into pair values (1, 'one')").await).await;
        assert!(undone.unwrap_err().is_unique_violation());
        transaction.savepoint(async || insert("insert into pair values (3, 'three')").await).await?;
        transaction.commit().await?;
        assert_eq!(count().await, Some(3));

        let transaction = db.transaction().await?;
        transaction.execute("set transaction isolation level serializable").await?;
        let level = transaction.one::<String>("select current_setting('transaction_isolation')").await?;
        assert_eq!(level.as_deref(), Some("serializable"));
        transaction.commit().await
    })
    .unwrap();
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_serializable_transaction_is_run_again_until_nobody_was_in_the_way() {
    with(shared(), Options::new(), async |db| {
        db.execute("insert into pair select a, 'on call' from generate_series(1, 6) a").await.unwrap();
        let begun = std::rc::Rc::new(std::cell::Cell::new(0));
        // Each leaves if another one stays. All look at the same time.
        let leave = |key: i64| {
            let (db, begun) = (db.clone(), std::rc::Rc::clone(&begun));
            tokio::task::spawn_local(async move {
                let left: Result<()> = db
                    .serializable(async |db| {
                        begun.set(begun.get() + 1);
                        let others = query("select count(*) from pair where value = 'on call' and key <> ?", key);
                        if db.one::<i64>(others).await? > Some(0) {
                            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
                            db.execute(query("update pair set value = 'left' where key = ?", key)).await?;
                        }
                        Ok(())
                    })
                    .await;
                left
            })
        };
        for task in (1..=6).map(leave).collect::<Vec<_>>() {
            task.await.unwrap().unwrap();
        }
        assert!(begun.get() > 6, "nobody was in the way");
        assert_eq!(db.one::<i64>("select count(*) from pair where value = 'on call'").await.unwrap(), Some(1));
        // An error of the work undoes it, and is no reason to try again.
        begun.set(0);
        let refused: Result<(), skep::Error> = db
            .serializable(async |db| {
                begun.set(begun.get() + 1);
                db.execute("delete from pair").await?;
                Err(skep::Error::not_found())
            })
            .await;
        assert_eq!((refused.unwrap_err().status().as_u16(), begun.get()), (404, 1));
        assert_eq!(db.one::<i64>("select count(*) from pair").await.unwrap(), Some(6));
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn more_transactions_than_connections_wait_for_each_other() {
    with(shared(), Options::new().transactions(2), async |db| {
        let tasks: Vec<_> = (0..20)
            .map(|key: i64| {
                let db = db.clone();
                tokio::task::spawn_local(async move {
                    let transaction = db.transaction().await?;
                    transaction.execute(query("insert into pair values (?, 'x')", key)).await?;
                    if key % 2 == 0 { transaction.commit().await } else { transaction.rollback().await }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        assert_eq!(db.one::<i64>("select count(*) from pair").await.unwrap(), Some(10));
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn rows_are_streamed_from_a_cursor() {
    with(shared(), Options::new().transactions(1), async |db| {
        let numbers = query("select a, repeat('x', 100) from generate_series(1, ?::bigint) a", 3000);
        let mut rows = db.stream::<(i64, String)>(numbers).await.unwrap();
        let mut sum = 0;
        while let Some((number, _)) = rows.next_row().await.unwrap() {
            sum += number;
        }
        assert_eq!(sum, 3000 * 3001 / 2);
        drop(rows);
        let mut rows = db.stream::<i64>("select a from generate_series(1, 3000) a").await.unwrap();
        rows.next_row().await.unwrap();
        drop(rows);
        // The one connection for it is free again.
        assert!(db.stream::<i64>("delete from pair returning key").await.is_err());
        db.transaction().await.unwrap().commit().await.unwrap();
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn code_that_may_block_has_the_verbs_too() {
    let database = crate::database(shared(), Options::new());
    let write = || {
        database.write(|db| {
            db.execute("insert into pair values (1, 'one')")?;
            let undone = db.transaction(|db| {
                db.execute("insert into pair values (2, 'two')")?;
                db.execute("insert into pair values (1, 'one')").map(drop)
            });
            assert!(undone.unwrap_err().is_unique_violation());
            db.transaction(|db| {
                let undone = db.savepoint(|db| db.execute("insert into pair values (1, 'one')"));
                assert!(undone.unwrap_err().is_unique_violation());
                db.execute("insert into pair values (3, 'three')").map(drop)
            })?;
            // PostgreSQL would answer this commit with a rollback and no error, whatever failed after it.
            let ignored = db.transaction(|db| {
                _ = db.execute("insert into pair values (1, 'one')");
                _ = db.one::<i64>("select 1 union select 2 where ?");
                Ok(())
            });
            assert!(ignored.is_err());
            db.all::<i64>("select key from pair order by key")
        })
    };
    // Also on a thread that has a runtime.
    assert_eq!(on(write).unwrap(), [1, 3]);
}

fn on<T>(work: impl FnOnce() -> T) -> T {
    crate::on_runtime(async { work() })
}

#[test]
#[ignore = "needs PostgreSQL"]
fn what_a_transaction_sets_is_in_no_statement_that_stays_prepared() {
    super::with(super::shared(), Options::new(), async |db| {
        let text = "select cast(timestamptz '2020-01-01' at time zone 'UTC' as text)";
        let transaction = db.transaction().await.unwrap();
        transaction.execute("set local timezone = 'Asia/Tokyo'").await.unwrap();
        assert_eq!(transaction.one::<String>(text).await.unwrap().unwrap(), "2019-12-31 15:00:00");
        transaction.commit().await.unwrap();
        for _ in 0..2 {
            let transaction = db.transaction().await.unwrap();
            transaction.execute("set local timezone = 'UTC'").await.unwrap();
            assert_eq!(transaction.one::<String>(text).await.unwrap().unwrap(), "2020-01-01 00:00:00");
            transaction.rollback().await.unwrap();
        }
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn what_a_statement_sets_for_itself_keeps_others_prepared() {
    super::with(super::shared(), Options::new(), async |db| {
        db.one::<String>("select set_config('app.user', 'ann', true)").await.unwrap();
        for _ in 0..2 {
            db.one::<i64>("select cast(41 + 1 as bigint)").await.unwrap();
        }
        let kept = "select count(*) from pg_prepared_statements where statement like '%41 + 1%' and name <> ''
            and statement not like '%pg_prepared%'";
        assert_eq!(db.one::<i64>(kept).await.unwrap(), Some(1));
    });
}
