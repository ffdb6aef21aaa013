//! Values that only the database refuses: a 400, never a 500. And years that have no four digits.

use skep::prelude::*;
use skep::sql::{Migration, Migrations, Options, ToValue, Value, query};
use skep::test::Client;
use skep::{Secret, Setup};

use crate::{shared, with};

const FOR_POSTGRES: Migrations = Migrations::new(&[Migration::new(
    1,
    "0001_row.sql",
    "create domain birthday as date;
     create table row (
        id bigint generated always as identity primary key, name text unique, short varchar(5), small smallint, number int,
        large bigint, price numeric(6, 2), day date, at timestamp, moment timestamptz, clock time, document jsonb,
        tags text[], days date[], key uuid, born birthday, flag boolean, code char(2), span interval, bits bit(3), net inet
     )",
)]);

const ROWS: Migrations =
    Migrations::new(&[Migration::new(1, "0001_row.sql", "create table row (id integer primary key)")])
        .with_postgres(&FOR_POSTGRES);

/// Stores a text in a column, or compares it with one, as a form brings it.
#[derive(Service)]
#[service(POST "/row/{column}")]
struct Store {
    column: String,
    how: String,
    #[form]
    value: String,
}

impl Handle for Store {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let Self { column, value, .. } = &self;
        match self.how.as_str() {
            "insert" => drop(cx.db().execute(query(&format!("insert into row ({column}) values (?)"), value)).await?),
            "in transaction" => {
                let db = cx.transaction().await?;
                db.execute(query(&format!("insert into row ({column}) values (?)"), value)).await?;
            }
            "find" => drop(cx.db().all::<i64>(query(&format!("select id from row where {column} = ?"), value)).await?),
            "number" => {
                let number: i64 = value.parse()?;
                cx.db().execute(query(&format!("insert into row ({column}) values (?)"), number)).await?;
            }
            "real" => {
                let number: f64 = value.parse()?;
                cx.db().execute(query(&format!("insert into row ({column}) values (?)"), number)).await?;
            }
            "array" => {
                let text = format!("insert into row ({column}) values (?)");
                cx.db().execute(query(&text, &[value.as_str()][..])).await?;
            }
            // The column is an expression.
            _ => drop(cx.db().one::<Option<String>>(query(&format!("select cast({column} as text)"), value)).await?),
        }
        Ok(Response::text("stored"))
    }
}

/// Faults that no value causes.
#[derive(Service)]
#[service(GET "/fault/{nth}")]
struct Fault {
    nth: u8,
}

impl Handle for Fault {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let db = cx.db();
        match self.nth {
            0 => drop(db.one::<i64>("select 1 / 0").await?),
            1 => drop(db.one::<String>("select date 'no day'").await?),
            2 => {
                let blob = Value::Blob(b"x".as_slice().into());
                db.execute(query("insert into row (day) values (?)", &blob)).await?;
            }
            3 => drop(db.one::<i64>(query("select missing from row where id = ?", 1)).await?),
            // Most divisors are sums and counts: who divides has to say what becomes of none.
            _ => drop(db.one::<i64>(query("select 10 / cast(? as int)", 0)).await?),
        }
        Ok(Response::text("done"))
    }
}

fn client() -> Client {
    let mut setup = Setup::default();
    (setup.database, setup.temporary_database) = (Some(Secret::new(shared().address())), true);
    Client::with_setup(App::new().serve(services![Store, Fault]).database(ROWS), setup)
}

