//! What goes in and what comes out.

use std::sync::Arc;

use skep::offload::Inline;
use skep::sql::{Database, FromValue, Local, Query, Row, ToValue, Unfit, Value, query, values};

use crate::support::{SCHEMA, run};

#[derive(Row, Debug, PartialEq)]
struct Post {
    id: i64,
    #[row(column = "title")]
    heading: String,
    r#type: Option<String>,
}

fn local() -> Local {
    Database::temporary(&SCHEMA, Arc::new(Inline)).unwrap().local()
}

async fn error<T: Row + std::fmt::Debug>(text: &str) -> String {
    local().all::<T>(text).await.unwrap_err().to_string()
}

#[test]
fn fields_find_their_columns_in_any_order_and_leave_others_alone() {
    run(async {
        let expected = Post { id: 1, heading: "a".to_owned(), r#type: None };
        let found = local().one::<Post>("select 'x' as more, null as type, 'a' as TITLE, 1 as id").await.unwrap();
        assert_eq!(found, Some(expected));
    });
}

#[test]
fn a_missing_column_is_an_error_that_names_struct_field_and_columns() {
    run(async {
        assert_eq!(
            error::<Post>("select 1 as id, 'a' as name").await,
            "no column `title` for the field `heading` of `Post`; the columns are `id`, `name`; \
             in: select 1 as id, 'a' as name"
        );
    });
}

#[test]
fn two_columns_with_the_name_of_a_field_are_an_error() {
    run(async {
        let text = error::<Post>("select 1 as id, 'a' as title, null as type, 2 as id").await;
        assert!(text.starts_with("several columns are named `id`, which the field `id` of `Post`"), "{text}");
    });
}

#[test]
fn a_value_of_another_type_is_an_error_that_names_the_column() {
    run(async {
        let text = error::<Post>("select 1 as id, 2 as title, null as type").await;
        assert!(text.starts_with("column `title`: expected text, found an integer"), "{text}");
        let text = error::<Post>("select null as id, 'a' as title, null as type").await;
        assert!(text.starts_with("column `id`: expected an integer, found NULL"), "{text}");
        let text = error::<String>("select cast(x'ff' as text) as name").await;
        assert!(text.starts_with("column `name`: the text is not UTF-8"), "{text}");
    });
}

#[test]
fn tuples_and_single_values_are_rows_of_exactly_their_size() {
    run(async {
        let db = local();
        assert_eq!(db.one::<i64>("select 7").await.unwrap(), Some(7));
        assert_eq!(db.one::<(i64, String)>("select 7, 'a'").await.unwrap(), Some((7, "a".to_owned())));
        assert_eq!(db.one::<Option<i64>>("select null").await.unwrap(), Some(None));
        let text = error::<(i64,)>("select 1 as a, 2 as b").await;
        assert!(text.starts_with("expected 1 columns, found 2: `a`, `b`"), "{text}");
    });
}

#[test]
fn a_query_may_know_its_rows() {
    run(async {
        let count: Query<'_, i64> = query("select ?", 7);
        assert_eq!(local().one(count).await.unwrap().map(|seven| seven + 1), Some(8), "no type is named here");
    });
}

#[test]
fn one_is_one_at_most_and_first_is_the_first() {
    run(async {
        let db = local();
        let two = "select 1 union all select 2";
        assert_eq!(db.first::<i64>(two).await.unwrap(), Some(1));
        assert_eq!(db.all::<i64>(two).await.unwrap(), [1, 2]);
        let text = db.one::<i64>(two).await.unwrap_err().to_string();
        assert!(text.starts_with("expected one row at most"), "{text}");
        assert_eq!(db.one::<i64>("select 1 where false").await.unwrap(), None);
    });
}

#[test]
fn every_type_comes_back_as_it_went_in() {
    run(async {
        let db = local();
        let back = query("select ?, ?, ?, ?, ?, ?", (-5_i8, 2.5, true, "é\0x", &b"\0\xff"[..], None::<i64>));
        let found = db.one::<(i8, f64, bool, String, Vec<u8>, Option<i64>)>(back).await.unwrap();
        assert_eq!(found, Some((-5, 2.5, true, "é\0x".to_owned(), b"\0\xff".to_vec(), None)));
        assert_eq!(db.one::<i64>(query("select ? + ?", values([20, 22]))).await.unwrap(), Some(42));
    });
}

#[test]
fn types_of_the_application_join_in() {
    struct Slug(String);

    impl ToValue for Slug {
        type Sql = skep::sql::kind::Text;

        fn to_value(&self) -> Result<Value<'_>, Unfit> {
            self.0.to_value()
        }
    }

    impl FromValue for Slug {
        type Sql = skep::sql::kind::Text;

        fn from_value(value: Value<'_>) -> Result<Self, Unfit> {
            let text = String::from_value(value)?;
            if text.contains('/') { Err(Unfit::because("a slug has no slash")) } else { Ok(Self(text)) }
        }
    }

    run(async {
        let db = local();
        let slug = db.one::<Slug>(query("select ?", &Slug("a".to_owned()))).await.unwrap();
        assert_eq!(slug.unwrap().0, "a");
        let refused = db.one::<Slug>("select 'a/b' as slug").await.err().unwrap().to_string();
        assert!(refused.starts_with("column `slug`: a slug has no slash"), "{refused}");
    });
}

