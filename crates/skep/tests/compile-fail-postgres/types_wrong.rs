//! Rows and values that do not fit.

use skep::sql;
use skep::sql::Row;

#[derive(Row)]
struct Visited {
    name: i64,
    visits: i64,
    last: String,
}

fn main() {
    sql!(Visited, "select name, visits from visited order by name");
    sql!((String, String), "select name, visits from visited order by name");
    sql!((String,), "select name, visits from visited order by name");
    sql!("delete from hive where name = ?", 7_i64);
    sql!("insert into visit (hive, weight, healthy) values (?, ?, ?)", 1, "31.5", None::<bool>);
    sql!("insert into visit (hive, weight, healthy) values (?, ?, ?)", 1, None::<f64>);
}