/// Columns, and texts that they cannot hold.
const STORED: &[(&str, &str)] = &[
    ("name", "a\0b"),
    ("short", "123456"),
    ("small", "40000"),
    ("small", "x"),
    ("small", ""),
    ("number", "2147483648"),
    ("number", "-2147483649"),
    ("number", "1e3"),
    ("large", "9223372036854775808"),
    ("large", "0x"),
    ("price", "10000"),
    ("price", "Infinity"),
    ("price", "ten"),
    ("day", "2026-02-30"),
    ("day", "0000-13-01"),
    ("day", "2026-13-01"),
    ("day", "999999999-01-01"),
    ("day", "-99999-01-01"),
    ("day", "someday"),
    ("at", "2026-01-01T25:00:00"),
    ("at", "300000-01-01T00:00:00"),
    ("moment", "2026-01-01T00:00:00+99:00"),
    ("moment", "2026-01-01T00:00:00 Nowhere/Else"),
    ("clock", "24:00:01"),
    ("clock", "noon-ish"),
    ("document", r#""\u0000""#),
    ("document", r#"{"a": "\u0000"}"#),
    ("document", r#""\ud800""#),
    ("document", r#""\udc00x""#),
    ("document", "{"),
    ("document", "{\"a\0\": 1}"),
    ("document", "1e400000"),
    ("key", "not-a-key"),
    ("born", "2026-02-30"),
    ("flag", "maybe"),
    ("code", "abc"),
    ("span", "1 fortnight ago, or so"),
    ("bits", "10101"),
    ("net", "300.1.1.1"),
];

/// Ways to give a value, columns or expressions, and values.
const OTHERS: &[(&str, &str, &str)] = &[
    ("find", "name", "a\0b"),
    ("find", "large", "99999999999999999999"),
    ("find", "day", "0000-00-00"),
    ("find", "key", "x"),
    ("number", "number", "2147483648"),
    ("number", "small", "-32769"),
    ("number", "price", "10000"),
    ("real", "number", "1e10"),
    ("real", "price", "-inf"),
    ("real", "large", "NaN"),
    ("array", "tags", "a\0b"),
    ("array", "days", "2026-02-30"),
    ("as it is", "cast(? as int)", "99999999999"),
    ("as it is", "'x' ~ ?", "("),
    ("as it is", "'x' like 'a' escape ?", "ab"),
    ("as it is", "chr(cast(? as int))", "0"),
    ("as it is", "make_date(cast(? as int), 1, 1)", "0"),
    ("as it is", "decode(?, 'hex')", "xyz"),
    ("as it is", "to_date(?, 'YYYY-MM-DD')", "2026-99-99"),
    ("as it is", "sqrt(cast(? as float8))", "-1"),
    ("as it is", "pg_catalog.timezone(?, now())", "Nowhere/Else"),
];

#[test]
#[ignore = "needs PostgreSQL"]
fn a_value_that_only_the_database_refuses_is_a_400() {
    let client = client();
    let random = |nth: u64| format!("{:x}", nth.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let random = (0..40_000).map(random).collect::<Vec<_>>().concat();
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let kinds = ["insert", "in transaction"];
    let long = [("name", random.as_str()), ("short", random.as_str()), ("document", deep.as_str())];
    for &(column, value) in STORED.iter().chain(&long) {
        for how in kinds {
            let answer = client.post(&format!("/row/{column}?how={}", how.replace(' ', "+")), &[("value", value)]);
            assert_eq!(answer.status(), 400, "{how} {column} {:.40}: {:.300}", value, answer.text());
        }
    }
    for &(how, column, value) in OTHERS {
        let column = column.bytes().map(|byte| format!("%{byte:02x}")).collect::<Vec<_>>().concat();
        let answer = client.post(&format!("/row/{column}?how={}", how.replace(' ', "+")), &[("value", value)]);
        assert_eq!(answer.status(), 400, "{how} {column} {value}: {}", answer.text());
    }
    let good = [
        ("name", "a"),
        ("price", "NaN"),
        ("price", "12.5"),
        ("document", "1e400"),
        ("day", "infinity"),
        ("number", "7"),
    ];
    for (column, value) in good {
        let answer = client.post(&format!("/row/{column}?how=insert"), &[("value", value)]);
        assert_eq!(answer.status(), 200, "{column} {value}: {}", answer.text());
    }
}

#[test]
#[ignore = "needs PostgreSQL"]
fn a_statement_that_is_wrong_by_itself_is_a_500() {
    let client = client();
    for nth in 0..5 {
        assert_eq!(client.get(&format!("/fault/{nth}")).status(), 500, "{nth}");
    }
}

/// ISO 8601: four digits at least, and the year before the year 1 is 0000. What is read can be given back.
#[test]
#[ignore = "needs PostgreSQL"]
fn dates_of_all_years_are_read_as_they_are_given() {
    with(shared(), Options::new(), async |db| {
        let dates = [
            ("0999-12-31", "0999-12-31"),
            ("0001-01-01", "0001-01-01"),
            ("0001-12-31 BC", "0000-12-31"),
            ("0044-03-15 BC", "-0043-03-15"),
            ("0005-02-29 BC", "-0004-02-29"),
            ("4713-01-01 BC", "-4712-01-01"),
            ("2026-11-28", "2026-11-28"),
            ("12026-11-28", "12026-11-28"),
        ];
        for (of_postgres, read) in dates {
            for (ty, time) in [("date", ""), ("timestamp", "T12:30:05.5"), ("timestamptz", "T12:30:05.5Z")] {
                let (day, era) = of_postgres.split_once(' ').map_or((of_postgres, ""), |(day, era)| (day, era));
                let literal = format!("select cast('{day}{time} {era}' as {ty})");
                let read = format!("{read}{time}");
                assert_eq!(db.one::<String>(&literal).await.unwrap().as_deref(), Some(&*read), "{ty}");
                let again = format!("select cast(? as {ty}) = cast('{day}{time} {era}' as {ty})");
                assert_eq!(db.one::<bool>(query(&again, &read)).await.unwrap(), Some(true), "{ty} {read}");
                let list = format!("select cast(? as {ty}[])");
                let given = [read.as_str(), "2026-01-01"];
                let back = db.one::<Vec<String>>(query(&list, &given[..])).await.unwrap().unwrap();
                assert_eq!(back[0], read, "{ty}");
            }
        }
        assert_eq!(i64::MAX.to_value().unwrap(), Value::Integer(i64::MAX));
        assert!(u64::MAX.to_value().is_err());
        let large = db.one::<i64>(query("select cast(? as bigint)", u64::MAX)).await.unwrap_err();
        assert!(large.is_invalid_value(), "{large}");
    });
}
