//! Types that migrations declare, over the life of a schema.

use crate::check::{self, check};
use crate::schema::Schema;

use super::*;

const COURSE: &str = "create table course (id integer primary key, open integer not null, starts text not null, price text, data text) strict;
-- skep: course.open is boolean
-- skep: Course.Starts is timestamp
-- skep: course.price is decimal(10, 2)";

fn schema(migrations: &[&str]) -> Result<Schema, String> {
    let files = migrations.iter().enumerate().map(|(nth, text)| (format!("{nth}.sql").into(), (*text).to_owned()));
    Schema::of(&files.collect::<Vec<_>>())
}

fn columns(migrations: &[&str], sql: &str) -> Result<Vec<Type>, String> {
    let checked = check(&schema(migrations)?, sql, &[], false)?;
    Ok(checked.columns.iter().map(|column| Type { unique: false, ..column.ty }).collect())
}

#[test]
fn a_column_has_the_type_that_a_migration_says() {
    let types = columns(
        &[COURSE],
        "select open, starts, price, (select max(starts) from course), coalesce(starts, '') from course",
    )
    .unwrap();
    let fixed = Kind::Fixed { digits: 10, places: 2 };
    let nullable = |kind| Type { nullable: true, ..Type::of(kind) };
    assert_eq!(
        types,
        [
            Type { boolean: true, ..Type::of(Kind::Integer) },
            Type::of(Kind::Timestamp),
            nullable(fixed),
            nullable(Kind::Timestamp),
            Type::of(Kind::Text)
        ]
    );
    let checked =
        check(&schema(&[COURSE]).unwrap(), "update course set starts = ?, price = ? where open = ?", &[], false);
    assert_eq!(checked.unwrap().parameters, [Kind::Timestamp, fixed, Kind::Integer]);
}

#[test]
fn a_type_goes_with_its_column_and_stays_when_a_table_is_rebuilt() {
    let starts = |change: &str| columns(&[COURSE, change], "select starts from course").unwrap()[0].kind;
    assert_eq!(starts("alter table course rename column price to cost"), Kind::Timestamp);
    let rebuilt = "create table new (id integer, open integer, starts text, price text) strict; drop table course; alter table new rename to course";
    assert_eq!(starts(rebuilt), Kind::Timestamp);
    let gone = columns(
        &[COURSE, "alter table course drop column price", "alter table course add column price text"],
        "select price from course",
    );
    assert_eq!(gone.unwrap()[0].kind, Kind::Text);
}

#[test]
fn a_type_goes_along_with_a_new_name() {
    let fixed = Kind::Fixed { digits: 10, places: 2 };
    let renamed = ["alter table course rename column price to cost", "alter table course rename to \"Lesson\""];
    let types = columns(&[COURSE, renamed[0], renamed[1]], "select cost, starts from lesson").unwrap();
    assert_eq!((types[0].kind, types[1].kind), (fixed, Kind::Timestamp));
    let rebuilt = "alter table course rename to old;
        create table course (id integer primary key, open integer not null, starts text not null, price text) strict;
        drop table old;";
    assert_eq!(columns(&[COURSE, rebuilt], "select price from course").unwrap()[0].kind, fixed);
}

#[test]
fn a_type_is_not_lost_in_silence() {
    let rebuilt = |columns: &str, said: &str| {
        let rebuilt = format!(
            "create table new (id integer primary key, {columns}) strict; drop table course; alter table new rename to course;\n{said}"
        );
        schema(&[COURSE, &rebuilt]).map(|_| ()).err().unwrap_or_default()
    };
    let all = "open integer, starts text, price";
    assert_eq!(rebuilt(&format!("{all} text"), ""), "");
    let real = rebuilt(&format!("{all} real"), "");
    assert!(real.contains("`course.price` is `REAL`, and a `decimal(10, 2)` is stored as `text`"), "{real}");
    let gone = rebuilt("open integer, starts text, cost text", "");
    assert!(gone.contains("`course` has no such column any more") && gone.contains("drop column price"), "{gone}");
    assert_eq!(rebuilt("open integer, starts text, cost text", "-- skep: course.cost is decimal(10, 2)"), "");
}

