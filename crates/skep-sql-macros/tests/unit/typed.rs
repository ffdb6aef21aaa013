//! Types that migrations declare, over the life of a schema.

use crate::check::check;
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
    let rebuilt = "create table new (id integer primary key, starts text) strict; drop table course; alter table new rename to course";
    assert_eq!(starts(rebuilt), Kind::Timestamp);
    let gone = columns(
        &[COURSE, "alter table course drop column price", "alter table course add column price text"],
        "select price from course",
    );
    assert_eq!(gone.unwrap()[0].kind, Kind::Text);
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

#[test]
fn texts_are_not_counted_with() {
    for wrong in [
        "select price from course order by price",
        "select id from course where price < ?",
        "select sum(price) as all_of_it from course",
        "select price * 2 as twice from course",
        "select id from course where price between 1 and 2",
    ] {
        let error = columns(&[COURSE], wrong).unwrap_err();
        assert!(error.contains("SQLite stores `decimal(10, 2)` as text"), "{wrong}: {error}");
    }
    for right in ["select id from course where price = ?", "select sum(cast(price as real)) as sum from course"] {
        columns(&[COURSE], right).unwrap();
    }
}