#[test]
fn wrong_parameters_are_errors_that_count_them() {
    run(async {
        let db = local();
        let text = db.one::<i64>(query("select ?", (1, 2))).await.unwrap_err().to_string();
        assert_eq!(text, "the statement has 1 parameters, 2 were given; in: select ?");
        let text = db.one::<i64>(query("select ?, ?", (1, u64::MAX))).await.unwrap_err().to_string();
        assert!(text.starts_with("parameter 2: 18446744073709551615 does not fit"), "{text}");
    });
}

#[test]
fn a_write_says_what_it_changed() {
    run(async {
        let db = local();
        let inserted = db.execute("insert into post (title) values ('a'), ('b')").await.unwrap();
        assert_eq!((inserted.rows, inserted.last_insert_id), (2, 2));
        assert_eq!(db.execute("create table other (a)").await.unwrap().rows, 0, "a schema change changes no row");
        assert_eq!(db.execute("delete from post where id > 5").await.unwrap().rows, 0);
    });
}

#[test]
fn a_write_that_gives_rows_is_written_whichever_verb_asks() {
    run(async {
        let db = local();
        let both = "insert into post (title) values ('a'), ('b') returning id";
        assert_eq!(db.first::<i64>(both).await.unwrap(), Some(1));
        assert_eq!(db.one::<i64>("select count(*) from post").await.unwrap(), Some(2));
        assert_eq!(db.all::<i64>("delete from post returning id").await.unwrap(), [1, 2]);
    });
}

#[test]
fn the_schema_may_change_under_a_prepared_statement() {
    run(async {
        let db = local();
        db.execute("insert into post (title) values ('a')").await.unwrap();
        assert_eq!(db.one::<(i64, String)>("select * from post").await.unwrap(), Some((1, "a".to_owned())));
        db.execute("alter table post add column likes integer not null default 3").await.unwrap();
        let grown = db.one::<(i64, String, i64)>("select * from post").await.unwrap();
        assert_eq!(grown, Some((1, "a".to_owned(), 3)));
    });
}

fn back<T: ToValue + FromValue>(value: &T) -> T {
    T::from_value(value.to_value().unwrap()).unwrap()
}

#[test]
fn what_goes_in_comes_out() {
    assert_eq!(back(&-1_i8), -1);
    assert_eq!(back(&u64::from(u32::MAX)), u64::from(u32::MAX));
    assert!(back(&true));
    assert_eq!(back(&"é".to_owned()), "é");
    assert_eq!(back(&vec![0_u8, 255]), [0, 255]);
    assert_eq!(back(&None::<i64>), None);
    assert_eq!(back(&Some(2.5)), Some(2.5));
}

#[test]
fn what_does_not_fit_says_why() {
    let text = |unfit: Unfit| unfit.to_string();
    assert_eq!(
        text(u64::MAX.to_value().unwrap_err()),
        "18446744073709551615 does not fit in an integer of 64 bits with sign"
    );
    assert_eq!(text(u8::from_value(Value::Integer(256)).unwrap_err()), "256 does not fit in u8");
    assert_eq!(text(i64::from_value(Value::Null).unwrap_err()), "expected an integer, found NULL");
    assert_eq!(text(bool::from_value(Value::Integer(2)).unwrap_err()), "expected 0 or 1, found 2");
    assert_eq!(text(String::from_value(Value::Integer(1)).unwrap_err()), "expected text, found an integer");
}

#[test]
fn every_way_to_give_parameters_keeps_their_order() {
    run(async {
        let db = local();
        let one = async |given: Query<'_, Value<'static>>| db.one(given).await.unwrap().unwrap();
        let two = async |given: Query<'_, (Value<'static>, Value<'static>)>| db.one(given).await.unwrap().unwrap();
        let number = Value::Integer;
        assert_eq!(one(query("select 1", ())).await, number(1));
        assert_eq!(one(query("select ?", 1)).await, number(1));
        assert_eq!(one(query("select ?", number(1))).await, number(1));
        assert_eq!(one(query("select ?", (1,))).await, number(1));
        assert_eq!(one(query("select ?", None::<&str>)).await, Value::Null);
        assert_eq!(one(query("select ?", &b"xy"[..])).await, Value::Blob(b"xy".as_slice().into()));
        assert_eq!(two(query("select ?, ?", (1, "b"))).await, (number(1), Value::Text("b".into())));
        assert_eq!(two(query("select ?, ?", (&Some(1), "b".to_owned()))).await, (number(1), Value::Text("b".into())));
        assert_eq!(two(query("select ?, ?", [1, 2])).await, (number(1), number(2)));
        assert_eq!(two(query("select ?, ?", values([1, 2]))).await, (number(1), number(2)));
    });
}