#[test]
fn a_default_is_written_as_its_type_is() {
    let with = |default: &str, ty: &str| {
        let table = format!("create table one (x text not null default {default}) strict;\n-- skep: one.x is {ty}");
        schema(&[&table]).map(|_| ()).err().unwrap_or_default()
    };
    for (default, ty) in [
        ("'0'", "decimal(5, 2)"),
        ("0.00", "decimal(5, 2)"),
        ("'-0.00'", "decimal(5, 2)"),
        ("'1000.00'", "decimal(5, 2)"),
        ("'007'", "decimal(5, 0)"),
        ("current_timestamp", "timestamp"),
        ("(datetime('now'))", "datetime"),
        ("current_time", "time"),
        ("'2026-12-31 18:30:00'", "timestamp"),
        ("'18:30'", "time"),
        ("'31.12.2026'", "date"),
        ("current_date", "timestamp"),
        ("current_timestamp", "date"),
        ("(strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))", "timestamp"),
        ("0", "timestamp"),
    ] {
        let error = with(default, ty);
        assert!(error.contains("is not written as a"), "{default} {ty}: {error}");
    }
    for (default, ty) in [
        ("'0.00'", "decimal(5, 2)"),
        ("'-12.50'", "decimal(5, 2)"),
        ("'7'", "decimal(5, 0)"),
        ("(strftime('%Y-%m-%dT%H:%M:%f000Z', 'now'))", "timestamp"),
        ("current_date", "date"),
        ("'2026-12-31'", "date"),
        ("'2026-12-31T18:30:00.000000'", "datetime"),
    ] {
        assert_eq!(with(default, ty), "", "{default} {ty}");
    }
}

#[test]
fn what_is_misspelt_is_an_error() {
    for (said, why) in [
        ("course.opens is boolean", "there is no column `opens` of a table `course`"),
        ("course.open is timestamp", "`open` is `INTEGER`, and a `timestamp` is stored as `text`"),
        ("course.data is money", "`money` is no type of a column"),
        ("course.price is decimal(2, 10)", "`decimal(2,10)` is no type"),
        ("course.open scoped by id", "expected one of"),
    ] {
        let error = schema(&[COURSE, &format!("-- skep: {said}")]).err().unwrap();
        assert!(error.contains(why), "{said}: {error}");
    }
}

/// With a second table, whose decimals have another scale.
fn checked(sql: &str) -> Result<check::Checked, String> {
    let other = "create table fee (course integer not null, price text not null, cost text not null) strict;
        -- skep: fee.price is decimal(10, 3)
        -- skep: fee.cost is decimal(10, 2)";
    check(&schema(&[COURSE, other])?, sql, &[], false)
}

#[test]
fn texts_are_not_counted_with() {
    for wrong in [
        "select price from course order by price",
        "select price as p from course order by p",
        "select id, price from course order by 2 desc",
        "select price as p from course order by coalesce(p, '0.00')",
        "select price from course union select cost from fee order by 1",
        "select id, rank() over (order by price) as r from course",
        "select id, rank() over w as r from course window w as (order by price)",
        "select group_concat(id order by price) as ids from course",
        "select id from course where price < ?",
        "select price as p from course where p < ?",
        "select id from course where (price, id) < (?, ?)",
        "select id from course where (id, price) between (?, ?) and (?, ?)",
        "select id from course where coalesce(price, ?) < ?",
        "select id from course where case when open then price else ? end < ?",
        "select id from course where iif(open, price, '0.00') < ?",
        "select sum(price) as all_of_it from course",
        "select max(coalesce(price, '0.00')) as most from course",
        "select price * 2 as twice from course",
        "select -price as negative from course",
        "select abs(price) as positive from course",
        "select id from course where price between 1 and 2",
    ] {
        let error = checked(wrong).err().unwrap_or_default();
        assert!(error.contains("SQLite stores `decimal(10, 2)` as text, of which"), "{wrong}: {error}");
    }
    for right in [
        "select id from course where price = ?",
        "select sum(cast(price as real)) as sum from course",
        "select id, price from course order by id, 1",
        "select price, count(*) as n from course group by price order by n",
    ] {
        assert_eq!(checked(right).err(), None, "{right}");
    }
}

