//! Arrays, as parameters and as columns.

use skep::sql::{Options, Query, Value, query};

use crate::{shared, with};

/// What PostgreSQL would take for something else, were it not quoted.
const ODD: [&str; 12] =
    ["", " ", "NULL", "null", "a,b", "{}", "{a}", "\"", "\\", "\\\"\\", "line\nend", "\u{e4} \u{1f41d}"];

/// The row of the table that has an array of each type.
type Bag = (Vec<String>, Vec<i16>, Vec<i64>, Vec<f64>, Vec<bool>, Vec<Vec<u8>>, Vec<String>);

#[test]
#[ignore = "needs PostgreSQL"]
fn an_array_comes_back_as_it_was_given() {
    with(shared(), Options::new(), async |db| {
        db.execute(
            "create table bag (texts text[], numbers smallint[], large bigint[], reals double precision[], flags boolean[], files bytea[],
                 prices numeric[])",
        )
        .await
        .unwrap();
        let (numbers, large) = ([i16::MIN, 0, i16::MAX], vec![i64::MIN, i64::MAX]);
        let (reals, flags) = ([-0.1, 1e300, f64::INFINITY, f64::MIN_POSITIVE], [true, false]);
        let (files, prices) = (vec![Vec::new(), vec![0, 255, b'"', b'\\']], ["12.50", "-1"]);
        let insert = query(
            "insert into bag values (?, ?, ?, ?, ?, ?, ?)",
            (&ODD[..], numbers.to_vec(), &large, &reals[..], &flags[..], &files, &prices[..]),
        );
        db.execute(insert).await.unwrap();
        let bag = db.one::<Bag>("select * from bag").await.unwrap().unwrap();
        assert_eq!(bag.0, ODD);
        assert_eq!((bag.1, bag.2), (numbers.to_vec(), large));
        assert_eq!((bag.3, bag.4), (reals.to_vec(), flags.to_vec()));
        assert_eq!((bag.5, bag.6), (files, prices.map(str::to_owned).to_vec()));
        let again = db.one::<Value<'static>>("select texts from bag").await.unwrap().unwrap();
        assert_eq!(db.one::<i64>(query("select count(*) from bag where texts = ?", &again)).await.unwrap(), Some(1));
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn one_statement_finds_writes_and_makes_many_rows() {
    with(shared(), Options::new(), async |db| {
        let (keys, values): (Vec<i64>, Vec<String>) = (1..=2_000).map(|key| (key, format!("value {key}"))).unzip();
        let insert = query("insert into pair select * from unnest(?::bigint[], ?::text[])", (&keys, values));
        assert_eq!(db.execute(insert).await.unwrap().rows, 2_000);
        let some = db.all::<i64>(query("select key from pair where key = any(?) order by key", &keys[..3])).await;
        assert_eq!(some.unwrap(), [1, 2, 3]);
        let none: Vec<i64> = Vec::new();
        let deleted = db.execute(query("delete from pair where key <> all(?)", none)).await.unwrap();
        assert_eq!(deleted.rows, 2_000);
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn elements_may_be_null_and_arrays_empty_or_null() {
    with(shared(), Options::new(), async |db| {
        let some = [Some(7), None];
        let back = db.one::<Vec<Option<i64>>>(query("select ?::integer[]", &some[..])).await.unwrap();
        assert_eq!(back.as_deref(), Some(&some[..]));
        let empty = db.one::<Vec<String>>("select array[]::text[]").await.unwrap();
        assert_eq!(empty, Some(Vec::new()));
        let null = db.one::<Option<Vec<i64>>>(query("select ?::bigint[]", None::<Vec<i64>>)).await.unwrap();
        assert_eq!(null, Some(None));
        // Indexes may begin anywhere.
        let shifted = db.one::<Vec<i64>>("select '[5:6]={1,2}'::integer[]").await.unwrap();
        assert_eq!(shifted, Some(vec![1, 2]));
    });
}

#[test]
#[ignore = "needs PostgreSQL"]
fn what_is_no_such_array_is_an_error_that_says_which_element() {
    with(shared(), Options::new(), async |db| {
        db.execute("create domain small as integer[] check (array_length(value, 1) < 3)").await.unwrap();
        let refused = async |query: Query<'_, Vec<i64>>| db.one(query).await.unwrap_err().to_string();
        for (query, said) in [
            (query("select array[1, null]", ()), "element 2: expected an integer, found NULL"),
            (query("select array['a']", ()), "element 1: expected an integer, found text"),
            (query("select array[[1, 2], [3, 4]]", ()), "more than one dimension"),
            (query("select array['10.0.0.1'::inet]", ()), "cast(... as text)"),
            (query("select 1", ()), "expected an array, found an integer"),
            (query("select ?::integer[]", 1), "parameter 1: expected an array, found an integer"),
            (query("select ?::integer", vec![1, 2]), "expected a value of type `int4`, found an array"),
            (query("select ?::bytea[]", vec!["a", "b"]), "element 1: expected a blob, found text"),
            (
                query("select array[]::bigint[] where ?::text[] is null", vec!["a", "b\0"]),
                "element 2: PostgreSQL stores no text",
            ),
            (query("select ?::smallint[]", vec![1, 100_000]), "out of range"),
            (query("select ?::small", vec![1, 2, 3]), "violates check constraint"),
        ] {
            let heard = refused(query).await;
            assert!(heard.contains(said), "{said}: {heard}");
        }
        assert_eq!(db.one::<Vec<i64>>(query("select ?::small", vec![1, 2])).await.unwrap(), Some(vec![1, 2]));
    });
}
