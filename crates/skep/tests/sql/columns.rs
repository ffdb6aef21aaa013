//! `{columns of Author}` and `{values of Author}`: the columns of a struct, written once; and values that are copied
//! into a statement.

use std::sync::Arc;

use skep::form::{Text, Whole};
use skep::offload::Inline;
use skep::prelude::*;
use skep::sql::{self, Blocking, Database, Migrations, Row, migrations};

const MIGRATIONS: Migrations = migrations!("tests/sql/checked");

macro_rules! sql {
    ($($input:tt)*) => { skep::sql!(in "tests/sql/checked"; $($input)*) };
}

mod model {
    use super::{Row, Text, Whole};

    /// Named by a path, from outside of its module.
    #[derive(Debug, PartialEq, Row)]
    pub(super) struct Author {
        pub(super) name: Text<1, 40>,
        pub(super) born: Option<Whole<1800, 2100>>,
    }
}

use model::Author;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Param)]
enum Name {
    Ann,
    Bob,
}

fn author(name: &str, born: Option<i64>) -> Author {
    Author { name: name.parse().unwrap(), born: born.and_then(Whole::new) }
}

fn with_authors(work: impl FnOnce(&mut Blocking<'_>) -> sql::Result<()>) {
    let database = Database::temporary(&MIGRATIONS, Arc::new(Inline)).unwrap();
    let fill = |db: &mut Blocking<'_>| {
        for one in [author("ann", Some(1980)), author("bob", None)] {
            db.execute(sql!("insert into author ({columns of Author}) values ({values of Author})", &one))?;
        }
        work(db)
    };
    database.write(fill).unwrap();
}

#[test]
fn columns_are_selected_where_the_name_of_the_struct_stands() {
    with_authors(|db| {
        let all = db.all(sql!(Author, "select {columns of model::Author} from author order by id"))?;
        assert_eq!(all, [author("ann", Some(1980)), author("bob", None)]);
        let joined = db.one(sql!(
            "select a.id, {columns of Author as a} from author a left join post on post.author = a.id where a.name = ?",
            "bob"
        ))?;
        let row = joined.unwrap();
        assert_eq!((row.id, row.name.as_str(), row.born), (2, "bob", None));
        Ok(())
    });
}

/// Its fields have names of their own.
#[derive(Debug, PartialEq, Row)]
struct Person {
    #[row(column = "name")]
    called: Text<1, 40>,
    #[row(column = "born")]
    year: Option<Whole<1800, 2100>>,
}

#[test]
fn a_field_may_have_another_name_than_its_column() {
    with_authors(|db| {
        let cid = Person { called: "cid".parse().unwrap(), year: Whole::new(1970) };
        db.execute(sql!("insert into author ({columns of Person}) values ({values of Person})", &cid))?;
        let read = sql!(Person, "select {columns of Person} from author where born < ? order by id", 1980);
        assert_eq!(db.all(read)?, [cid]);
        let joined = sql!(
            Person,
            "select {columns of Person as a} from author a where a.id = ?"
            {if true: "and a.name = ?", "ann"},
            1
        );
        assert_eq!(db.one(joined)?.map(|person| person.called.to_string()).as_deref(), Some("ann"));
        Ok(())
    });
}

#[test]
fn many_rows_are_inserted_by_one_statement_or_left_as_they_are() {
    with_authors(|db| {
        let names = serde_json::to_string(&["bob", "dan", "eva"]).unwrap();
        let insert = sql!(
            "insert into author (name, born) select value, ? from json_each(?) where true on conflict (name) do nothing",
            2000,
            names
        );
        assert_eq!(db.execute(insert)?.rows, 2);
        let born = sql!(Option<i64>, "select born from author where name in ('bob', 'dan', 'eva') order by name");
        assert_eq!(db.all(born)?, [None, Some(2000), Some(2000)]);
        Ok(())
    });
}

#[test]
fn values_are_those_of_one_argument_among_others() {
    struct Edit {
        author: Author,
    }
    with_authors(|db| {
        let edit = Edit { author: author("cid", Some(1990)) };
        let update = sql!("update author set {values of Author} where id = ? and name = ?", &edit.author, 2, "bob");
        assert_eq!(db.execute(update)?.rows, 1);
        let upsert = sql!(
            "insert into author (id, {columns of Author}) values (?, {values of Author})
             on conflict (id) do update set id = ?, {values of Author}",
            2,
            edit.author,
            2,
            &edit.author
        );
        assert_eq!(db.execute(upsert)?.rows, 1);
        let names: Vec<String> = db.all(sql!(String, "select name from author order by id"))?;
        assert_eq!(names, ["ann", "cid"]);
        Ok(())
    });
}

#[test]
fn what_is_copied_is_given_by_value_also_in_a_part() {
    with_authors(|db| {
        let find = |name: Option<Name>, least: Option<Whole<0, 3000>>| {
            sql!(
                String,
                "select name from author where id > 0"
                {if let Some(name) = name: "and name = ?", name}
                {if let Some(least) = least: "and born >= ?", least}
                "order by id"
            )
        };
        assert_eq!(db.all(find(Some(Name::Bob), None))?, ["bob"]);
        assert_eq!(db.all(find(None, Whole::new(1980)))?, ["ann"]);
        assert_eq!(db.all(find(Some(Name::Ann), Whole::new(1981)))?, Vec::<String>::new());
        Ok(())
    });
}