/// Equal numbers are equal texts, so what is compared with one, or put into its column, is written in the same way.
#[test]
fn beside_a_decimal_number_is_nothing_but_such() {
    for wrong in [
        "select id from course where price = 0",
        "select id from course where 0 = price",
        "select id from course where price = '0'",
        "select id from course where price in (0, 10)",
        "select id from course where price in (select 0)",
        "select id from course where price in (select price from fee)",
        "select id from course where (id, price) in (select 1, price from fee)",
        "select id from course where (id, price) = (1, 0)",
        "select id from course where (id, price) = (select course, price from fee)",
        "select id from course where price is cast(? as text)",
        "select id from course where price = (select price from fee)",
        "select id from course where price = data",
        "select id from course where nullif(price, '0') is null",
        "select id from course where case price when 0 then 1 end",
        "select coalesce(price, '0') as price from course",
        "select course.id from course join fee on course.price = fee.price",
        "select course.id from course join fee using (price)",
        "select course.id from course natural join fee",
        "select price from course union select 0",
        "insert into course (open, price) values (1, 0)",
        "insert into course (open, price) values (1, cast(? as text))",
        "insert into course (open, price) values (1, ?), (2, 1.5)",
        "insert into course (open, price) select 1, 0",
        "insert into course (open, price) select course, price from fee",
        "insert into course select *, 1 from (select course, course, price, price from fee)",
        "insert into course (open, price) values (1, ?) on conflict do update set price = 0",
        "update course set price = 9.5",
        "update course set (open, price) = (1, 0)",
        "update course set (open, price) = (select 1, price from fee)",
        "update course set price = case when ? then '1' else price end",
    ] {
        let error = checked(wrong).err().unwrap_or_default();
        assert!(error.contains("beside it belongs a parameter"), "{wrong}: {error}");
    }
    for right in [
        "select id from course where price is null or price = '0.00' or price = '-12.50'",
        "select course.id from course join fee on course.price = cost",
        "select id from course where price in ('0.00', ?) and price in (select cost from fee)",
        "insert into course (open, price) select course, cost from fee",
        "insert into course (open, price) values (1, '0.00'), (2, null)",
        "insert into course (open, price) values (1, ?) on conflict do update set price = excluded.price",
        "update course set (open, price) = (select course, cost from fee)",
        "select id from course where (id, price) in (select course, cost from fee)",
    ] {
        assert_eq!(checked(right).err(), None, "{right}");
    }
}

#[test]
fn a_parameter_beside_a_decimal_number_is_one() {
    let fixed = Kind::Fixed { digits: 10, places: 2 };
    for (sql, kinds) in [
        ("update course set price = coalesce(?, price)", vec![fixed]),
        ("update course set price = case when ? then ? else price end", vec![Kind::Any, fixed]),
        ("select iif(?, ?, price) as price from course", vec![Kind::Any, fixed]),
        ("select id from course where (id, price) = (?, ?)", vec![Kind::Integer, fixed]),
        ("select id from course where price = coalesce(?, price)", vec![fixed]),
        ("insert into course (open, price) select ?, ?", vec![Kind::Integer, fixed]),
    ] {
        assert_eq!(checked(sql).unwrap().parameters, kinds, "{sql}");
    }
    let coalesced = checked("select coalesce(price, '0.00') as price from course").unwrap();
    assert_eq!(coalesced.columns[0].ty, Type::of(fixed));
}

/// `2026-12-31 18:30:00` is no text of a timestamp.
#[test]
fn the_clock_of_sqlite_is_not_compared_with_moments() {
    for wrong in [
        "select id from course where starts > current_timestamp",
        "select id from course where datetime('now', '-1 day') < starts",
        "select id from course where starts between ? and (current_timestamp)",
        "insert into course (open, starts) values (1, datetime('now'))",
        "insert into course (open, starts) select 1, current_timestamp",
        "update course set starts = coalesce(?, datetime())",
        "select coalesce(starts, current_timestamp) as starts from course",
        "select id from course where starts >= date('now')",
        "insert into course (open, starts) values (1, current_date)",
        "insert into course (open, starts) values (1, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))",
    ] {
        let error = checked(wrong).err().unwrap_or_default();
        assert!(error.contains("is not written as a `timestamp` is stored"), "{wrong}: {error}");
    }
    for right in [
        "select id from course where starts > strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')",
        "select id from course where datetime(starts) > datetime('now')",
    ] {
        assert_eq!(checked(right).err(), None, "{right}");
    }
}

/// Texts are compared: `2991-01-01T10:00:00Z` is not before `2991-01-01T10:00:00.000000Z`.
#[test]
fn a_literal_is_written_as_its_column_is() {
    for wrong in [
        "insert into course (open, starts) values (1, '2991-01-01T10:00:00Z')",
        "insert into course (open, starts) select 1, '2991-01-01 10:00:00'",
        "insert into course (open, starts) select 1, ('2991-01-01')",
        "update course set starts = '2991-13-01T10:00:00.000000Z'",
        "update course set starts = '2991-02-29T10:00:00.000000Z'",
        "select id from course where starts < '2991-01-01'",
        "select id from course where starts in (?, '2991-01-01T25:00:00.000000Z')",
        "update course set starts = coalesce(?, '')",
        "insert into course (open, starts) select 1, case when ? then '2991-01-01' end",
        "select id from course where (starts, id) > ('2991-01-01', ?)",
        "insert into course (open, starts) values (1, 0)",
        "select id from course where starts > 29910101",
    ] {
        let error = checked(wrong).err().unwrap_or_default();
        assert!(error.contains("is not written as a `timestamp` is stored"), "{wrong}: {error}");
        assert!(error.contains("write it as in `'2026-12-31T18:30:00.000000Z'`"), "{wrong}: {error}");
    }
    for right in [
        "insert into course (open, starts) values (1, '2991-01-01T10:00:00.000000Z')",
        "select id from course where starts < '2988-02-29T23:59:59.999999Z'",
        "select id from course where substr(starts, 1, 10) < '2991-01-01'",
        "select id from course where cast(starts as text) like '2991-%'",
        "select id from course where cast(starts as text) >= '2991-01-01'",
        "select coalesce(starts, 'still open') as starts from course",
        "select iif(open, starts, '') as starts from course",
        "select case when open then '-' else starts end as starts from course",
    ] {
        assert_eq!(checked(right).err(), None, "{right}");
    }
}

#[test]
fn rows_of_migrations_are_written_as_their_columns_are() {
    let with = |row: &str| {
        let rows = format!("insert into course (open, starts, price) values {row}");
        schema(&[COURSE, &rows]).map(|_| ()).err().unwrap_or_default()
    };
    let error = with("(1, '2991-01-01T10:00:00Z', null)");
    assert!(error.contains("`2991-01-01T10:00:00Z` in a row of `course` is not written"), "{error}");
    let error = with("(1, '2991-01-01T10:00:00.000000Z', '9.5')");
    assert!(error.contains("`9.5` in a row of `course` is not written as its `price`"), "{error}");
    assert_eq!(with("(1, '2991-01-01T10:00:00.000000Z', '9.50')"), "");
    let wrong = "insert into course (open, starts) values (1, '2991-01-01T10:00:00Z')";
    let mended = "update course set starts = replace(starts, 'Z', '.000000Z')";
    assert!(schema(&[COURSE, wrong, mended]).is_ok(), "a migration that ran cannot be changed");
}
